"""Measuring a release against the table it was made from, for the owner's eyes only.

A draft, or a bundle read back as its receiver reads it, becomes a `Shown`; the study's table becomes counts of all its
records. Nothing of this goes into a bundle, and no promise covers it.
"""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.core.attribute import Attribute, Role
from sfumato.core.counts import Cells
from sfumato.core.domain import Categories, Domain, Grid
from sfumato.core.draft import Draft
from sfumato.core.partition import PartitionDraft, PartitionView
from sfumato.core.progress import Progress, silent
from sfumato.core.selection import EVERYTHING, Selection, selected
from sfumato.core.shown import Shown, Values, shown_counts, shown_records
from sfumato.core.span import Span
from sfumato.core.study import Study
from sfumato.core.unit import RecordUnit
from sfumato.core.view import View
from sfumato.engines import CodedTable, SourceTable, open_source
from sfumato.errors import OursError, StudyError, UsageError
from sfumato.measure import MEASURES, Evidence, Measure, Reading, Refused
from sfumato.measure.evidence import alike
from sfumato.models import CappedConfidence, parse_models
from sfumato.pipeline.made import Published
from sfumato.pipeline.set_views import refuse_sets
from sfumato.publish import CountsRelease, RecordsRelease, Release
from sfumato.tailor.view import refuse_uncoded, selection, wanted_by

_ORDER = ("privacy loss", "utility loss", "risk", "utility")
_DOING = "measuring a release against the table"


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


def measuring_view(study: Study, purpose: str | None = None) -> PartitionView:
    """The attributes of a purpose as measures see them; the unit is the record, whatever the study promises about."""
    view = wanted_view(study, purpose)
    refuse_sets(view.attributes, _DOING)
    return view


def wanted_view(study: Study, purpose: str | None = None) -> PartitionView:
    """The same with sets, which no measure can look at."""
    wanted = wanted_by(study, purpose)
    view = _view(study, [a.name for a in study.attributes.values() if wanted is None or a.name in wanted])
    refuse_uncoded(view.attributes)
    return replace(view, selection=selection(study, purpose))


def raw_cells(
    study: Study, view: PartitionView, *, progress: Progress = silent, memory_limit: str | None = None
) -> Cells:
    """All records of the table that fit the domains, counted; also where a release takes a few of each person alone."""
    progress("counting the records", 0, 1)
    with open_source(study.source, base=study.base, memory_limit=memory_limit) as table:
        counted = CodedTable(table, view.attributes, unit=RecordUnit(), selection=view.selection)
        return counted.full_cells([a.name for a in view.attributes])


def both_cells(study: Study, view: PartitionView, table: SourceTable) -> tuple[CodedTable, Cells, Cells]:
    """Who counts the records that drafts are made from, all records, and those that drafts are made from."""
    names = [a.name for a in view.attributes]
    counter = CodedTable(table, view.attributes, unit=study.unit, selection=view.selection)
    cells = counter.full_cells(names)
    if study.unit == view.unit:
        return counter, cells, cells
    every = CodedTable(table, view.attributes, unit=view.unit, selection=view.selection)
    return counter, every.full_cells(names), cells


def evidence_of_draft(
    study: Study,
    purpose: str | None,
    draft: Draft | PartitionDraft,
    cells: Cells | None = None,
    view: PartitionView | None = None,
    *,
    kept: dict[str, Any] | None = None,
    progress: Progress = silent,
) -> Evidence:
    """A draft beside the table.

    Whoever measures several drafts gives them the same ``cells`` (see `raw_cells`), ``view`` and ``kept``, so that the
    table is counted once and its large populations are found once.
    """
    view = view or measuring_view(study, purpose)
    cells = cells or raw_cells(study, view, progress=progress)
    shown = shown_records(draft) if isinstance(draft, PartitionDraft) else shown_counts(draft, _names(view.quasi))
    cap = promised_cap(draft.models) if isinstance(draft, PartitionDraft) else None
    return Evidence(view=view, raw=cells, shown=shown, kept={} if kept is None else kept, cap=cap)


def promised_cap(models: Iterable[object]) -> CappedConfidence | None:
    """The promise among these that says which statistics are public: shares, or rules; None if none does."""
    found = [model for model in models if isinstance(model, CappedConfidence)]
    return next((cap for cap in found if cap.shares), next((cap for cap in found if cap.rules), None))


