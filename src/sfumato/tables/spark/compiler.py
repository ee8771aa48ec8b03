"""Ibis's words for Spark, with the casts, patterns and texts that differ.

A text is looked at before it is cast, so that no value of a record can make a query fail. What is a number and what is
a day is decided as `domains.domain` decides it: Java also reads ``1d``, ``0x1p3`` and days of the year 99999.
"""

import re
from typing import Any, ClassVar, Final

import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.types as ir
import sqlglot as sg
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.base import SQLGlotCompiler
from ibis.backends.sql.compilers.pyspark import PySparkCompiler

from sfumato.domains.dates import BLANKS
from sfumato.errors import InternalError

# Digits in one way only: with `[0-9]+\.?[0-9]*` Java tries every place to divide them, minutes for 100,000 digits.
_NUMBER: Final = r"^[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf|infinity))$"
_DAY: Final = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_BY_NUMBER: Final = frozenset("\a\v\f\x00\x1a")  # letters that Spark reads otherwise than sqlglot writes them


class SparkCompiler(PySparkCompiler):  # type: ignore[misc]
    """The compiler of Ibis, but for reading and writing texts; it needs no session, and no NaN is left to look for."""

    __slots__ = ()

    SIMPLE_OPS: ClassVar[dict[Any, str]] = {}  # those of the class above would replace the visitors below

    def visit_Field(self, op: Any, *, rel: Any, name: Any) -> Any:  # noqa: N802 - Ibis names visitors by operations
        """A column as it is: NaN became null where the table was opened."""
        return SQLGlotCompiler.visit_Field(self, op, rel=rel, name=name)

    def visit_NonNullLiteral(self, op: Any, *, value: Any, dtype: Any) -> Any:  # noqa: N802
        """A number as it is; a text so that Spark reads the same letters."""
        if dtype.is_floating():
            return SQLGlotCompiler.visit_NonNullLiteral(self, op, value=value, dtype=dtype)
        if dtype.is_string():
            return spark_text(value)
        return super().visit_NonNullLiteral(op, value=value, dtype=dtype)

    def visit_IsNull(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """Null alone, as with other engines."""
        return SQLGlotCompiler.visit_IsNull(self, op, arg=arg)

    def visit_NotNull(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """Null alone, as with other engines."""
        return SQLGlotCompiler.visit_NotNull(self, op, arg=arg)

    def visit_Strip(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """The blanks that Python takes off."""
        del op
        return self.f.anon.btrim(arg, spark_text(BLANKS))

    def visit_StringSplit(self, op: Any, *, arg: Any, delimiter: Any) -> Any:  # noqa: N802
        """The parts of a text; Spark takes what stands between them for a pattern."""
        del delimiter
        return self.f.anon.split(arg, spark_text(re.escape(_literal(op.delimiter))))

    def visit_RegexSearch(self, op: Any, *, arg: Any, pattern: Any) -> Any:  # noqa: N802
        """A pattern in Java's notation."""
        del pattern
        return sge.RegexpLike(this=arg, expression=spark_text(java_pattern(_literal(op.pattern))))

    def visit_RegexExtract(self, op: Any, *, arg: Any, pattern: Any, index: Any) -> Any:  # noqa: N802
        """A group of a pattern."""
        del pattern
        return self.f.anon.regexp_extract(arg, spark_text(java_pattern(_literal(op.pattern))), index)

    def visit_ScalarUDF(self, op: Any, **kwargs: Any) -> Any:  # noqa: N802
        """What the clocks of UTC show is what the session shows, which is set to UTC."""
        if op.__func_name__ == "timezone":
            return sg.cast(kwargs["moment"], sge.DataType.build("TIMESTAMP_NTZ", dialect="spark"))
        return super().visit_ScalarUDF(op, **kwargs)

    def visit_ArrayCollect(  # noqa: N802
        self, op: Any, *, arg: Any, where: Any, order_by: Any, include_null: Any, distinct: Any
    ) -> Any:
        """The values of a column, in their own order where one is asked for; Spark sorts the list that it made."""
        if any(key.arg != op.arg or not key.ascending for key in op.order_by):
            raise InternalError("values were to be collected in the order of something else")
        found = super().visit_ArrayCollect(
            op, arg=arg, where=where, order_by=(), include_null=include_null, distinct=distinct
        )
        return self.f.anon.sort_array(found) if order_by else found

    def visit_DateDelta(self, op: Any, *, left: Any, right: Any, part: Any) -> Any:  # noqa: N802
        """Days between two days, in 64 bits: Spark's DATEDIFF goes by microseconds, and fails in the year 294248."""
        del part
        if op.part.value != "day":
            raise InternalError("days are counted, and nothing else")
        first, last = (sg.cast(self.f.anon.unix_date(day), sge.DataType.Type.BIGINT) for day in (right, left))
        return sge.Paren(this=sge.Sub(this=last, expression=first))

    def visit_TryCast(self, op: Any, *, arg: Any, to: Any) -> Any:  # noqa: N802
        """A text as a number or a day, or null."""
        if not op.arg.dtype.is_string():
            raise InternalError(f"a column of type {op.arg.dtype} was to be read as {to}")
        if to.is_floating():
            return self._read(self.f.anon.btrim(arg, spark_text(BLANKS)), _NUMBER, dt.float64)
        if to.is_date():
            return self._read(arg, _DAY, dt.date)
        raise InternalError(f"text was to be read as {to}")

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:  # noqa: N802
        """Numbers and times become the text that other engines make of them."""
        kind = op.arg.dtype
        if to.is_string() and kind.is_floating():
            return self._number_text(arg)
        if to.is_string() and isinstance(kind, dt.Timestamp) and kind.timezone is not None:
            return self.f.concat(sg.cast(arg, "string"), sge.convert("+00"))
        return super().visit_Cast(op, arg=arg, to=to)

    def _read(self, text: Any, pattern: str, to: Any) -> Any:
        fits = sge.RegexpLike(this=text, expression=spark_text(java_pattern(pattern)))
        return self.if_(fits, sge.TryCast(this=text.copy(), to=self.type_mapper.from_ibis(to)), sge.Null())

    def _number_text(self, number: Any) -> Any:
        """A float as Python writes it: Java writes 12345678.5 as 1.23456785E7, and 0.0005 as 5.0E-4."""
        java = f"CAST({number.sql(self.dialect)} AS STRING)"
        size = f"ABS({number.sql(self.dialect)})"
        plain = f"RTRIM('0', CAST(CAST({java} AS DECIMAL(38, 21)) AS STRING))"
        whole = f"RPAD({plain}, GREATEST(LENGTH({plain}), INSTR({plain}, '.') + 1), '0')"  # 1e15 is 1000000000000000.0
        mantissa = f"REGEXP_REPLACE(SPLIT_PART({java}, 'E', 1), '\\\\.0$', '')"
        exponent = f"CAST(SPLIT_PART({java}, 'E', 2) AS INT)"
        sign = f"CASE WHEN {exponent} < 0 THEN 'e-' ELSE 'e+' END"
        digits = f"LPAD(ABS({exponent}), GREATEST(LENGTH(ABS({exponent})), 2), '0')"
        case = (
            f"CASE WHEN {size} = CAST('inf' AS DOUBLE) THEN LOWER(SUBSTRING({java}, 1, LENGTH({java}) - 5)) "
            f"WHEN INSTR({java}, 'E') = 0 THEN {java} "
            f"WHEN {size} >= 1e-4 AND {size} < 1e16 THEN {whole} "
            f"ELSE CONCAT({mantissa}, {sign}, {digits}) END"
        )
        return sg.parse_one(case, dialect="spark")


COMPILER: Final = SparkCompiler()


def compile_guarded(expression: ir.Table) -> str:
    """The expression as SQL of Spark."""
    return str(COMPILER.to_sqlglot(expression.unbind()).sql(dialect=COMPILER.dialect))


def java_pattern(pattern: str) -> str:
    r"""A pattern of ours as Java reads it: its ``$`` also matches before a line end, its ``\z`` does not.

    >>> print(java_pattern(r"^[0-9]+([T ]|$)"), java_pattern(r"^\$[0-9$]*$"))
    ^[0-9]+([T ]|\z) ^\$[0-9$]*\z
    """
    return re.sub(r"(\\.|\[(?:\\.|[^\]\\])*\])|\$", lambda found: found[1] or r"\z", pattern, flags=re.DOTALL)


def spark_text(value: str) -> Any:
    r"""A text as SQL, whatever is in it.

    Some letters go by their number: Spark reads ``\v`` as the letter v.

    >>> spark_text("a\vb").sql(COMPILER.dialect)
    "CONCAT('a', CHR(11), 'b')"
    """
    parts = [part for part in re.split(f"([{''.join(map(re.escape, sorted(_BY_NUMBER)))}])", value) if part]
    if not _BY_NUMBER.intersection(value):
        return sge.Literal.string(value)
    written = [
        sge.Anonymous(this="CHR", expressions=[sge.convert(ord(part))])
        if part in _BY_NUMBER
        else sge.Literal.string(part)
        for part in parts
    ]
    return sge.Anonymous(this="CONCAT", expressions=written)


def _literal(op: Any) -> str:
    if not isinstance(op, ops.Literal):
        raise InternalError("a pattern is not known before the query runs")
    return str(op.value)
