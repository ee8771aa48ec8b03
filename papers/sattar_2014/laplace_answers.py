"""Counts with Laplace noise of a scale of their own, as an experiment compares them with releases.

Privacy. Neighbours differ by one record. One count changes by at most 1, so noise of scale 1/ε makes it ε-private
(differentially). Of q counts that may overlap, one record may be in every one: together they change by up to q in L1,
and the same noise makes all of them qε-private, not ε. Papers that give "ε = 0.1" for a thousand answers mean each by
itself, which is 100 for all; `apiece` says so in its account. `together` has one ε for all of them, and q times
the noise. Bars of a histogram are disjoint, so a histogram counts as one answer.

These are experiments on public tables: nothing is published, and the account is thrown away with the answers.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from sfumato.methods.method import NOISE_ON
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms import noisy_counts
from sfumato.privacy.dp.sampling import RandomSource

Integers = NDArray[np.int64]


def apiece(counts: Integers, epsilon: Fraction, *, answers: int, source: RandomSource) -> Integers:
    """Noise of scale 1/ε on every count; for all ``answers`` that costs answers·ε, which is what is granted."""
    return _drawn(counts, answers * epsilon, sensitivity=answers, source=source)


def together(counts: Integers, epsilon: Fraction, *, answers: int, source: RandomSource) -> Integers:
    """Noise of scale answers/ε on every count: ε for all of them."""
    return _drawn(counts, epsilon, sensitivity=answers, source=source)


def _drawn(counts: Integers, epsilon: Fraction, *, sensitivity: int, source: RandomSource) -> Integers:
    accountant = Accountant(epsilon)
    grant = accountant.grant(accountant.left, on="answers", mechanism=NOISE_ON)
    return noisy_counts(counts.ravel(), sensitivity=sensitivity, grant=grant, source=source).reshape(counts.shape)
