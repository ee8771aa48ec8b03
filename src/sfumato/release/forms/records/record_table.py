"""Records as Arrow tables and back: which columns there are, how each is stored, and what may stand in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count as counting
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.domains.domain import Categories, Domain, Grid
from sfumato.domains.range_text import RangeTexts
from sfumato.domains.sets.places import PublishedSets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import VerifyError
from sfumato.release.forms.records.code_spans import Integers, Spans
from sfumato.release.forms.records.rows import Records, Tally
from sfumato.release.forms.records.runs import Runs
from sfumato.release.sample import plain_values

PublishedRole = Literal["quasi_identifier", "sensitive", "class", "insensitive"]

_EPOCH = 719_163  # the ordinal of 1970-01-01, which Arrow counts days from
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Column:
    """One attribute as it is published: as regions, or exact; exact numbers and dates as such, categories as text.

    Sets are published as categories; ``sets`` says how their codes were declared, where that is public.
    """

    name: str
    role: PublishedRole
    domain: Domain
    regions: bool
    sets: SetDomain | None = None

    @cached_property
    def published_sets(self) -> PublishedSets | None:
        """How sets are published, where their codes are known; refuses categories that are no sets of those codes."""
        if self.sets is None:
            return None
        if not isinstance(self.domain, Categories):
            raise _invalid_column(
                self.name, "has sets of codes, and is not published by their names", code="SF-VERIFY-068"
            )
        try:
            return PublishedSets.by_tree(self.sets, self.domain.taxonomy)
        except VerifyError:
            raise _invalid_column(
                self.name, "has names of sets that are none of its declared codes", code="SF-VERIFY-069"
            ) from None

    @property
    def texts(self) -> bool:
        """Whether the column holds text."""
        return self.regions or isinstance(self.domain, Categories)

    @property
    def type(self) -> pa.DataType:
        """How the column is stored."""
        if self.texts:
            return _TEXT
        return plain_values(self.domain, np.empty(0, np.int64)).type

    def values(self, column: Spans) -> pa.Array:
        """What stands in the column, each once: the texts of its ranges, or its numbers."""
        if self.texts:
            return RangeTexts(self.name, self.domain).texts(column.starts, column.stops)
        return plain_values(self.domain, column.starts)

    def array(self, column: Spans, nulls: int = 0, values: pa.Array | None = None) -> pa.Array:
        """The column as Arrow holds it, with nulls at its end, for suppressed records; ``values`` as above."""
        index, values = _with_nulls(column.places, nulls), self.values(column) if values is None else values
        return pa.DictionaryArray.from_arrays(index, values) if self.texts else values.take(index)

    def spans(self, column: pa.ChunkedArray) -> Spans:
        """The column read back; what is no value of its domain is a `VerifyError`."""
        if not self.texts:
            return Spans.of_codes(self._codes(column), self.domain.size)
        if not pa.types.is_dictionary(column.type) or column.type.value_type != pa.string():
            raise _invalid_column(self.name, "is not a column of text", code="SF-VERIFY-059")
        if column.null_count:
            raise _invalid_column(self.name, "has no value in some record that is not suppressed", code="SF-VERIFY-070")
        whole = column.unify_dictionaries().combine_chunks()
        if isinstance(whole, pa.ChunkedArray):  # no rows: nothing to combine
            return Spans.of_codes(np.empty(0, np.int64), 1)
        used = pc.unique(whole.indices)  # a part of a table may come with the dictionary of all of it
        if len(used) < len(whole.dictionary):
            places = pc.index_in(whole.indices, value_set=used)
            whole = pa.DictionaryArray.from_arrays(places, whole.dictionary.take(used))
        starts, stops = RangeTexts(self.name, self.domain).ranges(whole.dictionary.to_pylist())
        if not self.regions and bool((stops - starts != 1).any()):
            raise _invalid_column(
                self.name, "is published exactly and has a value that stands for several", code="SF-VERIFY-071"
            )
        places = whole.indices.to_numpy(zero_copy_only=False)
        distinct = Spans.of_ranges(starts, stops)
        return Spans(distinct.starts, distinct.stops, distinct.places[places]).compact()

    def codes(self, column: pa.ChunkedArray) -> Integers:
        """The codes of an exact column."""
        found = self.spans(column)
        return found.starts[found.places]

    def _codes(self, column: pa.ChunkedArray) -> Integers:
        """Numbers and dates to codes; each must be a point of the grid, or nothing where missing values are kept."""
        grid = self.domain
        assert isinstance(grid, Grid), "see `texts`"
        if column.type != self.type:
            raise _invalid_column(self.name, f"is not a column of type {self.type}", code="SF-VERIFY-072")
        lost = column.is_null().to_numpy()
        if lost.any() and grid.missing is None:
            raise _invalid_column(self.name, "has no value in some record that is not suppressed", code="SF-VERIFY-070")
        if pa.types.is_floating(column.type):
            numbers = column.fill_null(float(grid.lower)).to_numpy()
            with np.errstate(invalid="ignore", over="ignore"):
                codes = np.rint((numbers - float(grid.lower)) / float(grid.step))
            inside = (codes >= 0) & (codes < grid.points)
            found = np.where(inside, codes, 0).astype(np.int64)
            inside &= plain_values(grid, found).to_numpy(zero_copy_only=False) == numbers
        else:
            if pa.types.is_date(column.type):
                column = pc.add(column.cast(pa.int32()).cast(pa.int64()), _EPOCH)
            offset = column.fill_null(int(grid.lower)).to_numpy() - int(grid.lower)
            found = offset // int(grid.step)
            inside = (offset % int(grid.step) == 0) & (found >= 0) & (found < grid.points)
        if not bool(inside.all()):
            raise _invalid_column(self.name, "has a number that is no point of its domain", code="SF-VERIFY-073")
        if lost.any():
            found = np.where(lost, grid.points, found)
        codes64: Integers = found.astype(np.int64)
        return codes64


@dataclass(frozen=True)
class RecordLayout:
    """The columns of a release of records, and of its second table where there is one.

    ``form`` is that of the draft. The names of the columns that are no attributes are chosen so that none clashes.
    """

    form: str
    columns: tuple[Column, ...]  # in the view's order: quasi-identifiers, sensitive attributes, others
    group: str | None = None
    suppressed: str | None = None  # only where suppression was allowed
    count: str | None = None  # in the second table

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(c.name for c in self.columns if c.role == "quasi_identifier")

    @property
    def sensitive(self) -> tuple[Column, ...]:
        """The sensitive attributes."""
        return tuple(c for c in self.columns if c.role == "sensitive")

    @property
    def judged(self) -> dict[str, Domain]:
        """The domains of what models look at: sensitive attributes, and quasi-identifiers that are regions."""
        return {c.name: c.domain for c in self.columns if c.role == "sensitive" or c.regions}

    @property
    def target(self) -> Column | None:
        """The class, if there is one."""
        return next((c for c in self.columns if c.role == "class"), None)

    @property
    def in_rows(self) -> tuple[Column, ...]:
        """The attributes that stand in the rows, in the order that the rows go by."""
        if self.form == "generalised":
            return self.columns
        visible = tuple(c for c in self.columns if c.role != "sensitive")
        return visible if self.form == "anatomy" else (*visible, *self.sensitive)

    @property
    def tables(self) -> dict[str, tuple[tuple[str, pa.DataType], ...]]:
        """The tables by the names of their files without ending: name and type of each column."""
        first = [] if self.group is None else [(self.group, pa.int64())]
        last = [] if self.suppressed is None else [(self.suppressed, pa.bool_())]
        rows = (*first, *((c.name, c.type) for c in self.in_rows), *last)
        whole, *counted = table_names(self.form, len(self.sensitive))
        found = {whole: rows}
        for name, column in zip(counted, self.sensitive if counted else (), strict=True):
            assert self.count is not None, "the second table counts"
            found[name] = (*first, (column.name, column.type), (self.count, pa.int64()))
        return found

    @property
    def files(self) -> tuple[str, ...]:
        """The data files."""
        return tuple(f"{name}.{ending}" for name in self.tables for ending in ("parquet", "csv"))

    def arrow(self, records: Records) -> dict[str, pa.Table]:
        """The records as the tables that are published."""
        return {name: runs.whole() for name, runs in self.runs(records).items()}

    def values(self, columns: Mapping[str, Spans]) -> dict[str, pa.Array]:
        """What stands in each column of the rows, for several pieces of one table."""
        return {column.name: column.values(columns[column.name]) for column in self.in_rows}

    def runs(self, records: Records, values: Mapping[str, pa.Array] | None = None) -> dict[str, Runs]:
        """The same tables with a row for each row of the records, and one for all that are suppressed."""
        lost, values = min(records.suppressed, 1), values or {}
        rows = len(records.times)
        arrays = [] if records.group is None else [_with_nulls(records.group, lost)]
        arrays += [column.array(records.columns[column.name], lost, values.get(column.name)) for column in self.in_rows]
        if self.suppressed is not None:
            arrays.append(pa.array(np.arange(rows + lost) >= rows))
        tables = [arrays, *(self._tallied(c, records.tallies[c.name]) for c in self.sensitive if records.tallies)]
        times = np.append(records.times, [records.suppressed] * lost).astype(np.int64)
        found = {}
        for (name, kinds), columns in zip(self.tables.items(), tables, strict=True):
            table = pa.table(columns, names=[column for column, _ in kinds])
            found[name] = Runs(table, times if columns is arrays else np.ones(len(table), np.int64))
        return found

    def suppressed_last(self, runs: Runs) -> Runs:
        """The same rows with suppressed records at the end, where they are published."""
        if self.suppressed is None or self.suppressed not in runs.table.column_names:
            return runs
        marks = runs.table.column(self.suppressed)
        if marks.type != pa.bool_() or marks.null_count:
            return runs  # refused where it is read
        order = np.argsort(marks.to_numpy().astype(bool), kind="stable")
        return Runs(runs.table.take(pa.array(order)), runs.times[order])

    @property
    def in_pieces(self) -> bool:
        """Whether the rows can be looked at piece by piece: a class is made of neighbours, and there is one table."""
        return self.form == "generalised"

    def piece(self, runs: Runs) -> Records:
        """Some rows of the first table; what does not fit the columns or their domains is a `VerifyError`."""
        self._refuse_other_columns(next(iter(self.tables)), runs)
        kept = self._kept(runs.table)
        rows = runs.table.slice(0, kept)
        _refuse_told(runs.table.slice(kept), self.suppressed)
        columns = {c.name: c.spans(rows.column(c.name)) for c in self.in_rows}
        group = None if self.group is None else _whole(rows, self.group)
        return Records(columns, self.quasi, runs.times[:kept], int(runs.times[kept:].sum()), group)

    def _refuse_other_columns(self, name: str, runs: Runs) -> None:
        if runs.table.column_names != [column for column, _ in self.tables[name]]:
            raise VerifyError("the columns are not the declared ones", "get the bundle again", code="SF-VERIFY-056")

    def records(self, tables: dict[str, Runs], *, ordered: bool = True) -> Records:
        """The records of tables, folded; what does not fit the columns or their domains is a `VerifyError`.

        Rows that are not ``ordered`` are put into the order of publication.
        """
        for name in self.tables:
            self._refuse_other_columns(name, tables[name])
        first, *others = tables.values()
        rows = self.piece(first)
        tallies = {}
        if self.form == "anatomy":
            for column, runs in zip(self.sensitive, others, strict=True):
                assert self.group is not None and self.count is not None, "the second table has both"
                if bool((runs.times > 1).any()):  # all of them would be held here
                    raise _invalid_column(self.count, "counts a value of a bucket twice", code="SF-VERIFY-147")
                table = runs.whole()
                tallies[column.name] = Tally(
                    _whole(table, self.group), column.codes(table.column(column.name)), _whole(table, self.count)
                )
        most = len(rows)
        if self.count is not None and any((tally.counts > most).any() for tally in tallies.values()):
            raise _invalid_column(
                self.count, "has a count above the number of records", code="SF-VERIFY-074"
            )  # added up, such counts could wrap around
        records = replace(rows, tallies=tallies)
        return records.fold() if ordered else records.sort().fold()

    def _tallied(self, column: Column, tally: Tally) -> list[pa.Array]:
        values = Spans.of_codes(tally.codes, column.domain.size)
        return [pa.array(tally.group), column.array(values), pa.array(tally.counts)]

    def _kept(self, table: pa.Table) -> int:
        """How many rows are not suppressed; the suppressed ones stand last."""
        if self.suppressed is None:
            return len(table)
        marks = table.column(self.suppressed)
        if marks.type != pa.bool_() or marks.null_count:
            raise _invalid_column(
                self.suppressed, "does not say of every record whether it is suppressed", code="SF-VERIFY-075"
            )
        lost = marks.to_numpy().astype(bool)
        kept = len(lost) - int(lost.sum())
        if lost[:kept].any():
            raise self.mixed_rows()
        return kept

    def mixed_rows(self) -> VerifyError:
        """The refusal of suppressed records that do not stand last."""
        return _invalid_column(str(self.suppressed), "has suppressed records between others", code="SF-VERIFY-076")


def table_names(form: str, sensitive: int) -> tuple[str, ...]:
    """The tables of a form, with so many sensitive attributes, by the names of their files without ending.

    >>> table_names("generalised", 1), table_names("anatomy", 1), table_names("anatomy", 2)
    (('data',), ('data_qit', 'data_st'), ('data_qit', 'data_st_1', 'data_st_2'))
    """
    if form != "anatomy":
        return ("data",)
    return ("data_qit", *(f"data_st_{n}" if sensitive > 1 else "data_st" for n in range(1, sensitive + 1)))


def free_name(base: str, taken: Iterable[str]) -> str:
    """A name that no other column has, capitals aside: databases do not tell them apart.

    >>> free_name("group", ["age", "Group"])
    'group_1'
    """
    names = {name.casefold() for name in taken}
    return next(name for n in counting() if (name := f"{base}_{n}" if n else base) not in names)


def has_line_ends(columns: Sequence[Column]) -> bool:
    """Whether a quoted value may go over a line end; most do not, and are read twice as fast."""
    texts = [c.name for c in columns]
    for column in columns:
        texts += column.domain.taxonomy.labels if column.domain.taxonomy else ()
        texts += [column.domain.missing_label] if isinstance(column.domain, Grid) else ()
    return any("\n" in text or "\r" in text for text in texts)


def _whole(table: pa.Table, name: str) -> Integers:
    column = table.column(name)
    if (
        column.type != pa.int64()
        or column.null_count
        or (pc.min(column).as_py() is not None and pc.min(column).as_py() < 1)
    ):
        raise _invalid_column(name, "is not a column of whole numbers from 1 on", code="SF-VERIFY-077")
    numbers: Integers = column.to_numpy().astype(np.int64)
    return numbers


def _with_nulls(numbers: NDArray[Any], nulls: int) -> pa.Array:
    """Numbers, and then nulls."""
    places = np.arange(len(numbers) + nulls)
    return pa.array(np.append(numbers, np.zeros(nulls, numbers.dtype)), mask=places >= len(numbers) if nulls else None)


def _refuse_told(rows: pa.Table, suppressed: str | None) -> None:
    """A suppressed record says nothing but that it is one."""
    for name in rows.column_names:
        if name != suppressed and rows.column(name).null_count != len(rows):
            raise _invalid_column(name, "has a value in a suppressed record", code="SF-VERIFY-078")


def _invalid_column(name: str, problem: str, *, code: str = "") -> VerifyError:
    return VerifyError(f"'{name}' {problem}", "get the bundle again", code=code)
