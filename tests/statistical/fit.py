"""How well draws fit a distribution.

Every test here has two error rates. False alarm: a right mechanism fails a comparison with probability `CHI_SQUARE`.
The p-value's limit is 1e-9, but far out the chi-square statistic has a heavier tail than its limit distribution:
computed exactly for bins that all expect 100 draws (Poisson counts), 8 times as heavy with two bins and less with more.
No bin expects fewer (`FEWEST`), so ten times the limit is a bound. Two rows compared with each other are binomial with
even chances, whose tail is lighter. Miss: a mechanism that is wrong by 10 % passes with a probability that is smaller
still; each test states by how many standard deviations it is off.
"""

import itertools
import math

import numpy as np
from scipy import stats

ALARM = 1e-9
FEWEST = 100
CHI_SQUARE = 10 * ALARM  # how often a comparison by chi-square gives a p-value below the alarm, at most


def p_value(observed, probabilities):
    """The chi-square p-value of counts against probabilities; bins that expect too few are put together."""
    observed, probabilities = np.asarray(observed, dtype=float), np.asarray(probabilities, dtype=float)
    assert math.isclose(probabilities.sum(), 1, rel_tol=1e-9)
    expected = probabilities * observed.sum()
    many = expected >= FEWEST
    seen = [*observed[many], observed[~many].sum()]
    hoped = [*expected[many], expected[~many].sum()]
    if hoped[-1] < FEWEST:  # too few even together: into the largest bin
        largest = int(np.argmax(hoped))
        seen[largest] += seen.pop()
        hoped[largest] += hoped.pop()
    assert len(seen) > 1, "one bin shows nothing"
    hoped = np.array(hoped)
    return stats.chisquare(seen, hoped * (sum(seen) / hoped.sum())).pvalue


def same_p_value(first, second):
    """The chi-square p-value of two rows of counts coming from one distribution; rare bins are put together."""
    table = np.array([first, second], dtype=float)
    many = table.sum(axis=0) >= 2 * FEWEST
    table = np.column_stack([table[:, many], table[:, ~many].sum(axis=1)])
    table = table[:, table.sum(axis=0) > 0]
    return 1.0 if table.shape[1] == 1 else stats.chi2_contingency(table, correction=False).pvalue


def laplace_bins(draws, scale, most):
    """Counts and probabilities of the discrete Laplace distribution over -most..most and the two tails."""
    alpha = math.exp(-1 / scale)
    inside = [(1 - alpha) / (1 + alpha) * alpha ** abs(x) for x in range(-most, most + 1)]
    tail = alpha ** (most + 1) / (1 + alpha)
    clipped = np.clip(draws, -most - 1, most + 1) + most + 1
    return np.bincount(clipped, minlength=2 * most + 3), [tail, *inside, tail]


def p_value_of_size(draws, scale):
    """The two-sided p-value of the mean size |X| under discrete Laplace noise of this scale, by the central limit."""
    alpha = math.exp(-1 / scale)
    mean, square = 2 * alpha / (1 - alpha**2), 2 * alpha / (1 - alpha) ** 2
    off = (np.abs(draws).mean() - mean) / math.sqrt((square - mean**2) / len(draws))
    return 2 * stats.norm.sf(abs(off))


def permute_and_flip(scores, rate):
    """The probability of each index: over every order, the first to pass its coin (McKenna & Sheldon 2020, alg. 1)."""
    coins = [math.exp(rate * (score - max(scores))) for score in scores]
    chances = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = 1.0
        for i in order:
            chances[i] += reached * coins[i] / len(orders)
            reached *= 1 - coins[i]
    return chances


def softmax(widths, scores, rate):
    """The exponential mechanism's probability of each point."""
    masses = [math.exp(rate * (score - max(scores))) for score in scores]
    points = [mass for mass, width in zip(masses, widths, strict=True) for _ in range(width)]
    return [point / math.fsum(points) for point in points]
