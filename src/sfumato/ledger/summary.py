"""What a study's ledger adds up to: its entries, what is spent and what is left."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sfumato.ledger.ledger import Entry, RaisedBudget, raised_budgets
from sfumato.ledger.spending import Stretch, stretches, total_spent
from sfumato.study.budget import exact_text


@dataclass(frozen=True, kw_only=True)
class LedgerSummary:
    """The entries of a study with its declared budget.

    ``problems`` say what is wrong with the chain, ``lost`` which entries are known to be missing: with either, what is
    spent and what is left is unknown. ``verified`` is None if the chain was not verified.
    """

    study: str
    entries: tuple[Entry, ...]
    budget: Fraction | None
    problems: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    verified: bool | None = None

    @property
    def spent(self) -> Fraction | None:
        """The most ε that was spent on one unit; None if it is unknown."""
        return None if self.problems or self.lost else total_spent(self.entries)

    @property
    def left(self) -> Fraction | None:
        """What is left of the budget; None if it is unknown or no budget is declared."""
        return None if self.spent is None or self.budget is None else self.budget - self.spent

    @property
    def atoms(self) -> list[Stretch]:
        """What is spent on every atom of time; nothing if it is unknown."""
        return [] if self.problems or self.lost else stretches(self.entries)

    @property
    def budget_raised(self) -> list[RaisedBudget]:
        """Every time the declared budget was raised."""
        return raised_budgets(self.entries, now=self.budget)

    def as_json(self) -> dict[str, Any]:
        """The summary as plain values."""
        return {
            "study": self.study,
            "entries": [entry.as_json() for entry in self.entries],
            "spent": exact_text(self.spent),
            "budget": exact_text(self.budget),
            "left": exact_text(self.left),
            "budget_raised": [raised.as_json() for raised in self.budget_raised],
            "atoms": [atom.as_json(self.budget) for atom in self.atoms],
            "verified": self.verified,
            "problems": [*self.problems, *self.lost],
        }
