"""What a release promises, in one sentence that can be quoted, and what ε means against an attacker."""

from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Final

from sfumato.dp.budget import show
from sfumato.recipe import Chosen

NO_GUARANTEE: Final = "none (seeded for testing)"
_MOST_WORDED: Final = 20  # e²⁰ is half a thousand million: above it a factor protects nobody
_UP: Final = Context(prec=40, rounding=ROUND_CEILING)


def guarantee(*, model: str, epsilon: Fraction | None, unit: str, secure: bool, chosen: str) -> str:
    """The promise in words.

    >>> text = guarantee(model="ε-differential privacy", epsilon=Fraction(1), unit="one record", secure=True,
    ...                  chosen="fixed in advance")
    >>> print(text)
    This release is ε-differentially private with ε = 1 (unit: one record): whether or not one record is in the table
    changes the probability of any outcome by a factor of at most e^1 (about 2.72).
    """
    if not secure:
        return NO_GUARANTEE
    if epsilon is None:
        return f"This release keeps {model} (unit: {unit}). It is not differentially private."
    about = f" (about {_rounded(odds_factor(epsilon), 3)})" if epsilon <= _MOST_WORDED else ""
    sentence = (
        f"This release is ε-differentially private with ε = {show(epsilon)} (unit: {unit}): whether or not {unit} is "
        f"in the table changes the probability of any outcome by a factor of at most e^{_exponent(epsilon)}{about}."
    )
    if chosen == Chosen.ON_RAW:
        sentence += " The parameters were chosen by looking at the table, and ε does not cover that choice."
    return sentence


def attack_odds(epsilon: Fraction) -> str:
    """What ε means to an attacker who wants to know whether somebody is in the table; rounded up, never down.

    >>> print(attack_odds(Fraction(1)))
    Read as odds: seeing the release multiplies anybody's odds that one unit is in the table by at most 2.72. Somebody
    who guesses at even odds is right in at most 73.2 % of the cases, a membership advantage of at most 46.3 %.
    """
    if epsilon > _MOST_WORDED:
        return f"ε = {show(epsilon)} gives no protection worth the name against an attacker who sees the release."
    advantage = membership_advantage(epsilon)
    return (
        "Read as odds: seeing the release multiplies anybody's odds that one unit is in the table by at most "
        f"{_rounded(odds_factor(epsilon), 3)}. Somebody who guesses at even odds is right in at most "
        f"{_rounded(50 + 50 * advantage, 3)} % of the cases, a membership advantage of at most "
        f"{_rounded(100 * advantage, 3)} %."
    )


def odds_factor(epsilon: Fraction) -> Decimal:
    """e^ε: how much the release may move the odds (posterior against prior) on one unit's presence.

    By definition of ε-differential privacy the likelihoods of an outcome with and without the unit differ by at most
    e^ε, and posterior odds are prior odds times their ratio.
    """
    return _exact(epsilon).exp(_UP)


def membership_advantage(epsilon: Fraction) -> Decimal:
    """(e^ε − 1)/(e^ε + 1): the most by which true and false positives of a membership test can differ.

    With TPR ≤ e^ε·FPR and 1 − FPR ≤ e^ε·(1 − TPR) the difference is largest where both are equalities.
    """
    if epsilon > 100:  # noqa: PLR2004 - within 10⁻⁴³ of 1
        return Decimal(1)
    factor = odds_factor(epsilon)
    return _UP.divide(factor - 1, factor + 1)


def _exact(epsilon: Fraction) -> Decimal:
    return _UP.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator))


def _exponent(epsilon: Fraction) -> str:
    return show(epsilon) if epsilon.denominator == 1 or "/" not in show(epsilon) else f"({show(epsilon)})"


def _rounded(value: Decimal, digits: int) -> str:
    """A few digits, rounded up."""
    short = Context(prec=digits, rounding=ROUND_CEILING).plus(value)
    return f"{short.normalize():f}"
