"""The accountant: one budget, spent by steps, each step paid for before its noise is drawn.

Neighbours. Two tables are neighbours when one has one record more than the other (add or remove one record). All ε
here are for that relation. For the person unit with at most m records a person, give the accountant ε/m: group
privacy (Dwork & Roth 2014, Thm 2.2) makes the whole ε-differentially private for persons. Do not hand it the persons'
ε and use `parallel`: one person's records may lie in several parts.

Sequential composition. Mechanisms that are ε₁-, ε₂-, … differentially private are together (Σ εᵢ)-differentially
private (McSherry 2009, Thm 3).

Parallel composition. Where the parts are disjoint sets of records, fixed by public values and earlier outputs, one
record more changes one part only; the mechanisms on the other parts see the same input. So k mechanisms of ε each, one
a part, cost ε together (McSherry 2009, Thm 4). This is for add/remove: a *replaced* record can leave one part and enter
another, and would cost 2ε.

Adaptive shares. A grant's ε may depend on outputs of earlier grants (a method that stops early gives what is left to
the counts). In general a budget chosen on the way needs care, but for pure ε this filter is enough: continue only
while the sum of the ε asked so far stays within the budget B fixed in advance (a privacy filter: Rogers, Roth, Ullman
& Vadhan, "Privacy Odometers and Filters: Pay-as-you-Go Composition", NeurIPS 2016). Proof for pure ε: fix any sequence
of outputs o₁…o_k. Each εᵢ is a function of o₁…oᵢ₋₁, so along this sequence the εᵢ are the same numbers for both
neighbours, and the ratio of the two probabilities of the sequence is the product of the conditional ratios, at most
exp(Σ εᵢ) ≤ exp(B). Summing over the sequences of an event gives B-differential privacy. The argument needs that the
choice of εᵢ, of the mechanism, and of when to stop, look at earlier *outputs* and public values only; a method that
looks at the table to decide is not covered, and that is for the method to keep.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from threading import Lock

from sfumato.errors import BudgetError, InternalError
from sfumato.privacy.dp.grant import MINT, Grant
from sfumato.study.budget import show


@dataclass(frozen=True, slots=True)
class Spend:
    """One line of the budget breakdown: what was paid for, how much, and over how many disjoint parts."""

    on: str
    epsilon: Fraction
    parts: int = 1
    mechanism: str = ""


class Accountant:
    """Keeps one budget and makes the grants.

    >>> accountant = Accountant(Fraction(1))
    >>> counts = accountant.grant(Fraction(1, 4), on="counts")
    >>> halves = accountant.parallel(Fraction(1, 2), on=["left", "right"])
    >>> accountant.left
    Fraction(1, 4)
    >>> accountant.grant(Fraction(1, 2), on="more")
    Traceback (most recent call last):
    sfumato.errors.BudgetError: 'more' asks for ε = 0.5, and 0.25 is left of 1. To fix: lower its ... [SF-BUDGET-006]
    """

    def __init__(self, budget: Fraction, *, on_spend: Callable[[Spend], None] | None = None) -> None:
        if not isinstance(budget, Fraction):
            raise InternalError("a budget is an exact Fraction")
        if budget <= 0:
            raise BudgetError(
                f"the budget ε = {show(budget)} is not positive", "give a positive budget", code="SF-BUDGET-004"
            )
        self._budget = budget
        self._on_spend = on_spend
        self._breakdown: list[Spend] = []
        self._spent = Fraction(0)
        self._lock = Lock()

    @property
    def budget(self) -> Fraction:
        """The whole budget."""
        return self._budget

    @property
    def spent(self) -> Fraction:
        """The sum of all charges."""
        return self._spent

    @property
    def left(self) -> Fraction:
        """What may still be charged."""
        return self._budget - self.spent

    @property
    def breakdown(self) -> tuple[Spend, ...]:
        """Every charge, in order."""
        return tuple(self._breakdown)

    def grant(self, epsilon: Fraction, *, on: str, mechanism: str = "") -> Grant:
        """Charge ε and permit one draw at that price; ``mechanism`` names it in the budget breakdown."""
        self._charge(Spend(on, epsilon, mechanism=mechanism))
        return Grant(epsilon, on=on, mint=MINT)

    def parallel(self, epsilon: Fraction, *, on: Sequence[str], mechanism: str = "") -> list[Grant]:
        """Charge ε once and permit one draw at that price on each of the disjoint parts ``on``.

        The caller answers for the parts being disjoint sets of records; see the module's text.
        """
        if not on:
            return []
        self._charge(Spend(", ".join(on), epsilon, len(on), mechanism))
        return [Grant(epsilon, on=part, mint=MINT) for part in on]

    def _charge(self, spend: Spend) -> None:
        """Debit first, then tell: a crash may waste budget, it never hides a spend."""
        if not isinstance(spend.epsilon, Fraction):
            raise InternalError(f"'{spend.on}' asks for an ε that is not an exact Fraction")
        if spend.epsilon <= 0:
            raise BudgetError(
                f"'{spend.on}' asks for ε = {show(spend.epsilon)}",
                "give every step a positive share",
                code="SF-BUDGET-005",
            )
        with self._lock:
            left = self.left
            if spend.epsilon > left:
                asked, whole = show(spend.epsilon), show(self._budget)
                raise BudgetError(
                    f"'{spend.on}' asks for ε = {asked}, and {show(left)} is left of {whole}",
                    "lower its share or drop a step",
                    code="SF-BUDGET-006",
                )
            self._spent += spend.epsilon
            self._breakdown.append(spend)
        if self._on_spend is not None:
            self._on_spend(spend)
