"""The records that take part: which columns they have, how they are coded, and which of a person's are used."""

from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from sfumato.domains.domain import Categories
from sfumato.domains.number_classes import NumberClasses
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import InternalError, SourceError
from sfumato.study.attribute import Attribute
from sfumato.study.selection import EVERYTHING, Selection
from sfumato.study.unit import PersonUnit, RecordUnit, Unit
from sfumato.tables.coding import FEW, Coding, category_key, code_column, is_missing, known_values, refuse_unfit_type
from sfumato.tables.csv.dialect import is_number, looks_like_record
from sfumato.tables.engine import SourceTable
from sfumato.tables.selecting import select_records
from sfumato.tables.set_columns import SetDictionary, refuse_many_sets, refuse_unfit_sets, set_key

_JOINS = 16  # in one query; the attributes beyond get a CASE, however long


class Records:
    """A source seen through the study's attributes, as expressions; nothing is read here but which sets there are.

    Columns get names of our own (``r0``, ``c0``, …): whatever the table calls them, nothing clashes.
    """

    def __init__(
        self,
        source: SourceTable,
        attributes: Sequence[Attribute],
        *,
        unit: Unit | None = None,
        selection: Selection = EVERYTHING,
    ) -> None:
        self.source = source
        self.selection = selection
        self.attributes = tuple(attributes)
        self.unit: Unit = RecordUnit() if unit is None else unit
        names = [attribute.name for attribute in self.attributes]
        if not names or len(set(names)) != len(names):
            raise InternalError("a coded table needs attributes, each once")
        columns = [column for attribute in self.attributes for column in attribute.columns]
        refuse_unknown(source, [*columns, self.unit.column] if isinstance(self.unit, PersonUnit) else columns)
        if isinstance(self.unit, PersonUnit):
            _refuse_maps(self.unit.column, source)
        for attribute in self.attributes:
            if isinstance(attribute.domain, SetDomain):
                refuse_unfit_sets(attribute, source.table, source.name)
            else:
                refuse_unfit_type(attribute, source.table[attribute.name].type(), source.name)
        by = [*selection.attributes, *([] if selection.time is None else [selection.time])]
        refuse_unknown(source, [attribute.name for attribute in by])
        for attribute in by:
            refuse_unfit_type(attribute, source.table[attribute.name].type(), source.name)

    def of_some(self, attributes: Sequence[Attribute]) -> "Records":
        """The same records with some of the attributes, and every record by itself, whoever it is of.

        Their source is declared with the columns in question alone: expressions over one of 2,000 are slow to build.
        """
        by = [*self.selection.attributes, *([] if self.selection.time is None else [self.selection.time])]
        columns = dict.fromkeys(column for attribute in (*attributes, *by) for column in attribute.columns)
        kinds = self.source.table.schema()
        narrow = ibis.table({name: kinds[name] for name in columns}, name=self.source.table.get_name())
        return Records(replace(self.source, table=narrow), attributes, selection=self.selection)

    @cached_property
    def table(self) -> ir.Table:
        """The source's records that are selected, before anything is counted; the argument is in `study.selection`."""
        return self.source.table if self.selection is EVERYTHING else select_records(self.source.table, self.selection)

    def coded(self, keep: Sequence[str] = ()) -> ir.Table:
        """The records that take part: codes ``c0, c1, …`` and the columns to keep as they are, ``k0, k1, …``.

        A record with a dropped value is left out first. Of a person's records those first in the order of codes (and
        kept columns) are used; that order knows nothing of other persons, and records alike in it are all the same.
        """
        table = self.marked(keep)
        columns = [name for name in table.columns if name not in {"p", "fits"}]
        table = table.filter(table["fits"])
        if isinstance(self.unit, PersonUnit):
            table = table.filter(table["p"].notnull())
            order = [table[name] for name in columns]
            table = table.mutate(n=ibis.row_number().over(group_by=table["p"], order_by=order))
            table = table.filter(table["n"] < self.unit.at_most)
        return table.select(*columns)

    def marked(self, keep: Sequence[str] = ()) -> ir.Table:
        """All records: codes, kept columns, the person ``p``, and whether a record ``fits`` (nothing is dropped)."""
        refuse_unknown(self.source, keep)
        joined, codings = self.codings(keep)
        codes = [coding.code for coding in codings]
        columns: dict[str, ir.Column] = {f"c{place}": code for place, code in enumerate(codes)}
        columns |= {f"k{place}": joined[f"k{place}"] for place in range(len(keep))}
        if isinstance(self.unit, PersonUnit):
            columns["p"] = _person(joined["p"])
        # No limit is a fence: without it every code is written, and computed by some engines, once more for `fits`.
        coded = joined.select(**columns).limit(None)
        found = [coded[f"c{place}"] for place in range(len(codes))]
        # One flat function, not a conjunction: with 2,000 attributes that would be nested 2,000 deep.
        return coded.mutate(fits=(ibis.least(*found) if len(found) > 1 else found[0]) >= 0)

    def codings(self, keep: Sequence[str] = ()) -> tuple[ir.Table, list[Coding]]:
        """The source with raw columns ``r0, r1, …`` (kept ones ``k0, …``, the person ``p``), and every coding."""
        table = self.table
        sets = {place: set_key(table, self.attributes[place]) for place in self.sets}
        raw = {
            f"r{place}": sets[place] if place in sets else table[attribute.name]
            for place, attribute in enumerate(self.attributes)
        }
        raw |= {f"k{place}": table[name] for place, name in enumerate(keep)}
        if isinstance(self.unit, PersonUnit):
            raw["p"] = table[self.unit.column]
        keys = {f"j{place}": category_key(table[self.attributes[place].name]) for place in self._dictionaries}
        keys |= {f"j{place}": key for place, key in sets.items()}
        joined = table.select(**raw, **keys)
        dictionaries = self._dictionaries | {place: found.table for place, found in self.sets.items()}
        for place, dictionary in dictionaries.items():
            joined = joined.left_join(dictionary, joined[f"j{place}"] == dictionary[f"v{place}"])
        found = [name for d in dictionaries.values() for name in d.columns if not name.startswith("v")]
        joined = joined.select(*raw, *found)
        return joined, [
            self.sets[place].coding(joined, place)
            if place in self.sets
            else code_column(attribute, joined[f"r{place}"], joined[f"g{place}"] if f"g{place}" in found else None)
            for place, attribute in enumerate(self.attributes)
        ]

    @cached_property
    def sets(self) -> dict[int, SetDictionary]:
        """The dictionaries of the attributes that are sets, by place; reading them looks at their distinct values.

        The codes of a dictionary are in the order of the sets themselves, so which of two comes first does not depend
        on any other record: `coded` bounds a person's records by that order. It names what selected records hold, and
        nothing of the others.
        """
        found = self._set_places
        return {place: SetDictionary.of(self.source, self.table, self.attributes[place], place) for place in found}

    def refuse_many_sets(self, memory: int) -> None:
        """Stop where the distinct sets of an attribute do not fit here; not for private work, see `set_columns`."""
        if "sets" not in vars(self):
            for place in self._set_places:
                refuse_many_sets(self.source, self.table, self.attributes[place], memory)

    @property
    def _set_places(self) -> list[int]:
        return [place for place, a in enumerate(self.attributes) if isinstance(a.domain, SetDomain)]

    @cached_property
    def _dictionaries(self) -> dict[int, ir.Table]:
        """For attributes with many declared values: a table in the engine from value ``v…`` to code ``g…``."""
        found: dict[int, ir.Table] = {}
        for place, attribute in enumerate(self.attributes):
            if isinstance(attribute.domain, Categories) and not isinstance(attribute.domain, NumberClasses):
                kind = self.source.table[attribute.name].type()
                known = known_values(attribute.domain, kind)
                if len(known) > FEW and len(found) < _JOINS:
                    keys = pa.array(
                        list(known), pa.uint64() if kind == dt.uint64 else None
                    )  # no guess fits 2⁶⁴ − 1 beside 0
                    words = {f"v{place}": keys, f"g{place}": pa.array(known.values(), pa.int64())}
                    rows = pa.table(words)
                    found[place] = ibis.table(ibis.Schema.from_pyarrow(rows.schema), name=self.source.session.put(rows))
        return found


