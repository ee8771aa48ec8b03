"""Texts that a study declares to mean nothing, read as nothing."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import ibis

from sfumato.core.dates import BLANKS
from sfumato.engines.duck_session import DuckSession, identifier, text
from sfumato.engines.engine import SourceTable
from sfumato.errors import OursError

_BLANKS: Final = " || ".join(f"chr({ord(blank)})" for blank in BLANKS)


def without_marks(source: SourceTable, marks: Sequence[str]) -> SourceTable:
    """The source with the marks as missing values, in every column of text; blanks around them do not count.

    It looks at one value at a time and at declared texts, so a table with one record more is still a neighbour.
    """
    if not isinstance(source.session, DuckSession):
        raise OursError("marks of missing values were asked of an engine that cannot read them")
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
