"""β-likeness: no value is much more frequent in a group than in the table (Cao & Karras, PVLDB 5(11), 2012)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.privacy.groups.parameters import TOLERANCE, Exact, multiply, parse_exact, parse_in_range
from sfumato.privacy.groups.sensitive import Floats, Sensitive, Strain, Values
from sfumato.privacy.groups.statistics import Statistics, Truths
from sfumato.privacy.models.model import MODELS
from sfumato.study.budget import show


@dataclass(frozen=True, slots=True, kw_only=True)
class _BetaLikeness(Sensitive):
    """A bound on how much a value's share may gain: what both kinds have in common."""

    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = True
    beta: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", parse_in_range(self.beta, "β", 0, above=True))

    def way_out(self, whole: Statistics) -> str:  # noqa: ARG002 - the table is as its own table is
        """The whole table keeps it, so there is nothing to give in."""
        return "compare with the table itself"


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class BasicBetaLikeness(_BetaLikeness):
    """For every value with a larger share q in a group than its share p of the table, (q − p)/p ≤ β.

    Only gains are bounded: a value may be rarer in a group, or missing. As q ≤ (1 + β)·p
    for each value, and a union's q lies between the two, it is monotone. Compared in whole numbers.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> BasicBetaLikeness(beta="0.2").holds(PATIENTS).tolist()  # bronchitis: 1/4 against 1/8; flu: 3/4 against 5/8
    [False, True]
    """

    name: ClassVar[str] = "basic-beta-likeness"
    summary: ClassVar[str] = "no sensitive value's share of a group exceeds its share of the table by more than β times"

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        most = show(1 + parse_exact(self.beta, "β"))
        return (
            f"No value of {self._whose()} has more than {most} times the share of a group that it has of the table "
            "(basic β-likeness)."
        )

    def _keeps(self, values: Values) -> Truths:
        return _gains_at_most(values, self.beta)

    def _strain(self, values: Values) -> Strain:
        bound = f"at most {show(parse_exact(self.beta, 'β'))}"
        words = "the largest gain (q − p)/p of a value with the share p of the table and q of the group"
        return Strain("largest gain", words, bound, values.most(_gains(values)))


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class EnhancedBetaLikeness(_BetaLikeness):
    """As basic β-likeness, and also (q − p)/p ≤ −ln p, which keeps frequent values below certainty.

    The gain is at most min(β, −ln p). The bound on q depends on the table alone, so this
    is monotone too. The logarithm is compared in floating point: a gain up to 10⁻¹² above it holds.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> EnhancedBetaLikeness(beta=1).holds(PATIENTS).tolist()
    [True, True]
    """

    name: ClassVar[str] = "enhanced-beta-likeness"
    summary: ClassVar[str] = "basic β-likeness with min(β, −ln p) in place of β for a value with share p of the table"

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        return (
            f"A value of {self._whose()} that has the share p of the table has at most the share "
            f"p·(1 + min({show(parse_exact(self.beta, 'β'))}, −ln p)) of any group (enhanced β-likeness)."
        )

    def _keeps(self, values: Values) -> Truths:
        p = np.where(values.overall > 0, values.overall, 1) / max(values.total, 1)
        allowed = p * (1 - np.log(p))
        return _gains_at_most(values, self.beta) & values.every(values.shares <= allowed + TOLERANCE)

    def _strain(self, values: Values) -> Strain:
        p = np.where(values.overall > 0, values.overall, 1) / max(values.total, 1)
        allowed = np.minimum(float(parse_exact(self.beta, "β")), -np.log(p))
        part = np.where(allowed > 0, _gains(values) / np.where(allowed > 0, allowed, 1), 0.0)
        words = "the largest gain (q − p)/p of a value, over the min(β, −ln p) that it may gain"
        return Strain("gain of the allowed", words, "at most 1", values.most(part))


def _gains(values: Values) -> Floats:
    """(q − p)/p, one a pair; a value that the table does not have gains without end."""
    p = values.overall / max(values.total, 1)
    return np.asarray(np.where(p > 0, (values.shares - p) / np.where(p > 0, p, 1), np.inf))


def _gains_at_most(values: Values, beta: Exact) -> Truths:
    """Whether q ≤ (1 + β)·p for every value of a group: count · N ≤ (1 + β) · table's count · size."""
    factor = 1 + parse_exact(beta, "β")
    left = multiply(multiply(values.counts, values.total), factor.denominator)
    right = multiply(multiply(values.overall, values.of), factor.numerator)
    return values.every(np.asarray(left <= right, dtype=np.bool_))
