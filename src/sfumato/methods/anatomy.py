"""Anatomy: buckets of records that all have different sensitive values."""

import heapq
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.errors import InfeasibleError, StudyError
from sfumato.methods.bucketization import FORMS, LINKED
from sfumato.methods.grouping.code_ranges import tight_boxes
from sfumato.methods.grouping.partitioning import (
    Grouping,
    check_view,
    finish_partition,
    model_sentences,
    refuse_least_width,
    refuse_unsatisfiable,
    sort_cells,
    value_totals,
)
from sfumato.methods.method import METHODS, Context, Forecast
from sfumato.privacy.dp.sampling import RandomSource, random_below, random_order
from sfumato.privacy.groups.parameters import parse_whole
from sfumato.privacy.models import GroupModel, ProbabilisticLDiversity
from sfumato.release.draft import Draft
from sfumato.release.partition import Partition
from sfumato.study.attribute import Attribute
from sfumato.study.purpose import Needs
from sfumato.study.view import View

Integers = NDArray[np.int64]


@METHODS.add
@dataclass(frozen=True, kw_only=True)
class Anatomy(Grouping):
    """Buckets with l different sensitive values each (Xiao & Tao, VLDB 2006, algorithm Anatomize).

    Records are sorted by their sensitive value. As long as l values have records left, a bucket takes one record of
    each of the l values with the most records left; which record, is random. Each of the few records that remain goes
    into a random bucket that does not have its value yet. So no value occurs twice in a bucket, and a bucket has at
    least l records: a value's share of it is at most 1/l. It needs a table in which no value has more than 1/l of the
    records.

    The quasi-identifiers play no part in it: buckets say nothing about who is like whom.
    """

    name: ClassVar[str] = "anatomy"
    summary: ClassVar[str] = "exact quasi-identifiers, and buckets of records with l different sensitive values"
    needs: ClassVar[Needs] = Needs(private=False, random=True)
    l: int  # noqa: E741 - the paper's letter
    tables: int = 2

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", parse_whole(self.l, "l"))
        if str(self.tables) not in FORMS:
            raise StudyError(f"tables is '{str(self.tables)[:40]}'", "publish 1 table or 2", code="SF-STUDY-032")
        object.__setattr__(self, "tables", int(self.tables))

    @property
    def form(self) -> str:  # type: ignore[override] # by a parameter here
        """Two tables, or one."""
        return FORMS[str(self.tables)]

    @property
    def one_by_one(self) -> bool:
        """It draws records."""
        return True

    @property
    def collects(self) -> str:
        """What all combinations of values are collected for."""
        return "records are put into buckets one by one, and published with their exact quasi-identifiers"

    @property
    def models(self) -> tuple[GroupModel, ...]:
        """No sensitive value has a larger share of a bucket than 1/l."""
        return (ProbabilisticLDiversity(l=self.l),)

    def check(self, view: View) -> None:
        """Refuse a view without a sensitive attribute, or with several: buckets are made for one."""
        check_view(view, self.models)
        refuse_least_width(view, self.name)
        if len(view.sensitive) > 1:
            raise StudyError(
                f"anatomy protects one sensitive attribute, and the release has {len(view.sensitive)}",
                "leave the others out with a purpose, or use `method: bucketization`",
                code="SF-STUDY-033",
            )

    def forecast(self, view: View) -> Forecast:
        """What a bucket holds."""
        self.check(view)
        return Forecast(
            sentences=(
                f"a bucket has {self.l} records with different sensitive values, and some buckets have a few more",
                *model_sentences(self.models),
                LINKED,
            ),
            numbers={},
        )

    def draft(self, view: View, counts: Cells, context: Context | None = None) -> Draft:
        """Make the buckets; which record of a value goes into which bucket is random."""
        self.check(view)
        context = context or Context()
        source, progress = context.source, context.progress
        cells = sort_cells(view, counts)
        self._refuse_uneven(view.sensitive[0], view, cells)
        record = np.repeat(np.arange(len(cells)), cells.counts)
        record = record[random_order(len(record), source)]
        codes = cells.codes[record, len(view.quasi)]
        order = np.argsort(codes, kind="stable")
        progress("making buckets", 0, len(record))
        bucket, buckets = anatomize(np.unique(codes, return_counts=True)[1], self.l, source)
        record = record[order]
        back = np.lexsort((bucket, record))  # cell by cell; no cell is twice in a bucket, since no value is
        record, bucket = record[back], bucket[back]
        spread = Cells(cells.attributes, cells.codes[record], np.ones(len(record), np.int64))
        partition = Partition(spread, bucket, tight_boxes(view, spread, bucket, buckets))
        done = finish_partition(view, partition, self.models)
        progress("making buckets", len(record), len(record))
        return self.make_draft(view, done, facts={"groups": buckets, "suppressed": 0})

    def _refuse_uneven(self, sensitive: Attribute, view: View, cells: Cells) -> None:
        """The table must be eligible: as a single bucket it would have to satisfy the model."""
        try:
            refuse_unsatisfiable(view, cells, self.models)
        except InfeasibleError as error:
            if not len(cells):
                raise
            most = value_totals(view, cells, [sensitive.name])[sensitive.name].counts.max()
            raise InfeasibleError(
                f"a value of '{sensitive.name}' has more than 1/{self.l} of the records, so some bucket would have it "
                "twice",
                f"set l to {int(cells.counts.sum() // most)} or less",
                code="SF-INFEASIBLE-006",
            ) from error


def anatomize(counts: Integers, l: int, source: RandomSource) -> tuple[Integers, int]:  # noqa: E741
    """The bucket of each record, where records stand in the order of their values, and how many buckets there are.

    ``counts`` says how many records have each value; none has more than 1/l of them. As long as the l values with the
    most records stay ahead of all others, buckets of the same values are made in one step.

    >>> from sfumato.privacy.dp.sampling import InsecureSource
    >>> bucket, buckets = anatomize(np.array([2, 2, 1]), 2, InsecureSource(0))
    >>> buckets, np.bincount(bucket).tolist()
    (2, [2, 3])
    """
    heap = [(-int(count), value) for value, count in enumerate(counts) if count]
    heapq.heapify(heap)
    values: list[list[int]] = []  # the values of the buckets of each step,
    times: list[int] = []  # and how many of them there are
    while len(heap) >= l:
        taken = [heapq.heappop(heap) for _ in range(l)]
        fewest = -taken[-1][0]
        ahead = max(1, fewest + heap[0][0]) if heap else fewest
        values.append([value for _, value in taken])
        times.append(ahead)
        for count, value in taken:
            if count + ahead < 0:
                heapq.heappush(heap, (count + ahead, value))
    buckets = sum(times)
    steps = np.array(times, np.int64)
    filled = np.repeat(np.array(values, np.int64).reshape(-1, l), steps, axis=0).ravel()
    bucket = np.repeat(np.arange(buckets), l)
    rest = [value for _, value in heap]
    assert all(count == -1 for count, _ in heap), "a value that is left over has one record"
    chosen = [_without(value, filled, bucket, buckets, source) for value in rest]
    order = np.argsort(np.append(filled, np.array(rest, np.int64)), kind="stable")
    return np.append(bucket, np.array(chosen, np.int64))[order], buckets


def _without(one: int, filled: Integers, bucket: Integers, buckets: int, source: RandomSource) -> int:
    """A random bucket without this value; at most l − 1 records are left to place, each with a value of its own."""
    free = np.ones(buckets, dtype=bool)
    free[bucket[filled == one]] = False
    places = np.flatnonzero(free)
    return int(places[random_below(len(places), source)])
