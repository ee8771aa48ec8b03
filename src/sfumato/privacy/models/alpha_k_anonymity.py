"""(α,k)-anonymity: groups of k in which no sensitive value is too frequent."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast

import numpy as np

from sfumato.errors import StudyError
from sfumato.privacy.groups.parameters import Exact, parse_exact, parse_in_range, parse_whole, share_at_most
from sfumato.privacy.groups.sensitive import Sensitive, Strain, Values, code_of, refuse_unknown
from sfumato.privacy.groups.statistics import Integers, Statistics, Truths
from sfumato.privacy.models.model import MODELS
from sfumato.study.attribute import Attribute
from sfumato.study.budget import show


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaKAnonymity(Sensitive):
    """Every group has k records, and no sensitive value more than the share α of one (Wong et al., KDD 2006).

    ``values`` names the values that the bound is for; without it, all of them.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> AlphaKAnonymity(alpha="0.5", k=4).holds(PATIENTS).tolist()
    [True, False]
    >>> AlphaKAnonymity(alpha="0.25", k=4, values=("cancer",)).holds(PATIENTS).tolist()
    [True, True]
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    summary: ClassVar[str] = "every group has at least k records and no sensitive value a larger share of it than α"
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True  # sizes add up, shares of a union lie between the two
    relative: ClassVar[bool] = False
    alpha: Exact
    k: int
    values: Sequence[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", parse_in_range(self.alpha, "α", 0, 1, above=True))
        object.__setattr__(self, "k", parse_whole(self.k, "k"))
        if self.values is not None:
            if not isinstance(cast("object", self.values), (str, list, tuple)):
                raise StudyError(
                    "the values of (α,k)-anonymity are no list",
                    "write a list of values, or one value",
                    code="SF-STUDY-086",
                )
            given = (self.values,) if isinstance(self.values, str) else tuple(map(str, self.values))
            if not given:
                raise StudyError(
                    "(α,k)-anonymity is given an empty list of values",
                    "name one, or leave `values` out",
                    code="SF-STUDY-087",
                )
            object.__setattr__(self, "values", given)

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        which = "no value" if self.values is None else f"none of {', '.join(self.values)}"
        return (
            f"Every group has at least {self.k} records, and {which} of {self._whose()} has a larger share of any "
            f"group than {show(parse_exact(self.alpha, 'α'))} ((α,k)-anonymity)."
        )

    def way_out(self, whole: Statistics) -> str:
        """No more than all records, no less than the largest share."""
        n = int(whole.sizes[0])
        if n < self.k:
            return f"set k to {n} or less"
        share = max(Fraction(int(self._largest(values)[0]), n) for values in self._values(whole))
        return f"set α to {show(share)} or more"

    def _keeps(self, values: Values) -> Truths:
        rare = share_at_most(self._largest(values), values.sizes, parse_exact(self.alpha, "α"))
        return rare & (values.sizes >= self.k)

    def _strain(self, values: Values) -> Strain:
        sizes = np.maximum(values.sizes, 1)
        part = np.maximum(self._largest(values) / sizes / float(parse_exact(self.alpha, "α")), self.k / sizes)
        words = "the larger of two: the largest bounded share over α, and k over the size"
        return Strain("part of the bound", words, "at most 1", part)

    def _largest(self, values: Values) -> Integers:
        """How often the most frequent of the bounded values occurs in each group."""
        if self.values is None:
            return values.largest
        codes = [code for label in self.values if (code := code_of(values.domain, label)) is not None]
        return values.most(np.where(np.isin(values.found.values, codes), values.counts, 0))

    def _refuse(self, attributes: Sequence[Attribute]) -> None:
        refuse_unknown(self.values or (), attributes)
