"""How a table is divided into a training and a test part, several times."""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InfeasibleError, UsageError

Integers = NDArray[np.int64]
Parts = tuple[Integers, Integers]
"""The places of the records to learn on, and of those to test on."""


def split(classes: Integers, runs: int, seed: int) -> list[Parts]:
    """Two thirds to learn on and one third to test on, drawn anew for each run."""
    size = len(classes)
    if size < 3:  # noqa: PLR2004 - two to learn on, one to test
        raise InfeasibleError(
            f"{size} records cannot be split into a training and a test part",
            "use a larger table",
            code="SF-INFEASIBLE-001",
        )
    orders = [np.random.default_rng([seed, run]).permutation(size) for run in range(runs)]
    return [(order[: 2 * size // 3], order[2 * size // 3 :]) for order in orders]


def folds(classes: Integers, runs: int, seed: int) -> list[Parts]:
    """As many folds as runs, with the classes shared out evenly; each is tested once, by what the others teach.

    >>> parts = folds(np.array([0, 1] * 4), 2, 0)
    >>> [np.bincount(np.array([0, 1] * 4)[test]).tolist() for _, test in parts]
    [[2, 2], [2, 2]]
    """
    size = len(classes)
    if runs < 2 or size < runs:  # noqa: PLR2004 - one to learn on, one to test
        raise InfeasibleError(
            f"{size} records cannot be divided into {runs} folds",
            "use at least 2 folds, and at most as many as there are records",
            code="SF-INFEASIBLE-002",
        )
    fold = np.empty(size, dtype=np.int64)
    dealt = 0
    for value in np.unique(classes):
        members = np.random.default_rng([seed, int(value)]).permutation(np.flatnonzero(classes == value))
        fold[members] = (np.arange(len(members)) + dealt) % runs
        dealt += len(members)  # the next class begins where this one ended, so that folds stay of one size
    return [(np.flatnonzero(fold != part), np.flatnonzero(fold == part)) for part in range(runs)]


PROTOCOLS: Final[dict[str, Callable[[Integers, int, int], list[Parts]]]] = {"split": split, "folds": folds}


def parts_of(protocol: str, classes: Integers, runs: int, seed: int) -> list[Parts]:
    """The parts by a protocol's name."""
    if protocol not in PROTOCOLS:
        raise UsageError(
            f"there is no protocol called '{protocol}'", f"choose one of: {', '.join(PROTOCOLS)}", code="SF-USAGE-029"
        )
    if runs < 1:
        raise UsageError(f"the number of runs is {runs}", "use at least one", code="SF-USAGE-030")
    return PROTOCOLS[protocol](classes, runs, seed)
