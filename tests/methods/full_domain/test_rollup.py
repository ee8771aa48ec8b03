"""Counting from any table gives what counting the rows gives."""

from bisect import bisect
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.methods.full_domain import rollup
from sfumato.methods.full_domain.lattice import lattice_of
from sfumato.methods.full_domain.rollup import Tables, join_keys, number_rows, sort_keys
from tests.methods.small_views import BANDS, cells_of, tables, view_of
from tests.small_domains import JOB


@given(table=tables(most=40), seed=st.integers(0, 99), few=st.sampled_from([1, 8, 1 << 13]), dense=st.booleans())
def test_sizes_and_losses_are_those_of_the_rows(table, seed, few, dense):
    """Whichever tables were counted before, whether columns are packed, and whether keys are sorted or not."""
    view, records = table
    cells = cells_of(view, records)
    lattice = lattice_of(view.quasi, {})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rollup, "_FEW", few)
        if not dense:
            patch.setattr(rollup, "_DENSE", 0)
            patch.setattr(rollup, "_SPARSE", 0)
        codes = [cells.codes[:, place] for place in range(len(view.quasi))]
        ill = cells.codes[:, len(view.quasi)]
        kept, split = Tables(lattice, codes, cells.counts), Tables(lattice, codes, cells.counts, ill)
        nodes = list(product(*(range(len(ladder)) for ladder in lattice.ladders)))
        for node in [nodes[i] for i in np.random.default_rng(seed).permutation(len(nodes))[:8]]:
            cuts = lattice.cuts(node)
            regions = [tuple(bisect(cut.starts, code) for cut, code in zip(cuts, r, strict=False)) for r in records]
            table = kept.table(node)
            assert sorted(table.totals) == sorted(Counter(regions).values())
            kinds = split.table(node)
            assert sorted(kinds.totals) == sorted(table.totals)
            pairs = Counter((region, record[len(codes)]) for region, record in zip(regions, records, strict=True))
            assert sorted(kinds.sizes) == sorted(pairs.values())
            assert np.array_equal(np.bincount(kinds.owner(), weights=kinds.sizes), kinds.totals)
            losses = kept.losses(node, table.heads())
            expected = sum(float(kept.generalised[place][step]) for place, step in enumerate(node))
            assert float(np.sum(losses * table.totals)) / len(records) == pytest.approx(expected)


def test_a_smaller_table_is_used_for_what_is_more_general():
    view = view_of({"job": JOB, "age": BANDS})
    cells = cells_of(view, [(i % 4, i % 10) for i in range(40)])
    counted = Tables(lattice_of(view.quasi, {}), [cells.codes[:, 0], cells.codes[:, 1]], cells.counts)
    assert counted.rows_for((1, 1)) == len(cells) == 20
    assert len(counted.table((1, 0))) == 10
    assert counted.rows_for((1, 1)) == 10
    assert counted.rows_for((0, 1)) == 20, "not made from what has lost the difference"


def test_keys_that_grow_too_large_are_numbered_through():
    key = np.array([2**60, 5, 2**60])
    together, size = join_keys(key, 2**61, np.array([1, 0, 3]), 8)
    assert (together.tolist(), size) == ([9, 0, 11], 16)


@given(keys=st.lists(st.integers(0, 2**60), max_size=20), small=st.booleans())
def test_keys_in_order_and_ranks(keys, small):
    key = np.array([k % 7 if small else k for k in keys], dtype=np.int64)
    size = 7 if small else 2**60 + 1
    ordered, order = sort_keys(key, size)
    assert ordered.tolist() == sorted(key.tolist()) == key[order].tolist()
    ranks, rows = number_rows(key, size)
    assert key[rows].tolist() == sorted(set(key.tolist()))
    assert key[rows][ranks].tolist() == key.tolist()


def test_keys_of_columns_with_huge_domains_keep_their_order():
    """Ranks of 600 values times 2⁵³ others do not fit into a word: ranks take the place of both."""
    size, values = 2**53, np.random.default_rng(0).permutation(600)
    one, two = values * (size // 600), np.where(values % 2, size - 1, 0)
    key, room = join_keys(np.zeros(1_200, np.int64), 1, np.tile(one, 2), size)
    key, room = join_keys(key, room, np.concatenate([two, size - 1 - two]), size)
    ranks, _ = number_rows(key, room)
    assert ranks.tolist() == [*(2 * values + (two > 0)), *(2 * values + (two == 0))]
