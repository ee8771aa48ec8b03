"""How large k must be until groups of k keep capped confidence, and how large groups under the cap are."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

_GROWTH = Fraction(5, 4)  # from one k that is tried to the next


@dataclass(frozen=True, slots=True)
class Tried:
    """One k: how many groups there are, and the share of records that break the cap in them."""

    k: int
    groups: int
    broken: float

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {"k": self.k, "groups": self.groups, "broken": self.broken}


@dataclass(frozen=True, kw_only=True)
class MaxK:
    """What was tried, in the order of k, and what came of it.

    ``k`` is the smallest k that was found at which no record breaks the cap (Max.k of Sattar et al. 2014, Table 5),
    None if there is none; all smaller ones were tried only if ``every`` is set, and the share of records need not fall
    as k grows. ``average`` is the average group of a release under the cap (Avg.k), None where there is no such
    release.
    """

    rate: str
    tried: tuple[Tried, ...]
    k: int | None
    average: float | None
    every: bool
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "rate": self.rate,
            "max_k": self.k,
            "average_k": self.average,
            "every": self.every,
            "tried": [one.as_json() for one in self.tried],
            "notes": list(self.notes),
        }


def smallest_k(at: Callable[[int], Tried], low: int, high: int, *, every: bool) -> tuple[tuple[Tried, ...], int | None]:
    """Try k from ``low`` to ``high``, each a quarter larger than the last, then all between the last two.

    ``high`` itself is always tried if no smaller one does.

    >>> def at(k):
    ...     return Tried(k, 1, 0.0 if k >= 13 else 0.5)
    >>> tried, k = smallest_k(at, 2, 1000, every=False)
    >>> k, [one.k for one in tried]
    (13, [2, 3, 4, 5, 7, 9, 12, 13, 15])
    >>> [one.k for one in smallest_k(at, 2, 10, every=False)[0]]
    [2, 3, 4, 5, 7, 9, 10]
    """
    tried: dict[int, Tried] = {}
    k, last = low, low - 1
    while k <= high:
        tried[k] = at(k)
        if not tried[k].broken:
            break
        larger = k + 1 if every else max(k + 1, -int(-k * _GROWTH // 1))
        last, k = k, min(larger, high) if k < high else high + 1
    found = k if k in tried and not tried[k].broken else None
    for between in range(last + 1, k if found is not None else last + 1):
        tried[between] = at(between)
        if not tried[between].broken:
            found = between
            break
    return tuple(tried[one] for one in sorted(tried)), found
