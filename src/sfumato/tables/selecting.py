"""Selecting records in the engine: a filter that looks at one record at a time, by the same codes that are counted."""

import ibis
import ibis.expr.types as ir

from sfumato.domains.domain import Grid
from sfumato.domains.query.condition import Condition, Leaf
from sfumato.errors import InternalError
from sfumato.study.selection import Selection
from sfumato.tables.coding import NO, as_day, code_column

_YES = ~NO


def select_records(table: ir.Table, selection: Selection) -> ir.Table:
    """The records of a table that are selected.

    A span looks at the day itself, not at its code: a day beyond the declared bounds is not moved into the span.
    """
    if selection.span is not None:
        time = selection.time
        if time is None or not isinstance(time.domain, Grid):
            raise InternalError("a span without its time")
        day = as_day(table[time.name], time.domain.formats)
        inside = (day >= selection.span.start.toordinal()) & (day < selection.span.stop.toordinal())
        table = table.filter(inside.fill_null(False))  # noqa: FBT003 - no day, no span
    if selection.condition is not None:
        codes = {a.name: code_column(a, table[a.name]).code for a in selection.attributes}
        table = table.filter(_holds(selection.condition, codes))
    return table


def _holds(condition: Condition, codes: dict[str, ir.IntegerColumn]) -> ir.BooleanValue:
    """A condition as an expression; never null, since a code never is."""
    if isinstance(condition, Leaf):
        code = codes[condition.attribute]
        return _balanced([_within(code, start, stop) for start, stop in condition.codes.ranges], every=False)
    return _balanced([_holds(part, codes) for part in condition.parts], every=condition.every)


def _within(code: ir.IntegerColumn, start: int, stop: int) -> ir.BooleanValue:
    return code == ibis.literal(start) if stop == start + 1 else (code >= start) & (code < stop)


def _balanced(parts: list[ir.BooleanValue], *, every: bool) -> ir.BooleanValue:
    """All of the parts, or one of them; halved again and again, so that thousands are not nested thousands deep."""
    if not parts:
        return _YES if every else NO
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    first, second = _balanced(parts[:middle], every=every), _balanced(parts[middle:], every=every)
    return first & second if every else first | second
