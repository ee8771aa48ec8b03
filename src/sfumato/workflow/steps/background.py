"""What the public knows that a release is compared with: shares of values, or the people of a population."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import SourceError, StudyError
from sfumato.privacy.groups.shares import shares_of_counts
from sfumato.privacy.models import GroupModel, population_names
from sfumato.study.attribute import Attribute
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, SourceTable, collecting, open_source, read_people

M = TypeVar("M")
Shares = dict[str, dict[str, Any]]  # attribute -> value, node or interval -> share

_COLUMNS = ("attribute", "value", "share")
_MOST = 1_000_000  # lines of a file of shares


def with_population(method: M, study: Study, view: View, *, memory_limit: str | None = None) -> M:
    """The same method with the shares themselves in place of the name of a file; others are left as they are.

    A file with the columns `attribute, value, share` gives shares; any other table is taken for one of people, and the
    columns that it has in common with the release are counted. The shares are published in the manifest: they have to
    be public, or at least not secret.
    """
    named = population_file(method)
    return (
        method
        if named is None
        else with_shares(method, population_shares(named, study, view, memory_limit=memory_limit), view)
    )


def population_file(method: object) -> str | None:
    """The file of public statistics that a method names; None if it names none."""
    named = getattr(method, "population", None)
    return named if isinstance(named, str) else None


def population_shares(named: str, study: Study, view: View, *, memory_limit: str | None = None) -> Shares:
    """What such a file says of the attributes of a release."""
    with open_source(named, base=study.base, memory_limit=memory_limit) as table:
        quasi = [a for a in (*view.quasi, *view.sensitive) if not isinstance(study.attribute(a.name).domain, SetDomain)]
        return _read_shares(table) if set(table.columns) == set(_COLUMNS) else _count_shares(table, view, quasi)


def with_shares(method: M, shares: Shares, view: View) -> M:
    """The method with the shares in place of the name of their file."""
    asked: Any = method
    made: M = replace(asked, population=shares)
    made.check(view)  # type: ignore[attr-defined] # a method has one
    return made


def with_people(models: Iterable[GroupModel], study: Study, view: View, *, memory_limit: str | None = None) -> View:
    """The view with the population that a privacy model compares with, if one does."""
    named = population_names(models)
    if not named:
        return view
    people = read_people(named[0], view.quasi, view.selection, base=study.base, memory_limit=memory_limit)
    return replace(view, people=people)


def _read_shares(table: SourceTable) -> dict[str, dict[str, str]]:
    """The shares of a file, as they are typed."""
    rows = table.table
    texts = rows.select(**{name: rows[name].cast("string") for name in _COLUMNS})
    found = table.fetch(texts.limit(_MOST + 1))
    if len(found) > _MOST:
        raise SourceError(
            f"{table.name} has more than {_MOST:,} lines",
            "give shares of nodes or intervals instead",
            code="SF-SOURCE-042",
        )
    shares: dict[str, dict[str, str]] = {}
    for name, value, share in zip(*(found[column].to_pylist() for column in _COLUMNS), strict=True):
        if name is None or value is None or share is None:
            raise SourceError(
                f"{table.name} has a line without attribute, value or share",
                "complete the line, or delete it",
                code="SF-SOURCE-043",
            )
        if value in shares.setdefault(name, {}):
            raise StudyError(
                f"{table.name} gives the share of '{value[:60]}' of '{name[:60]}' twice",
                "give it once",
                code="SF-STUDY-219",
            )
        shares[name][value] = share
    return shares


def _count_shares(table: SourceTable, view: View, asked: Sequence[Attribute]) -> dict[str, dict[str, Any]]:
    """The shares of a table of people; whom the domains leave out is not counted, and sets are not."""
    both = [a for a in asked if a.name in table.columns]
    if not both:
        raise SourceError(
            f"{table.name} has no column of the release",
            f"name a table with some of: {', '.join(a.name for a in asked)}; or one with "
            f"the columns {', '.join(_COLUMNS)}",
            code="SF-SOURCE-044",
        )
    counter = CodedTable(table, both)
    found = {}
    for attribute in both:
        with collecting("for shares of a population, its values are counted"):
            cells = counter.full_cells([attribute.name])
        if not len(cells):
            raise SourceError(
                f"{table.name} has no record within the study's domains",
                "check its values and the domains",
                code="SF-SOURCE-045",
            )
        found[attribute.name] = shares_of_counts(
            view.domain(attribute.name), np.asarray(cells.codes[:, 0]), cells.counts
        )
    return found
