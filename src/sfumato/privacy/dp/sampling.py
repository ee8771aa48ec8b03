"""The only source of randomness near a private value.

`SecureSource` is the operating system's generator. `InsecureSource` repeats itself from a seed: it is for tests and for
`--insecure-seed`, a release made with it has no privacy guarantee, and the manifest says so.
"""

import os
import random
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray


class RandomSource(Protocol):
    """Independent fair bits."""

    @property
    def secure(self) -> bool:
        """Whether a guarantee may rest on it."""
        ...

    def bits(self, n: int) -> int:
        """A uniform integer in ``[0, 2**n)``."""
        ...

    def uint64(self, k: int) -> NDArray[np.uint64]:
        """An array of ``k`` independent uniform 64-bit integers."""
        ...


class SecureSource:
    """The operating system's cryptographic generator."""

    secure: ClassVar[bool] = True

    def bits(self, n: int) -> int:
        """A uniform integer in ``[0, 2**n)``."""
        size = (n + 7) // 8
        return int.from_bytes(os.urandom(size), "little") >> (8 * size - n)

    def uint64(self, k: int) -> NDArray[np.uint64]:
        """An array of ``k`` independent uniform 64-bit integers."""
        return np.frombuffer(os.urandom(8 * k), dtype=np.uint64)


class InsecureSource:
    """The same bits for the same seed: for tests only, no guarantee rests on it.

    >>> InsecureSource(7).bits(16) == InsecureSource(7).bits(16)
    True
    """

    secure: ClassVar[bool] = False

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._generator = random.Random(seed)  # noqa: S311 - declared insecure, and that is its purpose

    def bits(self, n: int) -> int:
        """A uniform integer in ``[0, 2**n)``."""
        return self._generator.getrandbits(n) if n else 0

    def uint64(self, k: int) -> NDArray[np.uint64]:
        """An array of ``k`` independent uniform 64-bit integers."""
        return np.frombuffer(self._generator.randbytes(8 * k), dtype=np.uint64)


def random_below(n: int, source: RandomSource) -> int:
    """A uniform integer in ``[0, n)``, exactly: draw as many bits as n - 1 has, and again while they reach n.

    >>> 0 <= random_below(10, SecureSource()) < 10
    True
    """
    assert n >= 1, "an empty range; this is our bug"
    bits = (n - 1).bit_length()
    while True:
        drawn = source.bits(bits)
        if drawn < n:
            return drawn


def random_order(n: int, source: RandomSource) -> NDArray[np.int64]:
    """A uniform order of ``range(n)`` as an array: sort by random keys, and again if two keys are alike.

    >>> sorted(random_order(5, SecureSource()).tolist())
    [0, 1, 2, 3, 4]
    """
    while True:
        keys = source.uint64(n)
        order: NDArray[np.int64] = np.argsort(keys, kind="stable")
        if n < 2 or bool(np.all(np.diff(keys[order]) > 0)):  # noqa: PLR2004 - one has one order
            return order


def random_subset(n: int, size: int, source: RandomSource) -> NDArray[np.bool_]:
    """A uniform subset of ``range(n)`` with ``size`` members, as marks.

    Numbers are drawn uniformly and independently, each by as many bits as n − 1 has and passed over from n on, until
    ``size`` different ones have come up. The set of the first few different ones is uniform, since no step treats two
    numbers differently. At most as many are drawn at a time as are missing, so there are never too many. Of a large
    subset the numbers that are left out are drawn.

    >>> int(random_subset(10, 9, SecureSource()).sum())
    9
    """
    assert 0 <= size <= n, "no more members than there are numbers; this is our bug"
    if 2 * size > n:
        return ~random_subset(n, n - size, source)
    found = np.zeros(n, dtype=np.bool_)
    unused = np.uint64(64 - max((n - 1).bit_length(), 1))
    missing = size
    while missing:
        drawn = source.uint64(missing) >> unused
        found[drawn[drawn < n].astype(np.int64)] = True
        missing = size - int(np.count_nonzero(found))
    return found


def random_permutation(n: int, source: RandomSource) -> list[int]:
    """A uniform order of ``range(n)`` (Fisher and Yates)."""
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        other = random_below(last + 1, source)
        order[last], order[other] = order[other], order[last]
    return order
