"""A subset is uniform, so the number drawn of any part is hypergeometric; a wrong way to draw it is noticed."""

from math import comb

import numpy as np
import pytest

from sfumato.dp.sampling import InsecureSource, SecureSource, subset

MANY, SIZE, PART, RUNS = 30, 21, 8, 40_000


def p_value(counts):
    from scipy.stats import chisquare

    wanted = [comb(PART, k) * comb(MANY - PART, SIZE - k) / comb(MANY, SIZE) for k in range(PART + 1)]
    seen = np.bincount(counts, minlength=PART + 1)
    rare = np.array(wanted) * len(counts) < 5
    seen = np.append(seen[~rare], seen[rare].sum())
    expected = np.append(np.array(wanted)[~rare], np.array(wanted)[rare].sum()) * len(counts)
    return float(chisquare(seen, expected).pvalue)


def test_the_number_drawn_of_a_part_is_hypergeometric():
    source = SecureSource()
    counts = [int(subset(MANY, SIZE, source)[:PART].sum()) for _ in range(RUNS)]
    assert p_value(np.array(counts)) > 1e-9


def test_independent_marks_in_place_of_a_subset_are_noticed():
    rng = np.random.default_rng(1)
    assert p_value(rng.binomial(PART, SIZE / MANY, RUNS)) < 1e-9


def test_every_pair_of_members_is_as_likely():
    from scipy.stats import chisquare

    source = SecureSource()
    pairs = np.zeros((6, 6))
    for _ in range(RUNS):
        one, two = np.flatnonzero(subset(6, 2, source))
        pairs[one, two] += 1
    assert float(chisquare(pairs[np.triu_indices(6, 1)]).pvalue) > 1e-9


@pytest.mark.parametrize(("many", "size"), [(0, 0), (1, 0), (1, 1), (2, 1), (5, 5), (1000, 999), (4096, 2048)])
def test_a_subset_has_its_size(many, size):
    found = subset(many, size, InsecureSource(3))
    assert (len(found), int(found.sum())) == (many, size)
