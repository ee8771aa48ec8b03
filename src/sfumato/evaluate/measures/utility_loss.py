"""Utility loss: information loss on the sensitive values of large populations (Li & Li, KDD 2009, 4.2)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.divergence import jensen_shannon
from sfumato.domains.sets.regions import SetRegions
from sfumato.errors import InfeasibleError, UsageError
from sfumato.evaluate.equivalence_classes import by_row
from sfumato.evaluate.evidence import Evidence, Places, distinct_rows, narrow, ranked
from sfumato.evaluate.measures.large_nodes import edges_of
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading, Speed
from sfumato.evaluate.measures.populations import Populations, large_populations
from sfumato.evaluate.measures.suffixes import Rows, Suffixes
from sfumato.evaluate.uniform_assumption import column, exact
from sfumato.release.shown import Shown
from sfumato.study.attribute import Attribute

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_MOST = 50_000_000  # numbers in a table of all populations by all sensitive values
_FULL = 5_000_000  # numbers up to which such a table is held as a whole
_REGIONS = 1_000  # that are not worth going without
_TOGETHER = 2_000_000  # numbers of such a table that are compared at once


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityLoss(Measure):
    """Uloss: the mean over large populations y of JS(P_y, P̂_y), since utility is about all of them.

    P_y is the table's distribution of the sensitive attribute in y, P̂_y what the release lets one reconstruct: a row's
    records lie evenly over its region, so the share |region ∩ node| / |region| of each attribute of y is in y (of a set
    it is how likely a record of the region contains the node), and each has any of the values of its group or bucket
    alike. Of a population that the release puts no record into, one would
    take the distribution of the whole release. Of several sensitive attributes it is the mean.
    """

    name: ClassVar[str] = "uloss"
    title: ClassVar[str] = "Utility loss"
    summary: ClassVar[str] = (
        "the Jensen-Shannon divergence between the reconstructed and the true distribution of sensitive values, "
        "averaged over large populations; 0: no information loss"
    )
    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, float(np.log(2.0)))
    unit: ClassVar[str] = "nats"
    speed: ClassVar[Speed] = "slow"
    min_sup: float = 0.05
    attribute: str | None = None

    def __post_init__(self) -> None:
        if not 0 < self.min_sup <= 1:
            raise UsageError(
                f"a `min_sup` of {self.min_sup:g} is not a share of the records",
                "use a `min_sup` above 0 and at most 1",
                code="SF-USAGE-037",
            )

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs a sensitive attribute, records, and large populations."""
        if not evidence.protected:
            return "no attribute is sensitive"
        lacking = evidence.unpublished(self.attribute) if len(evidence.shown) else "the release contains no records"
        if lacking is not None:
            return lacking
        try:
            found = large_populations(evidence, self.min_sup)
        except InfeasibleError as error:
            return error.problem
        if not len(found):
            return f"no population has at least {self.min_sup:g} of the records"
        wide = [a.name for a in evidence.chosen(self.attribute) if len(found) * _size(evidence, a) > _MOST]
        if wide:
            return f"'{wide[0]}' has too many values to compare in each of {len(found):,} populations"
        return None

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return (
            "The distribution of sensitive values reconstructed for a large population diverges from the true one by "
            f"{value:.3g} nats on average; 0 means no information loss."
        )

    def read(self, evidence: Evidence) -> Reading:
        """The mean loss, and how large the populations' losses are."""
        found = large_populations(evidence, self.min_sup)
        losses = np.zeros(len(found))
        chosen = evidence.chosen(self.attribute)
        for attribute in chosen:
            losses += _losses(evidence, attribute, found, self.min_sup) / len(chosen)
        return Reading(
            value=float(losses.mean()),
            details={
                "populations": len(found),
                **({} if found.deepest is None else {"most predicates of a population": found.deepest}),
                "median": float(np.median(losses)),
                "quantile 0.9": float(np.quantile(losses, 0.9)),
                "largest": float(losses.max()),
            },
        )


def _losses(evidence: Evidence, attribute: Attribute, found: Populations, min_sup: float) -> Floats:
    """JS(P_y, P̂_y) of each population y.

    Values that no record of the table has are one value: P_y is 0 there, so each adds ½·P̂_y·log 2, together as apart.
    The rows of the table and those of the release are not held at the same time, unless it is done one by one.
    """
    over = _over_codes(evidence, attribute)
    if len(found) * over.shape[1] > _FULL:
        sides = [true_amounts(evidence, attribute, found), shown_amounts(evidence, attribute, found)]
        return _one_by_one(found, sides, over)
    key = f"populations {min_sup!r} of {attribute.name}"
    if key not in evidence.kept:
        evidence.kept[key] = _normal(spread(found, true_amounts(evidence, attribute, found)))
    truth: Floats = np.pad(evidence.kept[key], ((0, 0), (0, 1)))
    guessed = _normal(spread(found, shown_amounts(evidence, attribute, found)))
    return _apart(truth, np.asarray(guessed @ over))


