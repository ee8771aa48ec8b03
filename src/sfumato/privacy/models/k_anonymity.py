"""k-anonymity: every equivalence class has at least k records."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.privacy.groups.parameters import model_parameters, parse_whole
from sfumato.privacy.groups.statistics import Statistics, Truths
from sfumato.privacy.models.model import MODELS
from sfumato.study.view import View


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class KAnonymity:
    """Every group has at least k records (Samarati 2001; Sweeney 2002).

    The records of a class share all quasi-identifier values. What else they have in common, such as one sensitive
    value, is not limited; nor is what an adversary infers who knows more than the quasi-identifiers.

    >>> groups = Statistics.of(np.array([0, 0, 0, 1, 1, 1, 1]), np.ones(7, np.int64), {}, {}, groups=2)
    >>> KAnonymity(k=4).holds(groups).tolist()
    [False, True]
    """

    name: ClassVar[str] = "k-anonymity"
    summary: ClassVar[str] = "every group has at least k records"
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", parse_whole(self.k, "k"))

    def needs(self) -> tuple[str, ...] | None:
        """No sensitive attribute."""
        return ()

    def check(self, view: View) -> None:
        """Any view will do."""

    def holds(self, groups: Statistics) -> Truths:
        """Whether each group has k records, or none."""
        return np.asarray((groups.sizes >= self.k) | (groups.sizes == 0))

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        return f"Every group of records that look alike has at least {self.k} of them (k-anonymity)."

    def parameters(self) -> dict[str, Any]:
        """The parameters as a study gives them."""
        return model_parameters(self)

    def way_out(self, whole: Statistics) -> str:
        """The largest k is the number of records."""
        return f"set k to {int(whole.sizes.sum())} or less"
