"""How ε is shared out among the number of records, one-way marginals, and rounds: by a noisy number of records."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Final

SHARE_OF_SIZE: Final = Fraction(1, 50)
"""Of ε, for the noisy number of records that the plan is made by."""

SHARE_OF_CHOICE: Final = Fraction(1, 10)
"""Of a round's ε, for choosing what it measures."""

_FINE: Final = 10**6


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What one-way marginals get of what is left for marginals, and in how many rounds the rest is spent."""

    records_times_epsilon: int  # from which on
    one_way: Fraction
    rounds: int  # at most

    def rounds_for(self, candidates: int) -> int:
        """How many rounds there are at most: no more than there are sets to choose from."""
        return min(self.rounds, candidates)


PLANS: Final = (
    Plan(records_times_epsilon=0, one_way=Fraction(4, 5), rounds=2),
    Plan(records_times_epsilon=1_000, one_way=Fraction(3, 5), rounds=4),
    Plan(records_times_epsilon=5_000, one_way=Fraction(2, 5), rounds=8),
    Plan(records_times_epsilon=20_000, one_way=Fraction(2, 5), rounds=16),
)
"""With few records a pair is mostly noise, and what is known of single attributes decides."""


def plan_for(size: int, epsilon: Fraction) -> Plan:
    """The plan for about so many records."""
    x = max(size, 0) * epsilon
    return next(plan for plan in reversed(PLANS) if x >= plan.records_times_epsilon)


def one_way_shares(epsilon: Fraction, sizes: Sequence[int]) -> list[Fraction]:
    """ε for each one-way marginal, by the square root of its cells: then the sum of all errors is least.

    The error of a table is in proportion to its cells over its ε.

    >>> [str(share) for share in one_way_shares(Fraction(1), [4, 16])]
    ['1/3', '2/3']
    """
    roots = [isqrt(size * _FINE) for size in sizes]
    return [epsilon * root / sum(roots) for root in roots]
