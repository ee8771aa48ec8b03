"""What a classifier is given to learn from and to be tested on: releases of both kinds, and raw records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells, Counter
from sfumato.domains.domain import Domain, Grid
from sfumato.domains.locate import nearest_region
from sfumato.domains.sets.set_domain import SetCodes, SetDomain
from sfumato.errors import InternalError, StudyError
from sfumato.evaluate.learning.classifiers import Floats, Integers, Mask, Reads
from sfumato.release.draft import Draft
from sfumato.release.features import Features, region_matrix
from sfumato.release.partition import SUPPRESSED
from sfumato.study.attribute import Attribute, Role
from sfumato.study.view import View
from sfumato.tables.arrays.array_counter import ArrayCounter

Codes = Mapping[str, NDArray[np.int64]]
"""Records, one array of codes an attribute; those of sets come with their dictionary (`SetCodes`)."""

Columns = Literal["published", "quasi-identifiers"]
"""What is learnt from: all published columns, or the quasi-identifiers alone."""

RawSets = Mapping[str, tuple[SetDomain, SetCodes]]
"""Attributes that are sets, by name."""

_MOST_LEAVES = 1_000  # of an attribute, up to which each is a column; beyond, the code is one number
_RARE = 100  # a node of a set that fewer than one in so many records have is no feature of BA: trees would take long


@dataclass(frozen=True, eq=False)
class Lesson:
    """Rows to learn from, with a class and a weight each, and rows to be tested on."""

    learn: Floats
    classes: Integers
    weights: Floats
    test: Floats
    numbers: Mask  # which columns are numbers


@dataclass(frozen=True, eq=False)
class CountsLessons:
    """Lessons from groups with noisy counts: the same cuts for the records to be tested on.

    An interval becomes its middle, a region of categories an indicator, a set an indicator for each of its nodes; an
    attribute that was not split says nothing.
    """

    view: View
    codes: Codes
    make: Callable[[View, Counter], Draft]

    @property
    def truth(self) -> Integers:
        """The class of every record."""
        return self.codes[self.view.target.name]

    def release(self, train: Integers) -> Draft:
        """A draft of some of the records."""
        part = {name: column[train] for name, column in self.codes.items()}
        return self.make(self.view, ArrayCounter(part, {self.view.target.name: len(self.view.classes)}))

    def lesson(self, made: Draft, test: Integers, reads: Reads) -> Lesson:  # noqa: ARG002 - cuts are read one way
        """What such a draft teaches."""
        groups = made.groups
        features = Features(groups.cuts, tuple(_domain(a) for a in self.view.predictors))
        regions = region_matrix(groups.cuts, [self.codes[a.name][test] for a in self.view.predictors])
        return Lesson(
            features.matrix(groups.regions), groups.classes, groups.counts.astype(np.float64), features.matrix(regions),
            features.numbers,
        )  # fmt: skip

    def raw(self, train: Integers, test: Integers, reads: Reads) -> Lesson:  # noqa: ARG002 - as `lesson`
        """What the records themselves teach, encoded as the release is."""
        return _raw(self.view.predictors, self.codes, self._sets, self.truth, train, test, "values")

    @property
    def _sets(self) -> RawSets:
        found = {}
        for attribute in self.view.predictors:
            column = self.codes[attribute.name]
            if isinstance(attribute.domain, SetDomain):
                if not isinstance(column, SetCodes):
                    raise InternalError(f"codes of the sets '{attribute.name}' came without their dictionary")
                found[attribute.name] = (attribute.domain, column)
        return found


@dataclass(frozen=True, eq=False)
class GroupsLessons:
    """Lessons from records in groups: a record to be tested on is given the smallest region it lies in, or the nearest.

    All columns are learnt from that stand in a published row as a person's own, as in `RecordsRelease.to_training`:
    the quasi-identifiers as regions (buckets publish them exactly, so there records stay what they are), and exactly
    what is published exactly: insensitive attributes, and sensitive ones unless they are shuffled in buckets. With
    ``columns`` of `quasi-identifiers` those alone. Raw records teach by the same columns in the same encoding. Sets
    are categories here, as they are published; ``sets`` has what they are in the table.
    """

    view: View
    codes: Codes
    make: Callable[[View, Cells], Draft]
    sets: RawSets = field(default_factory=dict)
    columns: Columns = "published"

    @property
    def target(self) -> str:
        """The class."""
        name = next((a.name for a in self.view.others if a.role is Role.CLASS), None)
        if name is None:
            raise StudyError(
                "the release publishes no target (class attribute) to predict",
                "give an attribute `role: class`, and name it in the purpose",
                code="SF-STUDY-021",
            )
        return name

    @property
    def truth(self) -> Integers:
        """The class of every record."""
        return self.codes[self.target]

    def release(self, train: Integers) -> Draft:
        """A draft of some of the records."""
        names = tuple(a.name for a in self.view.attributes)
        rows = np.stack([self.codes[name][train] for name in names], axis=1)
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        return self.make(self.view, Cells(names, distinct, counts.astype(np.int64)))

    def lesson(self, made: Draft, test: Integers, reads: Reads) -> Lesson:
        """What such a draft teaches."""
        partition, quasi = made.partition, [a.name for a in self.view.quasi]
        kept = partition.group != SUPPRESSED
        asked = self._codes(self.view.quasi, test)
        if made.form == "generalised":
            column = [partition.boxes.attributes.index(name) for name in quasi]
            starts, stops = partition.boxes.starts[:, column], partition.boxes.stops[:, column]
            sizes = np.array([self.view.domain(name).size for name in quasi])
            home, near = partition.group[kept], nearest_region(starts, stops, asked, sizes)
            learn, tested = (starts[home], stops[home]), (starts[near], stops[near])
        else:
            exact = np.stack([partition.column(name)[kept] for name in quasi], axis=1)
            learn, tested = (exact, exact + 1), (asked, asked + 1)
        others = self._exact(made.form)
        shown = [partition.column(a.name)[kept] for a in others]
        given = (*self.view.quasi, *others)
        rows, numbers = features_of(given, *_beside(learn, shown), reads)
        rows_tested, _ = features_of(given, *_beside(tested, [self.codes[a.name][test] for a in others]), reads)
        classes, weights = partition.column(self.target)[kept], partition.cells.counts[kept].astype(np.float64)
        return Lesson(rows, classes, weights, rows_tested, numbers)

    def raw(self, train: Integers, test: Integers, reads: Reads, form: str = "generalised") -> Lesson:
        """What the records themselves teach, by the columns that a release of such a form has."""
        given = (*self.view.quasi, *self._exact(form))
        return _raw(given, self.codes, self.sets, self.truth, train, test, reads)

    def _exact(self, form: str) -> tuple[Attribute, ...]:
        """The attributes that are published exactly in a person's own row, without the class."""
        if self.columns == "quasi-identifiers":
            return ()
        own = self.view.sensitive if form == "generalised" else ()
        return (*own, *(a for a in self.view.others if a.role is not Role.CLASS))

    def _codes(self, attributes: Sequence[Attribute], records: Integers) -> Integers:
        return np.stack([self.codes[a.name][records] for a in attributes], axis=1)