@dataclass(frozen=True, slots=True, eq=False)
class Amounts:
    """The rows of the table or a release: where they lie, and how many records have which value or range of values."""

    overlaps: list[Floats]  # for each attribute of the trie (nodes, kinds): the share of each kind of region in a node
    suffixes: Suffixes
    rows: Rows
    flat: list[Places]  # for each attribute where each group stands in a table of kinds by values
    whole: Floats  # (values or ranges,)

    @classmethod
    def of(
        cls, lies: Iterable["_Lies"], found: Populations, at: tuple[Integers, Places], amount: Floats, width: int
    ) -> "Amounts":
        """How much there is ``at`` some rows of some values; rows lie somewhere in each attribute of the trie."""
        row, value = at
        overlaps, kinds = [], []
        for lie, *ends in zip(lies, found.starts, found.stops, strict=True):
            kind, overlap = lie.alike(*ends)
            overlaps.append(overlap)
            kinds.append(narrow(kind, overlap.shape[1])[row])
        suffixes, rows = Suffixes.of(kinds, value, amount)
        flat = [
            narrow(kind.astype(np.int64) * width + value, overlap.shape[1] * width)
            for kind, value, overlap in zip(suffixes.kinds, suffixes.values, overlaps, strict=True)
        ]
        return cls(
            overlaps, suffixes, rows, flat, np.bincount(value, weights=amount, minlength=width).astype(np.float64)
        )

    @property
    def width(self) -> int:
        """How many values or ranges there are."""
        return len(self.whole)

    def families(self, found: Populations) -> Iterator[tuple[int, Rows]]:
        """Each family with the rows of its parent, as groups of the family's attribute.

        Depth first, with the rows of one path alone: those of all siblings would be many times a table.
        """
        below, places = found.families(), found.attribute.tolist()
        todo = [(-1, -1, self.rows)]  # of the rows, as groups of the attribute, those in the population's last node
        while todo:
            above, at, rows = todo.pop()
            if above >= 0:
                share = self.overlaps[at][found.node[above]][self.suffixes.kinds[at][rows.group]]
                rows = self.suffixes.merge(rows, at, share)
            for family in below[above]:
                for passed in range(at + 1, places[family]):
                    rows = self.suffixes.merge(rows, passed)
                at = places[family] - 1
                yield family, rows
                numbers = range(int(found.first[family]), int(found.first[family + 1]))
                todo += [(number, places[family], rows) for number in numbers if below[number]]


def true_amounts(evidence: Evidence, attribute: Attribute, found: Populations) -> Amounts:
    """The records of the table, over the values that occur in it."""
    place, _ = evidence.people
    codes, of, _ = evidence.occurring(attribute.name)
    lies = (_lies(exact(evidence), name, 0) for name in found.attributes)
    return Amounts.of(lies, found, (place, of), evidence.raw.counts.astype(np.float64), len(codes))


def shown_amounts(evidence: Evidence, attribute: Attribute, found: Populations) -> Amounts:
    """What the release has, over its ranges of values."""
    shown = evidence.shown
    lies = (_lies(shown, name, evidence.view.domain(name).size) for name in found.attributes)
    table = by_row(shown, attribute.name).shares
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    return Amounts.of(lies, found, (row, table.indices), table.data, table.shape[1])


def _over_codes(evidence: Evidence, attribute: Attribute) -> csr_array:
    """How the records of each range lie over the values that occur in the table, and all others: (ranges, values)."""
    codes, _, _ = evidence.occurring(attribute.name)
    over = evidence.shown.values[attribute.name].over_ranges()
    place = over.range_of(codes)
    inside = np.flatnonzero(place >= 0)
    rest = over.widths - np.bincount(place[inside], minlength=len(over.starts))
    more = np.flatnonzero(rest > 0)
    ranges = np.concatenate([place[inside], more])
    share = np.concatenate([np.ones(len(inside)), rest[more]]) / over.widths[ranges]
    columns = np.concatenate([inside, np.full(len(more), len(codes))])
    return csr_array((share, (ranges, columns)), shape=(len(over.starts), len(codes) + 1))


def _one_by_one(found: Populations, sides: Sequence[Amounts], over: csr_array) -> Floats:
    """The same a population at a time, where a table of all populations by all values would be too large."""
    turn = csr_array(over.T)
    losses = np.zeros(len(found))
    for (number, true), (_, guessed) in zip(*(each_population(found, side) for side in sides), strict=True):
        p, q = (
            of / of.sum() if of.sum() > 0 else side.whole / max(float(side.whole.sum()), np.finfo(float).tiny)
            for of, side in zip((true, guessed), sides, strict=True)
        )
        losses[number] = jensen_shannon(np.append(p, 0.0)[None, :], (turn @ q)[None, :])[0]
    return losses


