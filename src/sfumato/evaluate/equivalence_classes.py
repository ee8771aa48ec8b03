"""Equivalence classes: records with the same published quasi-identifiers, and the rows that may be a person's."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from sfumato.evaluate.evidence import Evidence, distinct_rows
from sfumato.release.shown import Floats, Integers, OverRanges, Shown

_TOGETHER = 32_000_000  # bits that are held at once
_FEW = 1_000_000  # comparisons of people with rows that are not worth halving


@dataclass(frozen=True, slots=True, eq=False)
class EquivalenceClasses:
    """The equivalence classes of a release: their sizes, and the class of each row.

    Records with the same region are a class, whatever else is published of them. Of a bucketized release these are the
    records with the same exact quasi-identifiers: to know a person's bucket takes more background knowledge.
    """

    sizes: Floats  # (groups,), records or noisy counts
    group: Integers  # (rows,)


def equivalence_classes(evidence: Evidence) -> EquivalenceClasses:
    """The equivalence classes of a release, found once."""
    if "equivalence classes" not in evidence.found:
        shown = evidence.shown
        group, first = distinct_rows([*shown.starts.T, *shown.stops.T], len(shown))
        sizes = np.bincount(group, weights=shown.weights, minlength=len(first)).astype(np.float64)
        evidence.found["equivalence classes"] = EquivalenceClasses(sizes, group)
    found: EquivalenceClasses = evidence.found["equivalence classes"]
    return found


def containing(shown: Shown, codes: Integers) -> csr_array:
    """Which rows' regions contain each person: (people, rows), 1 where they do.

    ``codes`` are the people's quasi-identifiers in the order of the release's attributes, of sets their places. A
    person may be in no row (a suppressed or unsampled record, a gap between tight ranges) and in several (regions that
    overlap, buckets). People are halved until few of them, who are near each other, have few rows that come into
    question; those are compared 8 at a time, as bits.
    """
    people, rows = len(codes), len(shown)
    who, where = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for some, near in _neighbours(shown, codes):
        block = codes[some]
        bits = np.full((len(some), -(-len(near) // 8)), 255, np.uint8)
        for place in range(codes.shape[1]):
            occurring, at = np.unique(block[:, place], return_inverse=True)
            inside = (shown.starts[near, place] <= occurring[:, None]) & (occurring[:, None] < shown.stops[near, place])
            bits &= np.packbits(inside, axis=1)[at.ravel()]
        person, byte = np.nonzero(bits)
        hit, bit = np.nonzero(np.unpackbits(bits[person, byte][:, None], axis=1))
        row = byte[hit] * 8 + bit
        real = row < len(near)  # the last byte may have bits left over
        who.append(some[person[hit]][real].astype(np.int32))
        where.append(near[row[real]].astype(np.int32))
    person, row = np.concatenate(who), np.concatenate(where)
    return csr_array((np.ones(len(person)), (person, row)), shape=(people, rows))


def _neighbours(shown: Shown, codes: Integers) -> Iterator[tuple[Integers, Integers]]:
    """People, each once, with the rows that overlap the least region which has all of them.

    People are halved at the median of the attribute in which the rows of both halves are the fewest, as long as there
    are many comparisons and halving saves some of them.
    """
    todo = [(np.arange(len(codes)), np.arange(len(shown)))]
    while todo:
        some, near = todo.pop()
        if not len(some):
            continue
        block, starts, stops = codes[some], shown.starts[near], shown.stops[near]
        low, high = block.min(axis=0), block.max(axis=0)
        kept = np.flatnonzero(np.all((starts <= high) & (stops > low), axis=1))
        near, starts, stops = near[kept], starts[kept], stops[kept]
        cut = _halving(block, starts, stops) if len(some) * len(near) > _FEW else None
        if cut is not None:
            left = block[:, cut[0]] < cut[1]
            todo += [(some[~left], near), (some[left], near)]
            continue
        step = max(1, min(1_024, _TOGETHER // max(1, len(near))))
        for first in range(0, len(some), step):
            yield some[first : first + step], near


def _halving(block: Integers, starts: Integers, stops: Integers) -> tuple[int, int] | None:
    """The attribute and the code at which people are cut; None where no cut leaves fewer rows on both sides."""
    if not block.shape[1] or not len(starts):
        return None
    some = block[:: max(1, len(block) // 1_000)]
    at = np.maximum(np.median(some, axis=0).astype(np.int64), block.min(axis=0) + 1)
    apart = at <= block.max(axis=0)  # people on both sides
    most = np.maximum((starts < at).sum(axis=0), (stops > at).sum(axis=0))
    most[~apart] = len(starts)
    column = int(most.argmin())
    return (column, int(at[column])) if most[column] < len(starts) else None


def people_of(evidence: Evidence) -> Integers:
    """The distinct quasi-identifiers of the table, in the order of the release's attributes; of sets their places."""
    people = evidence.people[1]
    names = evidence.shown.attributes
    codes = people.codes[:, [people.attributes.index(name) for name in names]]
    for place, name in enumerate(names):
        if name in evidence.shown.sets:
            codes[:, place] = evidence.set_places(name)[codes[:, place]]
    return codes


def candidates(evidence: Evidence) -> csr_array:
    """`containing` for the people of the table, found once a release."""
    if "candidates" not in evidence.found:
        codes = people_of(evidence)
        if evidence.shown.sets:  # many people may be alike to the release that are not in the table
            of, first = distinct_rows(list(codes.T), len(codes))
            evidence.found["candidates"] = csr_array(containing(evidence.shown, codes[first])[of])
        else:
            evidence.found["candidates"] = containing(evidence.shown, codes)
    return evidence.found["candidates"]


def by_row(shown: Shown, name: str) -> OverRanges:
    """How many records of each row have values in each range of an attribute that stands beside the regions."""
    values = shown.values[name]
    return _in_rows(shown, values.over_ranges(), values.pool)


def told_by_row(shown: Shown, name: str) -> OverRanges:
    """The same for what was published of it: of sets by place."""
    values = shown.values[name]
    return _in_rows(shown, values.as_published(), values.pool)


def _in_rows(shown: Shown, over: OverRanges, pool: Integers) -> OverRanges:
    return replace(over, shares=csr_array(over.shares[pool].multiply(shown.weights[:, None])))
