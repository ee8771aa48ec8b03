"""Measures as the owner's report shows them: each number with a sentence that says what it means."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sfumato.evaluate.measures.measure import Measure
from sfumato.wording import SHARE_UNITS, number_words, share_words

_COUNTS: Final = ("records", "groups", "queries", "candidates", "unique", "mean true answer")  # details beside shares
_SMALL: Final = 0.01  # numbers below it are shown by their first digits


@dataclass(frozen=True, kw_only=True)
class MeasureResult:
    """A measure and what it says of a release; ``reason`` is why it says nothing, if so."""

    measure: Measure
    value: float | None = None
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title of the measure."""
        return self.measure.title

    @property
    def shown(self) -> str:
        """The number as text."""
        return "–" if self.value is None else number_words(self.value, self.measure.unit)

    @property
    def range(self) -> str:
        """The least and the largest it can be, and which way is better."""
        low, high = (None if bound is None else number_words(bound, self.measure.unit) for bound in self.measure.bounds)
        direction = f"{self.measure.better} is better"
        if low is not None and high is not None:
            return f"from {low} to {high}; {direction}"
        return direction if low is None else f"at least {low}; {direction}"

    @property
    def means(self) -> str:
        """A sentence on this number."""
        return f"Not measured: {self.reason}." if self.value is None else self.measure.means(self.value)

    @property
    def more(self) -> tuple[tuple[str, str], ...]:
        """The details as text."""
        return tuple((str(key), _detail(str(key), value, self.measure.unit)) for key, value in self.details.items())


def _detail(key: str, value: Any, unit: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ", ".join(f"{k}: {v}" for k, v in value.items()) if isinstance(value, Mapping) else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    part = unit in SHARE_UNITS and (value <= 1 or "error" in key) and not key.startswith(_COUNTS) and key != "people"
    if float(value).is_integer() and not part:
        return f"{value:,.0f}"
    if part:
        return share_words(value)
    return f"{value:.2g}" if 0 < abs(value) < _SMALL else f"{value:,.3f}".rstrip("0").rstrip(".")
