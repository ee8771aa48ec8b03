"""A release of records as its receiver uses it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.domain import Domain
from sfumato.domains.query.codes import Codes
from sfumato.errors import UsageError
from sfumato.privacy.groups.statistics import ValueCounts
from sfumato.release.answer.columns import ANY, Bounds, PooledColumn, Reach, SetsColumn, Shares
from sfumato.release.answer.estimate import Estimate, Question
from sfumato.release.answer.interval import CONFIDENCE
from sfumato.release.draft import Draft
from sfumato.release.forms.records.code_spans import Spans
from sfumato.release.forms.records.declared_layout import sampled_share
from sfumato.release.forms.records.page_answers import column_counts
from sfumato.release.forms.records.record_features import RecordFeatures, Regions
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.forms.records.record_table import Column, RecordLayout
from sfumato.release.forms.records.repartition import partition_of
from sfumato.release.forms.records.rows import Records
from sfumato.release.guarantee import guarantee_from
from sfumato.release.release import Counts, Release, as_frames
from sfumato.release.sample import plain_values, random_numbers, set_texts
from sfumato.release.storage.untrusted import refuse_unexpected
from sfumato.study.view import View

if TYPE_CHECKING:
    from sfumato.release.forms.records.encoder import RecordEncoder


@dataclass(frozen=True, eq=False, repr=False)
class RecordsRelease(Release):
    """Records in equivalence classes; suppressed ones are ignored in everything but the table itself."""

    layout: RecordLayout = field(repr=False)
    rows: Records = field(repr=False)  # folded: what is alike is one row

    @cached_property
    def records(self) -> Records:
        """A row for each record; only what needs single records asks for it, since there may be very many."""
        return self.rows.unfold()

    @property
    def domains(self) -> dict[str, Domain]:
        """The domain of every attribute."""
        return {column.name: column.domain for column in self.layout.columns}

    @property
    def declared_domains(self) -> dict[str, Domain]:
        """The domain of every attribute as the owner declared it; those of sets are of their codes."""
        return {column.name: column.sets or column.domain for column in self.layout.columns}

    def to_draft(self, view: View) -> Draft:
        """The published equivalence classes as a draft."""
        return Draft(
            view=view.with_domains({a.name: self.domains[a.name] for a in view.attributes}),
            content=partition_of(self.rows, view),
            form=self.form,
            guarantee=guarantee_from(self.manifest),
            facts=self.manifest["method"]["facts"],
            suppression=self.layout.suppressed is not None,
            rate=sampled_share(self.manifest),
        )

    @refuse_unexpected()
    def to_arrow(self) -> pa.Table:
        """The published table, suppressed records too; of the two-table form the table of records."""
        return next(iter(self.layout.arrow(self.records).values()))

    @refuse_unexpected()
    def to_tables(self) -> dict[str, pa.Table]:
        """All published tables by name."""
        return self.layout.arrow(self.records)

    @property
    def predictors(self) -> tuple[Column, ...]:
        """The columns that stand in the rows as a person's own; shuffled sensitive values do not."""
        own = self.layout.form == "generalised"
        return tuple(c for c in self.layout.in_rows if c.role != "class" and (own or c.role != "sensitive"))

    @refuse_unexpected()
    def to_training(self, *, as_frame: bool = False, target: str | None = None) -> tuple[Any, Any, Any]:
        """Features, labels of the class (or of another exact ``target``), and weights of 1, one row per record.

        A numerical attribute becomes the middle of its interval (days as ordinals), a categorical one a 0/1 column a
        published label; an attribute in which all records are alike is left out.
        """
        column = self._target(target)
        features = self._features(column)
        spans = self.records.columns
        X = features.matrix({c.name: spans[c.name].places for c in features.columns})  # noqa: N806 - scikit-learn's name
        words = column.array(Spans(spans[column.name].starts, spans[column.name].stops, _all(spans[column.name])))
        y: NDArray[np.object_] = np.array(words.to_pylist(), dtype=object)[spans[column.name].places]
        w = np.ones(len(self.records))
        return as_frames(X, features.names, y, column.name, w, "weight") if as_frame else (X, y, w)

    @property
    def features(self) -> RecordFeatures:
        """How regions become numbers."""
        return self._features(self.layout.target)

    @refuse_unexpected()
    def encoder(self, *, target: str | None = None) -> "RecordEncoder":
        """A scikit-learn transformer that turns new raw records into the columns of `to_training`.

        Where all records are recoded alike (`full_domain`, `tds`) a value falls into its own range. Where groups have
        regions of their own, a record goes to the region that holds it, or else to the nearest one. Sets come as the
        source has them, as raw codes.
        """
        from sfumato.release.forms.records.encoder import RecordEncoder  # noqa: PLC0415 - scikit-learn is slow to import

        features = self._features(self.layout.target if target is None else self._target(target))
        return RecordEncoder(features, self._regions)

    @refuse_unexpected()
    def sample(self, n: int | None = None, seed: int | None = None) -> pa.Table:
        """Synthetic records, each drawn uniformly within the regions of a published one; without ``n``, one for each.

        A set gets one code under each of its nodes; where codes are not public, it stays the name it is published by.
        In a release with buckets the sensitive values of a bucket stay shuffled; with two tables they are omitted.
        """
        rng = random_numbers(len(self.records) if n is None else n, seed)
        rows = np.arange(len(self.records)) if n is None else rng.integers(0, max(len(self.records), 1), n)
        if n and not len(self.records):
            raise UsageError("all records of the release are suppressed", "ask for 0 records", code="SF-USAGE-059")
        columns = []
        for column in self.layout.in_rows:
            spans = self.records.columns[column.name]
            places = spans.places[rows]
            if column.sets is not None and column.published_sets is not None:
                regions = column.published_sets.at(spans.starts, spans.stops).take(places.astype(np.int64))
                columns.append(set_texts(column.sets, regions, rng))
                continue
            codes = rng.integers(spans.starts[places], spans.stops[places])
            columns.append(plain_values(column.domain, codes))
        return pa.table(columns, names=[column.name for column in self.layout.in_rows])

    @refuse_unexpected()
    def query(self, text: str) -> Estimate:
        """How many records satisfy a condition, estimated.

        Values are taken to be uniform over a region and independent between attributes; in a release with buckets,
        every record of a bucket is taken to have each of its sensitive values with the share that it has there. The
        interval assumes neither: it goes from what must be so to what may be so, suppressed records included. Of a
        release of a random sample, the numbers are about the table that it was drawn from.
        """
        return self._estimate(Question(self._asked, np.ones(len(self.records), dtype=np.int64), text))

    def about(self, attribute: str) -> Callable[[str], Estimate]:
        """`query` for conditions on one attribute: records alike there are counted together, folded or not."""
        column = self._column(attribute)
        if column.sets is not None and self.layout.form != "generalised" and column.role == "sensitive":
            return self.query  # what a bucket holds of sets is not one column
        spans, counts = self._counted(column)
        asked: RangeColumn | SetsColumn = RangeColumn(column.domain, spans)
        if column.sets is not None and column.published_sets is not None:
            asked = SetsColumn(
                column.sets, column.published_sets.at(spans.starts, spans.stops), spans.places.astype(np.int64)
            )
        return refuse_unexpected()(lambda text: self._estimate(Question({attribute: asked}, counts, text)))

    def value_counts(self, attribute: str) -> tuple[Counts, Counts]:
        """The single values of an attribute that are published, by their codes in order, each with its count."""
        spans, counts = self._counted(self._column(attribute))
        single = (spans.stops - spans.starts == 1) & (counts > 0)
        return spans.starts[single], counts[single]

    def _column(self, attribute: str) -> Column:
        return next(column for column in self.layout.columns if column.name == attribute)

    def _counted(self, column: Column) -> tuple[Spans, NDArray[np.int64]]:
        """The distinct ranges of a column, or its shuffled values, and how many records have each."""
        return column_counts([column], RecordStore.of(self.rows))[column.name]

    def _estimate(self, question: Question) -> Estimate:
        low, high = question.between()
        high += self.rows.suppressed  # nothing is published of a suppressed record
        sampled = self.manifest.get("sampled")
        if sampled is None:
            return question.estimate(low, high, confidence=1.0)
        share = sampled_share(self.manifest)
        rate = float(share)
        found = question.estimate(low, high, confidence=CONFIDENCE)
        return replace(
            found,
            count=None if found.count is None else found.count / rate,
            low=max(low, _drawn(low, rate, -1)),
            high=_drawn(high, rate, 1),
            total=round(found.total / share),
            sampled=sampled,
        )

    @cached_property
    def _regions(self) -> Regions:
        group, groups = self.records.groups()
        first = np.zeros(groups, dtype=np.int64)
        first[group[::-1]] = np.arange(len(group))[::-1]
        names = self.layout.quasi
        return Regions(
            tuple(self.domains[name] for name in names), tuple(self.records.columns[name].take(first) for name in names)
        )

    def _features(self, target: Column | None) -> RecordFeatures:
        columns = tuple(c for c in self.predictors if target is None or c.name != target.name)
        return RecordFeatures(columns, self.records.columns)

    def _target(self, name: str | None) -> Column:
        if name is None and self.layout.target is None:
            raise UsageError(
                "the release has no class", "name an attribute to predict with `target=`", code="SF-USAGE-060"
            )
        for column in self.layout.in_rows:
            if column.name == name or (name is None and column.role == "class"):
                if column.regions:
                    raise UsageError(
                        f"'{name}' is generalised, so it has no labels to predict",
                        "name an exact one",
                        code="SF-USAGE-061",
                    )
                return column
        raise UsageError(
            f"the release has no attribute '{name}' in its rows", "name one of its columns", code="SF-USAGE-062"
        )

    @property
    def _asked(self) -> dict[str, "RangeColumn | PooledColumn | SetsColumn"]:
        shuffled = self.layout.form != "generalised"
        found: dict[str, RangeColumn | PooledColumn | SetsColumn] = {}
        group, groups = self.records.groups()
        for column in self.layout.columns:
            if shuffled and column.role == "sensitive":
                bucket = self._bucket(column, group, groups)
                found[column.name] = _asked_bucket(column, group, bucket)
            elif column.sets is not None and column.published_sets is not None:
                spans = self.records.columns[column.name]
                found[column.name] = SetsColumn(
                    column.sets, column.published_sets.at(spans.starts, spans.stops), spans.places.astype(np.int64)
                )
            else:
                found[column.name] = RangeColumn(column.domain, self.records.columns[column.name])
        return found

    def _bucket(self, column: Column, group: NDArray[np.int64], groups: int) -> ValueCounts:
        statistics = self.records.statistics({c.name: c.domain for c in self.layout.sensitive})
        assert len(statistics) == groups and len(group) == len(self.records), "the same groups"
        return statistics.sensitive[column.name]


