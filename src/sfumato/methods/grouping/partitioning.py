"""What all methods share that put records into groups: privacy models, suppression, and the check at the end.

Groups are labels of cells here, `SUPPRESSED` for none. No method trusts its own bookkeeping: the last step asks the
models about the finished partition.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Domain
from sfumato.errors import InfeasibleError, InternalError, StudyError
from sfumato.methods.grouping.declared_checks import refuse_named_sets, refuse_observed_values
from sfumato.privacy.groups.parameters import Exact, parse_in_range
from sfumato.privacy.groups.statistics import Statistics, ValueTotals
from sfumato.privacy.models import (
    GroupModel,
    KAnonymity,
    all_hold,
    any_regional,
    any_relative,
    counts_people,
    parse_models,
    population_names,
    refuse_infeasible,
    title,
)
from sfumato.release.draft import Draft
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.guarantee import SyntacticGuarantee
from sfumato.release.partition import SUPPRESSED, Boxes, Partition
from sfumato.study.attribute import Attribute, Role
from sfumato.study.purpose import Needs
from sfumato.study.view import View

Integers = NDArray[np.int64]
GivenModels = Mapping[str, Any] | Iterable[Any] | None  # models, or the study's `privacy`


def all_models(k: int | None, privacy: GivenModels) -> tuple[GroupModel, ...]:
    """The models that a method has to satisfy, all of them at once: k-anonymity for ``k``, and those of ``privacy``.

    >>> all_models(5, {"t-closeness": "0.2"})[0]
    KAnonymity(k=5)
    """
    short = () if k is None else (KAnonymity(k=k),)
    models = (*short, *parse_models(privacy))
    if not models:
        raise StudyError(
            "no privacy model is specified", "set `k: 10`, or `privacy: {k-anonymity: 10}`", code="SF-STUDY-055"
        )
    return models


class Grouping:
    """A method that puts records into equivalence classes: it spends no ε, and privacy models hold in what it makes."""

    needs: ClassVar[Needs] = Needs(private=False)
    form: ClassVar[str]

    @property
    def models(self) -> tuple[GroupModel, ...]:
        """The privacy models, all of which hold in a draft."""
        raise NotImplementedError

    @property
    def spends(self) -> None:
        """No ε: the guarantee is about equivalence classes."""
        return

    @property
    def may_suppress(self) -> bool:
        """Whether the parameters let the method suppress records."""
        return bool(parse_share(getattr(self, "suppress", 0)))

    @property
    def in_parts(self) -> bool:
        """Whether the method can work with a table whose cells are brought in parts."""
        return False

    @property
    def one_by_one(self) -> bool:
        """Whether a draft holds each record by itself, and not how many there are of each combination."""
        return False

    @property
    def collects(self) -> str:
        """What all combinations of values are collected for, in words for who has more than fit."""
        return "its groups are found by looking at all of them"

    @property
    def samples(self) -> bool:
        """Whether the method draws a part of the records."""
        return bool(parse_share(getattr(self, "rate", 1)) < 1)

    def guarantee(self, view: View) -> SyntacticGuarantee:
        """The models, all of which hold."""
        return SyntacticGuarantee(self.models, view.unit.words)

    def check_declared(self, view: View) -> None:
        """Refuse declarations that would be published and tell of records that are not."""
        refuse_named_sets(self, view)
        refuse_observed_values(self, view)

    def make_draft(
        self,
        view: View,
        content: Partition | RecordStore,
        *,
        facts: Mapping[str, Any],
        owner: Mapping[str, Any] | None = None,
        rate: Fraction = Fraction(1),
    ) -> Draft:
        """A finished partition as a draft, or the published records themselves."""
        return Draft(
            view=view,
            content=content,
            form=self.form,
            guarantee=self.guarantee(view),
            facts=facts,
            owner=owner or {},
            suppression=self.may_suppress,
            rate=rate,
        )


class ModelMethod(Grouping):
    """A grouping method whose privacy models are given by ``k``, by ``privacy``, or by both."""

    k: int | None
    privacy: GivenModels

    @property
    def models(self) -> tuple[GroupModel, ...]:
        """The privacy models, all of which hold in a draft."""
        return all_models(self.k, self.privacy)

    def store_models(self) -> None:
        """Store ``privacy`` as models: part of a method's birth."""
        object.__setattr__(self, "privacy", self.models[self.k is not None :] or None)


def parse_share(value: Exact, parameter: str = "suppress") -> Fraction:
    """A share of the records from 0 to 1, exactly as typed.

    >>> parse_share("0.02", "suppress")
    Fraction(1, 50)
    """
    return parse_in_range(value, parameter, 0, 1)