def refuse_unknown(source: SourceTable, columns: Sequence[str]) -> None:
    """Every column asked for must be in the table, to the letter."""
    there = set(source.columns)
    lacking = [name for name in columns if name not in there]
    if not lacking:
        return
    if source.read_as.get("format") == "csv" and any(map(is_number, source.columns)):
        raise looks_like_record(source.name)  # a hint could quote it
    close = ((name, get_close_matches(name, source.columns, n=3)) for name in lacking)
    hints = "; ".join(f"{name!r} may be {' or '.join(map(repr, names))}" for name, names in close if names)
    raise SourceError(
        f"{source.name} has no column {', '.join(map(repr, lacking))}",
        f"correct the study: {hints}" if hints else "correct the names in the study, or leave them out",
        code="SF-SOURCE-003",
    )


def _refuse_maps(person: str, source: SourceTable) -> None:
    """Spark cannot tell maps apart, so they name nobody there."""
    if source.session.dialect == "pyspark" and source.table[person].type().is_map():
        raise SourceError(
            f"column '{person}' of {source.name} names persons by maps, which Spark cannot compare",
            "name persons by a number or a text",
            code="SF-SOURCE-621",
        )


def _person(column: ir.Column) -> ir.Column:
    """Who a record belongs to; null where the person is missing."""
    return is_missing(column).ifelse(ibis.null(column.type()), column)
