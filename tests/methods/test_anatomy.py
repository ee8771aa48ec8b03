"""Anatomy: every bucket has different values, every record is in one, and which one is random."""

from collections import Counter
from time import process_time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InfeasibleError, StudyError
from sfumato.methods import Anatomy, build, recipe_of
from sfumato.methods.anatomy import anatomize
from sfumato.methods.method import Context
from sfumato.privacy.dp.sampling import InsecureSource
from tests.methods.partition_tables import cells_of, groups_of, partition_tables, partition_view
from tests.raising import raises_code
from tests.small_domains import grid

SEEDS = st.integers(0, 2**32)


@given(table=partition_tables(most=60), l=st.integers(1, 4), seed=SEEDS)
def test_a_bucket_has_l_records_or_more_and_no_value_twice(table, l, seed):  # noqa: E741
    view, records = table
    ill = len(view.quasi)
    most = max(Counter(r[ill] for r in records).values())
    method, cells = Anatomy(l=l), cells_of(view, records)
    if most * l > len(records):
        with raises_code(
            InfeasibleError,
            "SF-INFEASIBLE-006",
            match=rf"so some bucket would have it twice.*set l to {len(records) // most}",
        ):
            method.draft(view, cells, Context(source=InsecureSource(seed)))
        return
    draft = method.draft(view, cells, Context(source=InsecureSource(seed)))
    groups = groups_of(draft.partition)
    assert sorted(r for members in groups.values() for r in members) == sorted(records)
    for members in groups.values():
        values = [r[ill] for r in members]
        assert len(values) >= l and len(set(values)) == len(values)
    assert len(groups) == draft.facts["groups"] == len(records) // l, "as many buckets as there can be"
    assert draft.form == "anatomy" and [m.name for m in draft.models] == ["probabilistic-l-diversity"]


@given(counts=st.lists(st.integers(0, 30), min_size=1, max_size=12), l=st.integers(1, 6), seed=SEEDS)
def test_buckets_take_the_values_with_most_records_left(counts, l, seed):  # noqa: E741
    """The same numbers of values in buckets as when buckets are filled one at a time."""
    if not sum(counts) or max(counts) * l > sum(counts):
        return
    bucket, buckets = anatomize(np.array(counts), l, InsecureSource(seed))
    assert len(bucket) == sum(counts) and buckets == sum(counts) // l
    value = np.repeat(np.arange(len(counts)), counts)
    left, wanted = dict(enumerate(counts)), 0
    while sum(n > 0 for n in left.values()) >= l:
        for one in sorted(left, key=lambda v: (-left[v], v))[:l]:
            left[one] -= 1
        wanted += 1
    assert wanted == buckets
    pairs = set(zip(bucket.tolist(), value.tolist(), strict=True))
    assert len(pairs) == len(bucket), "no value twice in a bucket"
    assert np.bincount(bucket).min() >= l


def test_which_record_goes_where_is_random_and_repeats_with_the_generator():
    view = partition_view(age=grid(0, 99), others=False)
    records = [(age, age % 4) for age in range(100)]
    cells = cells_of(view, records)

    def bucket_of(seed):
        return Anatomy(l=3).draft(view, cells, Context(source=InsecureSource(seed))).partition.group.tolist()

    assert bucket_of(1) == bucket_of(1)
    assert bucket_of(1) != bucket_of(2)


def test_every_record_of_a_value_is_as_likely_to_share_a_bucket_with_another():
    """Two records of each of two values: the first meets either of the others in half of the drafts."""
    view = partition_view(age=grid(0, 3), others=False)
    cells = cells_of(view, [(0, 0), (1, 0), (2, 1), (3, 1)])
    source = InsecureSource(7)
    met = Counter()
    for _ in range(1000):
        group = Anatomy(l=2).draft(view, cells, Context(source=source)).partition.group
        met[int(np.flatnonzero(group == group[0])[1])] += 1
    assert set(met) == {2, 3}
    assert abs(met[2] - 500) < 100  # more than six standard deviations


@pytest.mark.parametrize("shares", [[1] * 50, [30, 20, 10, 5, 1, 1]])
def test_a_hundred_thousand_records_take_no_time(shares):
    counts = np.array(shares) * (100_000 // sum(shares))
    began = process_time()
    _, buckets = anatomize(counts, 2, InsecureSource(0))
    assert buckets == counts.sum() // 2
    assert process_time() - began < 5


def test_what_cannot_be_is_refused():
    view = partition_view(age=grid(0, 9))
    with raises_code(StudyError, "SF-STUDY-079"):
        Anatomy(l=2).check(partition_view(age=grid(0, 9), sensitive=()))
    with raises_code(StudyError, "SF-STUDY-033", match="protects one sensitive attribute, and the release has 2"):
        Anatomy(l=2).check(partition_view(age=grid(0, 9), sensitive=("ill", "worse")))
    with raises_code(StudyError, "SF-STUDY-076", match="l is 0"):
        Anatomy(l=0)
    with raises_code(StudyError, "SF-STUDY-032"):
        Anatomy(l=2, tables="both")
    with raises_code(InfeasibleError, "SF-INFEASIBLE-011"):
        Anatomy(l=2).draft(view, cells_of(view, []), Context(source=InsecureSource(0)))


def test_its_forecast_and_its_recipe():
    method = Anatomy(l=3, tables=1)
    assert method.form == "bucketized" and method.spends is None
    said = method.forecast(partition_view(age=grid(0, 9))).sentences
    assert said[0] == "a bucket has 3 records with different sensitive values, and some buckets have a few more"
    assert build(recipe_of(method, name="a")) == method
