"""The last step of the differentially private methods: noise on every group of a cross product of cuts.

Neighbours differ by one record, which is in exactly one group, so the vector of all counts changes by 1 in one place:
Δ = 1 in the L1 norm. Every group gets noise, the empty ones too: leaving those out would publish which combinations
occur. Groups whose noisy count stays under the threshold (at least 1) are not listed; that a group is not listed is
part of the noisy vector and says nothing more (post-processing).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import expm1, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells, Counter
from sfumato.domains.cut import Cut, cross_product
from sfumato.errors import StudyError
from sfumato.methods.method import NOISE_ON, Context, PrivateMethod, cells_by_class, require_accountant
from sfumato.methods.noise.post_processing import POSTS, post_process
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.grant import Grant
from sfumato.privacy.dp.mechanisms.laplace import noisy_counts, scale_for
from sfumato.privacy.dp.mechanisms.sparse import expected_survivors, noisy_sparse, threshold_for
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.release.draft import Draft, Groups
from sfumato.study.view import View

_WORD = 2**62  # flat numbers of groups up to this fit machine integers with room for sums

SHARE_OF_SIZE = 100
"""`h: auto` and post-processing to a total pay 1/SHARE_OF_SIZE of ε for a noisy number of records."""

SHARE_OF_TOTALS = 20
"""Post-processing to class totals pays 1/SHARE_OF_TOTALS of ε for them, where the counts themselves tell them worse."""

MOST_NOISE_ROWS = 10_000
"""With `threshold: auto`, up to this many rows of noise alone are published as in the paper."""

FEW_NOISE_ROWS = 1_000
"""The threshold that `plan` proposes keeps rows of noise alone under this."""


@dataclass(frozen=True, slots=True)
class CrossProduct:
    """All groups of the cuts and the class, numbered in mixed radix."""

    sizes: tuple[int, ...]

    @property
    def total(self) -> int:
        """How many groups there are; may be astronomically many."""
        return prod(self.sizes)

    def number(self, codes: NDArray[np.int64]) -> NDArray[Any]:
        """Rows of region numbers to flat numbers, as int64 or, where they do not fit, as Python integers."""
        kind = object if self.total >= _WORD else np.int64
        flat: NDArray[Any] = np.zeros(len(codes), dtype=kind)
        for column, size in enumerate(self.sizes):
            flat = flat * size + codes[:, column].astype(kind)
        return flat

    def rows(self, flat: NDArray[Any]) -> NDArray[np.int64]:
        """Flat numbers back to rows of region numbers."""
        large = max(self.sizes, default=0) > _WORD  # sets have numbers of regions that fit no machine integer
        rows = np.empty((len(flat), len(self.sizes)), dtype=object if large else np.int64)
        rest = flat
        for column in range(len(self.sizes) - 1, -1, -1):
            size = self.sizes[column]
            rows[:, column] = (rest % size).astype(rows.dtype)
            rest = rest // size
        return rows


def publish_counts(
    cuts: Sequence[Cut],
    classes: int,
    cells: Cells,
    *,
    threshold: int,
    grant: Grant,
    source: RandomSource,
) -> Groups:
    """Noisy counts of all groups of the cuts × class that reach the threshold, sorted by the published values.

    ``cells`` holds the occupied groups: region numbers of the cuts in their order, then the class.
    """
    product = CrossProduct((*(cut.total for cut in cuts), classes))
    flat = product.number(cells.codes)
    order = np.argsort(flat, kind="stable")
    found, counts = noisy_sparse(
        flat[order],
        cells.counts[order],
        total=product.total,
        threshold=threshold,
        sensitivity=1,
        grant=grant,
        source=source,
    )
    order = np.argsort(found, kind="stable")
    rows = product.rows(found[order])
    return Groups(tuple(cuts), rows[:, :-1], rows[:, -1].astype(np.int64), counts[order])


def publish_all_counts(
    cuts: Sequence[Cut],
    classes: int,
    cells: Cells,
    *,
    threshold: int,
    grant: Grant,
    source: RandomSource,
) -> tuple[Groups, tuple[int, ...]]:
    """As `publish_counts`, for few groups, with the sum of all noisy counts of each class, the negative ones too.

    Every group is noised by itself: the same distribution (`privacy.dp.mechanisms.sparse`). The sums are functions of
    the noisy counts, so they cost nothing more; they are unbiased, since nothing was cut off before adding up.
    """
    product = CrossProduct((*(cut.total for cut in cuts), classes))
    counts = np.zeros(product.total, dtype=np.int64)
    counts[product.number(cells.codes).astype(np.int64)] = cells.counts
    noisy = noisy_counts(counts, sensitivity=1, grant=grant, source=source)
    sums = noisy.reshape(-1, classes).sum(axis=0)
    kept = np.flatnonzero(noisy >= threshold)
    rows = product.rows(kept)
    return Groups(tuple(cuts), rows[:, :-1], rows[:, -1].astype(np.int64), noisy[kept]), tuple(sums.tolist())


def check_threshold(asked: int | str) -> None:
    """Refuse what is not a threshold."""
    if asked != "auto" and (isinstance(asked, (bool, str)) or asked < 1):
        raise StudyError(f"the threshold is {asked!r}", "use a whole number from 1 on, or `auto`", code="SF-STUDY-070")


def safe_threshold(total: int, scale: Fraction) -> int:
    """The smallest threshold that lets at most `FEW_NOISE_ROWS` of ``total`` empty groups through, on average."""
    return threshold_for(total, scale, FEW_NOISE_ROWS)


def fitting_threshold(total: int, scale: Fraction, size: int) -> int:
    """The smallest threshold at which rows of noise alone hold, on average, at most a tenth of ``size``."""
    low, high = 0, 1  # at `low` too much noise comes through, at `high` not

    def clean(threshold: int) -> bool:
        return noise_records(total, threshold, scale) <= max(size, 1) / 10

    while not clean(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if clean(middle) else (middle, high)
    return high


def noisy_size(size: int, *, accountant: Accountant, source: RandomSource) -> int:
    """The number of records, with 1/SHARE_OF_SIZE of the budget. One record more changes it by 1: Δ = 1."""
    grant = accountant.grant(accountant.budget / SHARE_OF_SIZE, on="number of records", mechanism=NOISE_ON)
    return int(noisy_counts(np.array([size], dtype=np.int64), sensitivity=1, grant=grant, source=source)[0])


def noise_scale(epsilon: Fraction) -> Fraction:
    """The scale of the noise that ``epsilon`` buys: the very number the mechanism will use."""
    return Fraction(scale_for(epsilon, sensitivity=1))


def noise_records(total: int, threshold: int, scale: Fraction) -> float:
    """How many records that are not there the listed counts of ``total`` empty groups are expected to add.

    A count that survives has on average the threshold + 1/(e^{1/b} − 1), since noise above a threshold is geometric.
    """
    rows = noise_rows(total, threshold, scale)
    return rows * (threshold + 1 / expm1(min(1 / float(scale), 700.0))) if rows else 0.0


def noise_rows(total: int, threshold: int, scale: Fraction) -> float:
    """How many of ``total`` empty groups are expected to be published."""
    return expected_survivors(total, threshold, scale)


@dataclass(frozen=True, slots=True)
class Totals:
    """Noisy totals, one a class or one in all, and the standard deviation of each (its noise)."""

    counts: tuple[int, ...]
    deviation: float

    def as_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {"counts": list(self.counts), "deviation": self.deviation}


def noisy_class_totals(cells: Cells, classes: int, *, accountant: Accountant, source: RandomSource) -> Totals:
    """The number of records of each class, with 1/SHARE_OF_TOTALS of the budget.

    One record more changes one of them by 1: the vector has Δ = 1 in the L1 norm, so all classes together cost what
    one number costs.
    """
    share = accountant.budget / SHARE_OF_TOTALS
    grant = accountant.grant(share, on="class totals", mechanism=NOISE_ON)
    true = np.bincount(cells.codes[:, -1].astype(np.int64), weights=cells.counts, minlength=classes).astype(np.int64)
    noisy = noisy_counts(true, sensitivity=1, grant=grant, source=source)
    return Totals(tuple(noisy.tolist()), sqrt(2) * float(noise_scale(share)))


def buys_totals(groups: int, budget: Fraction, left: Fraction, *, share: int = SHARE_OF_TOTALS) -> bool:
    """Whether a total of its own, for 1/share of the budget, is more exact than the sum of its noisy counts.

    A sum over ``groups`` counts, each of scale 1/left, has the variance 2·groups/left²; a total that is bought has
    2·(share/budget)². Budgets and cuts are public or outputs, so the choice costs nothing.
    """
    return groups * budget**2 > (share * left) ** 2


@dataclass(frozen=True, kw_only=True)
class Finish:
    """How the counts are published: the threshold on noisy counts and the post-processing.

    With ``threshold: auto`` every noisy count from 1 on is listed, as in the paper, unless the drawn cuts make so
    many groups that more than `MOST_NOISE_ROWS` rows of noise alone would come out. Then a hundredth of ε buys a noisy
    number of records, and the threshold rises until rows of noise hold a tenth of that. The cuts are outputs of
    mechanisms, so whether to buy it is decided on public things, and the threshold is post-processing.

    With ``post: class_totals`` a twentieth of ε buys the number of records of each class, unless there are so few
    groups that the noisy counts of a class, the negative ones too, add up to a better number (`buys_totals`). In the
    same way ``scale`` and ``least_squares`` take the sum of all noisy counts where it is better than a noisy size.
    """

    threshold: int | str
    post: str

    def __post_init__(self) -> None:
        check_threshold(self.threshold)
        _ = POSTS[self.post]

    @property
    def needs(self) -> str:
        """Which noisy totals the post-processing needs."""
        return POSTS[self.post].needs

    def least_for_counts(
        self, total: int | None, classes: int, *, budget: Fraction, left: Fraction, sized: bool = False
    ) -> Fraction:
        """The least of ``left`` that the counts can get once totals are bought: a plan may not understate the noise.

        ``total`` is the most groups × classes that there can be (None: unknown); ``sized`` says that a noisy size is
        bought already.
        """
        buys = total is None or not self._sums(total, classes, budget=budget, left=left)
        if self.needs == "classes":
            return left - budget / SHARE_OF_TOTALS if buys else left
        sizes = (self.needs == "size" and buys) or self._crowded(total, left)
        return left - budget / SHARE_OF_SIZE if sizes and not sized else left

    def _sums(self, total: int, classes: int, *, budget: Fraction, left: Fraction) -> bool:
        """Whether sums of the noisy counts are the totals that are needed; else they are bought, or none are needed."""
        if self.needs == "size":
            return not buys_totals(total, budget, left, share=SHARE_OF_SIZE)
        return self.needs == "classes" and not buys_totals(total // classes, budget, left)

    def _crowded(self, total: int | None, left: Fraction) -> bool:
        """Whether so many rows of noise alone would be listed (None: unknown) that the threshold has to rise."""
        if self.threshold != "auto":
            return False
        return total is None or noise_rows(total, 1, noise_scale(left)) > MOST_NOISE_ROWS

    def draft(
        self,
        view: View,
        cuts: Sequence[Cut],
        counter: Counter,
        method: PrivateMethod,
        *,
        size: int | None = None,
        context: Context | None,
    ) -> Draft:
        """Count the groups and spend all that is left on their noise. ``size`` is a noisy size bought earlier.

        The guarantee and the form are those of ``method``.
        """
        accountant, source, progress = require_accountant(context)
        classes = len(view.classes)
        total = cross_product(cuts) * classes
        crowded = self._crowded(total, accountant.left)
        progress("counting groups", 0, 1)
        cells = cells_by_class(counter, cuts, view)
        totals: Totals | None = None
        summed = self._sums(total, classes, budget=accountant.budget, left=accountant.left)
        if self.needs == "classes" and not summed:
            totals = noisy_class_totals(cells, classes, accountant=accountant, source=source)
            size = sum(totals.counts) if size is None else size
        if size is None and (crowded or (self.needs == "size" and not summed)):
            size = noisy_size(int(cells.counts.sum()), accountant=accountant, source=source)
        if size is not None and totals is None and not summed:
            totals = Totals((size,), sqrt(2) * float(noise_scale(accountant.budget / SHARE_OF_SIZE)))
        progress("adding noise", 0, 1)
        left = accountant.left
        scale = noise_scale(left)
        if self.threshold != "auto":
            threshold = int(self.threshold)
        else:
            threshold = fitting_threshold(total, scale, size or 0) if crowded else 1
        grant = accountant.grant(left, on="counts of all groups", mechanism=NOISE_ON)
        if summed:
            listed, sums = publish_all_counts(cuts, classes, cells, threshold=threshold, grant=grant, source=source)
            if self.needs == "size":
                sums = (sum(sums),)
            totals = Totals(sums, sqrt(2 * (total // len(sums))) * float(scale))
        else:
            listed = publish_counts(cuts, classes, cells, threshold=threshold, grant=grant, source=source)
        progress("adding noise", 1, 1)
        processed, undo = post_process(
            listed, self.post, None if totals is None else totals.counts, threshold=threshold, classes=classes
        )
        facts: dict[str, Any] = {
            "groups": total,
            "threshold": threshold,
            "noise_scale": float(scale),
            "post": self.post,
            "noisy_counts": undo.as_json(),
        }
        if totals is not None:
            facts["noisy_totals"] = totals.as_json()
        if size is not None:
            facts["noisy_size"] = size
        return Draft(view=view, content=processed, form=method.form, guarantee=method.guarantee(view), facts=facts)
