"""A bundle as its owner measures it: read as its receiver reads it, and beside the table that it was made from."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.domain import Categories, Domain, Grid
from sfumato.domains.sets.cut import Sets
from sfumato.domains.sets.domain import SetDomain
from sfumato.errors import InternalError, StudyError, UsageError
from sfumato.evaluate.evidence import Evidence, alike
from sfumato.privacy.models import CappedConfidence, parse_models
from sfumato.release.draft import Draft
from sfumato.release.forms.noisy_counts.release import CountsRelease
from sfumato.release.forms.records.release import RecordsRelease
from sfumato.release.release import Release
from sfumato.release.shown import Shown, Values, shown_counts
from sfumato.study.attribute import Attribute, Role
from sfumato.study.partition_view import PartitionView
from sfumato.study.selection import EVERYTHING, Selection, selected
from sfumato.study.span import Span
from sfumato.study.study import Study
from sfumato.study.unit import RecordUnit
from sfumato.study.view import NO_TARGET, View
from sfumato.workflow.making.outcome import Published
from sfumato.workflow.sets.measured import Counted, told

Given = str | Path | Published | Release
"""How a caller names a release: the folder of its bundle, what publishing it gave, or the release itself."""


def opened(given: Given) -> Release:
    """The release that a caller names."""
    if isinstance(given, Release):
        return given
    if isinstance(given, Published):
        return Release.open(given.bundle)
    if isinstance(given, (str, Path)):
        return Release.open(given)
    raise UsageError(
        f"a release was to be given, and this is a value of the type '{type(given).__name__}'",
        "give the folder of its bundle, what `release` gave, or an opened `Release`",
    )


@dataclass(frozen=True, eq=False)
class ReadBundle:
    """A bundle that agrees with a study: the attributes it has, as the study declares them, and what it holds."""

    view: PartitionView
    release: RecordsRelease | CountsRelease

    @property
    def private(self) -> bool:
        """Whether its table was read by the rules for private releases, under which every CSV file is a table."""
        return isinstance(self.release, CountsRelease)

    def beside(self, raw: Counted) -> Evidence:
        """The bundle beside records of the study's table."""
        release, view, cap = self.release, self.view, None
        if isinstance(release, RecordsRelease):
            told = [one for one in release.manifest["privacy"]["promises"] if one["model"] == CappedConfidence.name]
            cap = promised_cap(model for one in told for model in parse_models({one["model"]: one["parameters"]}))
            shown = _shown_records(release, view, raw.sets)
        else:
            shown = shown_counts(self.counts_draft(), _names(view.quasi), raw.sets)
        return Evidence(view=view, raw=raw.cells, shown=shown, sets=raw.sets, cap=cap)

    def counts_draft(self) -> Draft:
        """A bundle of noisy counts as the draft that it was, by what is published."""
        release, view = self.release, self.view
        assert isinstance(release, CountsRelease), "asked of counts alone"
        target = next((a for a in view.others if a.name == release.layout.class_name), NO_TARGET)
        predictors = tuple(_attribute(view, name) for name in release.layout.names)
        return Draft(view=View(predictors=predictors, target=target, unit=view.unit), groups=release.groups)


def read_bundle(study: Study, bundle: Given, *, was: str | None = None) -> ReadBundle:
    """Open a bundle; an error if the study is not the one that it was made from.

    Attributes, roles and domains decide whether the two fit. That they fit does not make the table the right one: two
    tables may be declared alike. So the name has to agree too, or the owner says what the study was called (``was``).
    Nobody but the owner sees the numbers; a wrong table would only make them wrong.
    """
    release = opened(bundle)
    if isinstance(release, RecordsRelease):
        columns = release.layout.columns
        domains = {column.name: column.sets or column.domain for column in columns}
        view = _agreed(study, domains, {column.name: column.role for column in columns})
    elif isinstance(release, CountsRelease):
        view = _agreed(study, release.domains, {release.layout.class_name: "class"} if release.layout.targeted else {})
    else:
        raise InternalError(f"a bundle of the form '{release.form}' cannot be measured")
    _refuse_name(study, str(release.manifest["study"]), was)
    return ReadBundle(replace(view, selection=_selected(study, release.manifest.get("selection"))), release)


def promised_cap(models: Iterable[object]) -> CappedConfidence | None:
    """The promise among these that says which statistics are public: shares, or rules; None if none does."""
    found = [model for model in models if isinstance(model, CappedConfidence)]
    return next((cap for cap in found if cap.shares), next((cap for cap in found if cap.rules), None))


def _refuse_name(study: Study, told: str, was: str | None) -> None:
    """Stop at a bundle of a study with another name, unless that is what this one was called."""
    if told not in (study.name, was):
        raise StudyError(
            f"the bundle is of the study '{told}', not of '{was or study.name}'; its attributes and domains are those "
            f"of '{study.name}'",
            f"if '{study.name}' was called '{told}' when the release was made, say so with --was {told} (in Python "
            f"was='{told}'); if not, measure it against the study that it was made from",
        )


