"""ε-differential privacy: a guarantee about how a release was made, and what ε means against an adversary."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import ClassVar, Final

from sfumato.privacy.models.model import MODELS
from sfumato.study.budget import show

_MOST_WORDED: Final = 20  # e²⁰ is half a thousand million: above it a factor protects nobody
_UP: Final = Context(prec=40, rounding=ROUND_CEILING)


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentialPrivacy:
    """The guarantee that one unit more or less hardly changes what a release shows (Dwork et al. 2006).

    It is kept by the mechanisms and the accountant, and never checked on the output: every output is possible.

    >>> print(DifferentialPrivacy(epsilon=Fraction(1), unit="one record").sentence())
    This release is ε-differentially private with ε = 1 (unit: one record): whether or not one record is in the table
    changes the probability of any outcome by a factor of at most e^1 (about 2.72).
    """

    name: ClassVar[str] = "ε-differential privacy"
    checkable: ClassVar[bool] = False
    epsilon: Fraction
    unit: str  # in words that fit "whether or not … is in the table"

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        about = f" (about {_rounded(odds_factor(self.epsilon), 3)})" if self.epsilon <= _MOST_WORDED else ""
        return (
            f"This release is ε-differentially private with ε = {show(self.epsilon)} (unit: {self.unit}): whether or "
            f"not {self.unit} is in the table changes the probability of any outcome by a factor of at most "
            f"e^{_exponent(self.epsilon)}{about}."
        )


_ODDS: Final = (
    "Read as odds: the release multiplies an adversary's odds that a given unit is in the table by at most {factor}. "
    "An adversary who guesses at even odds is right in at most {right} % of the cases: a membership advantage of at "
    "most {advantage} %."
)
_ODDS_BEFORE: Final = (
    "Read as odds: seeing the release multiplies anybody's odds that one unit is in the table by at most {factor}. "
    "Somebody who guesses at even odds is right in at most {right} % of the cases, a membership advantage of at most "
    "{advantage} %."
)
"""The words in bundles that were published with earlier versions: these stay valid."""


def attack_odds(epsilon: Fraction) -> str:
    """What ε means to an adversary who wants to know whether a person is in the table; rounded up, never down.

    >>> print(attack_odds(Fraction(1)))
    Read as odds: the release multiplies an adversary's odds that a given unit is in the table by at most 2.72. An
    adversary who guesses at even odds is right in at most 73.2 % of the cases: a membership advantage of at most
    46.3 %.
    """
    return odds_wordings(epsilon)[0]


def odds_wordings(epsilon: Fraction) -> tuple[str, ...]:
    """`attack_odds` in the words of this version, then in those of earlier ones."""
    if epsilon > _MOST_WORDED:
        return (f"ε = {show(epsilon)} gives no protection worth the name against an attacker who sees the release.",)
    advantage = membership_advantage(epsilon)
    numbers = {
        "factor": _rounded(odds_factor(epsilon), 3),
        "right": _rounded(50 + 50 * advantage, 3),
        "advantage": _rounded(100 * advantage, 3),
    }
    return tuple(wording.format(**numbers) for wording in (_ODDS, _ODDS_BEFORE))


def odds_factor(epsilon: Fraction) -> Decimal:
    """e^ε: how much the release may move the odds (posterior against prior) on one unit's presence.

    By definition of ε-differential privacy the likelihoods of an outcome with and without the unit differ by at most
    e^ε, and posterior odds are prior odds times their ratio. `Decimal.exp` rounds to nearest whatever the context
    says, so the next number above it is taken.
    """
    return _exact(epsilon).exp(_UP).next_plus(_UP)


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