def _beside(regions: tuple[Integers, Integers], exact: Sequence[Integers]) -> tuple[Integers, Integers]:
    """Regions with columns of exact codes beside them."""
    starts, stops = regions
    return np.column_stack([starts, *exact]), np.column_stack([stops, *(codes + 1 for codes in exact)])


def lessons(
    view: View,
    codes: Codes,
    make: Callable[..., Any],
    *,
    private: bool = True,
    sets: RawSets | None = None,
    columns: Columns = "published",
) -> CountsLessons | GroupsLessons:
    """Lessons from noisy counts, or from records in groups where they are not ``private``."""
    if private:
        return CountsLessons(view, codes, make)
    return GroupsLessons(view, codes, make, sets or {}, columns)


def features_of(
    attributes: Sequence[Attribute], starts: Integers, stops: Integers, reads: Reads
) -> tuple[Floats, Mask]:
    """Regions, a column an attribute, as a classifier reads them; a raw value is a region of one code."""
    if reads == "regions":
        return region_features(starts, stops)
    return value_features([_domain(a) for a in attributes], starts, stops)


def region_features(starts: Integers, stops: Integers) -> tuple[Floats, Mask]:
    """Where each region begins and ends on each attribute, in codes."""
    found = np.hstack([starts, stops]).astype(np.float64)
    return found, np.ones(found.shape[1], dtype=bool)


