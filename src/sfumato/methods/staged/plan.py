"""How ε is shared out, and how large a staged release may be: from ε, the classes and a noisy number of records."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sfumato.methods.staged.impurity import TICKS

SHARE_OF_SIZE: Final = Fraction(1, 50)
"""Of ε, for the noisy number of records that the plan is made by."""

SHARE_OF_REMAINING: Final = Fraction(1, 20)
"""Of ε, for the attributes that no stage has chosen."""

STAGES_FROM: Final = (5_000, 12_000, 60_000)
"""Records × ε for the stages from which a second, a third and a fourth are made."""

THREE_FROM: Final = 1_200
"""Records × ε for the stages from which a stage takes up to three attributes, in place of two."""

MOST_CELLS: Final = 8_000
"""Cells of one table, its classes not counted."""

_FEWEST_CELLS: Final = 8
_CHOICES: Final = {1: Fraction(2, 5), 2: Fraction(3, 10)}
_CHOICES_OF_MORE: Final = Fraction(1, 4)
_LATER: Final = Fraction(3, 2)  # a later choice is among smaller differences, and gets so much of a first one's ε
_PENALTY: Final = 3_500
_LEAST_PENALTY: Final = Fraction(1, 4)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The stages of a release, and their prices. Their sum is what the stages have, to the last digit."""

    choices: tuple[Fraction, ...]  # ε of each stage's choice
    table: Fraction  # ε of each stage's table
    attributes: int  # at most, in one stage
    cells: int  # at most, in one table, without the classes
    penalty: int  # of an occupied cell, in ticks

    @property
    def stages(self) -> int:
        """How many stages there are."""
        return len(self.choices)


def make_plan(size: int, epsilon: Fraction, classes: int) -> Plan:
    """The plan for about ``size`` records and ``epsilon`` for all stages.

    What counts is x = records × ε: the number of records that weigh as much as the noise. More of them carry more
    stages, larger tables and a smaller penalty on cells; choices then need a smaller share.
    """
    x = max(size, 0) * epsilon
    stages = 1 + sum(x >= start for start in STAGES_FROM)
    share = _CHOICES.get(stages, _CHOICES_OF_MORE)
    parts = [Fraction(1)] + [_LATER] * (stages - 1)
    penalty = min(max(_PENALTY / x, _LEAST_PENALTY), Fraction(1)) if x else Fraction(1)
    return Plan(
        choices=tuple(epsilon * share * part / sum(parts) for part in parts),
        table=epsilon * (1 - share) / stages,
        attributes=2 + (x >= THREE_FROM),
        cells=min(max(int(x / classes), _FEWEST_CELLS), MOST_CELLS),
        penalty=int(TICKS * penalty),
    )