def evidence_of_bundle(
    study: Study,
    bundle: Given,
    *,
    was: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Evidence:
    """A bundle, read as its receiver reads it, beside the table; over the attributes that the bundle has.

    Attributes, roles and domains decide whether the two fit. That they fit does not make the table the right one: two
    tables may be declared alike. So the name has to agree too, or the owner says what the study was called (``was``).
    Nobody but the owner sees the numbers; a wrong table would only make them wrong.
    """
    progress("reading the release", 0, 1)
    release = opened(bundle)
    cap = None
    if isinstance(release, RecordsRelease):
        told = [one for one in release.manifest["privacy"]["promises"] if one["model"] == CappedConfidence.name]
        cap = promised_cap(model for one in told for model in parse_models({one["model"]: one["parameters"]}))
        roles = {column.name: column.role for column in release.layout.columns}
        view = _agreed(study, release.domains, roles)
        shown = _shown_records(release, view)
    elif isinstance(release, CountsRelease):
        view = _agreed(study, release.domains, {release.layout.class_name: "class"})
        target = study.attribute(release.layout.class_name)
        predictors = tuple(study.attribute(name) for name in release.layout.names)
        draft = Draft(view=View(predictors=predictors, target=target, unit=study.unit), groups=release.groups)
        shown = shown_counts(draft, _names(view.quasi))
    else:
        raise OursError(f"a bundle of the form '{release.form}' cannot be measured")
    _refuse_name(study, str(release.manifest["study"]), was)
    view = replace(view, selection=_selected(study, release.manifest.get("selection")))
    raw = raw_cells(study, view, progress=progress, memory_limit=memory_limit)
    return Evidence(view=view, raw=raw, shown=shown, cap=cap)


def _refuse_name(study: Study, told: str, was: str | None) -> None:
    """Stop at a bundle of a study with another name, unless that is what this one was called."""
    if told not in (study.name, was):
        raise StudyError(
            f"the bundle is of the study '{told}', not of '{was or study.name}'; its attributes and domains are those "
            f"of '{study.name}'",
            f"if '{study.name}' was called '{told}' when the release was made, say so with --was {told} (in Python "
            f"was='{told}'); if not, measure it against the study that it was made from",
        )


def chosen_measures(only: Iterable[str | Measure] | None = None) -> list[Measure]:
    """Measures by name or with parameters of their own, or all registered ones: losses first, then risk and utility."""
    if only is None:
        kinds = sorted(MEASURES.values(), key=lambda kind: (_ORDER.index(kind.kind), kind.name))
        return [kind() for kind in kinds]
    return [MEASURES[one]() if isinstance(one, str) else one for one in ([only] if isinstance(only, str) else only)]


def measure(
    evidence: Evidence, only: Iterable[str | Measure] | None = None, *, progress: Progress = silent
) -> dict[str, Reading | Refused]:
    """What each measure says of a release, by name; one that does not apply says why. For the owner only."""
    measures = chosen_measures(only)
    found: dict[str, Reading | Refused] = {}
    for done, one in enumerate(measures):
        progress(f"measuring {one.name}", done, len(measures))
        reason = one.refuses(evidence)
        found[one.name] = one.read(evidence) if reason is None else Refused(reason=reason)
    return found


def measure_release(
    study: Study,
    release: Given,
    only: Iterable[str | Measure] | None = None,
    *,
    was: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> dict[str, Reading | Refused]:
    """Measure a bundle against the study's table. For the owner only: no promise covers what comes out."""
    wanted = None if only is None else chosen_measures(only)  # an unknown name fails before anything is read
    evidence = evidence_of_bundle(study, release, was=was, progress=progress, memory_limit=memory_limit)
    return measure(evidence, wanted, progress=progress)


def _agreed(study: Study, domains: Mapping[str, Domain], roles: Mapping[str, str]) -> PartitionView:
    """The bundle's attributes as the study declares them; an error if it does not, or declares them otherwise."""
    refuse_sets([a for name, a in study.attributes.items() if name in domains], _DOING)
    for name, domain in domains.items():
        declared = study.attributes.get(name)
        if declared is None or declared.domain is None:
            raise StudyError(
                f"the bundle publishes '{name}', and the study '{study.name}' declares no such attribute with a domain",
                "measure it against the study that it was made from",
            )
        if _plain(declared.domain) != _plain(domain):
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
    return _view(study, domains)


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


def _view(study: Study, names: Iterable[str]) -> PartitionView:
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


def _plain(domain: Domain) -> Domain:
    """A domain apart from who declared it."""
    return replace(cast("Categories | Grid", domain), declared=True)


def _words(role: str) -> str:
    return role.replace("_", " ")


def _names(attributes: Iterable[Attribute]) -> tuple[str, ...]:
    return tuple(a.name for a in attributes)


def _shown_records(release: RecordsRelease, view: PartitionView) -> Shown:
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
        name, size = attribute.name, view.domain(attribute.name).size
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
    return Shown(
        attributes=_names(view.quasi),
        starts=np.stack([column.starts[column.places[first]] for column in columns], axis=1),
        stops=np.stack([column.stops[column.places[first]] for column in columns], axis=1),
        weights=weights,
        values=values,
        form=form,
        rate=float(Fraction(release.manifest.get("sampled") or 1)),
        suppressed=records.suppressed,
    )


def _counted(
    pool: NDArray[np.int64], codes: NDArray[np.int64], counts: NDArray[np.float64], shape: tuple[int, int]
) -> csr_array:
    return csr_array((counts, (pool, codes)), shape=shape)
