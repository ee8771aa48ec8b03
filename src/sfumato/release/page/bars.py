"""A marginal as bars with whiskers, and the same numbers as text."""

from typing import Any, Final

from sfumato.release.answer.marginal import Marginal

WIDTH: Final = 320


def bars(found: Marginal) -> list[dict[str, Any]]:
    """A bar for every part, from 0 to `WIDTH`."""
    most = max([part.estimate.high for part in found.parts] + [part.estimate.count or 0 for part in found.parts] + [1])
    drawn = []
    for part in found.parts:
        e = part.estimate
        count = e.count
        exact = e.low == e.high and e.confidence == 1  # what noise has put below 0 goes from 0 to 0
        drawn.append(
            {
                "label": part.label,
                "asked": part.asked,
                "count": None if count is None else f"{count:,.0f}",
                "interval": "exact" if exact else f"{e.low:,.0f} to {e.high:,.0f}",
                "exact": exact,
                "assumes": bool(e.assumes),
                "width": round(WIDTH * (count or 0) / most, 1),
                "from": round(WIDTH * max(e.low, 0) / most, 1),
                "to": round(WIDTH * e.high / most, 1),
            }
        )
    return drawn
