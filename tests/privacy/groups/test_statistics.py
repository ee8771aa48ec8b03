"""Counts of values that occur: what dense tables over a domain say, without one."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.privacy.groups.statistics import ValueCounts, ValueTotals

MILLIARD = 10**9
ROWS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6), st.integers(0, 3)), max_size=40)


def columns(rows):
    return (np.array([row[place] for row in rows], dtype=np.int64) for place in range(3))


def dense(rows, size=7):
    table = np.zeros((5, size), dtype=np.int64)
    for group, value, weight in rows:
        table[group, value] += weight
    return table


@given(rows=ROWS, spread=st.sampled_from([1, 3, MILLIARD, 2**50]))
def test_counts_are_those_of_a_dense_table_however_far_values_lie_apart(rows, spread):
    """5 · 7 · 2⁵⁰ keys fit into a word and 5 · 7 · 2⁵⁹ do not: both ways of counting are taken."""
    group, values, weights = columns(rows)
    table = dense(rows)
    for size in (6 * spread + 1, 2**62):
        found = ValueCounts.of(group, values * spread, weights, groups=5, size=size)
        for number in range(5):
            pairs = slice(found.first[number], found.first[number + 1])
            assert found.values[pairs].tolist() == (np.flatnonzero(table[number]) * spread).tolist()
            assert found.counts[pairs].tolist() == table[number][table[number] > 0].tolist()
        total = found.total()
        assert total.values.tolist() == (np.flatnonzero(table.sum(axis=0)) * spread).tolist()
        assert total.records == table.sum()
        assert total.size == size


@given(rows=ROWS, asked=st.lists(st.integers(0, 6), max_size=12), spread=st.sampled_from([1, 3, MILLIARD]))
def test_totals_are_looked_up_as_in_a_dense_array(rows, asked, spread):
    _, values, weights = columns(rows)
    table = dense(rows).sum(axis=0)
    found = ValueTotals.of(values * spread, weights, 6 * spread + 1)
    assert len(found) == np.count_nonzero(table)
    codes = np.array(asked, dtype=np.int64)
    assert found.at(codes * spread).tolist() == table[codes].tolist()
    if spread > 1:
        assert not found.at(codes * spread + 1).any()