def parse_flag(value: object, parameter: str) -> bool:
    """A truth value, also as a study file's text."""
    if isinstance(value, bool):
        return value
    if str(value).lower() in {"true", "false"}:
        return str(value).lower() == "true"
    raise StudyError(f"{parameter} is '{str(value)[:40]}'", "write true or false", code="SF-STUDY-056")


def check_choice(value: str, parameter: str, choices: Iterable[str]) -> None:
    """Refuse a value that is none of the choices."""
    if not isinstance(cast("object", value), str) or value not in choices:
        raise StudyError(
            f"{parameter} is '{str(value)[:40]}'", f"choose one of: {', '.join(choices)}", code="SF-STUDY-057"
        )


def check_view(view: View, models: Iterable[GroupModel], *, people: bool = False) -> None:
    """Refuse, before any work, a view that has nothing to group by, or that a model cannot be applied to.

    ``people`` says whether the method can count a population in the regions that it makes.
    """
    if not view.quasi:
        raise StudyError(
            "the release has no quasi-identifier, so the whole table is one equivalence class",
            "give the attributes others may know of a person `role: quasi_identifier`",
            code="SF-STUDY-038",
        )
    models = tuple(models)
    for model in models:
        model.check(view)
    if any_regional(models):
        raise StudyError(
            "the privacy model is about the regions of all groups at once, and this method cannot search for it",
            "use `method: capped-confidence`, or check a release afterwards: `sfumato verify TABLE --model …`, or "
            "`sfumato evaluate max-k` for the k at which Mondrian satisfies it",
            code="SF-STUDY-058",
        )
    if counts_people(models) and not people:
        raise StudyError(
            "the privacy model compares groups with the people of a population, and this method cannot count those",
            "use `method: full-domain`, or `mondrian`",
            code="SF-STUDY-059",
        )
    if len(population_names(models)) > 1:
        raise StudyError(
            "privacy models of one release compare with two populations",
            "name the same one in both",
            code="SF-STUDY-060",
        )


def refuse_lost_people(models: Iterable[GroupModel], suppress: Fraction) -> None:
    """Refuse to suppress records of groups whose people are counted.

    How many records are suppressed can be seen, and so can who of the population lives in no published region. If ten
    records are suppressed and ten people live there, all of them are known to be in the table, whatever holds in the
    published groups.
    """
    if suppress and counts_people(models):
        raise StudyError(
            "the privacy model is about who is in the table, and suppressed records would disclose it for people who "
            "live in no published region",
            "leave `suppress` out",
            code="SF-STUDY-061",
        )


def refuse_least_width(view: View, method: str) -> None:
    """Refuse an `at_least` that the method does not keep: an owner's limit is not dropped in silence."""
    limited = [attribute.name for attribute in view.quasi if attribute.at_least is not None]
    if limited:
        raise StudyError(
            f"'{method}' cannot guarantee the `at_least` of {', '.join(repr(name) for name in limited)}",
            "use `tds` or `full-domain`, or give the attribute a coarser `step` in place of `at_least`",
            code="SF-STUDY-062",
        )


def class_attribute(view: View) -> Attribute:
    """The one class attribute."""
    found = [attribute for attribute in view.others if attribute.role is Role.CLASS]
    if len(found) != 1:
        raise StudyError(
            f"the method needs one class attribute, and the release has {len(found) or 'none'}",
            "give one attribute `role: class`",
            code="SF-STUDY-063",
        )
    return found[0]


def needed_attributes(view: View, models: Iterable[GroupModel]) -> tuple[str, ...]:
    """The sensitive attributes that the models look at, in the view's order."""
    names: set[str] = set()
    for model in models:
        asked = model.needs()
        names.update((a.name for a in view.sensitive) if asked is None else asked)
    return tuple(a.name for a in view.sensitive if a.name in names)


def value_totals(view: View, cells: Cells, names: Iterable[str]) -> dict[str, ValueTotals]:
    """How often the values of some attributes occur in the table."""
    return {
        name: ValueTotals.of(cells.codes[:, cells.attributes.index(name)], cells.counts, view.domain(name).size)
        for name in names
    }


def refuse_unsatisfiable(
    view: View,
    cells: Cells,
    models: Iterable[GroupModel],
    *,
    suppression: bool = False,
    boxes: Boxes | None = None,
) -> None:
    """Refuse a table without records, and a model that it violates even as one group (in the region of ``boxes``)."""
    if not len(cells):
        raise InfeasibleError(
            "no record is left to release",
            "check the table, and which records the study leaves out",
            code="SF-INFEASIBLE-011",
        )
    models = tuple(models)
    whole = Partition(cells, np.zeros(len(cells), np.int64), boxes or no_boxes(1))
    try:
        refuse_infeasible(models, statistics_of(view, whole, models))
    except InfeasibleError as error:
        if not suppression:
            raise
        raise InfeasibleError(
            error.problem,
            f"{error.fix}, or use `full-domain`, which also tries to suppress records for it",
            code=error.code,
        ) from None


