"""Counts: all that a method ever sees of a table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut, Range
from sfumato.domains.sets.set_cut import Sets


@dataclass(frozen=True, eq=False)
class Marginal:
    """One attribute against the class: the codes that occur, in order, and a row of class counts for each.

    Codes that do not occur are not listed: a grid may have billions of points.
    """

    codes: NDArray[np.int64]  # (k,), strictly increasing
    counts: NDArray[np.int64]  # (k, classes)

    def __post_init__(self) -> None:
        assert self.codes.ndim == 1 and self.counts.shape[:1] == self.codes.shape, "a row of counts a code"
        assert np.all(np.diff(self.codes) > 0), "codes in order, each once"

    @property
    def classes(self) -> int:
        """How many classes there are."""
        return int(self.counts.shape[1])

    def within(self, start: int, stop: int) -> "Marginal":
        """The part with codes in ``[start, stop)``."""
        first, last = np.searchsorted(self.codes, [start, stop])
        return Marginal(self.codes[first:last], self.counts[first:last])

    def total(self, start: int, stop: int) -> NDArray[np.int64]:
        """The class counts of the records with a code in ``[start, stop)``."""
        total: NDArray[np.int64] = self.within(start, stop).counts.sum(axis=0)
        return total

    def parts(self, region: Range, children: Sequence[Range]) -> NDArray[np.int64]:  # noqa: ARG002 - see `SetMarginal`
        """The class counts of the parts that a region falls into, a row each: here its children."""
        return np.stack([self.total(*child) for child in children])


@dataclass(frozen=True, eq=False)
class SetMarginal(Marginal):
    """Sets against the class; ``codes`` are places in the dictionary ``sets``.

    A record contains several nodes of a cut at once, so it takes part in several candidates' scores. The exponential
    mechanism asks of each candidate alone how far one record can move its score, and that is unchanged: among the
    records that contain a node, one record is in exactly one part. No step here draws for several candidates in
    parallel, which would need their records to be disjoint.
    """

    sets: Sets

    def parts(self, region: Range, children: Sequence[Range]) -> NDArray[np.int64]:
        """The class counts by which of the children records contain: a row a subset that occurs.

        Records without any of them are no part, except at the root, which everybody is under.
        """
        leaves, rows = self._by_leaf
        first, last = np.searchsorted(leaves, region)
        child = np.searchsorted([start for start, _ in children], leaves[first:last], side="right") - 1
        pattern = np.zeros(len(self.codes), dtype=np.int64)
        np.bitwise_or.at(pattern, rows[first:last], np.int64(1) << child)
        under = np.ones(len(pattern), dtype=np.bool_) if region == (0, self.sets.size) else pattern > 0
        distinct, place = np.unique(pattern[under], return_inverse=True)
        found = np.zeros((len(distinct), self.classes), dtype=np.int64)
        np.add.at(found, place.ravel(), self.counts[under])
        return found

    @cached_property
    def _by_leaf(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All leaves of the sets that occur, in order, and the row of counts that each belongs to."""
        row = np.full(len(self.sets), -1, dtype=np.int64)
        row[self.codes] = np.arange(len(self.codes))
        rows = row[self.sets.owner]
        kept = rows >= 0
        order = np.argsort(self.sets.leaves[kept], kind="stable")
        return self.sets.leaves[kept][order], rows[kept][order]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Distinct combinations of codes with how many records have each; every combination once, none with 0."""

    attributes: tuple[str, ...]
    codes: NDArray[np.int64]  # (cells, attributes); of Python's integers where regions of sets need them
    counts: NDArray[np.int64]  # (cells,)

    def __post_init__(self) -> None:
        assert self.codes.shape == (len(self.counts), len(self.attributes)), "a code an attribute"

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True, eq=False)
class CellColumns:
    """The same by column, each in integers as narrow as its values, in any order: for tables of many millions of rows.

    Whoever uses it may depend on sums over rows alone.
    """

    attributes: tuple[str, ...]
    columns: tuple[NDArray[np.signedinteger], ...]
    counts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.counts)


Within = Mapping[str, Range]
"""The codes that records may have in some attributes: those in ``[start, stop)``."""


@dataclass(frozen=True, slots=True, eq=False)
class PartTree:
    """Which part of a table a record belongs to: a part's number, or what the code of an attribute leads to.

    ``branches`` are in the order of codes: a code below the first stop belongs to the first branch, and so on. A record
    may be in no part: then ``number`` is -1.
    """

    number: int = -1
    attribute: str | None = None
    branches: tuple[tuple[int, "PartTree"], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ClassSizes:
    """The occupied combinations of regions of some cuts (classes, for short) by how many records each has."""

    sizes: NDArray[np.int64]  # increasing
    classes: NDArray[np.int64]  # how many classes have each size
    spans: NDArray[np.float64]  # (cuts, sizes): the codes beyond one of the regions of these classes, added up; whole

    def __len__(self) -> int:
        """How many classes there are."""
        return int(self.classes.sum())

    @property
    def smallest(self) -> int:
        """The records of the smallest class."""
        return int(self.sizes[0])


PartWork = Callable[[int, "Cells"], NDArray[np.int64]]
"""What is to be made of the cells of a part, by its number: a table of whole numbers."""


class PartCounter(Protocol):
    """Counts parts of a table, each by the codes that its records may have."""

    def distinct_within(self, attributes: Sequence[str], within: Within) -> int:
        """How many combinations of codes there are."""
        ...

    def extremes_within(self, attributes: Sequence[str], within: Within) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least and the greatest code of each attribute."""
        ...

    def cells_within(self, attributes: Sequence[str], within: Within, *, limited: bool = False) -> Cells:
        """How many records have each combination of codes, in the order of codes.

        ``limited``: nobody has counted them, so more than fit are refused.
        """
        ...

    def binned_within(self, attribute: str, within: Within, width: int) -> Cells:
        """How many records have a code in ``[n·width, (n + 1)·width)``, for each n, with the greatest code there is."""
        ...

    def regions_within(self, cuts: Sequence[Cut], within: Within, *, limited: bool = False) -> Cells:
        """How many records have each combination of regions, in the order of regions; ``limited`` as for cells."""
        ...

    def distinct_regions_within(self, cuts: Sequence[Cut], within: Within, *, by: Cut | None = None) -> Cells:
        """How many combinations of regions there are in each region of ``by``, or in one row of no attribute.

        More regions of ``by`` than fit are refused.
        """
        ...

    def class_sizes_within(self, cuts: Sequence[Cut], within: Within) -> ClassSizes:
        """The combinations of regions by how many records each has."""
        ...

    def map_parts(
        self, attributes: Sequence[str], parts: Sequence[Within], tree: PartTree, work: PartWork, *, width: int
    ) -> Iterator[NDArray[np.int64]]:
        """What a function makes of the cells of each part, in the order of the parts; each has ``width`` columns.

        Where the engine has workers that can run it, they do so in parallel, and no cell comes here. The function must
        not depend on the order of the cells.
        """
        ...


