"""What a release says of predicates under the uniform assumption, for many predicates at once.

A row's records lie evenly in its region, and each value of a pool belongs to any of its records alike. So a row counts
towards a conjunction with its weight times, for each attribute, the share of its region (or pool) that is selected. Of
a set, that is how likely it holds one of the codes asked for (see `domains.sets.regions`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.sets.places import PublishedSets
from sfumato.domains.sets.regions import SetRegions
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.evaluate.evidence import Evidence, ranked
from sfumato.release.shown import Floats, Integers, Shown, Values

Booleans = NDArray[np.bool_]

_TOGETHER = 1_000_000  # numbers of a full table that are held at once: many more would not fit a cache


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """A range of codes for each of some ``queries`` (their numbers, in order)."""

    queries: Integers  # (m,)
    starts: Integers  # (m,)
    stops: Integers  # (m,)

    def covered(self, some: slice, starts: Integers, stops: Integers) -> Floats:
        """How many codes of each range ``[start, stop)`` are selected: (queries, ranges)."""
        last = np.minimum(self.stops[some, None], stops)
        return np.asarray(np.maximum(last - np.maximum(self.starts[some, None], starts), 0), np.float64)

    def count(self) -> Floats:
        """How many codes each query selects."""
        return (self.stops - self.starts).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """A set of codes for each of some ``queries`` (their numbers, in order)."""

    queries: Integers  # (m,)
    member: Booleans  # (m, size of the domain)

    def covered(self, some: slice, starts: Integers, stops: Integers) -> Floats:
        """How many codes of each range ``[start, stop)`` are selected, by differences of running sums."""
        member = self.member[some]
        found = np.empty((len(member), len(starts)))
        step = max(1, _TOGETHER // member.shape[1])
        for first in range(0, len(member), step):
            part = member[first : first + step]
            sums = np.zeros((len(part), part.shape[1] + 1))
            np.cumsum(part, axis=1, out=sums[:, 1:])
            found[first : first + step] = sums[:, stops] - sums[:, starts]
        return found

    def count(self) -> Floats:
        """How many codes each query selects."""
        return np.asarray(self.member.sum(axis=1), np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """For each of some ``queries`` (their numbers, in order) the nodes of which a set must hold at least one.

    They are nodes at the level of the domain, each a range of codes between two ``edges``.
    """

    queries: Integers  # (m,)
    member: Booleans  # (m, nodes)
    edges: Integers  # (nodes + 1,)

    def chance(self, some: slice, regions: SetRegions) -> Floats:
        """How likely a record of each region fulfils each query: (queries, regions)."""
        sums = self._sums(some)
        last = len(self.edges) - 1
        begin, end = (np.minimum(np.searchsorted(self.edges, at), last) for at in (regions.starts, regions.stops))
        return regions.some((sums[:, end] - sums[:, begin]) / (regions.stops - regions.starts))

    def selects(self, some: slice, holds: csr_array) -> Booleans:
        """Which sets have one of the nodes, where each is told exactly by those that it ``holds``, (sets, nodes)."""
        found: Booleans = np.asarray(holds @ self.member[some].T.astype(np.float32)).T > 0
        return found

    def unknown(self, some: slice) -> Floats:
        """The same where nothing is told: any code alike."""
        return np.asarray(self._sums(some)[:, -1] / self.edges[-1])

    def _sums(self, some: slice) -> Floats:
        member = self.member[some]
        sums = np.zeros((len(member), member.shape[1] + 1))
        np.cumsum(member * np.diff(self.edges), axis=1, out=sums[:, 1:])
        return sums


Predicate = Ranges | Sets | Held


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """Many conjunctions: for each attribute the queries that have a predicate on it, and which codes it selects."""

    queries: int
    predicates: Mapping[str, Predicate]
    sizes: Mapping[str, int]  # of the domains


def exact(evidence: Evidence) -> Shown:
    """The table itself, as a release that hides nothing."""
    key = f"exact {','.join(a.name for a in evidence.view.attributes)}"
    if key not in evidence.kept:
        place, people = evidence.people
        rows = np.arange(len(people))
        values = {}
        told = {name: PublishedSets.one_by_one(evidence.set_domain(name), sets) for name, sets in evidence.sets.items()}
        for attribute in (*evidence.view.sensitive, *evidence.view.others):
            at = (place, evidence.column(attribute.name))
            shape = (len(people), evidence.size(attribute.name))
            counts = csr_array((evidence.raw.counts.astype(np.float64), at), shape=shape)
            as_told = csr_array(counts[:, :-1]) if attribute.name in told else None
            values[attribute.name] = Values(rows, counts, as_told)
        weights = people.counts.astype(np.float64)
        evidence.kept[key] = Shown(
            people.attributes, people.codes, people.codes + 1, weights, values, "exact", sets=told
        )
    found: Shown = evidence.kept[key]
    return found


def parts(shown: Shown, workload: Workload, begin: int = 0, end: int | None = None) -> Iterator[tuple[slice, Floats]]:
    """For blocks of queries the records of each row that fulfil them, as the release has it: (queries, rows)."""
    columns = {name: column(shown, name) for name in workload.predicates}
    step = max(1, _TOGETHER // max(1, len(shown)))
    every = workload.queries if end is None else end
    for first in range(begin, every, step):
        last = min(every, first + step)
        asked = {}
        for name, predicate in workload.predicates.items():
            low, high = np.searchsorted(predicate.queries, [first, last])
            if low < high:
                asked[name] = slice(int(low), int(high))
        inside = np.ones((last - first, len(shown)), np.bool_)
        for name, some in asked.items():  # whole or not at all: bytes in place of numbers
            if (at := columns[name]) is not None and at.exact:
                predicate = workload.predicates[name]
                selected = _selected(at, predicate, some)
                inside[predicate.queries[some] - first] &= np.take(selected, at.place, axis=1)
        found = inside * shown.weights
        for name, some in asked.items():
            if (at := columns[name]) is None or not at.exact:
                predicate = workload.predicates[name]
                found[predicate.queries[some] - first] *= _share(at, predicate, some, workload.sizes[name])
        yield slice(first, last), found


def estimate(shown: Shown, workload: Workload) -> Floats:
    """How many records of the table fulfil each query, by the release: divided by the rate of a sample."""
    found = np.zeros(workload.queries)
    for some, records in parts(shown, workload):
        found[some] = records.sum(axis=1)
    return found / shown.rate


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One attribute of a release: its distinct ranges, or its pools with the ranges that occur, and each row's."""

    starts: Integers  # of sets these are places
    stops: Integers
    shares: csr_array | None  # (pools, ranges), where the attribute stands beside the regions
    place: Integers  # (rows,)
    exact: bool = False  # whether every row has one code, or of sets one set
    regions: SetRegions | None = None  # of sets: what each range tells
    holds: csr_array | None = None  # of sets that are exact: the nodes at the level that each has


