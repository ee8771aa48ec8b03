"""Post-processing of noisy counts: it sees published numbers only, so it spends no privacy budget.

Noise makes some empty groups look occupied and some occupied ones look empty. A release lists positive counts only, so
dropping the others leaves too many records in all, and too many of a rare class: its groups are empty more often. No
rule that sees one non-negative count at a time can be unbiased (it would have to answer 0 for every noisy count of an
empty group), so unbiased totals need a number from outside the listed counts: noisy totals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InternalError
from sfumato.registry import Registry
from sfumato.release.draft import Groups

Counts = NDArray[np.int64]
T = TypeVar("T", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo:
    """How published counts relate to the noisy ones: noisy = count / factor + shift, listed from ``cutoff`` on.

    ``unlisted`` is the largest noisy count that a group which is not listed may have, and ``slack`` is how far rounding
    moved a noisy count at most. One entry of each but ``shift`` a class. Of `class_totals` the one listed count of a
    class that is below its cutoff was reduced from it, so that the sum is right. Intervals of queries are worked out
    from this.
    """

    cutoff: tuple[int, ...]
    unlisted: tuple[int, ...]
    factor: tuple[float, ...] = (1.0,)
    shift: float = 0.0
    slack: tuple[float, ...] = (0.0,)

    def as_json(self) -> dict[str, Any]:
        """For the manifest."""
        each = {"cutoff": self.cutoff, "unlisted": self.unlisted, "factor": self.factor, "slack": self.slack}
        return {**{name: list(values) for name, values in each.items()}, "shift": self.shift}

    def for_classes(self, number: int) -> "Undo":
        """With an entry for each of so many classes, where one speaks for all."""

        def all_of(each: tuple[T, ...]) -> tuple[T, ...]:
            return each * number if len(each) == 1 else each

        return Undo(
            cutoff=all_of(self.cutoff),
            unlisted=all_of(self.unlisted),
            factor=all_of(self.factor),
            shift=self.shift,
            slack=all_of(self.slack),
        )


Processed = tuple[Counts, Undo]


class Post:
    """One way to post-process: its name, which totals it needs (``none``, ``size`` or ``classes``), its function.

    The function takes the listed noisy counts, their classes, the noisy totals (one a class, or one in all) and the
    threshold that the counts were listed from.
    """

    def __init__(
        self, name: str, summary: str, needs: str, apply: Callable[[Counts, Counts, Sequence[int], int], Processed]
    ) -> None:
        self.name = name
        self.summary = summary
        self.needs = needs
        self._apply = apply

    def apply(self, counts: Counts, classes: Counts, totals: Sequence[int], threshold: int, number: int) -> Processed:
        """The new counts, and how they relate to the noisy ones; ``number`` is how many classes there are."""
        found, undo = self._apply(counts, classes, totals, threshold)
        return found, undo.for_classes(number)


def _none(counts: Counts, classes: Counts, totals: Sequence[int], threshold: int) -> Processed:  # noqa: ARG001 - as all
    return counts, Undo(cutoff=(threshold,), unlisted=(threshold - 1,))


def _class_totals(counts: Counts, classes: Counts, totals: Sequence[int], threshold: int) -> Processed:
    """Of each class the largest noisy counts, until they add up to the class's noisy total.

    The counts that stay are the noisy ones, which are unbiased where a group is large against the noise; what is left
    out are the smallest, most of them noise. The last one is reduced so that the sum is the total, to the record. Where
    only some of several equal counts are needed, those are taken evenly from among them in the order of the published
    values: the first ones would all be of the first values of the first attribute.

    Where all listed counts of a class fall short of its total, because a threshold keeps most groups out, they are
    scaled up: all such classes by one factor, to the sum of their totals. A factor for each would multiply the noise in
    a rare class and mislead who learns from it.

    Noise may take the totals of small classes below 0. Cut off at 0 and left at that, all totals together would be too
    high, the more the more classes there are: see `without_negative`.

    >>> _class_totals(np.array([9, 1, 4, 2]), np.array([0, 0, 0, 1]), [12, 5], 1)
    (array([9, 0, 3, 5]), Undo(cutoff=(4, 1), unlisted=(3, 0), factor=(1.0, 2.5), shift=0.0, slack=(0.0, 0.4)))
    """
    found = np.zeros_like(counts)
    cutoff, unlisted, factor, slack = [], [], [1.0] * len(totals), [0.0] * len(totals)
    short: list[int] = []  # classes whose listed counts fall short of their totals
    totals = without_negative(totals)
    for number, total in enumerate(totals):
        mine = np.flatnonzero(classes == number)
        noisy = counts[mine]
        if total <= 0 or not len(mine):
            cutoff.append(int(noisy.max(initial=threshold - 1)) + 1)
            unlisted.append(cutoff[-1] - 1)
        elif int(noisy.sum()) < total:
            short.append(number)
            cutoff.append(threshold)
            unlisted.append(threshold - 1)
        else:
            falling = np.sort(noisy)[::-1]
            least = int(falling[np.searchsorted(np.cumsum(falling), total)])
            larger = mine[noisy > least]
            found[larger] = counts[larger]
            alike = mine[noisy == least]
            rest = total - int(found[larger].sum())  # at least 1
            needed = -(-rest // least)
            taken = alike[np.arange(needed) * len(alike) // needed]
            found[taken] = least
            found[taken[-1]] -= needed * least - rest
            cutoff.append(least)
            unlisted.append(least if needed < len(alike) else least - 1)
    if short:
        mine = np.flatnonzero(np.isin(classes, short))
        total = sum(totals[number] for number in short)
        same = total / int(counts[mine].sum())
        found[mine] = round_to_total(counts[mine].astype(np.float64) * same, total)
        for number in short:
            factor[number], slack[number] = same, 1 / same
    return found, Undo(cutoff=tuple(cutoff), unlisted=tuple(unlisted), factor=tuple(factor), slack=tuple(slack))


def without_negative(totals: Sequence[int]) -> list[int]:
    """The nearest totals without negative ones and with the same sum; the totals themselves where none is negative.

    Their sum is unbiased. As in `_least_squares` the same amount is taken off every total, so a class that is large
    against the noise hardly changes.

    >>> without_negative([30, 3, -2, -1]), without_negative([5, 4]), without_negative([3, -4])
    ([29, 1, 0, 0], [5, 4], [0, 0])
    """
    if min(totals) >= 0:
        return list(totals)
    given = np.array(totals, dtype=np.int64)
    total = max(int(given.sum()), 0)
    return [int(one) for one in round_to_total(np.maximum(given - _shift(given, total), 0.0), total)]


def _scale(counts: Counts, classes: Counts, totals: Sequence[int], threshold: int) -> Processed:  # noqa: ARG001 - as all
    """Multiply every count by the same factor so that they sum to the noisy total, then round to whole numbers.

    >>> _scale(np.array([6, 3, 3]), np.array([0, 1, 1]), [8], 1)[0].tolist()
    [4, 2, 2]
    """
    total = max(totals[0], 0)
    factor = total / max(int(counts.sum()), 1)
    found = round_to_total(counts.astype(np.float64) * factor, total)
    return found, _undo(counts, found, threshold, factor=factor or 1.0)


def _least_squares(counts: Counts, classes: Counts, totals: Sequence[int], threshold: int) -> Processed:  # noqa: ARG001
    """The non-negative counts nearest to the noisy ones (least squares) that sum to the noisy total.

    The nearest point of {x ≥ 0, Σx = size} takes the same amount λ off every count and cuts at 0. Counts that are not
    listed were 0 after cutting and stay 0 for any λ ≥ 0; where the listed counts fall short of the total nothing is
    added to groups that are not listed.

    >>> _least_squares(np.array([10, 3, 1, 1]), np.array([0, 0, 1, 1]), [11], 1)[0].tolist()
    [9, 2, 0, 0]
    """
    total = max(totals[0], 0)
    shift = _shift(counts, total)
    found = round_to_total(np.maximum(counts - shift, 0.0), total)
    return found, _undo(counts, found, threshold, shift=shift)


def _shift(counts: Counts, total: int) -> float:
    """The amount that is to be taken off every count so that those above 0 sum to the total; all of it for 0."""
    if total <= 0:
        return float(counts.max(initial=0))
    falling = np.sort(counts)[::-1].astype(np.float64)
    excess = (np.cumsum(falling) - total) / np.arange(1, len(falling) + 1)
    kept = np.nonzero(falling > excess)[0]
    return float(excess[kept[-1]]) if len(kept) else 0.0


def _undo(counts: Counts, found: Counts, threshold: int, *, factor: float = 1.0, shift: float = 0.0) -> Undo:
    """What rounding left: the smallest noisy count that is listed, and the largest that is not."""
    listed = found > 0
    cutoff = int(counts[listed].min()) if listed.any() else int(counts.max(initial=threshold - 1)) + 1
    unlisted = int(counts[~listed].max(initial=threshold - 1))
    return Undo(cutoff=(cutoff,), unlisted=(unlisted,), factor=(factor,), shift=shift, slack=(1 / factor,))


def round_to_total(values: NDArray[np.float64], total: int) -> Counts:
    """Whole numbers with the given sum, each within 1 of its value: largest remainders are rounded up.

    Where only some of several equal remainders are needed, those are taken evenly from among them: the first ones would
    all be of the first values of the first attribute.
    """
    whole = np.floor(values).astype(np.int64)
    short = min(max(total - int(whole.sum()), 0), len(values))
    if short:
        rest = np.round(values - whole, 9)  # equal but for the last bits
        least = np.sort(rest)[::-1][short - 1]
        whole[rest > least] += 1
        alike = np.flatnonzero(rest == least)
        needed = short - int((rest > least).sum())
        whole[alike[np.arange(needed) * len(alike) // needed]] += 1
    return whole


POSTS: Registry[Post] = Registry("post-processing")
POSTS.add(Post("class_totals", "of each class the largest counts, up to its noisy total", "classes", _class_totals))
POSTS.add(Post("none", "noisy counts cut off at 0, as in the paper", "none", _none))
POSTS.add(Post("scale", "counts scaled to a noisy total", "size", _scale))
POSTS.add(Post("least_squares", "the nearest non-negative counts that sum to a noisy total", "size", _least_squares))

DEFAULT_POST = "class_totals"
"""Unbiased in the number of records and of each class; docs/explanation/benchmarks.md compares it with the others."""


def post_process(
    groups: Groups, name: str, totals: Sequence[int] | None, *, threshold: int, classes: int
) -> tuple[Groups, Undo]:
    """Apply a post-processing by name; groups whose count becomes 0 are no longer listed."""
    post = POSTS[name]
    if totals is None:
        if post.needs != "none":
            raise InternalError(f"post-processing '{name}' has no noisy total")
        totals = ()
    counts, undo = post.apply(groups.counts, groups.classes, totals, threshold, classes)
    keep = counts > 0
    return Groups(groups.cuts, groups.regions[keep], groups.classes[keep], counts[keep]), undo
