"""How mixed the classes of a table's cells are, in whole ticks: the score that stages are chosen by.

For a cell with class counts c₁ … c_K and n = Σ c_k, let

    I(c) = (n/2) Σ_k g(c_k/n),   g(p) = q − max(q − a, 0)² / (1 − 2a),   q = min(p, 1 − p),   a = 1/5,

and I = 0 for an empty cell. A candidate's score is −Σ over its cells of ⌊T·I⌋ − L · (occupied cells), in ticks of 1/T
of a record, with 0 ≤ L ≤ T.

**Sensitivity.** A record more, of class j, is in exactly one cell of each candidate. In that cell I changes by an
amount in [0, 1]:

- *Not below 0.* g is concave, so I, the perspective of a concave function, is concave and homogeneous of degree 1,
  hence superadditive: I(c + e_j) ≥ I(c) + I(e_j), and I(e_j) = ½(g(1) + (K − 1)·g(0)) = 0.
- *Not above 1.* For n > 0 concavity bounds the change by the slope ∂I/∂c_j = ½(g′(p_j) + Σ_k T(p_k)) with
  T(p) = g(p) − p·g′(p), and g′ ≤ 1. On [a, 1 − a] g″ = −2/(1 − 2a), so T(p) = (p² − a²)/(1 − 2a) there, 0 below a and
  1 above 1 − a. If some p_k > 1 − a all others are below a, and ΣT = 1; if only one is above a, ΣT = T(p_k) ≤ 1. Else
  let m ≥ 2 of the shares be above a, none above 1 − a: Σ p_k²
  over them is convex and largest where one has 1 − (m − 1)a and the others a, so
  ΣT ≤ ((1 − (m − 1)a)² − a²)/(1 − 2a) ≤ ((1 − a)² − a²)/(1 − 2a) = 1. So the slope is at most ½(1 + 1) = 1.
  For n = 0 the change is I(e_j) = 0.

T·I then rises by an amount in [0, T], and so does its floor, since T is whole. A cell that becomes occupied changes the
penalty by L ≤ T and its I by 0. So **every score of every candidate moves by a whole number in [−T, 0]**: Δ = T ticks,
and the scores are monotone: all move the same way. Nothing is rounded in floating point: the floor is taken of an exact
fraction, for with whole counts 30·n·I = Σ_k (15·n·q_k − max(5·q_k − n, 0)²), q_k = min(c_k, n − c_k).
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

TICKS: Final = 256
"""Ticks of a record; the sensitivity of a score."""

_WORD: Final = 1 << 25  # 128 · 15 · n² fits 63 bits up to here


def impurity(counts: Integers) -> Integers:
    """⌊T·I⌋ of each cell. ``counts`` has a row a class and a column a cell, which is the quick way to add up classes.

    >>> impurity(np.array([[4, 2, 0], [0, 2, 0]])).tolist()  # n/2·(g(½) + g(½)), g(½) = 0.35
    [0, 358, 0]
    """
    sizes = counts.sum(axis=0)
    if int(sizes.max(initial=0)) <= _WORD:
        return _floor(counts, sizes)
    found = np.zeros(len(sizes), dtype=np.int64)
    large = sizes > _WORD
    found[~large] = _floor(counts[:, ~large], sizes[~large])
    found[large] = _floor(counts[:, large].astype(object), sizes[large].astype(object)).astype(np.int64)
    return found


def _floor(counts: NDArray[Any], sizes: NDArray[Any]) -> NDArray[Any]:
    whole = np.zeros_like(sizes)
    for of_class in counts:
        q = np.minimum(of_class, sizes - of_class)
        bent = np.maximum(5 * q - sizes, 0)
        whole += 15 * sizes * q - bent * bent
    return np.asarray(whole * (TICKS // 2) // (15 * np.maximum(sizes, 1)))


def scores(counts: Integers, starts: Integers, penalty: int) -> Integers:
    """The scores of candidates whose cells stand one after the other, each from one of ``starts`` on.

    ``counts`` has a row a class; ``penalty`` is L, in ticks.
    """
    assert 0 <= penalty <= TICKS, "the sensitivity is that of a penalty of at most a record"
    costs = impurity(counts) + penalty * counts.any(axis=0)
    return -np.add.reduceat(costs, starts)