def statistics_of(view: View, partition: Partition, models: Iterable[GroupModel]) -> Statistics:
    """The published groups as these models see them: only the sensitive attributes that they look at."""
    names = needed_attributes(view, models)
    return partition.statistics(replace(view, sensitive=tuple(a for a in view.sensitive if a.name in names)))


def sort_cells(view: View, cells: Cells) -> Cells:
    """The same cells with the view's attributes, in the order of their codes: what is made of them is the same."""
    names = tuple(attribute.name for attribute in view.attributes)
    codes = cells.codes
    if cells.attributes != names:
        codes = codes[:, [cells.attributes.index(name) for name in names]]
    above, below = codes[1:], codes[:-1]
    first = (above != below).argmax(axis=1)[:, None] if codes.shape[1] else np.zeros((0, 1), np.int64)
    if np.all(np.take_along_axis(above, first, 1) > np.take_along_axis(below, first, 1)):
        return replace(cells, attributes=names, codes=codes)
    order = np.lexsort(codes.T[::-1])
    return Cells(names, codes[order], cells.counts[order])


def suppress_violations(
    view: View, partition: Partition, models: Iterable[GroupModel], *, limit: int
) -> Partition | None:
    """Suppress the records of groups that violate a model, until all that are left satisfy it; None above ``limit``.

    Suppression changes the table that some models compare with, so groups are checked again until none violates a
    model. The number of groups only falls, so it ends.
    """
    models = tuple(models)
    while True:
        statistics = statistics_of(view, partition, models)
        broken = ~all_hold(models, statistics) & (statistics.sizes > 0)
        if not broken.any():
            return partition
        if partition.suppressed + int(statistics.sizes[broken].sum()) > limit:
            return None
        gone = np.append(broken, False)[partition.group]  # the last place is that of SUPPRESSED
        partition = replace(partition, group=np.where(gone, SUPPRESSED, partition.group))
        if not any_relative(models):
            return partition


def finish_partition(view: View, partition: Partition, models: Iterable[GroupModel]) -> Partition:
    """The partition with groups numbered in the order of their first cells, checked with the models once more."""
    group, boxes = partition.group, partition.boxes
    first = np.full(len(boxes) + 1, len(group), np.int64)  # the last place is that of SUPPRESSED
    first[group[::-1]] = np.arange(len(group))[::-1]
    kept = np.flatnonzero(first[:-1] < len(group))
    order = kept[np.argsort(first[kept], kind="stable")]
    number = np.full(len(boxes) + 1, SUPPRESSED, np.int64)
    number[order] = np.arange(len(order))
    done = Partition(partition.cells, number[group], Boxes(boxes.attributes, boxes.starts[order], boxes.stops[order]))
    if not len(order):
        raise InfeasibleError(
            "every record would have to be suppressed",
            "relax the privacy model, or generalise more",
            code="SF-INFEASIBLE-012",
        )
    refuse_violations(view, done, models)
    return done


def refuse_violations(view: View, partition: Partition, models: Iterable[GroupModel]) -> None:
    """The last check: every group of the finished partition satisfies every model."""
    models = tuple(models)
    refuse_violating_classes([statistics_of(view, partition, models)], models)


def refuse_violating_classes(pieces: Iterable[Statistics], models: Iterable[GroupModel]) -> None:
    """The same of groups that come piece by piece."""
    models = tuple(models)
    for statistics in pieces:
        for model in models:
            broken = int((~model.holds(statistics)).sum())
            if broken:
                raise InternalError(f"{broken} groups of the finished partition violate {title(model)}")


def model_domains(view: View, models: Iterable[GroupModel]) -> dict[str, Domain]:
    """The domains of the sensitive attributes that these models look at."""
    return {name: view.domain(name) for name in needed_attributes(view, models)}


def merge_equal_regions(partition: Partition) -> Partition:
    """Groups with the same region are one: nobody who sees the release can tell them apart."""
    boxes = partition.boxes
    rows, number = np.unique(np.hstack([boxes.starts, boxes.stops]), axis=0, return_inverse=True)
    if len(rows) == len(boxes):
        return partition
    width = len(boxes.attributes)
    merged = Boxes(boxes.attributes, rows[:, :width], rows[:, width:])
    return Partition(partition.cells, np.append(number.ravel(), SUPPRESSED)[partition.group], merged)


def model_sentences(models: Iterable[GroupModel]) -> list[str]:
    """The guarantees of the models as sentences of a forecast."""
    return [f"{said[:1].lower()}{said[1:].removesuffix('.')}" for said in (model.sentence() for model in models)]


def no_boxes(groups: int) -> Boxes:
    """Groups whose regions nobody looks at."""
    none = np.empty((groups, 0), np.int64)
    return Boxes((), none, none)
