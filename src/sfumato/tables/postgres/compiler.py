"""Ibis's words for PostgreSQL, with the casts and patterns that differ.

Ibis compiles `try_cast` to a plain CAST here, which fails on the first text that is no number and quotes it. In this
compiler a text is looked at before it is cast, so that no value of a record can make a query fail. What is a number and
what is a day is decided as `domains.domain` decides it.
"""

import re
from typing import Any, ClassVar, Final

import ibis.expr.operations as ops
import ibis.expr.types as ir
import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.postgres import PostgresCompiler

from sfumato.domains.dates import BLANKS
from sfumato.errors import InternalError

LONGEST: Final = 6_000
"""Characters of a text that may be a number. A longer one is missing.

The server's decimals have room for 16,383 digits behind the point: for these, moved by an exponent of four digits.
"""

_WRITTEN: Final = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_SHORT: Final = (
    r"^[+-]?([0-9]{1,15}(\.[0-9]{0,15})?|\.[0-9]{1,15})$"  # nothing that is written so is too large or small
)
_SMALL_EXPONENT: Final = r"^[^eE]*([eE][+-]?0*[0-9]{1,4})?$"
_NONZERO: Final = r"^[+-]?[0.]*[1-9]"
_INFINITE: Final = r"^[+-]?(inf|infinity)$"
_DAY: Final = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"
# From here on numbers are taken for infinity, and up to here for zero. The last digit is rounded to the safe side: the
# server fails on a number that it would have to round so. No grid tells the numbers between apart.
_LARGEST: Final = "1.7976931348623158e308"
_SMALLEST: Final = "2.4703282292062328e-324"


class GuardedCompiler(PostgresCompiler):  # type: ignore[misc]
    """The compiler of Ibis, but for reading texts."""

    __slots__ = ()

    SIMPLE_OPS: ClassVar[dict[Any, str]] = {}  # those of the class above would replace the visitors below

    def visit_TryCast(self, op: Any, *, arg: Any, to: Any) -> Any:  # noqa: N802 - Ibis names visitors by operations
        """A text as a number or a day, or null."""
        if not op.arg.dtype.is_string():
            raise InternalError(f"a column of type {op.arg.dtype} was to be read as {to}")
        text = arg.sql(self.dialect)
        if to.is_floating():
            return _parsed(_number(text))
        if to.is_date():
            return _parsed(_day(text))
        raise InternalError(f"text was to be read as {to}")

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:  # noqa: N802
        """Truth values as numbers, which the server gives for whole numbers alone."""
        if op.arg.dtype.is_boolean() and to.is_floating():
            arg = sge.Cast(this=arg, to=sge.DataType.build("int"))
        return super().visit_Cast(op, arg=arg, to=to)

    def visit_DateDelta(self, op: Any, *, part: Any, left: Any, right: Any) -> Any:  # noqa: N802
        """Days between dates; by way of times of day, as Ibis writes it, late years have none."""
        if op.part.value != "day":
            raise InternalError("dates were to be compared by something else than days")
        del part
        days = sge.Paren(this=sge.Sub(this=sg.cast(left, "date"), expression=sg.cast(right, "date")))
        return sg.cast(days, "bigint")

    def visit_Limit(self, op: Any, *, parent: Any, n: Any, offset: Any) -> Any:  # noqa: N802
        """No limit is a fence: the server computes what is below once, however often it is used above."""
        found = super().visit_Limit(op, parent=parent, n=n, offset=offset)
        if op.n is None and op.offset == 0:
            (found.this if isinstance(found, sge.Subquery) else found).offset(0, copy=False)
        return found

    def visit_RegexSearch(self, op: Any, *, arg: Any, pattern: Any) -> Any:  # noqa: N802
        """A pattern in the server's notation."""
        return sge.RegexpLike(this=arg, expression=self._translated(op, pattern))

    def visit_RegexExtract(self, op: Any, *, arg: Any, pattern: Any, index: Any) -> Any:  # noqa: N802
        """A group of a pattern, or null where the pattern does not match; the server counts groups from one."""
        if not isinstance(op.index, ops.Literal) or op.index.value < 1:
            raise InternalError("a group of a pattern is named by a number from 1 on")
        del index
        found = sge.Paren(this=sge.Anonymous(this="REGEXP_MATCH", expressions=[arg, self._translated(op, pattern)]))
        return _parsed(f"{found.sql(self.dialect)}[{op.index.value}]")

    def _translated(self, op: Any, pattern: Any) -> Any:
        if not isinstance(op.pattern, ops.Literal):
            raise InternalError("a pattern is not known before the query runs")
        del pattern
        return sge.Literal.string(server_pattern(op.pattern.value))


