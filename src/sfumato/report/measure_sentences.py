"""Measures in the owner's report: each number with a sentence that explains it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sfumato.wording import sentence

_SHARES: Final = ("share", "probability")
_COUNTS: Final = ("records", "groups", "queries", "candidates", "unique", "mean true answer")  # details beside shares


@dataclass(frozen=True, kw_only=True)
class MeasureText:
    """What one measure says of a release, in plain values; ``reason`` says why it does not apply, if so."""

    name: str
    title: str
    summary: str
    kind: str  # privacy loss, utility loss, risk, utility
    unit: str
    better: str  # lower, higher
    bounds: tuple[float | None, float | None] = (None, None)
    value: float | None = None
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The number as text."""
        return "–" if self.value is None else number(self.value, self.unit)

    @property
    def range(self) -> str:
        """The least and the largest it can be, and which way is better."""
        low, high = (None if bound is None else number(bound, self.unit) for bound in self.bounds)
        direction = f"{self.better} is better"
        if low is not None and high is not None:
            return f"from {low} to {high}; {direction}"
        return direction if low is None else f"at least {low}; {direction}"

    @property
    def means(self) -> str:
        """A sentence on this number."""
        if self.value is None:
            return f"Not measured: {self.reason}."
        plain = _PLAIN.get(self.name)
        return sentence(self.summary) + "." if plain is None else plain(self.value)

    @property
    def more(self) -> tuple[tuple[str, str], ...]:
        """The details as text."""
        return tuple((str(key), _detail(str(key), value, self.unit)) for key, value in self.details.items())


def number(value: float, unit: str) -> str:
    """A number with its unit, as far as it is worth reading.

    >>> number(0.1234, "share"), number(0.48812, "nats"), number(12345.0, "records")
    ('12.3 %', '0.488 nats', '12,345 records')
    """
    if unit in _SHARES:
        return _share(value)
    if float(value).is_integer() or abs(value) >= 999.5:  # noqa: PLR2004 - whole numbers from here on
        return f"{value:,.0f} {unit}".strip()
    return f"{value:.3g} {unit}".strip()


def _share(value: float) -> str:
    if 0 < value < 0.00001:  # noqa: PLR2004 - no digits are worth reading
        return "< 0.001 %"
    return f"{100 * value:,.0f} %" if value >= 9.995 else f"{100 * value:.3g} %"  # noqa: PLR2004 - no digits are worth reading


def _detail(key: str, value: Any, unit: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ", ".join(f"{k}: {v}" for k, v in value.items()) if isinstance(value, Mapping) else str(value)
    if isinstance(value, int):
        return f"{value:,}"
    part = unit in _SHARES and (value <= 1 or "error" in key) and not key.startswith(_COUNTS) and key != "people"
    if float(value).is_integer() and not part:
        return f"{value:,.0f}"
    return _share(value) if part else f"{value:,.3f}".rstrip("0").rstrip(".")


def _off(what: str) -> Callable[[float], str]:
    return lambda value: f"{what} has a relative error of {_share(value)}."


_PLAIN: Final[Mapping[str, Callable[[float], str]]] = {
    "ploss": lambda value: (
        f"For the person with the largest privacy loss, the release reveals {_share(value / 0.6931471805599453)} of "
        "the maximum: the distance between the sensitive values of their group and those of the whole table."
    ),
    "mean-ploss": lambda value: (
        f"For a person on average, the release reveals {_share(value / 0.6931471805599453)} of the maximum. "
        "A small mean says nothing about the largest privacy loss."
    ),
    "records-over-confidence": lambda value: (
        f"For {_share(value)} of the published records, the observed confidence in the value exceeds the confidence "
        "that public statistics give anyway (capped confidence). Capped confidence demands 0 %."
    ),
    "confidence-excess": lambda value: (
        "For no record does the observed confidence exceed the confidence that public statistics give anyway."
        if value <= 0
        else f"For the record with the largest excess, the observed confidence in its value is {_share(value)} above "
        "the confidence that public statistics give anyway."
    ),
    "uloss": lambda value: (
        f"The estimated distribution of sensitive values in a large population is {value:.3g} nats from the true one "
        "on average; 0 means no loss."
    ),
    "query-error": _off("An average count query"),
    "query-error-small": _off("An average query that counts less than 1 % of the records"),
    "query-error-large": _off("An average query that counts more than 10 % of the records"),
    "general-loss": lambda value: f"A published value covers {_share(value)} of its domain on average.",
    "suppressed": lambda value: f"{_share(value)} of the table's records are not published.",
    "average-group-size": lambda value: f"A group has {number(value, 'records')} on average.",
    "classification-loss": lambda value: (
        f"A decision tree trained on the release misclassifies {_share(value)} of the table's own records. The command "
        "“sfumato evaluate accuracy” measures the accuracy on records that it has not seen."
    ),
    "marginals-1": lambda value: (
        f"{_share(value)} of the records would have to change for the distribution of one attribute to equal "
        "the table's."
    ),
    "marginals-2": lambda value: (
        f"{_share(value)} of the records would have to change for the joint distribution of two attributes to "
        "equal the table's."
    ),
}
