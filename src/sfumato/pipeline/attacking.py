"""Attacks that are run on bundles, for the owner: who can be found in a release, and what two releases tell together.

Both look at the raw table, to know who is right; nothing of what they find goes into a bundle.
"""

from pathlib import Path
from typing import Any

from sfumato.core.attribute import Attribute
from sfumato.core.counts import Cells
from sfumato.core.partition import PartitionView
from sfumato.core.progress import Progress, silent
from sfumato.core.study import Study
from sfumato.core.unit import RecordUnit
from sfumato.engines import CodedTable, open_source
from sfumato.errors import SourceError, UsageError
from sfumato.measure import Evidence, Intersection, Linkage, intersect, link
from sfumato.pipeline.measuring import Given, evidence_of_bundle, raw_cells


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
    cells = None if known is None else _known(evidence, known, progress, memory_limit)
    progress("looking people up", 0, 1)
    return link(evidence, cells)


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
    found = [
        evidence_of_bundle(study, each, was=was, progress=progress, memory_limit=memory_limit) for each in (one, two)
    ]
    shared = [a.name for a in found[0].protected if a.name in {b.name for b in found[1].protected}]
    if not shared or attribute not in (None, *shared):
        raise UsageError(
            "the two releases have no sensitive attribute in common"
            if not shared
            else f"'{attribute}' is not sensitive in both releases",
            f"name one of: {', '.join(shared)}" if shared else "give two releases of the same sensitive attribute",
        )
    raw = found[0].raw
    if not set(found[1].raw.attributes) <= set(raw.attributes):  # of different purposes: people are known by all of it
        raw = raw_cells(study, _together(*found), progress=progress, memory_limit=memory_limit)
    progress("looking people up in both", 0, 1)
    return intersect(found[0].shown, found[1].shown, raw, attribute=attribute or shared[0], k=k)


def _together(one: Evidence, two: Evidence) -> PartitionView:
    """The attributes of both releases."""

    def either(part: str) -> tuple[Attribute, ...]:
        return tuple({a.name: a for evidence in (one, two) for a in getattr(evidence.view, part)}.values())

    return PartitionView(
        quasi=either("quasi"), sensitive=either("sensitive"), others=either("others"), unit=RecordUnit()
    )


def _known(evidence: Evidence, known: Any, progress: Progress, memory_limit: str | None) -> Cells:
    """A table of people, coded as the study's: its quasi-identifiers, and the sensitive attributes it has."""
    progress("reading the table of known people", 0, 1)
    with open_source(known, base=Path(), memory_limit=memory_limit) as table:
        if missing := [name for name in evidence.shown.attributes if name not in table.columns]:
            raise SourceError(
                f"the table of known people lacks quasi-identifiers of the release: {', '.join(missing)}",
                "give a table with all of them, in columns of the same names",
            )
        protected = [a for a in evidence.protected if a.name in table.columns]
        wanted = [a for a in evidence.view.quasi if a.name in evidence.shown.attributes] + protected
        return CodedTable(table, wanted, unit=RecordUnit()).full_cells([a.name for a in wanted])
