"""What a release shows, in codes: regions with weights, and how the other values are spread over them.

Every kind of release can be read this way, under the uniform assumption: a row's records lie evenly in its region, and
each of the values that stand with them belongs to any of them alike. Measures see releases as this and nothing else, so
one measure serves generalised, bucketized, sampled and noisy releases.

Regions of sets are ranges of *places*, an order that each release has for itself (`set_places`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.cut import Cut, plain_numbers
from sfumato.domains.sets.places import PublishedSets
from sfumato.domains.sets.set_cut import SetCut, Sets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import InternalError, StudyError, VerifyError
from sfumato.release.answer.interval import Noise
from sfumato.release.draft import Draft, EstimatedGroups, Groups, Tables
from sfumato.release.guarantee import DpGuarantee
from sfumato.release.measured import MeasuredTables
from sfumato.release.measured_marginals import MeasuredMarginals
from sfumato.release.partition import SUPPRESSED
from sfumato.study.view import View

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Values:
    """One attribute beside the regions: how often each of its values occurs in each pool, and each row's pool.

    In a generalised release a pool is a group, in a bucketized one a bucket for what is shuffled and a row for what is
    not. Of sets, ``published`` has how often each place of the release occurs, and ``counts`` what follows from it for
    the sets of the table, with one column more for all others.

    A value that is published as a region stands for each code of it alike. Then each column of ``counts`` is a region
    with its ``edges``: a domain may have billions of codes, and nothing here takes memory for a code that is not named.
    """

    pool: Integers  # (rows,)
    counts: csr_array  # (pools, size of the domain), or (pools, regions) where there are edges
    published: csr_array | None = None  # (pools, places)
    edges: Integers | None = None  # (regions + 1,): where the regions of the columns begin, and the end of the last

    @classmethod
    def of_sets(cls, pool: Integers, published: csr_array, how: PublishedSets, sets: Sets) -> "Values":
        """Sets that are published by their places; ``sets`` are those of the table."""
        return cls(pool, csr_array(published @ how.spread(sets)), published)

    def over_ranges(self) -> "OverRanges":
        """The distribution in each pool over the ranges of codes that occur; a pool without records has none.

        Of sets they are those of the table; see `as_published`.
        """
        return _over_ranges(self.counts, self.edges)

    def as_published(self) -> "OverRanges":
        """The distribution in each pool of what was published: of sets over places, of all others over codes."""
        return self.over_ranges() if self.published is None else _over_ranges(self.published, None)


@dataclass(frozen=True, eq=False)
class OverRanges:
    """Distributions over ranges of codes, all codes of a range alike; the ranges are disjoint and in order."""

    shares: csr_array  # (pools, ranges)
    starts: Integers  # (ranges,)
    stops: Integers  # (ranges,)

    @property
    def widths(self) -> Floats:
        """How many codes each range has."""
        return (self.stops - self.starts).astype(np.float64)

    def range_of(self, codes: Integers) -> Integers:
        """The range that each code is in; -1 for none."""
        if not len(self.starts):
            return np.full(len(codes), -1, np.int64)
        at = np.searchsorted(self.starts, codes, side="right") - 1
        return np.where((at >= 0) & (codes < self.stops[at]), at, -1)


def _over_ranges(counts: csr_array, edges: Integers | None) -> OverRanges:
    """Shares of the columns that occur, and of which codes they are."""
    shares = _shares(counts)
    used, place = np.unique(shares.indices, return_inverse=True)
    used = used.astype(np.int64)
    found = csr_array((shares.data, place.ravel(), shares.indptr), shape=(shares.shape[0], len(used)))
    if edges is None:
        return OverRanges(found, used, used + 1)
    return OverRanges(found, edges[used], edges[used + 1])


def _shares(counts: csr_array) -> csr_array:
    totals = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    scale = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
    return csr_array(counts.multiply(scale[:, None]))


@dataclass(frozen=True, eq=False)
class NoisyCells:
    """Noisy counts as they are published, and what is published of their noise: all that an adversary knows of them."""

    groups: Groups
    noise: Noise


@dataclass(frozen=True, eq=False)
class Shown:
    """A release as a receiver sees it.

    ``source`` is what was measured under differential privacy, where rows and weights follow from it: noisy counts, or
    measured tables. ``epsilon`` is the ε of the release, for a unit that may add ``stability`` records.

    Rows with the same region may stand apart (buckets). ``weights`` are published records, or noisy counts, all above
    0; divided by ``rate`` they estimate records of the table. ``suppressed`` records are known to be missing, no more.
    """

    attributes: tuple[str, ...]  # the quasi-identifiers
    starts: Integers  # (rows, attributes)
    stops: Integers  # (rows, attributes)
    weights: Floats  # (rows,)
    values: Mapping[str, Values]  # sensitive attributes, the class, and others that are published
    form: str  # the name of the form it is published in
    rate: float = 1.0
    suppressed: int = 0
    noisy: bool = False  # whether weights are counts with noise, and no records are published
    sets: Mapping[str, PublishedSets] = field(default_factory=dict)  # how sets are published, by attribute
    synthetic: bool = False  # whether rows were drawn by another tool and are no records; ``noisy`` is then set too
    source: NoisyCells | MeasuredTables | MeasuredMarginals | None = None
    epsilon: float | None = None
    stability: int = 1

    def __post_init__(self) -> None:
        assert self.starts.shape == self.stops.shape == (len(self.weights), len(self.attributes)), "a region a row"

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def records(self) -> float:
        """How many records are published, or counted with noise."""
        return float(self.weights.sum())

    def tells(self, name: str) -> bool:
        """Whether an attribute beside the regions is published, and is not a set of which nothing is published."""
        return name in self.values and not (name in self.sets and bool(self.sets[name].regions.whole.all()))

    def generalises(self, name: str) -> bool:
        """Whether some value of an attribute beside the regions stands for several codes."""
        return name in self.values and bool((self.values[name].over_ranges().widths > 1).any())


def shown_records(draft: Draft) -> Shown:
    """What a draft of records would show; its sets are categories, see `with_published_sets`."""
    view, partition = draft.view, draft.partition
    kept = partition.group != SUPPRESSED
    group, counts = partition.group[kept], partition.cells.counts[kept].astype(np.float64)
    names = tuple(a.name for a in view.quasi)
    hidden = {a.name for a in view.sensitive}
    beside = [a.name for a in (*view.sensitive, *view.others)]
    if draft.form == "generalised":
        place = [partition.boxes.attributes.index(name) for name in names]
        row, rows = group, len(partition.boxes)
        starts, stops = partition.boxes.starts[:, place], partition.boxes.stops[:, place]
    else:
        exact = np.stack([group, *(partition.column(name)[kept] for name in names)], axis=1)
        distinct, row = np.unique(exact, axis=0, return_inverse=True)
        row, rows = row.ravel(), len(distinct)
        starts, stops = distinct[:, 1:], distinct[:, 1:] + 1
    weights: Floats = np.bincount(row, weights=counts, minlength=rows).astype(np.float64)
    bucket = np.zeros(rows, np.int64)
    bucket[row] = group
    values = {}
    for name in beside:
        shuffled = name in hidden and draft.form != "generalised"
        pool, pools = (group, len(partition.boxes)) if shuffled else (row, rows)
        table = csr_array((counts, (pool, partition.column(name)[kept])), shape=(pools, view.domain(name).size))
        values[name] = Values(bucket if shuffled else np.arange(rows), table)
    return _without_empty(
        Shown(names, starts, stops, weights, values, draft.form, float(draft.rate), partition.suppressed)
    )


def shown_counts(draft: Draft, quasi: tuple[str, ...], sets: Mapping[str, Sets] | None = None) -> Shown:
    """What noisy counts show of the ``quasi`` attributes; all others stand beside them, the class among them.

    Published groups that differ only in what stands beside become one row. A value that was published as a region
    stands for each code of it alike. Groups that are not listed have count 0, and there are no negative ones. ``sets``
    has the sets of the table, for the attributes that are sets.
    """
    groups = draft.groups
    domains = {a.name: a.domain for a in draft.view.predictors}
    published: dict[str, PublishedSets] = {}
    columns = []
    for index, cut in enumerate(groups.cuts):
        regions = plain_numbers(cut, groups.regions[:, index])
        if isinstance(cut, SetCut):
            domain = domains[cut.attribute]
            if not isinstance(domain, SetDomain) or sets is None or cut.attribute not in sets:
                raise InternalError(f"the sets '{cut.attribute}' came without those of the table")
            numbers, regions = np.unique(regions, return_inverse=True)
            published[cut.attribute] = PublishedSets.by_cut(domain, cut, numbers)
        columns.append(np.asarray(regions).ravel().astype(np.int64))
    place = [index for index, cut in enumerate(groups.cuts) if cut.attribute in quasi]
    rows_of = np.stack([columns[index] for index in place], axis=1) if place else np.zeros((len(groups), 0), np.int64)
    distinct, row = np.unique(rows_of, axis=0, return_inverse=True)
    row, rows, counts = row.ravel(), len(distinct), groups.counts.astype(np.float64)
    ends = [_ends(groups.cuts[index], published, distinct[:, n]) for n, index in enumerate(place)]
    starts, stops = (np.stack([pair[n] for pair in ends], axis=1) if place else distinct for n in (0, 1))
    own = np.arange(rows)
    target = csr_array((counts, (row, groups.classes)), shape=(rows, len(draft.view.classes)))
    values = {draft.view.target.name: Values(own, target)} if draft.view.targeted else {}
    for index, cut in enumerate(groups.cuts):
        if index in place:
            continue
        if isinstance(cut, SetCut):
            assert sets is not None, "see above"
            how = published[cut.attribute]
            found = csr_array((counts, (row, columns[index])), shape=(rows, how.size))
            values[cut.attribute] = Values.of_sets(own, found, how, sets[cut.attribute])
        else:
            edges = np.asarray((*cut.starts, cut.size), np.int64)
            found = csr_array((counts, (row, columns[index])), shape=(rows, len(edges) - 1))
            values[cut.attribute] = Values(own, found, edges=edges)
    names = tuple(groups.cuts[index].attribute for index in place)
    weights: Floats = np.bincount(row, weights=counts, minlength=rows).astype(np.float64)
    guarantee = draft.guarantee
    return Shown(
        names,
        starts,
        stops,
        weights,
        values,
        draft.form,
        sets=published,
        noisy=True,
        source=_source(draft),
        epsilon=float(guarantee.epsilon) if isinstance(guarantee, DpGuarantee) else None,
        stability=guarantee.stability if isinstance(guarantee, DpGuarantee) else 1,
    )


def _source(draft: Draft) -> "NoisyCells | MeasuredTables | MeasuredMarginals | None":
    """What was measured; None of noisy counts that do not state their noise."""
    if isinstance(draft.content, Tables):
        return draft.content.measured
    if "noise_scale" not in draft.facts or isinstance(draft.content, EstimatedGroups):
        return None  # counts that are estimated from others have noise that is not independent
    noise = Noise.of_facts(draft.facts, groups=0.0, classes=len(draft.view.classes))
    return NoisyCells(draft.groups, noise)


def _ends(cut: Cut, published: Mapping[str, PublishedSets], regions: Integers) -> tuple[Integers, Integers]:
    """Where regions begin and end: in codes, of sets in places."""
    if cut.attribute in published:
        return regions, regions + 1
    edges = np.asarray((*cut.starts, cut.size), np.int64)
    return edges[regions], edges[regions + 1]


def _without_empty(shown: Shown) -> Shown:
    """The same without rows that have no records: groups all of whose records were suppressed."""
    kept = np.flatnonzero(shown.weights > 0)
    if len(kept) == len(shown):
        return shown
    values = {name: replace(found, pool=found.pool[kept]) for name, found in shown.values.items()}
    return replace(
        shown, starts=shown.starts[kept], stops=shown.stops[kept], weights=shown.weights[kept], values=values
    )


def with_published_sets(shown: Shown, view: View, trees: Mapping[str, Taxonomy], sets: Mapping[str, Sets]) -> Shown:
    """A release of records with its sets, which it tells as nodes of the published ``trees``."""
    values, how = dict(shown.values), {}
    for name, tree in trees.items():
        domain = view.domain(name)
        assert isinstance(domain, SetDomain), "trees are of sets"
        try:
            how[name] = PublishedSets.by_tree(domain, tree)
        except VerifyError:
            raise StudyError(
                f"'{name}' is published with sets that do not match the taxonomy and level that the study "
                "declares for it",
                "measure it against the study as it was when the bundle was made, or publish again",
                code="SF-STUDY-111",
            ) from None
        if name in values:
            values[name] = Values.of_sets(values[name].pool, values[name].counts, how[name], sets[name])
    return replace(shown, values=values, sets=how)


def set_trees(view: View, sets: Mapping[str, Sets]) -> dict[str, Taxonomy]:
    """The taxonomies by which a view tells its sets; they have to have become categories."""
    found = {}
    for name in sets:
        tree = view.domain(name).taxonomy
        if tree is None or isinstance(view.domain(name), SetDomain):
            raise InternalError(f"the sets '{name}' have not become categories")
        found[name] = tree
    return found
