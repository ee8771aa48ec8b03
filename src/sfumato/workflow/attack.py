"""Attacks on bundles, for the owner: linkage of people to a release, and intersection of two releases.

Both look at the raw table, to know who is right; nothing of what they find goes into a bundle.
"""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import SourceError, UsageError
from sfumato.evaluate.carried_risk import CarriedRisk, carried_risk
from sfumato.evaluate.evidence import Evidence, protected
from sfumato.evaluate.foreign import foreign_table
from sfumato.evaluate.intersection import Intersection, intersect
from sfumato.evaluate.measures import Linkage, link
from sfumato.evaluate.table_records import TableRecords, table_records
from sfumato.progress import Progress, silent
from sfumato.study.attribute import Attribute
from sfumato.study.study import Study
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from sfumato.tables import CodedTable, collecting, open_source
from sfumato.workflow.evaluate import evidence_of_bundle, evidence_of_table, raw_records
from sfumato.workflow.reading.read_bundle import Given, read_manifest


def attack_link(
    study: Study,
    release: Given,
    *,
    known: Any = None,
    was: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Linkage:
    """Look up people in a bundle by their quasi-identifiers: those of the table ``known``, or all of the study's."""
    evidence = evidence_of_bundle(study, release, was=was, progress=progress, memory_limit=memory_limit)
    people = None if known is None else _known(evidence, known, progress, memory_limit)
    progress("looking people up", 0, 1)
    return link(evidence) if people is None else link(evidence, people.cells, people.sets)


def attack_attributes(
    study: Study,
    release: Given,
    *,
    was: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> CarriedRisk:
    """Look up everybody of the study's table in a bundle, by all quasi-identifiers and by all but one."""
    evidence = evidence_of_bundle(study, release, was=was, progress=progress, memory_limit=memory_limit)
    progress("looking people up without each quasi-identifier", 0, 1)
    return carried_risk(evidence)


def attack_table(
    study: Study,
    table: Any,
    *,
    known: Any = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Linkage:
    """Look up people in a table of records that another tool published; rows that belong to nobody are refused."""
    if foreign_table(table).synthetic:
        raise UsageError(
            "the rows of the table are synthetic: there is no record to link anybody to",
            "measure `guessed-values`, which asks what the rows tell about people",
            code="SF-USAGE-354",
        )
    evidence, _ = evidence_of_table(study, table, progress=progress, memory_limit=memory_limit)
    people = None if known is None else _known(evidence, known, progress, memory_limit)
    progress("looking people up", 0, 1)
    return link(evidence) if people is None else link(evidence, people.cells, people.sets)


def attack_intersect(
    study: Study,
    one: Given,
    two: Given,
    *,
    k: int = 5,
    attribute: str | None = None,
    was: str | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Intersection:
    """Look up everybody in two bundles of records of one study, and keep what both allow.

    The sensitive ``attribute`` is one that both publish; by default the first of them.
    """
    progress("reading the releases", 0, 1)
    stated = [read_manifest(study, each, was=was) for each in (one, two)]
    shared = [a.name for a in protected(stated[0].view) if a.name in {b.name for b in protected(stated[1].view)}]
    if not shared or attribute not in (None, *shared):
        raise UsageError(
            "the two releases have no sensitive attribute in common"
            if not shared
            else f"'{attribute}' is not sensitive in both releases",
            f"name one of: {', '.join(shared)}" if shared else "give two releases of the same sensitive attribute",
            code="SF-USAGE-078",
        )
    view, other = (each.view for each in stated)
    if not {a.name for a in other.attributes} <= {a.name for a in view.attributes}:
        view = _union_view(view, other)  # of different purposes: people are known by all of it
    private = all(each.private for each in stated)
    raw = raw_records(study, view, progress=progress, memory_limit=memory_limit, private=private)
    progress("looking people up in both", 0, 1)
    first, second = (each.read(memory_limit=memory_limit).to_evidence(raw).shown for each in stated)
    return intersect(first, second, raw.cells, attribute=attribute or shared[0], k=k, sets=raw.sets)


def _union_view(one: View, two: View) -> View:
    """The attributes of both releases."""

    def either(part: str) -> tuple[Attribute, ...]:
        return tuple({a.name: a for view in (one, two) for a in getattr(view, part)}.values())

    return View(quasi=either("quasi"), sensitive=either("sensitive"), others=either("others"), unit=RecordUnit())


def _known(evidence: Evidence, known: Any, progress: Progress, memory_limit: str | None) -> TableRecords:
    """A table of people, coded as the study's: its quasi-identifiers, and the sensitive attributes it has.

    Sets may stand in it as they do in the study's table, or in one column of their name, with their separator.
    """
    progress("reading the table of known people", 0, 1)
    with open_source(known, base=Path(), memory_limit=memory_limit) as table:
        quasi = [_as_found(a, table.columns) for a in evidence.view.quasi if a.name in evidence.shown.attributes]
        lacking = [column for a in quasi for column in a.columns if column not in table.columns]
        if lacking:
            raise SourceError(
                f"the table of known people lacks quasi-identifiers of the release: {', '.join(lacking)}",
                "give a table with all of them, in columns with the same names",
                code="SF-SOURCE-040",
            )
        beside = [_as_found(a, table.columns) for a in evidence.protected]
        wanted = (*quasi, *(a for a in beside if set(a.columns) <= set(table.columns)))
        view = View(quasi=wanted, sensitive=(), others=(), unit=RecordUnit())
        counter = CodedTable(table, wanted, unit=RecordUnit())
        with collecting("for a table of known people, each of them is looked for in the release"):
            return table_records(view, counter.full_cells([a.name for a in wanted]), counter.sets)


def _as_found(attribute: Attribute, columns: Collection[str]) -> Attribute:
    """The attribute as a table has it: a set that is joined from columns may stand in one of its own name."""
    domain = attribute.domain
    if isinstance(domain, SetDomain) and domain.columns and attribute.name in columns:
        return replace(attribute, domain=replace(domain, columns=(), separator=domain.writes))
    return attribute
