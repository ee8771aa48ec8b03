"""Scores: how much a specialization helps to predict the class, as whole numbers of ticks.

A score sees only the class counts of a candidate's children. It is handed to a mechanism as an integer, because the
proof of the mechanism is about exact numbers: `info_gain` and `gini` are computed in double precision and rounded to
ticks, and their sensitivity is stated for the rounded value. If a score has sensitivity Δ, is computed with an error
of less than half a tick, and is rounded to the nearest tick, then two neighbours' ticks differ by at most
⌈Δ/tick⌉ + 2 (half a tick of rounding and half of error, on both sides).
"""

from math import ceil, log2
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from sfumato.registry import Registry

Parts = NDArray[np.int64]  # (..., children, classes): class counts of the children a candidate would get
Ticks = NDArray[np.int64]  # (...)


class Score(Protocol):
    """How good a specialization is, by the class counts of its children."""

    name: ClassVar[str]
    monotone: ClassVar[bool]  # one record more never lowers any candidate's score

    def ticks(self, parts: Parts) -> Ticks:
        """The score in ticks."""
        ...

    def sensitivity(self, classes: int) -> int:
        """By how many ticks one record more or less can change a score."""
        ...


SCORES: Registry[Score] = Registry("score")


class Max:
    """Σ over the children of their largest class count (Mohammed et al. 2011, eq. 4). Δ = 1.

    One record more raises one class count of one child by 1, so its largest by 0 or 1, and no score ever falls: the
    score is monotone. The factor 2 in exp(ε·u/2Δ) pays for a numerator and a denominator that move apart; here they
    move the same way, so exp(ε·u/Δ) keeps ε, and the same ε buys twice the sharpness the paper takes.

    >>> Max().ticks(np.array([[2, 2], [2, 2]])).item(), Max().ticks(np.array([[3, 2], [1, 2]])).item()
    (4, 5)
    """

    name: ClassVar[str] = "max"
    monotone: ClassVar[bool] = True

    def ticks(self, parts: Parts) -> Ticks:
        """Whole numbers already: a tick is one record."""
        ticks: Ticks = parts.max(axis=-1).sum(axis=-1)
        return ticks

    def sensitivity(self, classes: int) -> int:  # noqa: ARG002 - the same for any number of classes
        """One record changes one child's largest class count by at most 1."""
        return 1


class InfoGain:
    """H(v) − H(v | children) in bits (Mohammed et al. 2011, eq. 3). Δ = log2(classes).

    The gain lies between 0 and log2(classes), so no record can move it further than that; an empty candidate has gain
    0. A tick is 2⁻²⁰ bits. The value is a difference of two sums of at most a few thousand terms of at most
    log2(classes), each with a relative error of a few 2⁻⁵³: far below half a tick.

    >>> InfoGain().ticks(np.array([[2, 2], [2, 2]])).item()
    0
    """

    name: ClassVar[str] = "info_gain"
    monotone: ClassVar[bool] = False
    tick: ClassVar[float] = 2.0**-20

    def ticks(self, parts: Parts) -> Ticks:
        """Bits, in ticks."""
        whole = parts.sum(axis=-2)
        size = parts.sum(axis=-1)
        share = size / np.maximum(size.sum(axis=-1, keepdims=True), 1)
        gain = _entropy(whole) - (share * _entropy(parts)).sum(axis=-1)
        ticks: Ticks = np.rint(np.maximum(gain, 0.0) / self.tick).astype(np.int64)
        return ticks

    def sensitivity(self, classes: int) -> int:
        """The whole range of the gain."""
        return ceil(log2(classes) / self.tick) + 2


class Gini:
    """The drop of n·Gini: Σ over children of Σ n_k²/n minus the same for v. Δ = 2.

    Write g = n − Σ n_k²/n for a group. A record of class j more changes g by 1 + S/(n(n+1)) − (2n_j+1)/(n+1) with
    S = Σ n_k². Since n_j² ≤ S ≤ n² this is at least (n−n_j)²/(n(n+1)) ≥ 0 and less than 2 (from an empty group: 0).
    The score is g(v) − Σ g(children); the record is in v and in exactly one child, so it moves by less than 2 either
    way. Not monotone.

    A tick is 2⁻⁸ records. All terms are positive and sum to at most n, so double precision is off by at most
    2·(classes + children + 4)·n·2⁻⁵³: below half a tick while (classes + children + 4)·n < 2⁴³, that is for
    eight thousand million records and a thousand classes and children.

    >>> Gini().ticks(np.array([[4, 0], [0, 4]])).item() / 256
    4.0
    """

    name: ClassVar[str] = "gini"
    monotone: ClassVar[bool] = False
    tick: ClassVar[float] = 2.0**-8

    def ticks(self, parts: Parts) -> Ticks:
        """Records, in ticks."""
        drop = _purity(parts).sum(axis=-1) - _purity(parts.sum(axis=-2))
        ticks: Ticks = np.rint(drop / self.tick).astype(np.int64)
        return ticks

    def sensitivity(self, classes: int) -> int:  # noqa: ARG002 - the same for any number of classes
        """Two records, in ticks, and the rounding."""
        return round(2 / self.tick) + 2


def _entropy(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Entropy in bits over the last axis; 0 for an empty group."""
    share = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    bits: NDArray[np.float64] = -(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=-1)
    return bits


def _purity(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Σ n_k²/n over the last axis; 0 for an empty group."""
    size = counts.sum(axis=-1)
    squares: NDArray[np.float64] = np.square(counts, dtype=np.float64).sum(axis=-1)
    purity: NDArray[np.float64] = squares / np.maximum(size, 1)
    return purity


for _score in (Max(), InfoGain(), Gini()):
    SCORES.add(_score)