COMPILER: Final = GuardedCompiler()


def compile_guarded(expression: ir.Table) -> str:
    """The expression as SQL of PostgreSQL."""
    return str(COMPILER.to_sqlglot(expression.unbind()).sql(dialect=COMPILER.dialect))


def server_pattern(pattern: str) -> str:
    r"""A pattern of ours as the server reads it: characters by number are written otherwise.

    >>> print(server_pattern(r"[\x1c-\x20\x{85}]"))
    [\u001c-\u0020\u0085]
    """
    return re.sub(r"\\x(?:\{([0-9a-f]{1,4})\}|([0-9a-f]{2}))", lambda m: f"\\u{int(m[1] or m[2], 16):04x}", pattern)


def _parsed(sql: str) -> Any:
    return sg.parse_one(sql, dialect="postgres")


def _number(text: str) -> str:
    """A text as a number, null where it is none.

    The server refuses to round to infinity or to zero, so both are decided on exact decimals first. An exponent of five
    digits leaves nothing to decide: the longest number that is read here has fewer digits than it moves the point.
    """
    exact = "ABS(CAST(x AS NUMERIC))"
    infinite = "CAST(CASE WHEN x LIKE '-%' THEN '-Infinity' ELSE 'Infinity' END AS DOUBLE PRECISION)"
    zero = "CAST('0' AS DOUBLE PRECISION)"
    near = (
        f"CASE WHEN {exact} >= CAST('{_LARGEST}' AS NUMERIC) THEN {infinite} "
        f"WHEN {exact} <= CAST('{_SMALLEST}' AS NUMERIC) THEN {zero} ELSE CAST(x AS DOUBLE PRECISION) END"
    )
    far = f"CASE WHEN x ~ '[eE]-' OR NOT x ~ '{_NONZERO}' THEN {zero} ELSE {infinite} END"
    case = (
        f"CASE WHEN x ~ '{_SHORT}' THEN CAST(x AS DOUBLE PRECISION) "
        f"WHEN LENGTH(x) > {LONGEST} THEN NULL "
        f"WHEN x ~ '{_WRITTEN}' THEN CASE WHEN x ~ '{_SMALL_EXPONENT}' THEN {near} ELSE {far} END "
        f"WHEN LOWER(x) ~ '{_INFINITE}' THEN {infinite} END"
    )
    return _read_by(case, f"BTRIM({text}, {_blanks()})")


def _day(text: str) -> str:
    """A text such as 2004-02-29 as a date, null where there is no such day."""
    month = "CAST(SUBSTR(x, 1, 7) || '-01' AS DATE)"
    last = f"EXTRACT(DAY FROM {month} + INTERVAL '1 month' - INTERVAL '1 day')"
    case = (
        f"CASE WHEN x ~ '{_DAY}' AND NOT x LIKE '0000%' THEN "
        f"CASE WHEN CAST(SUBSTR(x, 9, 2) AS INT) <= {last} THEN CAST(x AS DATE) END END"
    )
    return _read_by(case, text)


def _read_by(case: str, text: str) -> str:
    """A case about ``x``, which is a text that Ibis wrote; named once, since the case needs it many times."""
    return f"(SELECT {case} FROM (SELECT {text} AS x) AS read)"  # noqa: S608


def _blanks() -> str:
    return " || ".join(f"CHR({ord(blank)})" for blank in BLANKS)