@dataclass(frozen=True, eq=False, repr=False)
class RecordsSummary(RecordsRelease):
    """A release that is asked about single columns, and whose rows may be in a file."""

    store: RecordStore = field(repr=False, kw_only=True)

    @classmethod
    def of(cls, path: Path, manifest: Mapping[str, Any], layout: RecordLayout, store: RecordStore) -> "RecordsSummary":
        """The columns of a store; its rows are not held."""
        empty = Records(store.columns, store.quasi, np.empty(0, np.int64), store.suppressed)
        return cls(path, manifest, layout, empty, store=store)

    @refuse_unexpected()
    def query(self, text: str) -> Estimate:
        """With all rows: only what buckets hold of sets needs them."""
        return RecordsRelease(self.path, self.manifest, self.layout, self.store.join()).query(text)

    def _counted(self, column: Column) -> tuple[Spans, NDArray[np.int64]]:
        return self._counts[column.name]

    @cached_property
    def _counts(self) -> dict[str, tuple[Spans, NDArray[np.int64]]]:
        return column_counts(self.layout.columns, self.store)


@dataclass(frozen=True, eq=False)
class RangeColumn:
    """A column of ranges; a record is spread evenly over the codes of its range."""

    domain: Domain
    spans: Spans

    def share(self, codes: Codes) -> Shares:
        """Which part of the codes of each record's range is among the given ones."""
        inside = codes.below(self.spans.stops) - codes.below(self.spans.starts)
        shares: Shares = (inside / (self.spans.stops - self.spans.starts))[self.spans.places]
        return shares

    def bounds(self, codes: Codes) -> Bounds:
        """Of which records the whole range is among the codes, and of which a part."""
        inside = codes.below(self.spans.stops) - codes.below(self.spans.starts)
        whole = inside == self.spans.stops - self.spans.starts
        return whole[self.spans.places], (inside > 0)[self.spans.places]

    def reach(self, codes: Codes) -> Reach:  # noqa: ARG002 - the shape of Asked.reach
        """Not used: records have no noise."""
        return ANY


