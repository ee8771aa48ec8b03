"""δ-disclosure privacy: a group tells hardly more about any value than the table does."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.privacy.groups.parameters import TOLERANCE, Exact, parse_exact, parse_in_range
from sfumato.privacy.groups.sensitive import Sensitive, Strain, Values
from sfumato.privacy.groups.statistics import Statistics, Truths
from sfumato.privacy.models.model import MODELS
from sfumato.study.budget import show


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaDisclosure(Sensitive):
    """`|ln(p_group / p_table)|` ≤ δ for every value of the table (Brickell & Shmatikov, KDD 2008, "semantic privacy").

    A value of the table that a group does not have breaks it: the logarithm is infinite. We differ: the paper asks for
    less than δ, we allow δ itself. Every share of a group lies between e^−δ and e^δ times the table's, and a union's
    share lies between the two, so it is monotone. In floating point: up to 10⁻¹² above δ holds.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> DeltaDisclosure(delta="0.7").holds(PATIENTS).tolist()  # the second group has no bronchitis
    [True, False]
    """

    name: ClassVar[str] = "delta-disclosure"
    summary: ClassVar[str] = "every sensitive value's share of a group is its share of the table, times e^δ at most"
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = True
    delta: Exact

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", parse_in_range(self.delta, "δ", 0))

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        delta = show(parse_exact(self.delta, "δ"))
        return (
            f"The share of every value of {self._whose()} in a group is that in the table, times a factor between "
            f"e^-{delta} and e^{delta} (δ-disclosure privacy)."
        )

    def way_out(self, whole: Statistics) -> str:  # noqa: ARG002 - the table is as its own table is
        """The whole table keeps it, so there is nothing to give in."""
        return "compare with the table itself"

    def _keeps(self, values: Values) -> Truths:
        p = np.where(values.overall > 0, values.overall, 1) / max(values.total, 1)
        near = np.abs(np.log(values.shares / p)) <= float(parse_exact(self.delta, "δ")) + TOLERANCE
        complete = values.distinct == len(values.table)
        return np.asarray(values.every(near) & values.known & complete)

    def _strain(self, values: Values) -> Strain:
        p = np.where(values.overall > 0, values.overall, 1) / max(values.total, 1)
        complete = values.distinct == len(values.table)
        apart = np.where(complete, values.most(np.abs(np.log(values.shares / p))), np.inf)
        words = "the largest |ln(share of the group / share of the table)| of a value"
        return Strain("largest |ln ratio|", words, f"at most {show(parse_exact(self.delta, 'δ'))}", apart)
