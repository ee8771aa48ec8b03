"""Capped confidence counted record by record in exact fractions: a second implementation that shares nothing."""

from collections import Counter
from fractions import Fraction


def slow_shown(regions, size):
    """Shares of codes that a list of published ranges shows: narrow ones first, wide ones as those inside them."""
    mass = [Fraction(0)] * size
    counted = Counter(regions)
    for width in sorted({stop - start for start, stop in counted}):
        before = list(mass)
        for (start, stop), records in counted.items():
            if stop - start == width:
                inside = sum(before[start:stop])
                for code in range(start, stop):
                    mass[code] += records * (before[code] / inside if inside else Fraction(1, width))
    total = sum(mass)
    return [one / total for one in mass]


def slow_own(codes, size):
    counted = Counter(codes)
    return [Fraction(counted[code], len(codes)) for code in range(size)]


def slow_broken(published, rate, shares, values):
    """The published records (regions, value) that break the cap; ``shares`` one list of code shares an attribute."""
    n = len(published)
    sizes, pairs = Counter(r for r, _ in published), Counter(published)
    broken = []
    for regions, value in published:
        chance = values[value]
        for (start, stop), of in zip(regions, shares, strict=True):
            chance *= sum(of[start:stop])
        expected = 1 - (1 - float(chance)) ** n if chance > Fraction(1, 1000) else _small(chance, n)
        observed = rate * Fraction(pairs[regions, value], sizes[regions])
        if float(observed) > expected + 1e-9:
            broken.append((regions, value))
    return broken


def _small(chance, n):
    """1 − (1 − p)ⁿ without losing a small p."""
    return float(1 - (1 - chance) ** n)
