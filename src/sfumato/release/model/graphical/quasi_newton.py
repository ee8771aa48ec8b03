"""Minimising a smooth convex function of many variables: L-BFGS (Nocedal & Wright 2006, algorithms 7.4 and 7.5).

A library's would do. This one takes its time from the function alone: on small problems a threaded library of linear
algebra takes longer to wake its threads than to work.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Function = Callable[[Floats], tuple[float, Floats]]  # a value and its gradient

_MEMORY: Final = 20  # steps whose curvature is remembered
_DECREASE: Final = 1e-4  # of what the slope promises, at least
_HALVINGS: Final = 30  # of a step that is too long
_NO_GAIN: Final = 1e-10  # relative to the value: nothing more is gained
_FLAT: Final = 1e-9  # slope


def minimise(function: Function, start: Floats, *, steps: int) -> Floats:
    """Where a convex function is least, by at most so many steps.

    >>> minimise(lambda x: (float(((x - 3) ** 2).sum()), 2 * (x - 3)), np.zeros(2), steps=10).round(6).tolist()
    [3.0, 3.0]
    """
    here = start
    value, slope = function(here)
    moves: list[tuple[Floats, Floats, float]] = []  # how far, how the slope changed, and one by their product
    for _ in range(steps):
        if float(np.abs(slope).max(initial=0.0)) <= _FLAT:
            break
        direction = _direction(slope, moves)
        found = _along(function, here, value, slope, direction)
        if found is None:
            break
        new, new_value, new_slope = found
        moved, changed = new - here, new_slope - slope
        curvature = float((moved * changed).sum())
        if curvature > 0:
            moves = [*moves[-(_MEMORY - 1) :], (moved, changed, 1 / curvature)]
        gained = value - new_value
        here, value, slope = new, new_value, new_slope
        if gained <= _NO_GAIN * max(abs(value), 1.0):
            break
    return here


def _direction(slope: Floats, moves: list[tuple[Floats, Floats, float]]) -> Floats:
    """Downhill, by the curvature that the last steps have seen."""
    found = -slope
    parts = []
    for moved, changed, inverse in reversed(moves):
        part = inverse * float((moved * found).sum())
        parts.append(part)
        found = found - part * changed
    if moves:
        _, changed, inverse = moves[-1]
        found = found / (inverse * float((changed * changed).sum()))
    for (moved, changed, inverse), part in zip(moves, reversed(parts), strict=True):
        found = found + (part - inverse * float((changed * found).sum())) * moved
    return found


def _along(
    function: Function, here: Floats, value: float, slope: Floats, direction: Floats
) -> tuple[Floats, float, Floats] | None:
    """A point in this direction that is lower by enough; None where there is none."""
    promised = float((slope * direction).sum())
    length = 1.0
    for _ in range(_HALVINGS):
        new = here + length * direction
        found, found_slope = function(new)
        if found <= value + _DECREASE * length * promised:
            return new, found, found_slope
        bend = found - value - length * promised
        length *= min(max(-promised * length / (2 * bend), 0.1), 0.5) if bend > 0 else 0.5
    return None
