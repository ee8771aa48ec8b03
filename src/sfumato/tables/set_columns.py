"""Sets in the engine: the distinct raw values are fetched once, read as in Python, and joined back by their codes.

What is fetched is the distinct values of one column (or of several, joined into a list), as many as there are; the
records themselves stay where they are.
"""

from dataclasses import dataclass

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from sfumato.domains.sets.set_domain import ReadSets, SetDomain
from sfumato.errors import SourceError
from sfumato.study.attribute import Attribute
from sfumato.tables.coding import Coding, category_key
from sfumato.tables.engine import SourceTable


@dataclass(frozen=True, eq=False)
class SetDictionary:
    """The distinct raw values of a set: a table in the engine, what they hold, and the code of the empty set."""

    table: ir.Table  # the value `v…`, its code `g…`, how many of its codes are outside `o…`, whether it is empty `e…`
    read: ReadSets
    nothing: int

    @classmethod
    def of(cls, source: SourceTable, attribute: Attribute, place: int) -> "SetDictionary":
        """Read the distinct values of a set's columns."""
        domain = attribute.domain
        assert isinstance(domain, SetDomain), "of sets alone"
        key = set_key(source.table, attribute)
        found = source.fetch(source.table.select(value=key).distinct())["value"].combine_chunks()
        values = _each_once(found.filter(found.is_valid()))
        read = domain.read([*values.to_pylist(), None])  # the empty set has a code, also if nobody has it
        rows = pa.table(
            {
                f"v{place}": values,
                f"g{place}": pa.array(read.codes[:-1], pa.int64()),
                f"o{place}": pa.array(read.outside[:-1], pa.int64()),
                f"e{place}": pa.array(read.empty[:-1]),
            }
        )
        table = ibis.table(ibis.Schema.from_pyarrow(rows.schema), name=source.session.put(rows))
        return cls(table, read, int(read.codes[-1]))

    def coding(self, joined: ir.Table, place: int) -> Coding:
        """The code of each record, after the join; a value that is not there at all is the empty set."""
        code = ibis.coalesce(joined[f"g{place}"], self.nothing).cast(dt.int32)
        missing = ibis.coalesce(joined[f"e{place}"], True)
        return Coding(code, missing, outside_codes(joined, place) > 0)


def _each_once(values: pa.Array) -> pa.Array:
    """Every value once, whatever the engine takes for different: a key that stands twice would double records."""
    listed = values.to_pylist()
    once = {tuple(value) if isinstance(value, list) else value: value for value in listed}
    return values if len(once) == len(listed) else pa.array(list(once.values()), values.type)


def outside_codes(joined: ir.Table, place: int) -> ir.IntegerColumn:
    """How many codes of each record are outside the taxonomy."""
    return ibis.coalesce(joined[f"o{place}"], 0)


def set_key(table: ir.Table, attribute: Attribute) -> ir.Column:
    """A set's raw value: one column as it is, several as a list of texts."""
    columns = [table[name] for name in attribute.columns]
    if len(columns) > 1:
        return ibis.array([ibis.coalesce(category_key(column).cast("string"), "") for column in columns])
    return columns[0] if columns[0].type().is_array() else category_key(columns[0]).cast("string")


def refuse_unfit_sets(attribute: Attribute, table: ir.Table, source: str) -> None:
    """A column that can never hold codes is the owner's mistake."""
    columns = attribute.columns
    for name in columns:
        kind = table[name].type()
        listed = isinstance(kind, dt.Array) and len(columns) == 1
        plain = kind.value_type if isinstance(kind, dt.Array) and listed else kind
        if not plain.is_string() and not plain.is_integer() and not (plain.is_floating() and not listed):
            raise SourceError(
                f"column '{name}' of {source} has the type {kind}, and the study declares sets of codes, which need "
                "text, lists of text, or several columns of text or numbers",
                f"convert the column, or declare '{attribute.name}' differently",
                code="SF-SOURCE-038",
            )
