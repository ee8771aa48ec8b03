"""Mondrian: cut the space of quasi-identifiers in two, and the parts again, while every part satisfies the models."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.domains.counts import Cells, TableParts
from sfumato.errors import InternalError, StudyError
from sfumato.methods.grouping.code_ranges import tight_boxes
from sfumato.methods.grouping.partitioning import (
    GivenModels,
    ModelMethod,
    check_choice,
    check_view,
    class_attribute,
    finish_partition,
    model_domains,
    model_sentences,
    parse_flag,
    parse_share,
    refuse_least_width,
    refuse_lost_people,
    refuse_unsatisfiable,
    refuse_violating_classes,
    sort_cells,
    suppress_violations,
)
from sfumato.methods.method import METHODS, Context, Forecast
from sfumato.methods.mondrian.axes import Axes
from sfumato.methods.mondrian.cell_table import Table
from sfumato.methods.mondrian.choices import NEAR, ByGain, ByLoss, Impurity
from sfumato.methods.mondrian.cuts import Integers
from sfumato.methods.mondrian.depth_levels import Chooser, Rules, split_groups
from sfumato.methods.mondrian.parts import Part, PartCutter
from sfumato.privacy.groups.parameters import Exact
from sfumato.privacy.groups.statistics import ValueTotals
from sfumato.privacy.models import KAnonymity, counts_people
from sfumato.progress import Progress, silent
from sfumato.release.draft import Draft
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.partition import Boxes, Partition
from sfumato.study.budget import show
from sfumato.study.view import View

ALL = "all"
CHOICES = {
    "widest": "the attribute on which a group is widest is cut first",
    "info_gain": "the cut with the largest information gain about the class comes first",
    "loss": "the cut with the least remaining information loss comes first",
}
RANGES = ("tight", "partition")


@METHODS.add
@dataclass(frozen=True, kw_only=True)
class Mondrian(ModelMethod):
    """Multidimensional partitioning (LeFevre, DeWitt & Ramakrishnan, ICDE 2006) under any models of groups.

    The whole table is one group. A group is cut on the attribute on which it is widest, relative to the domain; if a
    part would violate a model, the next attribute is tried, and a group without an allowable cut is published.
    Numbers are cut at the median; categories into the children of the lowest node above the group's values, all of
    which must satisfy the models; categories named in ``ordered`` (or all of them: ``ordered="all"``) are cut at the
    median of their order, and read as "from … to". ``strict`` parts do not overlap; relaxed ones share the records on
    the median, half to each side. ``choose="info_gain"`` is InfoGain Mondrian (LeFevre et al., KDD 2006): of all cuts
    the one with the largest information gain on the class. ``choose="loss"`` takes the cut that leaves the least loss.

    We differ from the paper in this: a strict cut goes to that side of the median's value that leaves the smaller part
    larger, so that for k-anonymity a group is only left whole if no cut at all is allowable. And if ``suppress`` is
    above 0, a cut is also allowable if the parts that violate a model are few: each group may give up so large a
    share of its records, and what is left of that goes to its parts.

    Paper -> here: partition -> group, dimension -> axis, allowable cut -> a cut all of whose parts satisfy the models.

    >>> Mondrian(k=5).models
    (KAnonymity(k=5),)
    """

    name: ClassVar[str] = "mondrian"
    summary: ClassVar[str] = "equivalence classes by recursive partitioning, each with a region of its own"
    form: ClassVar[str] = "generalised"
    k: int | None = None
    privacy: GivenModels = None
    strict: bool = True
    choose: str = "widest"
    ranges: str = "tight"
    ordered: str | tuple[str, ...] = ()
    suppress: Exact = "0"  # the share of records that may be left out, for cuts that would not be allowable

    def __post_init__(self) -> None:
        ordered = self.ordered if isinstance(self.ordered, str) and self.ordered == ALL else _names(self.ordered)
        object.__setattr__(self, "strict", parse_flag(self.strict, "strict"))
        object.__setattr__(self, "ordered", ordered)
        self.store_models()
        check_choice(self.choose, "choose", CHOICES)
        check_choice(self.ranges, "ranges", RANGES)
        object.__setattr__(self, "suppress", show(parse_share(self.suppress)))

    def check(self, view: View) -> None:
        """Refuse a view without quasi-identifiers, without a class to look at, or that a model does not fit."""
        check_view(view, self.models, people=True)
        refuse_lost_people(self.models, parse_share(self.suppress))
        if counts_people(self.models) and not (self.strict and self.ranges == "tight"):
            raise StudyError(
                "the privacy model compares groups with people who live in their regions, and counts those in tight "
                "regions that do not overlap",
                "leave out `strict: false` and `ranges: partition`",
                code="SF-STUDY-067",
            )
        refuse_least_width(view, self.name)
        if self.choose == "info_gain":
            class_attribute(view)
        unknown = set(self._ordered(view)) - {a.name for a in view.quasi}
        if unknown:
            raise StudyError(
                f"ordered names {', '.join(repr(name) for name in sorted(unknown))}, which is no quasi-identifier here",
                f"name some of: {', '.join(a.name for a in view.quasi)}",
                code="SF-STUDY-068",
            )

    def forecast(self, view: View) -> Forecast:
        """How groups are cut, and what holds of each."""
        self.check(view)
        return Forecast(sentences=(*self._cutting(view), *model_sentences(self.models)), numbers={})

    @property
    def in_parts(self) -> bool:
        """Whether its first cuts can be made by an engine's counts: those at medians that lose no record.

        With ``choose="loss"`` large groups are cut at medians, too; groups in which it looks at more are brought.
        """
        plain = self.strict and self.choose in {"widest", "loss"} and not parse_share(self.suppress)
        return plain and not counts_people(self.models)

    @property
    def collects(self) -> str:
        """What all combinations of values are collected for."""
        return (
            "cuts of this kind (`strict: false`, `suppress`, `choose: info_gain`, a population) look at all of a group"
        )

    def draft(self, view: View, counts: Cells | TableParts, context: Context | None = None) -> Draft:
        """Cut the table into groups; the same table gives the same groups, whatever the order of its records."""
        self.check(view)
        progress = (context or Context()).progress
        content: Partition | RecordStore
        if isinstance(counts, TableParts):
            content, groups = self._in_parts(view, counts, progress)
            refuse_violating_classes(content.classes(model_domains(view, self.models)), self.models)
        else:
            found = self._at_once(view, sort_cells(view, counts), progress)
            content = finish_partition(view, found, self.models)
            groups = len(content.boxes)
        return self.make_draft(
            view,
            content,
            facts={
                "groups": groups,
                "suppressed": content.suppressed,
                "strict": self.strict,
                "choose": self.choose,
                "ranges": self.ranges,
            },
        )

    def _at_once(self, view: View, cells: Cells, progress: Progress) -> Partition:
        """The groups of a table all of whose cells are here."""
        models = self.models
        refuse_unsatisfiable(view, cells, models, boxes=self._whole(view, cells))
        limit = int(parse_share(self.suppress) * int(cells.counts.sum()))
        found = suppress_violations(view, self._cut(view, cells, limit, progress), models, limit=limit)
        if found is None:  # suppression has changed the table that groups are compared with, too much
            found = self._cut(view, cells, 0, progress)
        return found

    def _in_parts(self, view: View, counts: TableParts, progress: Progress) -> tuple[RecordStore, int]:
        """The records of the same groups, of a table whose cells are brought here in parts, and how many groups."""
        if not self.in_parts:
            raise InternalError("a table was brought in parts for a Mondrian that cannot use them")

        def finish(cells: Cells, part: Part, against: dict[str, ValueTotals]) -> Partition:
            inside = (part.starts, part.stops)
            return self._cut(view, sort_cells(view, cells), 0, silent, inside=inside, against=against)

        ordered = self._ordered(view)
        cutter = PartCutter(
            view=view, counts=counts, models=self.models, axes=Axes.of(view.quasi, ordered), least=self._least,
            ordered=ordered, finish=finish, progress=progress,
            near=NEAR * self._least if self.choose == "loss" else 0,
        )  # fmt: skip
        return cutter.records(tight=self.ranges == "tight")

    @property
    def _least(self) -> int:
        """No smaller group can satisfy the models."""
        return max([1, *(model.k for model in self.models if isinstance(model, KAnonymity))])

    def _cut(
        self,
        view: View,
        cells: Cells,
        limit: int,
        progress: Progress,
        *,
        inside: tuple[Integers, Integers] | None = None,
        against: dict[str, ValueTotals] | None = None,
    ) -> Partition:
        ordered = self._ordered(view)
        gain = self.choose == "info_gain"
        table = Table.of(view, cells, self.models, classes=gain, strict=self.strict, ordered=ordered, against=against)
        axes, least = Axes.of(view.quasi, ordered), self._least
        rules = Rules(
            axes=axes, keeps=table.keeps, least=least, strict=self.strict, first=self._chooser(view, table, axes, least)
        )
        leaves = split_groups(
            table.columns(axes), table.cells.counts, rules, allowance=limit, inside=inside, progress=progress
        )
        return table.partition(view, cells, leaves, tight=self.ranges == "tight")

    def _whole(self, view: View, cells: Cells) -> Boxes | None:
        """The region of the whole table as one group, where people are counted in it."""
        if view.people is None or not len(cells):
            return None
        return tight_boxes(view, cells, np.zeros(len(cells), np.int64), 1, ordered=self._ordered(view))

    def _chooser(self, view: View, table: Table, axes: Axes, least: int) -> Chooser | None:
        if self.choose == "loss":
            return ByLoss(axes, least)
        if self.choose == "info_gain":
            target = class_attribute(view).name
            return ByGain(axes, Impurity.of(table.column(target), view.domain(target).size, table.records), least)
        return None

    def _ordered(self, view: View) -> tuple[str, ...]:
        if isinstance(self.ordered, str):
            return tuple(a.name for a in view.quasi if a.domain is not None and not a.domain.free)
        return self.ordered

    def _cutting(self, view: View) -> list[str]:
        ordered = self._ordered(view)
        halved = [a.name for a in view.quasi if a.name in ordered or (a.domain is not None and a.domain.free)]
        grown = [a.name for a in view.quasi if a.name not in halved]
        middle = "at the median" if self.strict else "at the median, whose records may go to either side"
        found = [f"partitions are split while every child satisfies the privacy model; {CHOICES[self.choose]}"]
        found += [f"cut {middle}: {', '.join(halved)}"] if halved else []
        found += [f"cut into the children of a taxonomy node: {', '.join(grown)}"] if grown else []
        if self.ranges == "tight":
            found.append("a region is the smallest one that covers the values of its group")
        else:
            found.append("a region is the part of the space that belongs to its group")
        share = parse_share(self.suppress)
        if share:
            found.append(f"up to {float(100 * share):g} % of the records may be suppressed where that allows a cut")
        return found


def _names(given: object) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, (list, tuple)) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise StudyError(
            f"ordered is '{str(given)[:40]}', which names no attributes",
            "name categories as in `ordered: [education]`, or write `ordered: all`",
            code="SF-STUDY-069",
        )
    return names
