"""Ploss against the figures that Li & Li print, and against a record-by-record computation."""

import math
from collections import Counter

import numpy as np
import pytest

from sfumato.domains.divergence import jensen_shannon

# Section 5.1: the distribution of Occupation in Adult, in the paper's order; Craft-repair second, Armed-Forces last.
PRINTED = [
    *(0.0314, 0.1331, 0.1063, 0.1196, 0.1323, 0.1329, 0.0452, 0.0657, 0.1225, 0.0327, 0.0512, 0.0052, 0.0216, 0.0003)
]


def _slow(p: list[float], q: list[float]) -> float:
    found = 0.0
    for one, other in ((p, q), (q, p)):
        for a, b in zip(one, other, strict=True):
            if a:
                found += a * math.log(a / ((a + b) / 2)) / 2
    return found


@pytest.mark.parametrize(("place", "printed"), [(13, 0.692), (1, 0.488)], ids=["Armed-Forces", "Craft-repair"])
def test_revealing_a_value_costs_what_the_paper_prints(place, printed):
    prior = np.array(PRINTED) / sum(PRINTED)
    assert jensen_shannon(np.eye(14)[place], prior) == pytest.approx(printed, abs=5e-4)


def test_divergence_agrees_with_a_slow_one():
    draw = np.random.default_rng(5)
    for _ in range(50):
        drawn = [Counter(draw.integers(0, 6, 10).tolist()) for _ in range(2)]
        p, q = ([found[value] / 10 for value in range(6)] for found in drawn)
        assert jensen_shannon(np.array(p), np.array(q)) == pytest.approx(_slow(p, q), abs=1e-12)
