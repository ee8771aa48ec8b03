"""What the processes of the race run."""

from fractions import Fraction

from sfumato.errors import BudgetError
from sfumato.ledger import open_ledger
from tests.ledger.drafts import draft


def run(path, who, rounds, barrier, outcomes):
    """In every round ask for the last of a study's budget, at the same moment as the others."""
    ledger = open_ledger(path)
    for number in range(rounds):
        barrier.wait(timeout=60)
        try:
            ledger.reserve(draft("0.6", study=f"round {number}", who=who), budget=Fraction(1))
        except BudgetError:
            outcomes.put((number, who, False))
        else:
            outcomes.put((number, who, True))