def value_features(domains: Sequence[Domain], starts: Integers, stops: Integers) -> tuple[Floats, Mask]:
    """The middle of each interval, in codes; of categories the share of each leaf, all leaves of a region alike.

    A number that may be missing has a second column that says whether it may be so in this region. An attribute of
    more than a thousand categories is one number, its code.
    """
    blocks: list[Floats] = []
    numbers: list[bool] = []
    for place, domain in enumerate(domains):
        start, stop = starts[:, place], stops[:, place]
        if isinstance(domain, Grid) and domain.missing is not None:
            known = np.minimum(stop, domain.points)
            middle = np.where(start < domain.points, (start + known - 1) / 2, (domain.points - 1) / 2)
            block: Floats = np.stack([middle, (stop > domain.points).astype(np.float64)], axis=1)
        elif isinstance(domain, Grid) or domain.size > _MOST_LEAVES:
            block = ((start + stop - 1) / 2)[:, None]
        else:
            block = _shares(start, stop, domain.size)
        blocks.append(block)
        numbers += [isinstance(domain, Grid) or domain.size > _MOST_LEAVES] * block.shape[1]
    return (np.hstack(blocks) if blocks else np.zeros((len(starts), 0))), np.array(numbers, dtype=bool)


def _shares(start: Integers, stop: Integers, size: int) -> Floats:
    ranges, back = np.unique(np.stack([start, stop], axis=1), axis=0, return_inverse=True)
    leaf = np.arange(size)
    inside = (ranges[:, :1] <= leaf) & (leaf < ranges[:, 1:])
    shares: Floats = inside / (ranges[:, 1:] - ranges[:, :1])
    return shares[back.ravel()]


def _raw(
    predictors: Sequence[Attribute],
    codes: Codes,
    sets: RawSets,
    truth: Integers,
    train: Integers,
    test: Integers,
    reads: Reads,
) -> Lesson:
    plain = [a for a in predictors if a.name not in sets]
    rows = np.stack([codes[a.name] for a in plain], axis=1) if plain else np.zeros((len(truth), 0), dtype=np.int64)
    table, numbers = features_of(plain, rows, rows + 1, reads)
    held = [_nodes_held(*sets[a.name]) for a in predictors if a.name in sets]
    table = np.hstack([table, *held])
    numbers = np.append(numbers, np.ones(table.shape[1] - len(numbers), dtype=bool))  # nodes stand each by itself
    return Lesson(table[train], truth[train], np.ones(len(train)), table[test], numbers)


def _nodes_held(domain: SetDomain, codes: SetCodes) -> Floats:
    """An indicator for each node of a set's taxonomy that enough records have a code under, the leaves among them."""
    tree = domain.taxonomy
    blocks = []
    for start, stop in sorted(set(zip(tree.starts, tree.stops, strict=True)) - {(0, tree.size)}):
        held = np.zeros(len(codes.sets), dtype=np.bool_)
        held[codes.sets.owner[(codes.sets.leaves >= start) & (codes.sets.leaves < stop)]] = True
        column = held[np.asarray(codes)]
        if column.sum() * _RARE >= len(column):
            blocks.append(column)
    return np.stack(blocks, axis=1).astype(np.float64) if blocks else np.zeros((len(codes), 0))


def _domain(attribute: Attribute) -> Domain:
    if attribute.domain is None:
        raise InternalError(f"'{attribute.name}' reached a measure without a domain")
    return attribute.domain
