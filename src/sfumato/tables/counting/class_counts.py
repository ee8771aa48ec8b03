"""Classes counted where the table lies: which regions records are in, how many combinations there are, how large each.

A class is an occupied combination of regions. Its region in each attribute is found by comparisons, or by a lookup
table in the engine where a cut is too fine for them. What is fetched is a number, a row for each size of classes, or
the classes themselves, with regions in place of codes.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.domains.counts import Cells, ClassSizes
from sfumato.domains.cut import Cut
from sfumato.tables.counting.folding import COARSE, pack, packed, region, sort_cells, span, unpacked
from sfumato.tables.engine import SourceTable

Codes = NDArray[np.int64]

_FURTHER = 32  # regions of a stored cut that another one may divide: each is a comparison in the query


class RegionColumns:
    """Regions of cuts as columns of a coded table; lookup tables of fine cuts are stored in the engine.

    They stay there until the table is closed, and a search tries hundreds of cuts that differ in one region. So a cut
    that divides a few regions of a stored one is looked up by that: its regions are what the regions of the stored cut
    and of a coarse one, of the further starts alone, have in common.
    """

    def __init__(self, source: SourceTable, occurring: Callable[[str], Codes]) -> None:
        """``occurring`` has the codes that an attribute has in the table."""
        self._source, self._occurring = source, occurring
        self._lookups: dict[str, list[tuple[Cut, ir.Table]]] = {}

    def of(self, part: ir.Table, columns: Sequence[str], cuts: Sequence[Cut]) -> ir.Table:
        """Records with the regions ``r0, r1, …`` of some columns, and of fine cuts how far regions reach, ``w0, …``."""
        fine = {}
        for place, cut in enumerate(cuts):
            if is_fine(cut):
                stored, fine[place] = self._lookup(cut)
                lookup = stored.select(**{f"{name}{place}": stored[name] for name in stored.columns})
                part = part.join(lookup, part[columns[place]] == lookup[f"v{place}"])
        found: dict[str, ir.Value] = {}
        for place, (column, cut) in enumerate(zip(columns, cuts, strict=True)):
            if place not in fine:
                found[f"r{place}"] = region(part[column], cut)
                continue
            number, start, stop = (part[f"{name}{place}"] for name in "rse")
            found[f"r{place}"], found[f"w{place}"] = number, stop - start - 1
            if len(fine[place]) > 1:
                further = region(part[column], fine[place])
                starts, stops = fine[place].ends(np.arange(len(fine[place])))
                start = ibis.greatest(start, span(further, starts.tolist()))
                stop = ibis.least(stop, span(further, stops.tolist()))
                found[f"r{place}"], found[f"w{place}"] = number + further.cast("int64"), stop - start - 1
        return part.select(**found)

    def _lookup(self, cut: Cut) -> tuple[ir.Table, Cut]:
        """A table from each code that occurs to its region in a stored cut, and the cut that is still to be made."""
        stored = self._lookups.setdefault(cut.attribute, [])
        starts = set(cut.starts)
        for known, lookup in reversed(stored):
            further = starts.difference(known.starts)
            if len(further) <= _FURTHER and len(known) + len(further) == len(cut):
                return lookup, replace(cut, starts=(0, *sorted(further)))
        codes = self._occurring(cut.attribute)
        regions = cut.regions(codes)
        first, last = cut.ends(regions)
        rows = pa.table({"v": codes, "r": regions, "s": first, "e": last})
        found = ibis.table(ibis.Schema.from_pyarrow(rows.schema), name=self._source.session.put(rows))
        stored.append((cut, found))
        return found, replace(cut, starts=(0,))


def is_fine(cut: Cut) -> bool:
    """Whether a cut has too many regions for comparisons."""
    return COARSE < len(cut) < cut.size


def count_regions(source: SourceTable, regions: ir.Table, cuts: Sequence[Cut]) -> Cells:
    """The classes with how many records each has, in the order of regions."""
    sizes = [len(cut) for cut in cuts]
    packs = pack(sizes)
    columns = [regions[f"r{place}"] for place in range(len(cuts))]
    keyed = regions.select(**{f"g{n}": packed(columns, sizes, places) for n, places in enumerate(packs)})
    found = source.fetch(keyed.group_by(list(keyed.columns)).aggregate(n=keyed.count()))
    keys = unpacked([found[name].to_numpy() for name in keyed.columns], sizes, packs)
    return Cells(tuple(cut.attribute for cut in cuts), *sort_cells(keys, whole_numbers(found, "n"), sizes))


def count_distinct_regions(source: SourceTable, regions: ir.Table, cuts: Sequence[Cut], by: Cut | None) -> Cells:
    """How many classes there are, in each region of one of the cuts if asked for."""
    sizes = [len(cut) for cut in cuts]
    columns = [regions[f"r{place}"] for place in range(len(cuts))]
    keys = {f"g{n}": packed(columns, sizes, places) for n, places in enumerate(pack(sizes))}
    if by is None:
        distinct = regions.select(**keys).distinct()
        found = source.fetch(distinct.aggregate(n=distinct.count()))
        return Cells((), np.empty((1, 0), np.int64), whole_numbers(found, "n"))
    distinct = regions.select(by=columns[list(cuts).index(by)], **keys).distinct()
    found = source.fetch(distinct.group_by("by").aggregate(n=distinct.count()))
    order = np.argsort(whole_numbers(found, "by"))
    return Cells((by.attribute,), whole_numbers(found, "by")[order, None], whole_numbers(found, "n")[order])


def count_class_sizes(source: SourceTable, regions: ir.Table, cuts: Sequence[Cut]) -> ClassSizes:
    """How many classes have each size, and how far their regions reach together.

    Sums of reaches are whole numbers in floating point: exact, in any order, as long as they are below 2⁵³.
    """
    divided = [place for place, cut in enumerate(cuts) if len(cut) > 1]
    if not divided:
        records = int(whole_numbers(source.fetch(regions.aggregate(n=regions.count())), "n")[0])
        sizes, classes, sums = np.array([records] if records else [], np.int64), np.array([1] if records else []), {}
    else:
        reaching = [place for place in divided if len(cuts[place]) < cuts[place].size]
        fine = {f"w{place}": regions[f"w{place}"].max() for place in reaching if is_fine(cuts[place])}
        grouped = regions.group_by([f"r{place}" for place in divided]).aggregate(n=regions.count(), **fine)
        reach = {place: grouped[f"w{place}"] if is_fine(cuts[place]) else _span(grouped, cuts[place], place)
                 for place in reaching}  # fmt: skip
        counted = grouped.select(n=grouped["n"], **{f"s{place}": one.cast("float64") for place, one in reach.items()})
        sums = {place: f"s{place}" for place in reaching}
        found = source.fetch(
            counted.group_by("n").aggregate(m=counted.count(), **{name: counted[name].sum() for name in sums.values()})
        )
        order = np.argsort(whole_numbers(found, "n"))
        sizes, classes = whole_numbers(found, "n")[order], whole_numbers(found, "m")[order]
        sums = {place: found[name].to_numpy()[order] for place, name in sums.items()}
    spans = [sums.get(place, classes * (cut.size - 1.0 if len(cut) == 1 else 0.0)) for place, cut in enumerate(cuts)]
    return ClassSizes(sizes, classes.astype(np.int64), np.array(spans, np.float64).reshape(len(cuts), len(sizes)))


def _span(grouped: ir.Table, cut: Cut, place: int) -> ir.IntegerColumn:
    return span(grouped[f"r{place}"], cut.spans(np.arange(len(cut))).tolist())


def whole_numbers(table: pa.Table, column: str) -> Codes:
    """A column of what was fetched, as whole numbers of 64 bits."""
    numbers: Codes = table[column].to_numpy().astype(np.int64)
    return numbers
