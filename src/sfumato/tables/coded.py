"""A coded table: the source's records as codes, and the counts that methods ask for.

The codes are computed in one pass and kept in the engine, in the smallest integers that hold them. Every count is
then a count of the same records, also if a file changes meanwhile, and costs a fraction of reading the source again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from math import prod
from types import MappingProxyType
from typing import Final

import ibis
import ibis.expr.types as ir
import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import (
    CellColumns,
    Cells,
    ClassSizes,
    Marginal,
    PartTree,
    PartWork,
    SetMarginal,
    Within,
    narrowest,
    tally,
)
from sfumato.domains.cut import Cut, Range
from sfumato.domains.domain import Domain
from sfumato.domains.sets.set_cut import SetCut, Sets
from sfumato.domains.sets.set_domain import SetCodes
from sfumato.errors import InternalError
from sfumato.memory_limit import collecting, most_cells, refuse_many_cells, refuse_many_records
from sfumato.study.attribute import Attribute
from sfumato.study.left_out import LeftOut
from sfumato.study.selection import EVERYTHING, Selection
from sfumato.study.unit import PersonUnit, Unit
from sfumato.tables.coded_records import Records
from sfumato.tables.counting.class_counts import (
    RegionColumns,
    count_class_sizes,
    count_distinct_regions,
    count_regions,
    whole_numbers,
)
from sfumato.tables.counting.folding import COARSE, Narrow, fold, pack, packed, region, sort_cells, unpacked
from sfumato.tables.counting.left_out_counts import count_left_out
from sfumato.tables.counting.marginal_query import marginal_query
from sfumato.tables.engine import SourceTable
from sfumato.tables.invalid_values import DomainViolations, count_violations

_TOGETHER = 32  # attributes counted by one query; more would make its plan slow
EVERYWHERE: Final[Within] = MappingProxyType({})


class CodedTable:
    """The records of a source, coded by the study's attributes; a `domains.counts.Counter`.

    Records that are not selected are left out before all else, as if they were not in the source.
    A record with a value that the policy drops, in any of the attributes, takes part in nothing. With a person as the
    unit at most ``at_most`` records a person take part. Closing the source frees everything.
    """

    def __init__(
        self,
        source: SourceTable,
        attributes: Sequence[Attribute],
        *,
        unit: Unit | None = None,
        selection: Selection = EVERYTHING,
    ) -> None:
        self.records = Records(source, attributes, unit=unit, selection=selection)
        self.source = source
        self._places = {attribute.name: place for place, attribute in enumerate(self.records.attributes)}

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """What the table is coded by."""
        return self.records.attributes

    def marginals(self, attributes: Sequence[str], by: str) -> dict[str, Marginal]:
        """Every attribute against ``by``."""
        wanted = list(dict.fromkeys(attributes))
        found: dict[str, Marginal] = {}
        for start in range(0, len(wanted), _TOGETHER):
            found |= self._marginals(wanted[start : start + _TOGETHER], by)
        return found

    def cells(self, cuts: Sequence[Cut]) -> Cells:
        """How many records fall into each combination of regions: the occupied ones, in the order of regions."""
        self._refuse_other_cuts(cuts)
        names = tuple(cut.attribute for cut in cuts)
        if any(isinstance(cut, SetCut) for cut in cuts):
            return self._cells_of_sets(names, cuts)
        found = self.cell_columns(cuts)
        return Cells(names, *sort_cells(found.columns, found.counts, [len(cut) for cut in cuts]))

    def cell_columns(self, cuts: Sequence[Cut]) -> CellColumns:
        """The same in narrow columns, in any order; not of sets."""
        self._refuse_other_cuts(cuts)
        names = tuple(cut.attribute for cut in cuts)
        fine = [place for place, cut in enumerate(cuts) if COARSE < len(cut) < cut.size]
        columns, counts = self._group(names, [None if place in fine else cut for place, cut in enumerate(cuts)])
        if fine:
            for place in fine:
                columns[place] = cuts[place].regions(columns[place].astype(np.int64))
            codes, counts = fold(np.stack(columns, axis=1), counts)
            columns = [column.astype(narrowest(cut.total)) for column, cut in zip(codes.T, cuts, strict=True)]
        return CellColumns(names, tuple(columns), counts)

    def _refuse_other_cuts(self, cuts: Sequence[Cut]) -> None:
        for cut in cuts:
            if cut.size != self._domain(cut.attribute).size:
                raise InternalError(f"the cut of '{cut.attribute}' is not one of its domain")
            if cut.attribute in self.sets and not isinstance(cut, SetCut):  # codes of sets are places in a dictionary
                raise InternalError(f"'{cut.attribute}' holds sets, and was cut as if it held single codes")

    def full_cells(self, attributes: Sequence[str] | None = None, *, in_parts: bool = False) -> Cells:
        """How many records have each combination of codes, in the order of codes; all attributes if none is named.

        ``in_parts``: whoever asks can do with parts, or without an answer: a stated limit counts in this process, too.
        """
        self._refuse_many_sets()
        names = tuple(self._places) if attributes is None else tuple(attributes)
        columns, counts = self._group(names, [None] * len(names), limited=len(names), in_parts=in_parts)
        return Cells(names, *sort_cells(columns, counts, self._sizes(names)))

    def distinct_within(self, attributes: Sequence[str], within: Within) -> int:
        """How many combinations of codes a part of the table has, counted by the engine."""
        table, sizes = self._part(attributes, within), self._sizes(attributes)
        columns = [table[f"c{self._place(name)}"] for name in attributes]
        keys = {f"g{place}": packed(columns, sizes, places) for place, places in enumerate(pack(sizes))}
        distinct = table.select(**keys).distinct()
        return int(self.source.fetch(distinct.aggregate(n=distinct.count()))["n"][0].as_py())

    def extremes_within(self, attributes: Sequence[str], within: Within) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least and the greatest code of each attribute in a part of the table, which has records."""
        table = self._part(attributes, within)
        columns = {name: table[f"c{self._place(name)}"] for name in attributes}
        asked = {f"l{place}": column.min() for place, column in enumerate(columns.values())}
        asked |= {f"h{place}": column.max() for place, column in enumerate(columns.values())}
        found = self.source.fetch(table.aggregate(**asked)).to_pylist()[0]
        low, high = ([found[f"{end}{place}"] for place in range(len(columns))] for end in "lh")
        return np.array(low, np.int64), np.array(high, np.int64)

    def cells_within(self, attributes: Sequence[str], within: Within, *, limited: bool = False) -> Cells:
        """How many records of a part of the table have each combination of codes, in the order of codes.

        ``limited``: nobody has counted them, so more than fit are refused.
        """
        if limited:
            sizes = zip(attributes, self._sizes(attributes), strict=True)
            possible = prod(min(size, _width(within.get(name, (0, size)))) for name, size in sizes)
            self._refuse_many(len(attributes), possible, lambda: self.distinct_within(attributes, within))
        columns, counts = self._group(attributes, [None] * len(attributes), within=within)
        return Cells(tuple(attributes), *sort_cells(columns, counts, self._sizes(attributes)))

    def binned_within(self, attribute: str, within: Within, width: int) -> Cells:
        """How many records of a part have a code in each bin of so many codes, with the greatest code of each bin."""
        table = self._part([attribute], within)
        code = table[f"c{self._place(attribute)}"].cast("int64")
        coded = table.select(b=code - code % ibis.literal(width, "int64"), code=code)
        found = self.source.fetch(coded.group_by("b").aggregate(n=coded.count(), high=coded["code"].max()))
        order = np.argsort(whole_numbers(found, "b"))
        return Cells((attribute,), whole_numbers(found, "high")[order, None], whole_numbers(found, "n")[order])

    def regions_within(self, cuts: Sequence[Cut], within: Within, *, limited: bool = False) -> Cells:
        """How many records of a part of the table have each combination of regions, in the order of regions."""
        if limited:
            self._refuse_many_regions(cuts, within)
        return count_regions(self.source, self._regions(cuts, within), cuts)

    def distinct_regions_within(self, cuts: Sequence[Cut], within: Within, *, by: Cut | None = None) -> Cells:
        """How many combinations of regions a part has, by the regions of one of the cuts if asked for."""
        if by is not None:
            self._refuse_many_regions([by], within)
        return count_distinct_regions(self.source, self._regions(cuts, within), cuts, by)

    def class_sizes_within(self, cuts: Sequence[Cut], within: Within) -> ClassSizes:
        """The combinations of regions of a part by how many records each has."""
        return count_class_sizes(self.source, self._regions(cuts, within), cuts)

    def map_parts(
        self, attributes: Sequence[str], parts: Sequence[Within], tree: PartTree, work: PartWork, *, width: int
    ) -> Iterator[NDArray[np.int64]]:
        """What a function makes of the cells of each part: on the workers of the engine, or here, one after the other.

        A part is never larger than what fits here, wherever it is worked on.
        """
        if len(parts) > 1 and self.source.session.has_workers():
            yield from self._map_on_workers(attributes, tree, work, width, len(parts))
            return
        for number, within in enumerate(parts):
            yield work(number, self.cells_within(attributes, within))

    def _map_on_workers(
        self, attributes: Sequence[str], tree: PartTree, work: PartWork, width: int, parts: int
    ) -> Iterator[NDArray[np.int64]]:
        """The same by workers."""
        table = self._table(list(dict.fromkeys([*attributes, *_attributes_of(tree)])))
        columns = {f"c{place}": table[f"c{self._place(name)}"] for place, name in enumerate(attributes)}
        numbered = table.select(part=self._part_number(table, tree), **columns)
        numbered = numbered.filter(numbered["part"] >= 0)
        grouped = numbered.group_by(["part", *columns]).aggregate(n=numbered.count())
        return self.source.session.map_groups(
            self.source.compile(grouped),
            partial(_run_on_cells, tuple(attributes), work),
            groups=parts,
            width=width,
            doing=f"working on parts of {self.source.name}",
        )

    def _part_number(self, table: ir.Table, tree: PartTree) -> ir.IntegerColumn:
        """The number of the part that a record is in, by one comparison a level of the tree."""
        if tree.attribute is None:
            return ibis.literal(tree.number, "int32")
        code = table[f"c{self._place(tree.attribute)}"]
        *first, (_, last) = tree.branches
        chosen = [(code < stop, self._part_number(table, branch)) for stop, branch in first]
        return ibis.cases(*chosen, else_=self._part_number(table, last)) if chosen else self._part_number(table, last)

    def cells_and_rows(self, *, in_parts: bool = False) -> tuple[Cells, int]:
        """The full cells of all attributes, and how many records the source has, both from one pass.

        For those who count only once: the records go from the source into their cells and are not kept on the way.
        ``in_parts``: whoever asks can do with parts, so that a stated limit counts in this process, too.
        """
        self._refuse_many_sets()
        names, width = tuple(self._places), len(self.attributes)
        possible = prod(size + 1 for size in self._sizes(names))  # one more each: records that are left out
        most = self._most_cells(width, in_parts=in_parts)
        many = most is not None and possible > most  # perhaps: parts would be counted in the codes that are kept
        if (many and in_parts) or isinstance(self.records.unit, PersonUnit) or "_kept" in vars(self):
            return self.full_cells(in_parts=in_parts), self.all_rows()
        table = self.records.marked()
        coded = table.select(*(f"c{place}" for place in range(width)))
        columns, counts = self._counted(coded, limited=width, possible=possible)
        fits = np.ones(len(counts), dtype=bool)
        for column in columns:
            fits &= column >= 0
        rows = int(counts.sum())
        if not fits.all():
            columns, counts = [column[fits] for column in columns], counts[fits]
        return Cells(names, *sort_cells(columns, counts, self._sizes(names))), rows

    @property
    def sets(self) -> dict[str, Sets]:
        """The dictionaries that codes of sets point into; internal, as the codes are."""
        return {self.attributes[place].name: found.read.codes.sets for place, found in self.records.sets.items()}

    def _cells_of_sets(self, names: tuple[str, ...], cuts: Sequence[Cut]) -> Cells:
        """The same with cuts of sets, whose regions are found here, by their dictionaries."""
        here = [isinstance(cut, SetCut) or COARSE < len(cut) < cut.size for cut in cuts]
        columns, counts = self._group(names, [None if fine else cut for cut, fine in zip(cuts, here, strict=True)])
        for place, cut in enumerate(cuts):
            codes = columns[place].astype(np.int64)
            if isinstance(cut, SetCut):
                codes = cut.regions(SetCodes.of(codes, self.sets[cut.attribute]))
            elif here[place]:
                codes = cut.regions(codes)
            columns[place] = codes
        return Cells(names, *tally(columns, counts))

    def rows(self) -> int:
        """How many records take part; for the owner's eyes."""
        table = self._table([self.attributes[0].name])
        return int(self.source.fetch(table.aggregate(n=table.count()))["n"][0].as_py())

    def all_rows(self) -> int:
        """How many records are selected, also those that do not take part; for the owner's eyes."""
        name = self._kept.get_name() if "fits" in self._kept.columns else None  # every record is kept with its mark
        table = self.records.table if name is None else ibis.table({"fits": "boolean"}, name=name)
        return int(self.source.fetch(table.aggregate(n=table.count()))["n"][0].as_py())

    def domain_violations(self) -> list[DomainViolations]:
        """What does not fit the study, an attribute each; for the owner's eyes."""
        return count_violations(self.records)

    def left_out(self) -> LeftOut:
        """How many selected records take no part, and by which attributes; for the owner's eyes.

        The codes that are kept for counting tell it, except for persons, of whom only the records in use are kept.
        """
        return count_left_out(self.records, None if isinstance(self.records.unit, PersonUnit) else self._kept)

    @cached_property
    def _kept(self) -> ir.Table:
        """All the codes, kept in the engine.

        Dropped records are kept too and passed over when counting, which costs less: a filter on the way in makes the
        engine compute every code twice.
        """
        persons = isinstance(self.records.unit, PersonUnit)
        coded = self.records.coded() if persons else self.records.marked()
        name = self.source.session.keep(self.source.compile(coded), doing=f"coding {self.source.name}")
        return ibis.table(coded.schema(), name=name)

    def _table(self, names: Sequence[str]) -> ir.Table:
        """The codes of some attributes, of the records that take part.

        Declared with these columns alone: expressions over a table of 2,000 columns are slow to build.
        """
        kinds = self._kept.schema()
        columns = dict.fromkeys([*(f"c{self._place(name)}" for name in names), *(n for n in ("fits",) if n in kinds)])
        table = ibis.table({column: kinds[column] for column in columns}, name=self._kept.get_name())
        return table.filter(table["fits"]) if "fits" in kinds else table

    def _part(self, names: Sequence[str], within: Within) -> ir.Table:
        """The same of the records that have these codes."""
        table = self._table([*names, *within] or [self.attributes[0].name])
        for name, (start, stop) in within.items():
            column = table[f"c{self._place(name)}"]
            table = table.filter((column >= start) & (column < stop))
        return table

    def _regions(self, cuts: Sequence[Cut], within: Within) -> ir.Table:
        """The records of a part with their regions; not of sets."""
        self._refuse_other_cuts(cuts)
        names = [cut.attribute for cut in cuts]
        columns = [f"c{self._place(name)}" for name in names]
        return self._region_columns.of(self._part(names, within), columns, cuts)

    @cached_property
    def _region_columns(self) -> RegionColumns:
        return RegionColumns(self.source, self._occurring)

    def _occurring(self, name: str) -> NDArray[np.int64]:
        """The codes that an attribute has, for a lookup table."""
        with collecting("for groupings of an attribute into many regions, its values are looked up"):
            return self.cells_within([name], EVERYWHERE, limited=True).codes[:, 0].copy()

    def _domain(self, name: str) -> Domain:
        domain = self.attributes[self._place(name)].domain
        assert domain is not None, "coded attributes have domains"
        return domain

    def _place(self, name: str) -> int:
        if name not in self._places:
            raise InternalError(f"'{name}' is not an attribute of the coded table")
        return self._places[name]

    def _group(
        self,
        names: Sequence[str],
        cuts: Sequence[Cut | None],
        *,
        limited: int = 0,
        in_parts: bool = False,
        within: Within = EVERYWHERE,
    ) -> tuple[list[Narrow], NDArray[np.int64]]:
        """The distinct combinations of codes, or of regions where a cut is given, and how often each occurs."""
        kept = self._part(names, within)
        if not names:  # all records are alike in nothing: one cell, or none where there are no records
            rows = int(self.source.fetch(kept.aggregate(n=kept.count()))["n"][0].as_py())
            return [], np.array([rows] if rows else [], np.int64)
        columns = [
            kept[f"c{self._place(name)}"] if cut is None else region(kept[f"c{self._place(name)}"], cut)
            for name, cut in zip(names, cuts, strict=True)
        ]
        sizes = [full if cut is None else len(cut) for full, cut in zip(self._sizes(names), cuts, strict=True)]
        packs = pack(sizes)
        keys, counts = self._counted(
            kept.select(**{f"g{place}": packed(columns, sizes, places) for place, places in enumerate(packs)}),
            limited=limited,
            possible=prod(sizes),
            in_parts=in_parts,
        )
        return unpacked(keys, sizes, packs), counts

    @property
    def most_records(self) -> int | None:
        """How many records may be taken apart here, each by itself; None: any number.

        Combinations can be few where records are not, so a limit that is stated counts in this process, too.
        """
        return self._most_cells(len(self.attributes), in_parts=True)

    def refuse_many_records(self, records: int) -> None:
        """Stop before more records are taken apart than fit."""
        refuse_many_records(records, self.most_records, attributes=len(self.attributes), where=self.source.name)

    def _refuse_many_regions(self, cuts: Sequence[Cut], within: Within) -> None:
        """Stop before more combinations of regions are brought than fit."""
        possible = prod(cut.total for cut in cuts)
        self._refuse_many(len(cuts), possible, lambda: int(self.distinct_regions_within(cuts, within).counts.sum()))

    def _refuse_many(self, attributes: int, possible: int, count: Callable[[], int]) -> None:
        """Stop before more is brought than fits; nothing is counted where all that is possible would fit."""
        most = self._most_cells(attributes, in_parts=True)
        if most is not None and possible > most:
            refuse_many_cells(count(), most, attributes=attributes, where=self.source.name)

    def _refuse_many_sets(self) -> None:
        """All who ask for all combinations are limited; a private release never does, see `_counted`."""
        session = self.source.session
        if session.remote and session.memory is not None:
            self.records.refuse_many_sets(session.memory)

    def _most_cells(self, attributes: int, *, in_parts: bool) -> int | None:
        """How many cells of so many attributes may be brought here; None: any number."""
        session = self.source.session
        memory = session.memory if session.remote or in_parts else None
        return None if memory is None else most_cells(memory, attributes)

    def _counted(
        self, table: ir.Table, *, limited: int, possible: int, in_parts: bool = False
    ) -> tuple[list[Narrow], NDArray[np.int64]]:
        """The distinct rows of a table, by column, and how often each occurs.

        Cells of ``limited`` attributes are refused where there are more than fit here. 0: never. They are not counted
        where all that are ``possible`` fit. A private release takes none of the limited counts: how many cells there
        are is nothing that ε covers, and it may not fail by it. They are kept, so that they are counted once, except
        where too many are no end: parts need the room.
        """
        grouped = table.group_by(list(table.columns)).aggregate(n=table.count())
        most = self._most_cells(limited, in_parts=in_parts) if limited else None
        if most is not None and possible > most:
            if not in_parts:
                kept = self.source.session.keep(self.source.compile(grouped), doing=f"counting {self.source.name}")
                grouped = ibis.table(grouped.schema(), name=kept)
            cells = int(self.source.fetch(grouped.aggregate(cells=grouped.count()))["cells"][0].as_py())
            refuse_many_cells(cells, most, attributes=limited, where=self.source.name)
        found = self.source.fetch(grouped)
        return [found[name].to_numpy() for name in table.columns], whole_numbers(found, "n")

    def _sizes(self, names: Sequence[str]) -> list[int]:
        sets = self.sets
        return [len(sets[name]) if name in sets else self._domain(name).size for name in names]

    def _marginals(self, attributes: Sequence[str], by: str) -> dict[str, Marginal]:
        """One query for all; codes are never null."""
        others = [name for name in attributes if name != by]
        columns = [f"c{self._place(name)}" for name in others]
        coded = self.source.compile(self._table([*others, by]))
        session = self.source.session
        found = session.fetch(
            marginal_query(coded, columns, f"c{self._place(by)}", dialect=session.dialect),
            doing=f"counting {self.source.name}",
        )
        sets_of, codes, classes, counts = (whole_numbers(found, name) for name in ("which", "code", "class", "n"))
        marginals: dict[str, Marginal] = {}
        for name in attributes:
            here = sets_of == (-1 if name == by else others.index(name))
            of = classes if name == by else codes
            marginals[name] = _marginal(of[here], classes[here], counts[here], self._domain(by).size)
            if name in self.sets:
                marginals[name] = SetMarginal(marginals[name].codes, marginals[name].counts, self.sets[name])
        return marginals


def _attributes_of(tree: PartTree) -> set[str]:
    below = set().union(*(_attributes_of(branch) for _, branch in tree.branches))
    return below if tree.attribute is None else below | {tree.attribute}


def _run_on_cells(
    attributes: tuple[str, ...], work: PartWork, part: int, columns: Mapping[str, NDArray[np.int64]]
) -> NDArray[np.int64]:
    """Run on a worker: the cells of a part as columns, and what is made of them."""
    codes = np.stack([columns[f"c{place}"] for place in range(len(attributes))], axis=1).astype(np.int64)
    return work(part, Cells(attributes, codes, columns["n"].astype(np.int64)))


def _marginal(codes: NDArray[np.int64], classes: NDArray[np.int64], counts: NDArray[np.int64], size: int) -> Marginal:
    distinct, place = np.unique(codes, return_inverse=True)
    table = np.zeros((len(distinct), size), np.int64)
    table[place, classes] = counts
    return Marginal(distinct.astype(np.int64), table)


def _width(span: Range) -> int:
    return max(0, span[1] - span[0])
