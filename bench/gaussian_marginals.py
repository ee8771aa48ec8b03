"""`marginals` with the noise that (ε, δ) allows, to see what AIM's δ buys it: an experiment, never a release.

A zero-concentrated budget ρ replaces ε: the largest with which (ε, δ) holds (Canonne, Kamath & Steinke 2020, Prop. 7).
A share of ε is taken as the same share of ρ. Tables get normal noise, choices the exponential mechanism of ε = √(8ρ)
(Cesar & Rogers 2021), and there are twice as many rounds. Random numbers are NumPy's, in floating point: nothing here
is private.
"""

from fractions import Fraction
from functools import lru_cache
from math import log, pi, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq

from sfumato.methods import Marginals
from sfumato.methods.marginals.algorithm import MarginalRun
from sfumato.methods.marginals.plan import SHARE_OF_CHOICE
from sfumato.release.measured_marginals import MarginalTable

DELTA = 1e-9


@lru_cache
def concentrated(epsilon: float, delta: float = DELTA) -> float:
    """The largest ρ of zero-concentrated privacy that gives (ε, δ).

    It is above what the short formula ε = ρ + 2√(ρ·ln 1/δ) gives:

    >>> 0.01178 < concentrated(1.0) < 0.016
    True
    """
    orders = np.geomspace(1e-3, 1e4, 20_000) + 1

    def excess(rho: float) -> float:
        found = (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
        return float(found.min()) - log(delta)

    return float(brentq(excess, 1e-9, 10 * epsilon))


class GaussianRun(MarginalRun):
    """A run with normal noise."""

    rng = np.random.default_rng()

    def _rho(self, epsilon: Fraction) -> float:
        self.accountant.grant(epsilon, on="an experiment", mechanism="normal noise")
        budget = self.accountant.budget
        return concentrated(float(budget)) * float(epsilon / budget)

    def _rounds(self, step: Fraction) -> None:
        super()._rounds(step / 2)  # twice as many: normal noise grows with the root of their number

    def measure_table(self, attributes: tuple[int, ...], epsilon: Fraction) -> None:
        """A table with normal noise; its scale is that of Laplace noise of the same variance."""
        deviation = 1 / sqrt(2 * self._rho(epsilon))
        true = self.joint.marginal(attributes)
        noisy = np.rint(true + self.rng.normal(0, deviation, true.shape)).astype(np.int64)
        self.tables.append(MarginalTable(attributes, noisy, deviation / sqrt(2)))

    def choose(self, expected: Any, epsilon: Fraction, scale: float) -> tuple[int, ...]:
        """The exponential mechanism, by Gumbel noise."""
        del scale
        rate = sqrt(8 * self._rho(epsilon)) / (2 * max(self.weights[one] for one in expected))
        price = float(epsilon / SHARE_OF_CHOICE - epsilon) / float(self.accountant.budget)
        noise = sqrt(2 / pi) / sqrt(2 * concentrated(float(self.accountant.budget)) * price)
        found: dict[tuple[int, ...], float] = {}
        for one, counts in expected.items():
            far = float(np.abs(self.joint.marginal(one) - counts).sum())
            found[one] = rate * self.weights[one] * (far - counts.size * noise) + self.rng.gumbel()
        return max(found, key=lambda one: found[one])


class GaussianMarginals(Marginals):
    """The method with such runs."""

    def run(self, *given: Any) -> MarginalRun:
        """A run with normal noise."""
        return GaussianRun(*given)
