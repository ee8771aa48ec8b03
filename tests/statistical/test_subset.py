"""A subset is uniform, so the number drawn of any part is hypergeometric; a wrong way to draw it is noticed."""

from math import comb

import numpy as np
import pytest

from sfumato.privacy.dp.sampling import InsecureSource, SecureSource, random_subset
from tests.statistical.fit import ALARM, CHI_SQUARE, p_value

MANY, SIZE, PART, RUNS = 30, 21, 8, 12_000


def p_value_of_part(counts):
    wanted = [comb(PART, k) * comb(MANY - PART, SIZE - k) / comb(MANY, SIZE) for k in range(PART + 1)]
    return p_value(np.bincount(counts, minlength=PART + 1), wanted)


@pytest.mark.error_rate(CHI_SQUARE, reason="one chi-square")
def test_the_number_drawn_of_a_part_is_hypergeometric():
    source = SecureSource()
    counts = [int(random_subset(MANY, SIZE, source)[:PART].sum()) for _ in range(RUNS)]
    assert p_value_of_part(counts) > ALARM


def test_independent_marks_in_place_of_a_subset_are_noticed():
    rng = np.random.default_rng(1)
    assert p_value_of_part(rng.binomial(PART, SIZE / MANY, RUNS)) < ALARM


@pytest.mark.error_rate(CHI_SQUARE, reason="one chi-square")
def test_every_pair_of_members_is_as_likely():
    source = SecureSource()
    pairs = np.zeros((6, 6))
    for _ in range(RUNS):
        one, two = np.flatnonzero(random_subset(6, 2, source))
        pairs[one, two] += 1
    assert p_value(pairs[np.triu_indices(6, 1)], [1 / 15] * 15) > ALARM


@pytest.mark.parametrize(("many", "size"), [(0, 0), (1, 0), (1, 1), (2, 1), (5, 5), (1000, 999), (4096, 2048)])
def test_a_subset_has_its_size(many, size):
    found = random_subset(many, size, InsecureSource(3))
    assert (len(found), int(found.sum())) == (many, size)
