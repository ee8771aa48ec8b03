"""Texts that a study declares to mean nothing, read as nothing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import ibis

from sfumato.domains.dates import BLANKS
from sfumato.errors import InternalError
from sfumato.tables.duckdb.session import DuckSession, identifier, text
from sfumato.tables.engine import SourceTable

_BLANKS: Final = " || ".join(f"chr({ord(blank)})" for blank in BLANKS)


MARKS: Final = ("?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "#N/A", "-", "--", ".")
"""What programs and people write where there is no value. `None` is not among them: tables use it for "not done"."""

_TOGETHER = 100  # columns looked at by one query
_NATIONS = 20  # so many codes of two letters with NA among them are countries, and NA is Namibia


def find_missing_tokens(source: SourceTable) -> tuple[str, ...]:
    """Which of the usual marks for a missing value stand alone in a column of text; for the owner's proposal."""
    columns = [name for name, kind in source.table.schema().items() if kind.is_string()]
    view, listed = identifier(source.table.get_name()), ", ".join(text(mark) for mark in MARKS)
    found: set[str] = set()
    nations: list[str] = []
    for start in range(0, len(columns), _TOGETHER):
        asked = []
        for place, name in enumerate(columns[start : start + _TOGETHER]):
            value = f"trim({identifier(name)}, {_BLANKS})"
            asked.append(f"list(DISTINCT {value}) FILTER ({value} IN ({listed})) AS m{place}")
        sql = f"SELECT {', '.join(asked)} FROM {view}"  # noqa: S608 - names and texts are quoted
        answers = source.session.fetch(sql, doing=f"reading {source.name}").to_pylist()[0]
        for place, name in enumerate(columns[start : start + _TOGETHER]):
            seen = set(answers[f"m{place}"] or ())
            nations += [name] if "NA" in seen else []
            found |= seen
    if any(_nations(source, name) for name in nations):
        found.discard("NA")
    return tuple(mark for mark in MARKS if mark in found)


def _nations(source: SourceTable, name: str) -> bool:
    """Whether a column holds codes of two letters, so that NA is one of them."""
    value = f"trim({identifier(name)}, {_BLANKS})"
    sql = (
        f"SELECT count(DISTINCT {value}) AS codes, bool_and(regexp_full_match({value}, '[A-Z]{{2}}')) AS alike "  # noqa: S608
        f"FROM {identifier(source.table.get_name())} WHERE {value} <> ''"
    )
    answer = source.session.fetch(sql, doing=f"reading {source.name}").to_pylist()[0]
    return bool(answer["alike"]) and answer["codes"] >= _NATIONS


def without_missing_tokens(source: SourceTable, marks: Sequence[str]) -> SourceTable:
    """The source with the marks as missing values, in every column of text; blanks around them do not count.

    It looks at one value at a time and at declared texts, so a table with one record more is still a neighbour.
    """
    if not isinstance(source.session, DuckSession):
        raise InternalError("marks of missing values were asked of an engine that cannot read them")
    columns = [name for name, kind in source.table.schema().items() if kind.is_string()]
    if not columns:
        return source
    listed = ", ".join(text(mark.strip(BLANKS)) for mark in marks)
    read = [
        f"CASE WHEN trim({identifier(name)}, {_BLANKS}) IN ({listed}) THEN NULL ELSE {identifier(name)} END "
        f"AS {identifier(name)}"
        for name in columns
    ]
    view = identifier(source.table.get_name())
    sql = f"SELECT * REPLACE ({', '.join(read)}) FROM {view}"  # noqa: S608 - names and texts are quoted
    seen = source.session.look(sql, doing=f"reading {source.name}")
    return replace(source, table=ibis.table(source.table.schema(), name=seen))