def column(shown: Shown, name: str) -> Column | None:
    """One attribute of a release; None for one that it does not have."""
    if name in shown.attributes:
        at = shown.attributes.index(name)
        first, last, place = _distinct(shown, at)
        regions = _told(shown, name, first, last)
        if regions is not None and shown.form == "exact":
            holds = _holds(regions, shown.sets[name].domain)
            return Column(first, last, None, place, exact=True, regions=regions, holds=holds)
        one = regions is None and bool(np.all(last - first == 1))
        return Column(first, last, None, place, exact=one, regions=regions)
    if name not in shown.values:
        return None
    values = shown.values[name]
    over = values.as_published()
    return Column(
        over.starts, over.stops, over.shares, values.pool, regions=_told(shown, name, over.starts, over.stops)
    )


def _distinct(shown: Shown, at: int) -> tuple[Integers, Integers, Integers]:
    """The distinct ranges of one attribute in order, as starts and stops, and each row's."""
    starts, start = ranked(shown.starts[:, at])
    if shown.form == "exact":  # a code each: its end says nothing more
        return starts, starts + 1, start
    stops, stop = ranked(shown.stops[:, at])
    found, place = ranked(start * max(1, len(stops)) + stop)
    return starts[found // max(1, len(stops))], stops[found % max(1, len(stops))], place


def _told(shown: Shown, name: str, starts: Integers, stops: Integers) -> SetRegions | None:
    return shown.sets[name].at(starts, stops) if name in shown.sets else None


def _holds(regions: SetRegions, domain: SetDomain) -> csr_array:
    """The nodes at the domain's level that each region has; every node is one, or that of records without codes."""
    edges = np.asarray(domain.starts_at(domain.level))
    coded = regions.starts < regions.size
    at = (regions.owner[coded], np.searchsorted(edges, regions.starts[coded]))
    return csr_array((np.ones(len(at[0]), np.float32), at), shape=(len(regions), len(edges)))


def _selected(at: Column, predicate: Predicate, some: slice) -> Booleans:
    """Which ranges a predicate selects, where each is one code: (queries, ranges)."""
    if isinstance(predicate, Held):
        assert at.holds is not None, "sets that are exact hold nodes"
        return predicate.selects(some, at.holds)
    return predicate.covered(some, at.starts, at.stops) > 0


def _share(found: Column | None, predicate: Predicate, some: slice, size: int) -> Floats:
    """The share of each row's records that a predicate selects: (queries, rows), or a column if all rows are alike."""
    if isinstance(predicate, Held):
        if found is None:
            return predicate.unknown(some)[:, None]
        assert found.regions is not None, "codes are held by sets"
        share = predicate.chance(some, found.regions)
    elif found is None:
        return (predicate.count()[some] / size)[:, None]
    else:
        share = predicate.covered(some, found.starts, found.stops)
    if found.regions is None:
        share = share / (found.stops - found.starts)
    if found.shares is not None:
        return np.take(np.ascontiguousarray((found.shares @ share.T).T), found.place, axis=1)
    return np.take(share, found.place, axis=1)