def attributes_by_role(study: Study, names: Iterable[str]) -> PartitionView:
    """Some attributes of a study by their roles; identifiers and times are never measured."""
    there = set(names)

    def having(*roles: Role) -> tuple[Attribute, ...]:
        return tuple(a for a in study.with_role(*roles) if a.name in there)

    return PartitionView(
        quasi=having(Role.QUASI_IDENTIFIER),
        sensitive=having(Role.SENSITIVE),
        others=having(Role.CLASS, Role.INSENSITIVE),
        unit=RecordUnit(),
    )


def _agreed(study: Study, domains: Mapping[str, Domain], roles: Mapping[str, str]) -> PartitionView:
    """The bundle's attributes as the study declares them; an error if it does not, or declares them otherwise."""
    for name, domain in domains.items():
        declared = study.attributes.get(name)
        if declared is None or declared.domain is None:
            raise StudyError(
                f"the bundle publishes '{name}', and the study '{study.name}' declares no such attribute with a domain",
                "measure it against the study that it was made from",
            )
        if not _same(declared.domain, domain):
            raise StudyError(
                f"the domain of '{name}' in the bundle is not the one that the study '{study.name}' declares",
                "measure it against the study as it was when the bundle was made, or publish again",
            )
        if name in roles and declared.role.value != roles[name]:
            raise StudyError(
                f"the bundle publishes '{name}' as {_words(roles[name])}, and the study '{study.name}' declares it as "
                f"{_words(declared.role.value)}",
                "measure it against the study as it was when the bundle was made, or publish again",
            )
    return attributes_by_role(study, domains)


def _selected(study: Study, told: Mapping[str, Any] | None) -> Selection:
    """The records that a bundle was made from, as its manifest tells."""
    if told is None:
        return EVERYTHING
    found = selected(told["where"] or "", study.attributes)
    if told["span"] is None:
        return found
    start, stop = (dt.date.fromisoformat(day) for day in told["span"])
    time = study.attribute(told["time"])
    return replace(found, span=Span(time.name, start, stop), time=time)


def _same(declared: Domain, published: Domain) -> bool:
    """Whether two domains are the same, apart from who declared them and where raw values stand.

    Where the codes of sets were read off the table, groups of records have categories alone; whether they are sets of
    the declared codes is seen where they are read.
    """
    if isinstance(declared, SetDomain) and isinstance(published, Categories):
        return True
    return _plain(declared) == _plain(published)


def _plain(domain: Domain) -> Domain:
    if isinstance(domain, SetDomain):
        return replace(domain, declared=True, separator=None, columns=())
    return replace(cast("Categories | Grid", domain), declared=True)


def _attribute(view: PartitionView, name: str) -> Attribute:
    return next(a for a in view.attributes if a.name == name)


def _words(role: str) -> str:
    return role.replace("_", " ")


def _names(attributes: Iterable[Attribute]) -> tuple[str, ...]:
    return tuple(a.name for a in attributes)


def _shown_records(release: RecordsRelease, view: PartitionView, sets: Mapping[str, Sets]) -> Shown:
    """The published rows that look alike as one, with the values that stand beside them."""
    records, form = release.records, release.layout.form
    columns = [records.columns[name] for name in _names(view.quasi)]
    group, groups = records.groups()
    buckets = [group] if form != "generalised" else []
    row, first = alike([*buckets, *(column.places.astype(np.int64) for column in columns)], len(records))
    weights = np.bincount(row, minlength=len(first)).astype(np.float64)
    hidden = set(_names(view.sensitive)) if buckets else set()
    values: dict[str, Values] = {}
    for attribute in (*view.sensitive, *view.others):
        name, size = attribute.name, release.domains[attribute.name].size
        pool, pools = (group, groups) if name in hidden else (row, len(first))
        if name in records.tallies:
            tally = records.tallies[name]
            assert records.group is not None, "tallies are by bucket"
            place = np.searchsorted(np.unique(records.group), tally.group)
            counts = _counted(place, tally.codes, tally.counts.astype(np.float64), (pools, size))
        else:
            spans = records.columns[name]
            counts = _counted(pool, spans.starts[spans.places], np.ones(len(records)), (pools, size))
        values[name] = Values(pool[first], counts)
    shown = Shown(
        attributes=_names(view.quasi),
        starts=np.stack([column.starts[column.places[first]] for column in columns], axis=1),
        stops=np.stack([column.stops[column.places[first]] for column in columns], axis=1),
        weights=weights,
        values=values,
        form=form,
        rate=float(Fraction(release.manifest.get("sampled") or 1)),
        suppressed=records.suppressed,
    )
    trees = {name: tree for name in sets if (tree := release.domains[name].taxonomy) is not None}
    return told(shown, view, trees, sets)


def _counted(
    pool: NDArray[np.int64], codes: NDArray[np.int64], counts: NDArray[np.float64], shape: tuple[int, int]
) -> csr_array:
    return csr_array((counts, (pool, codes)), shape=shape)
