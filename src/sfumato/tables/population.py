"""The people of a population, counted by what others may know of them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sfumato.domains.counts import Cells
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import SourceError, StudyError
from sfumato.memory_limit import collecting
from sfumato.study.attribute import Attribute, InvalidValuePolicy
from sfumato.study.selection import Selection
from sfumato.tables.coded import CodedTable
from sfumato.tables.open_table import open_source

_WHY = "for the population that a privacy model compares with, people are counted in the regions of the release"


def read_people(
    name: str,
    attributes: Sequence[Attribute],
    selection: Selection,
    *,
    base: Path | None = None,
    memory_limit: str | None = None,
) -> Cells:
    """How many people of a table have each combination of values; a row of the table is a person.

    People are told apart as records are. Who has a value that no record could have been published with (a number
    outside its bounds, a category that the domain has no place for) lives in no region and is left out: were those
    people counted, a region at the edge would seem to have more people, and a smaller share of them, than it has. Where
    only some records of the study take part (`where`), everybody knows that, so only people of whom the same is true
    are counted; a span of time says nothing about who people are.
    """
    if any(isinstance(a.domain, SetDomain) for a in attributes):
        raise StudyError(
            "a privacy model compares with the people of a population, and sets of codes have no region to count them "
            "in",
            "leave the set out of the purpose, or the privacy model out of the release",
            code="SF-STUDY-207",
        )
    chosen = replace(selection, span=None, time=None)
    with open_source(name, base=base, memory_limit=memory_limit) as table, collecting(_WHY):
        asked = dict.fromkeys([*(a.name for a in attributes), *(a.name for a in chosen.attributes)])
        lacking = [column for column in asked if column not in table.columns]
        if lacking:
            raise SourceError(
                f"the population {table.name} has no column {', '.join(map(repr, lacking))}",
                "name a table of people with every quasi-identifier of the release, and what its `where` looks at",
                code="SF-SOURCE-036",
            )
        known = [
            replace(a, missing=InvalidValuePolicy.SUPPRESS, outside=InvalidValuePolicy.SUPPRESS, at_least=None)
            for a in attributes
        ]
        found = CodedTable(table, known, selection=chosen).full_cells([a.name for a in attributes])
        if not len(found):
            raise SourceError(
                f"the population {table.name} has no person whose values fit the study",
                "check its values",
                code="SF-SOURCE-037",
            )
    return found
