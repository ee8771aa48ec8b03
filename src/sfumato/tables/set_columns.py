"""Sets in the engine: the distinct raw values are fetched once, read as in Python, and joined back by their codes.

What is fetched is the distinct values of one column (or of several, joined into a list) among the selected records; the
records themselves stay where they are. That is private data: it stays in this process, and goes back to the engine as a
table, never in the text of a query. Nothing is published of it but regions (see `domains.sets.set_domain`). How many
distinct values there are depends on single records, so only who releases nothing private, or measures for the owner,
counts them first and refuses too many (`refuse_many_sets`): a private release may not fail by it.
"""

from dataclasses import dataclass
from typing import Final

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from sfumato.domains.sets.set_domain import ReadSets, SetDomain
from sfumato.errors import SourceError
from sfumato.memory_limit import ManyCellsError
from sfumato.study.attribute import Attribute
from sfumato.tables.coding import Coding, category_key
from sfumato.tables.engine import SourceTable

BYTES_PER_SET: Final = 1_000
"""What a distinct set of ten codes takes while it is read (measured: 500 with three codes, 1,300 with 30)."""


@dataclass(frozen=True, eq=False)
class SetDictionary:
    """The distinct raw values of a set: a table in the engine, what they hold, and the code of the empty set."""

    table: ir.Table  # the value `v…`, its code `g…`, how many of its codes are outside `o…`, whether it is empty `e…`
    read: ReadSets
    nothing: int

    @classmethod
    def of(cls, source: SourceTable, table: ir.Table, attribute: Attribute, place: int) -> "SetDictionary":
        """Read the distinct values of a set's columns in some records of a source."""
        domain = attribute.domain
        assert isinstance(domain, SetDomain), "of sets alone"
        found = source.fetch(_distinct(table, attribute))["value"].combine_chunks()
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
        stored = ibis.table(ibis.Schema.from_pyarrow(rows.schema), name=source.session.store(rows))
        return cls(stored, read, int(read.codes[-1]))

    def coding(self, joined: ir.Table, place: int) -> Coding:
        """The code of each record, after the join; a value that is not there at all is the empty set."""
        code = ibis.coalesce(joined[f"g{place}"], self.nothing).cast(dt.int32)
        missing = ibis.coalesce(joined[f"e{place}"], True)
        return Coding(code, missing, outside_codes(joined, place) > 0)


def refuse_many_sets(source: SourceTable, table: ir.Table, attribute: Attribute, memory: int) -> None:
    """Stop before more distinct values are brought than fit; they are counted by the engine."""
    distinct, most = _distinct(table, attribute), max(1, memory // BYTES_PER_SET)
    if int(source.fetch(distinct.aggregate(n=distinct.count()))["n"][0].as_py()) > most:
        raise ManyCellsError(
            f"'{attribute.name}' of {source.name} has more than {most:,} distinct sets, and more do not fit the memory "
            "limit",
            "raise --memory-limit, or release fewer attributes",
            code="SF-SOURCE-761",
        )


def _distinct(table: ir.Table, attribute: Attribute) -> ir.Table:
    return table.select(value=set_key(table, attribute)).distinct()


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
