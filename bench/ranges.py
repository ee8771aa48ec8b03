"""Mean squared error of random ranges by strategy: drawn noise beside the formula, at several domain sizes.

The noise is drawn by the mechanisms themselves, from the operating system's randomness, at ε = 1. The estimates of an
empty row are its errors, since they are linear. All ranges of a draw are looked at together: their squared errors add
up to (n + 1) Σ F² − (Σ F)², F the errors of the sums of the first cells, so that no range has to be drawn. The standard
error is that of the mean over the draws.
"""

from fractions import Fraction
from time import perf_counter

import numpy as np

from papers.machine import machine
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.privacy.dp.strategies import Comparison, Hierarchical, Strategy, draw_measurements

SIZES = (16, 32, 64, 74, 128, 512, 4_096, 100_000)
MOST_DRAWN = 2_000_000  # noisy numbers a strategy and size
MOST_DRAWS = 1_000


def main() -> None:
    """Print a row for every size and strategy."""
    print(f"{machine()}\n")
    print("| values | strategy | Δ | formula | drawn | standard error | draws | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for size in SIZES:
        comparison = Comparison(size, Fraction(1))
        for name, (strategy, expected) in comparison.candidates.items():
            draws = min(MOST_DRAWS, max(MOST_DRAWN // strategy.measurements, 10))
            begun = perf_counter()
            errors = squared_errors(strategy, draws)
            seconds = perf_counter() - begun
            best = " (best)" if name == comparison.best else ""
            children = f", {strategy.fan_out} children" if isinstance(strategy, Hierarchical) else ""
            error = errors.std(ddof=1) / np.sqrt(draws)
            print(
                f"| {size:,} | `{name}`{children}{best} | {strategy.sensitivity} | {expected:,.1f} "
                f"| {errors.mean():,.1f} | {error:,.1f} | {draws:,} | {seconds:.1f} |",
                flush=True,
            )


def squared_errors(strategy: Strategy, draws: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """The mean squared error over all ranges, of each of some draws."""
    size, found = strategy.size, np.empty(draws)
    for number in range(draws):
        grant = Accountant(Fraction(1)).grant(Fraction(1), on="an empty row")
        empty = np.zeros((1, size), dtype=np.int64)
        noisy = draw_measurements(strategy, empty, grant=grant, source=SecureSource())
        sums = np.cumsum(strategy.estimate(noisy.astype(np.float64))[0])
        found[number] = ((size + 1) * (sums**2).sum() - sums.sum() ** 2) / (size * (size + 1) / 2)
    return found


if __name__ == "__main__":
    main()
