"""The scale of an axis: linear, or logarithmic where its values lie more than two decades apart.

A logarithm has no 0, and 0 is a result here: nothing published loses no privacy. So where an axis has a 0, or less, its
scale is log(1 + x/c), c being the smallest value above 0: it is linear up to c and logarithmic above, 0 is at 0, and
the title says so. Nothing is left out or moved to be drawn.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import Any, Final

import altair as alt

_DECADES: Final = 2
_TICKS: Final = 6
_LABEL: Final = (
    "datum.value === 0 ? '0' : abs(datum.value) < 0.001 ? format(datum.value, '.0e') : format(datum.value, '~g')"
)


@dataclass(frozen=True)
class AxisScale:
    """``least`` and ``most`` are the smallest and the largest value above 0 of a logarithmic axis; 0 of a linear one.

    >>> AxisScale.of([0.0, 1e-5, 0.1]).words, AxisScale.of([1e-5, 0.1]).words, AxisScale.of([0.0, 0.1]).words
    (' · log scale, linear below 1e-05', ' · log scale', '')
    """

    least: float = 0.0
    most: float = 0.0
    zero: bool = False
    room: int = 0  # pixels beyond the outermost values

    @classmethod
    def of(cls, values: Iterable[float], room: int = 0) -> "AxisScale":
        """The scale for some values."""
        known = [value for value in values if isfinite(value)]
        above = [value for value in known if value > 0]
        if not above or max(above) <= min(above) * 10**_DECADES or min(known) < 0:
            return cls(room=room)
        return cls(min(above), max(above), zero=min(known) == 0, room=room)

    @property
    def logarithmic(self) -> bool:
        """Whether it is no linear one."""
        return self.most > 0

    @property
    def words(self) -> str:
        """What the title of the axis says of it."""
        if not self.logarithmic:
            return ""
        return f" · log scale, linear below {self.least:.2g}" if self.zero else " · log scale"

    def scale(self) -> alt.Scale:
        """As Vega takes it."""
        if not self.logarithmic:
            return alt.Scale(zero=True, nice=not self.room, **self._room())
        if self.zero:
            return alt.Scale(type="symlog", constant=self.least, nice=False, **self._room())
        return alt.Scale(type="log", nice=not self.room, **self._room())

    def _room(self) -> dict[str, Any]:
        return {"padding": self.room} if self.room else {}

    def ticks(self) -> dict[str, Any]:
        """Where the axis has ticks: powers of ten, and 0 if it is shown."""
        if not self.logarithmic:
            return {"tickCount": _TICKS}
        first, last = ceil(log10(self.least)), floor(log10(self.most))
        step = max(1, ceil((last - first + 1) / _TICKS))
        found = [10.0**power for power in range(last, first - 1, -step)][::-1]
        return {"values": [0.0, *found] if self.zero else found, "labelExpr": _LABEL}
