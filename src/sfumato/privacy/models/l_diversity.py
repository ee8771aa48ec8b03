"""l-diversity, four readings of "at least l well represented values" (Machanavajjhala et al., ICDE 2006)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from sfumato.privacy.groups.parameters import (
    TOLERANCE,
    Exact,
    multiply,
    parse_exact,
    parse_in_range,
    parse_whole,
    round_down_text,
    share_at_most,
)
from sfumato.privacy.groups.sensitive import Floats, Sensitive, Strain, Values
from sfumato.privacy.groups.statistics import Integers, Statistics, Truths
from sfumato.privacy.models.model import MODELS
from sfumato.study.budget import show


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class DistinctLDiversity(Sensitive):
    """Every group has at least l different values (the weakest reading in Machanavajjhala et al. 2006).

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> DistinctLDiversity(l=3).holds(PATIENTS).tolist()
    [True, False]
    """

    name: ClassVar[str] = "distinct-l-diversity"
    summary: ClassVar[str] = "every group has at least l different sensitive values"
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True  # a union has all the values of both
    relative: ClassVar[bool] = False
    l: int  # noqa: E741 - the literature's letter

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", parse_whole(self.l, "l"))

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        return f"Every group has at least {self.l} different values of {self._whose()} (distinct l-diversity)."

    def way_out(self, whole: Statistics) -> str:
        """The number of values that occur."""
        return f"set l to {min(int(values.distinct[0]) for values in self._values(whole))} or less"

    def _keeps(self, values: Values) -> Truths:
        return np.asarray(values.distinct >= self.l)

    def _strain(self, values: Values) -> Strain:
        found = values.distinct.astype(np.float64)
        return Strain("values", "the number of different values", f"at least {self.l}", found, more_is_nearer=False)


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class EntropyLDiversity(Sensitive):
    """The entropy of the values of every group is at least ln l (Machanavajjhala et al. 2006).

    In floating point: an entropy up to 10⁻¹² below ln l holds, so a group exactly at the bound does. Entropy is
    concave, so a union's is at least the smaller of the two: monotone.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> EntropyLDiversity(l=3).holds(PATIENTS).tolist(), EntropyLDiversity(l="2.8").holds(PATIENTS).tolist()
    ([False, False], [True, False])
    """

    name: ClassVar[str] = "entropy-l-diversity"
    summary: ClassVar[str] = "the entropy of the sensitive values of every group is at least ln l"
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    l: Exact  # noqa: E741 - the literature's letter

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", parse_in_range(self.l, "l", 1))

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        return (
            f"In every group the entropy of {self._whose()} is at least ln {show(parse_exact(self.l, 'l'))}, as if "
            "that many values were equally frequent (entropy l-diversity)."
        )

    def way_out(self, whole: Statistics) -> str:
        """As many equally frequent values as have the entropy of the table."""
        return (
            f"set l to {round_down_text(math.exp(min(_entropy(values)[0] for values in self._values(whole))))} or less"
        )

    def _keeps(self, values: Values) -> Truths:
        return np.asarray(_entropy(values) >= math.log(parse_exact(self.l, "l")) - TOLERANCE)

    def _strain(self, values: Values) -> Strain:
        words = "e to the power of the entropy, the number of equally frequent values that would have it"
        bound = f"at least {show(parse_exact(self.l, 'l'))}"
        return Strain("e^entropy", words, bound, np.exp(_entropy(values)), more_is_nearer=False)


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class RecursiveLDiversity(Sensitive):
    """The most frequent value is not too frequent: r₁ < c·(r_l + … + r_m) (Machanavajjhala et al. 2006).

    r₁ ≥ r₂ ≥ … are the counts of the values of a group. With l = 1 every group keeps it, as in the paper, which also
    shows it to be monotone.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> RecursiveLDiversity(c=3, l=2).holds(PATIENTS).tolist()
    [True, False]
    """

    name: ClassVar[str] = "recursive-l-diversity"
    summary: ClassVar[str] = "the most frequent sensitive value occurs less than c times as often as the l-th and rarer"
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = False
    c: Exact
    l: int  # noqa: E741 - the literature's letter

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", parse_in_range(self.c, "c", 0, above=True))
        object.__setattr__(self, "l", parse_whole(self.l, "l"))

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        return (
            f"In every group the most frequent value of {self._whose()} occurs less than "
            f"{show(parse_exact(self.c, 'c'))} times as often as all from the {self.l}-th most frequent on together "
            "(recursive (c,l)-diversity)."
        )

    def way_out(self, whole: Statistics) -> str:
        """A larger c, or no more values than there are."""
        all_values = self._values(whole)
        most = min(int(values.distinct[0]) for values in all_values)
        if most < self.l:
            return f"set l to {most} or less"
        ratio = max(Fraction(int(values.largest[0]), int(self._rest(values)[0])) for values in all_values)
        return f"set c above {show(ratio)}, or l to less than {self.l}"

    def _keeps(self, values: Values) -> Truths:
        if self.l == 1:
            return np.ones(len(values.sizes), dtype=np.bool_)
        c = parse_exact(self.c, "c")
        return np.asarray(
            multiply(values.largest, c.denominator) < multiply(self._rest(values), c.numerator), dtype=np.bool_
        )

    def _strain(self, values: Values) -> Strain | None:
        if self.l == 1:
            return None
        rest = self._rest(values)
        ratio = np.where(rest > 0, values.largest / np.maximum(rest, 1), np.inf)
        words = f"how often the most frequent value occurs, over all from the {self.l}-th most frequent on together"
        return Strain("ratio", words, f"less than {show(parse_exact(self.c, 'c'))}", ratio)

    def _rest(self, values: Values) -> Integers:
        """How many records have the l-th most frequent value of their group, or a rarer one."""
        group = values.found.group
        order = np.lexsort((-values.counts, group))
        rank = np.arange(len(order)) - values.found.first[group]  # the sort keeps the groups where they are
        return values.sums(np.where(rank >= self.l - 1, values.counts[order], 0))


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilisticLDiversity(Sensitive):
    """No value has a larger share of a group than 1/l, and l may be a fraction (Xiao & Tao, VLDB 2006, "l-diversity").

    Compared in whole numbers: count · l ≤ size.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> ProbabilisticLDiversity(l=2).holds(PATIENTS).tolist(), ProbabilisticLDiversity(l="4/3").holds(PATIENTS).tolist()
    ([True, False], [True, True])
    """

    name: ClassVar[str] = "probabilistic-l-diversity"
    summary: ClassVar[str] = "no sensitive value has a larger share of a group than 1/l"
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True  # a union's share lies between the two
    relative: ClassVar[bool] = False
    l: Exact  # noqa: E741 - the literature's letter

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", parse_in_range(self.l, "l", 1))

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        share = show(1 / parse_exact(self.l, "l"))
        return f"No value of {self._whose()} has a larger share of any group than {share} (probabilistic l-diversity)."

    def way_out(self, whole: Statistics) -> str:
        """One over the largest share in the table."""
        most = min(Fraction(int(values.sizes[0]), int(values.largest[0])) for values in self._values(whole))
        return f"set l to {show(most)} or less"

    def _keeps(self, values: Values) -> Truths:
        return share_at_most(values.largest, values.sizes, 1 / parse_exact(self.l, "l"))

    def _strain(self, values: Values) -> Strain:
        share = values.largest / np.maximum(values.sizes, 1)
        return Strain("share", "the largest share of a value", f"at most {show(1 / parse_exact(self.l, 'l'))}", share)


def _entropy(values: Values) -> Floats:
    """−Σ p ln p of each group = ln n − (Σ c ln c)/n for counts c that add up to n."""
    sizes = np.maximum(values.sizes, 1)
    return np.asarray(np.log(sizes) - values.sums(values.counts * np.log(values.counts)) / sizes)