@dataclass(frozen=True, slots=True, eq=False)
class _Lies:
    """Where the rows lie in one attribute: the distinct regions as ranges of codes, or of sets, and each row's."""

    starts: Integers
    stops: Integers
    place: Integers  # (rows,)
    regions: SetRegions | None = None

    def overlaps(self, low: Integers, high: Integers) -> Floats:
        """The share of each region that is in each node: (nodes, regions)."""
        if self.regions is not None:
            return self.regions.chance(low, high)
        common = np.minimum(self.stops, high[:, None]) - np.maximum(self.starts, low[:, None])
        return np.asarray(np.maximum(common, 0) / (self.stops - self.starts))

    def alike(self, low: Integers, high: Integers) -> tuple[Integers, Floats]:
        """The same with regions as one that lie alike towards every node: each row's, and their overlaps."""
        if self.regions is not None:
            overlaps = self.overlaps(low, high)
            kind, first = distinct_rows(list(overlaps), overlaps.shape[1])
            return kind[self.place], overlaps[:, first]
        # A single code is as good as any other that no node tells it from.
        edges = np.concatenate([[-1], edges_of(np.stack([low, high]))])
        single = self.stops - self.starts == 1
        begin = np.where(single, edges[np.searchsorted(edges, self.starts, side="right") - 1], self.starts)
        end = np.where(single, begin + 1, self.stops)
        kind, first = distinct_rows([begin, end], len(begin))
        return kind[self.place], _Lies(begin[first], end[first], kind).overlaps(low, high)


def _lies(shown: Shown, name: str, size: int) -> _Lies:
    """Where the rows of a release lie; an attribute that is not published may have any value."""
    found = column(shown, name) if name in shown.attributes else None
    if found is None:
        none = np.zeros(len(shown), np.int64)
        return _Lies(np.array([0]), np.array([size]), none)
    return _Lies(found.starts, found.stops, found.place, found.regions)


def spread(found: Populations, amounts: Amounts) -> Floats:
    """How much of each value falls into each population, and into all records at the end.

    Down the trie: a row's share of a population is that of the parent times the overlap of its region with one node
    more. Below one population the rows with the same region of the next attribute are added up, and a whole family is
    one product of matrices. Rows without a share are dropped on the way, and those that no later attribute tells apart
    are merged.
    """
    width = amounts.width
    result = np.zeros((len(found) + 1, width))
    result[-1] = amounts.whole
    for family, rows in amounts.families(found):
        at, begin, end = int(found.attribute[family]), int(found.first[family]), int(found.first[family + 1])
        overlap = amounts.overlaps[at][found.node[begin:end]]
        flat = amounts.flat[at][rows.group]
        if overlap.shape[1] > _REGIONS + 2 * len(flat):  # few of them are left
            there, kind = ranked(flat // width)
            overlap, flat = overlap[:, there], kind * width + flat % width
        sums = np.bincount(flat, weights=rows.amount, minlength=overlap.shape[1] * width)
        result[begin:end] = overlap @ sums.reshape(-1, width)
    return result


def each_population(found: Populations, amounts: Amounts) -> Iterator[tuple[int, Floats]]:
    """The same one population after the other, as its number and its amounts: nothing is held of all of them."""
    for family, rows in amounts.families(found):
        at = int(found.attribute[family])
        kind, value = amounts.suffixes.kinds[at][rows.group], amounts.suffixes.values[at][rows.group]
        for number in range(int(found.first[family]), int(found.first[family + 1])):
            share = rows.amount * amounts.overlaps[at][found.node[number]][kind]
            yield number, np.bincount(value, weights=share, minlength=amounts.width).astype(np.float64)


def _normal(amounts: Floats) -> Floats:
    """Distributions of the populations; of one without records that of the whole, which stands last."""
    totals = amounts.sum(axis=1, keepdims=True)
    whole = amounts[-1] / max(float(totals[-1, 0]), np.finfo(float).tiny)
    return np.where(totals > 0, amounts / np.where(totals > 0, totals, 1.0), whole)[:-1]


def _apart(one: Floats, two: Floats) -> Floats:
    step = max(1, _TOGETHER // max(1, one.shape[1]))
    parts = [jensen_shannon(one[at : at + step], two[at : at + step]) for at in range(0, len(one), step)]
    return np.concatenate(parts)


def _size(evidence: Evidence, attribute: Attribute) -> int:
    """How many values occur in the table, and one for all others."""
    return len(evidence.occurring(attribute.name)[0]) + 1
