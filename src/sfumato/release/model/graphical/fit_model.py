"""The graphical model that noisy marginals make: smooth where they say nothing, and true to them where they do.

Let y_t be the noisy counts of table t, with noise of variance s_t, n the number of records, and μ_t(p) the marginal of
a distribution p. The estimate is the one maximum over all p of

    λ · n · H(p) − Σ_t ‖n·μ_t(p) − y_t‖² / (2·s_t),

H being the entropy. There are about exp(n·H(p)) tables of n records with the distribution p, so that λ = 1 would give
the likeliest table if every record was drawn uniformly. Records are far from uniform, so entropy weighs much less: λ is
a tenth of a record over the typical deviation of the noise (`_SMOOTHING`; of the constants tried on Adult this one did
well at every ε). Nothing is negative, and tables that disagree are reconciled as each one's noise allows.

The maximum has the form p ∝ exp(Σ_t θ_t), a graphical model whose cliques are those of the tables, with
θ_t = (y_t − n·μ_t) / (λ·s_t). It is found through its dual, which is smooth and convex:

    min over θ of   n · log Z(θ) − Σ_t θ_t·y_t + (λ/2) · Σ_t s_t · ‖θ_t‖².

The gradient is n·μ_t − y_t + λ·s_t·θ_t, so a step needs no more than the marginals of the model (`propagate`). This is
the problem of private-pgm (McKenna, Sheldon & Miklau 2019), with a stated weight on entropy in place of mirror descent
that is stopped early, and solved by a quasi-Newton method on NumPy arrays: nothing has to be compiled.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.release.model.graphical.graphical_model import GraphicalModel, potentials_of, propagate
from sfumato.release.model.graphical.junction_tree import Clique, JunctionTree
from sfumato.release.model.graphical.quasi_newton import minimise

Floats = NDArray[np.float64]

_SMOOTHING: Final = 0.1  # λ · the typical deviation of the noise


@dataclass(frozen=True, eq=False)
class Measurement:
    """Noisy counts of some attributes, an axis each, and the variance of the noise on one count."""

    attributes: Clique
    counts: Floats
    variance: float


@dataclass(frozen=True, eq=False)
class Fit:
    """A model, and the parameters of each measurement, which a later fit may start from."""

    model: GraphicalModel
    parameters: tuple[Floats, ...]


def fit(
    sizes: Sequence[int],
    measurements: Sequence[Measurement],
    size: float,
    *,
    steps: int,
    start: Fit | None = None,
    entropy: float | None = None,
) -> Fit:
    """The model of these tables for so many records, by at most so many steps; ``start`` fits the first of them.

    ``entropy`` is λ; with 1 the model is that of the likeliest table, if every record was drawn uniformly.
    """
    problem = _Problem(sizes, measurements, size, entropy)
    first = np.zeros(len(problem.scale))
    if start is not None:
        known = np.concatenate([part.ravel() for part in start.parameters])
        first[: len(known)] = known
    parameters = minimise(problem.loss, first / problem.scale, steps=steps) * problem.scale
    return Fit(problem.model(parameters)[0], tuple(problem.parts(parameters)))


class _Problem:
    """The dual, divided by n, in variables that are scaled so that each has about the same curvature."""

    def __init__(
        self, sizes: Sequence[int], measurements: Sequence[Measurement], size: float, entropy: float | None = None
    ) -> None:
        self._measurements = measurements
        self._tree = JunctionTree.of(sizes, [m.attributes for m in measurements])
        self._homes = [self._tree.home_of(m.attributes) for m in measurements]
        self._ends = np.cumsum([m.counts.size for m in measurements])[:-1]
        # The sum of each table is known to be n, and what is known needs no parameter.
        wanted = [m.counts + (size - m.counts.sum()) / m.counts.size for m in measurements]
        self._wanted = np.concatenate([y.ravel() for y in wanted]) / size
        if entropy is None:
            entropy = _SMOOTHING / float(np.exp(np.mean([np.log(m.variance) / 2 for m in measurements])))
        self._ridge = np.concatenate([np.full(m.counts.size, entropy * m.variance / size) for m in measurements])
        # The curvature of a cell's parameter is about its share, and no less than what noise would hide.
        hidden = np.concatenate([np.full(m.counts.size, np.sqrt(m.variance) / 10 / size) for m in measurements])
        self.scale = 1 / np.sqrt(np.maximum(self._wanted, hidden) + self._ridge)

    def parts(self, parameters: Floats) -> list[Floats]:
        """The parameters of each measurement."""
        split = np.split(parameters, self._ends)
        return [part.reshape(m.counts.shape) for part, m in zip(split, self._measurements, strict=True)]

    def model(self, parameters: Floats) -> tuple[GraphicalModel, float]:
        """The model with these parameters, and log Z."""
        measured = [m.attributes for m in self._measurements]
        parts = zip(self._homes, measured, self.parts(parameters), strict=True)
        return propagate(self._tree, potentials_of(self._tree, parts))

    def loss(self, scaled: Floats) -> tuple[float, Floats]:
        """The value and its gradient."""
        parameters = scaled * self.scale
        model, total = self.model(parameters)
        found = [
            model.within(home, m.attributes).ravel() for m, home in zip(self._measurements, self._homes, strict=True)
        ]
        slope = np.concatenate(found) - self._wanted + self._ridge * parameters
        value = total - float(self._wanted @ parameters) + 0.5 * float(self._ridge @ (parameters * parameters))
        return value, slope * self.scale