@dataclass(frozen=True, eq=False)
class TableParts:
    """A table that is brought here in parts, since all its cells do not fit.

    Nothing is brought that was not found to fit. What nobody has counted is counted first (``limited``): of a
    single attribute there can be as many values as records.
    """

    counter: PartCounter
    records: int
    most_cells: int  # that may be brought at once
    all_cells: int  # that there are

    def distinct(self, attributes: Sequence[str], within: Within) -> int:
        """How many combinations of codes a part has."""
        return self.counter.distinct_within(attributes, within)

    def extremes(self, attributes: Sequence[str], within: Within) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The least and the greatest code of each attribute in a part."""
        return self.counter.extremes_within(attributes, within)

    def cells(self, attributes: Sequence[str], within: Within, *, limited: bool) -> Cells:
        """The cells of a part; ``limited`` unless they are known to fit."""
        return self.counter.cells_within(attributes, within, limited=limited)

    def binned(self, attribute: str, within: Within, width: int) -> Cells:
        """How many records have a code in each bin of so many codes, with the greatest code of each bin."""
        return self.counter.binned_within(attribute, within, width)

    def regions(self, cuts: Sequence[Cut], within: Within, *, limited: bool) -> Cells:
        """The occupied combinations of regions of a part, with how many records each has; ``limited`` as for cells."""
        return self.counter.regions_within(cuts, within, limited=limited)

    def count_regions(self, cuts: Sequence[Cut], within: Within) -> int:
        """How many combinations of regions a part has."""
        return int(self.counter.distinct_regions_within(cuts, within).counts.sum())

    def count_regions_by(self, cuts: Sequence[Cut], by: Cut, within: Within) -> Cells:
        """The same for each region of one of the cuts; more of these than fit are refused."""
        return self.counter.distinct_regions_within(cuts, within, by=by)

    def class_sizes(self, cuts: Sequence[Cut], within: Within) -> ClassSizes:
        """The combinations of regions of a part by how many records each has."""
        return self.counter.class_sizes_within(cuts, within)

    def map_parts(
        self, attributes: Sequence[str], parts: Sequence[Within], tree: PartTree, work: PartWork, *, width: int
    ) -> Iterator[NDArray[np.int64]]:
        """What a function makes of the cells of each part."""
        return self.counter.map_parts(attributes, parts, tree, work, width=width)


def narrowest(size: int) -> type[np.signedinteger]:
    """The narrowest integers that hold the codes of so many values.

    >>> narrowest(128).__name__, narrowest(129).__name__
    ('int8', 'int16')
    """
    kinds: tuple[type[np.signedinteger], ...] = (np.int8, np.int16, np.int32)
    return next((kind for kind in kinds if size - 1 <= np.iinfo(kind).max), np.int64)


def tally(
    columns: Sequence[NDArray[Any]], counts: NDArray[np.int64] | None = None
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Distinct rows in order, and how many there are of each; numbers of sets may be too large for machine integers."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, place = np.unique(column, return_inverse=True)
        place = place.ravel()
        _, key = np.unique(key * (int(place.max(initial=0)) + 1) + place, return_inverse=True)
        key = key.ravel()
    _, first = np.unique(key, return_index=True)
    found = np.stack([column[first] for column in columns], axis=1)
    totals = np.zeros(len(first), dtype=np.int64)
    np.add.at(totals, key, 1 if counts is None else counts)
    return found, totals


class Counter(Protocol):
    """Whoever counts for a method: an engine with a table, or an array in a test.

    All counts are of the same records: those of the view (purpose, span, contribution bound) that no policy leaves out.
    """

    def marginals(self, attributes: Sequence[str], by: str) -> Mapping[str, Marginal]:
        """Every attribute against ``by``, in one pass."""
        ...

    def cells(self, cuts: Sequence[Cut]) -> Cells:
        """How many records fall into each combination of regions of the cuts; only the occupied ones."""
        ...

    def cell_columns(self, cuts: Sequence[Cut]) -> CellColumns:
        """The same in narrow columns, in any order; not of sets. A counter that inherits this one has it from cells."""
        found = self.cells(cuts)
        columns = tuple(found.codes[:, place].astype(narrowest(cut.total)) for place, cut in enumerate(cuts))
        return CellColumns(found.attributes, columns, found.counts)
