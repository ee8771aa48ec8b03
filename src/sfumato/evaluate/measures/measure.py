"""What every measure says of itself, and the registry that finds it by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from sfumato.errors import UsageError
from sfumato.evaluate.evidence import Evidence
from sfumato.registry import Registry

Kind = Literal["privacy loss", "utility loss", "risk", "utility"]
Better = Literal["lower", "higher"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One number about a release, and what is behind it: numbers and short texts by name, for the owner alone."""

    value: float
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Why a measure does not apply to a release, in words."""

    reason: str


class Measure(Protocol):
    """A number about a release: a frozen dataclass of its parameters, all with defaults.

    ``bounds`` are the least and the largest value it can have, None where there is no bound. ``unit`` is what the
    number counts, in a word ("nats", "records", "share"). ``summary`` says in one sentence what it is and what a high
    one means.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    kind: ClassVar[Kind]
    better: ClassVar[Better]
    bounds: ClassVar[tuple[float | None, float | None]]
    unit: ClassVar[str]

    def refuses(self, evidence: Evidence) -> str | None:
        """Why it does not apply to this release, in words; None if it does."""
        ...

    def read(self, evidence: Evidence) -> Reading:
        """The number."""
        ...


MEASURES: Registry[type[Any]] = Registry("measure", UsageError)


def range_words(measure: Measure | type[Any]) -> str:
    """The bounds of a measure in words.

    >>> from sfumato.evaluate.measures import UtilityLoss
    >>> range_words(UtilityLoss)
    '0 to 0.6931'
    """
    low, high = measure.bounds
    if low is None:
        return "any number" if high is None else f"up to {high:.4g}"
    return f"{low:.4g} or more" if high is None else f"{low:.4g} to {high:.4g}"