def _drawn(count: float, rate: float, side: int) -> float:
    """A bound on the table's count from the count in a random sample of it.

    The draw moves the count by 2.3 standard deviations at most (√(count·(1 − rate)), the binomial one), and by some
    records more, since the deviation of few records says little: with 0 drawn, up to 3.7/rate records are not unlikely.
    """
    beyond = 2.3 * sqrt(count * (1 - rate)) + 4 * (1 - rate)
    return max((count + side * beyond) / rate, 0.0)


def _asked_bucket(column: Column, group: NDArray[np.int64], counts: ValueCounts) -> PooledColumn | SetsColumn:
    if column.sets is None or column.published_sets is None:
        return PooledColumn(column.domain, group, partial(_part_of_buckets, counts))
    size = column.domain.size
    table = csr_array((counts.counts.astype(np.float64), (counts.group, counts.values)), shape=(counts.groups, size))
    whole = np.maximum(np.asarray(table.sum(axis=1)).ravel(), 1.0)
    places = np.arange(size)
    shares = csr_array(table.multiply((1.0 / whole)[:, None]))
    return SetsColumn(column.sets, column.published_sets.at(places, places + 1), group, shares)


def _part_of_buckets(counts: ValueCounts, codes: Codes) -> Shares:
    """Which part of each bucket has one of the codes."""
    wanted = codes.below(counts.values + 1) - codes.below(counts.values)
    part = np.bincount(counts.group, weights=wanted * counts.counts, minlength=counts.groups)
    whole = np.bincount(counts.group, weights=counts.counts, minlength=counts.groups)
    shares: Shares = part / np.maximum(whole, 1)
    return shares


def _all(spans: Spans) -> NDArray[np.int32]:
    return np.arange(len(spans.starts), dtype=np.int32)
