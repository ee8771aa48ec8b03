"""Texts that a study declares to mean nothing, read as nothing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import ibis
import ibis.expr.types as ir

from sfumato.domains.dates import BLANKS
from sfumato.tables.duckdb.long_table import is_long_enough, long_table
from sfumato.tables.engine import SourceTable

MARKS: Final = (
    "?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", "#N/A", "-", "--", ".",
    "N.A.", "n.a.", "#NV", "k.A.", "k. A.", "s.d.", "n.d.",
)  # fmt: skip
"""What programs and people write where there is no value. `None` is not among them: tables use it for "not done".

One of them in a column of numbers makes all of it text, so the abbreviations of other languages are among them: of
German, Spanish, French and Italian.
"""

_TOGETHER = 100  # columns looked at by one query, side by side
_BELOW = 400  # and below each other
_NATIONS = 20  # so many codes of two letters with NA among them are countries, and NA is Namibia


def find_missing_tokens(source: SourceTable) -> tuple[str, ...]:
    """Which of the usual marks for a missing value stand alone in a column of text; for the owner's proposal."""
    columns = [name for name, kind in source.table.schema().items() if kind.is_string()]
    if is_long_enough(source, _TOGETHER) and columns:
        return _among(source, _standing_alone(source, columns))
    found: set[str] = set()
    nations: list[str] = []
    for start in range(0, len(columns), _TOGETHER):
        some = columns[start : start + _TOGETHER]
        table = ibis.table(dict.fromkeys(some, "string"), name=source.table.get_name())
        asked = {
            f"m{place}_{number}": (table[name].strip() == mark).any()
            for place, name in enumerate(some)
            for number, mark in enumerate(MARKS)
        }
        answers = source.fetch(table.aggregate(**asked)).to_pylist()[0]
        for place, name in enumerate(some):
            seen = {mark for number, mark in enumerate(MARKS) if answers[f"m{place}_{number}"]}
            nations += [name] if "NA" in seen else []
            found |= seen
    return _among(source, (found, nations))


def _standing_alone(source: SourceTable, columns: Sequence[str]) -> tuple[set[str], list[str]]:
    """The marks that occur in columns laid below each other, and the columns with NA."""
    found: set[str] = set()
    nations: list[str] = []
    for start in range(0, len(columns), _BELOW):
        some = list(enumerate(columns))[start : start + _BELOW]
        table = long_table(source, some, ibis.dtype("string"))
        table = table.select("place", text=table["raw"].strip())
        table = table.filter(table["text"].isin(MARKS)).select("place", "text").distinct()
        for row in source.fetch(table).to_pylist():
            found.add(row["text"])
            nations += [columns[row["place"]]] if row["text"] == "NA" else []
    return found, nations


def _among(source: SourceTable, seen: tuple[set[str], list[str]]) -> tuple[str, ...]:
    """The marks that were seen; NA is none where it is a nation."""
    found, nations = seen
    nation = any(_nations(source, name) for name in nations)
    return tuple(mark for mark in MARKS if mark in found and not (nation and mark == "NA"))


def _nations(source: SourceTable, name: str) -> bool:
    """Whether a column holds codes of two letters, so that NA is one of them."""
    table = ibis.table({name: "string"}, name=source.table.get_name())
    table = table.select(value=table[name].strip())
    table = table.filter(table["value"] != "")
    alike = table["value"].re_search("^[A-Z][A-Z]$").all()
    answer = source.fetch(table.aggregate(codes=table["value"].nunique(), alike=alike)).to_pylist()[0]
    return bool(answer["alike"]) and answer["codes"] >= _NATIONS


def without_marks(column: ir.StringColumn, marks: Sequence[str]) -> ir.StringColumn:
    """A column of text with the marks as missing values."""
    listed = [mark.strip(BLANKS) for mark in marks]
    read: ir.StringColumn = column.strip().isin(listed).ifelse(ibis.null("string"), column)
    return read


def without_missing_tokens(source: SourceTable, marks: Sequence[str]) -> SourceTable:
    """The source with the marks as missing values, in every column of text; blanks around them do not count.

    It looks at one value at a time and at declared texts, so a table with one record more is still a neighbour.
    """
    read = {
        name: without_marks(source.table[name], marks)
        for name, kind in source.table.schema().items()
        if kind.is_string()
    }
    if not read:
        return source
    sql = source.compile(source.table.mutate(**read))
    return replace(
        source, table=ibis.table(source.table.schema(), name=source.session.look(sql, doing=f"reading {source.name}"))
    )
