"""What every measure says of itself, and the registry that finds it by name."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, ClassVar, Literal

from sfumato.errors import UsageError
from sfumato.evaluate.evidence import Evidence
from sfumato.registry import Registry
from sfumato.wording import sentence

Kind = Literal["privacy loss", "utility loss", "risk", "utility"]
Better = Literal["lower", "higher"]
Speed = Literal["quick", "medium", "slow"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One number about a release, and what is behind it: numbers and short texts by name, for the owner alone."""

    value: float
    details: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """The number and its details as plain values; infinite numbers as none."""
        return {"value": _plain(self.value), "details": _plain(dict(self.details)), "refused": None}


@dataclass(frozen=True, kw_only=True)
class Refused:
    """Why a measure does not apply to a release, in words."""

    reason: str

    def as_json(self) -> dict[str, Any]:
        """The reason, in the shape of a reading."""
        return {"value": None, "details": {}, "refused": self.reason}


class Measure(ABC):
    """A number about a release: a frozen dataclass of its parameters, all with defaults.

    A measure declares everything about itself on its class; there is no list elsewhere to add it to.
    ``bounds`` are the least and the largest value it can have, None where there is no bound. ``unit`` is what the
    number counts, in a word ("nats", "records", "share"). ``summary`` says in one sentence what it is and what a high
    one means.

    The owner's report takes the measures that are affordable at the size of the table. ``speed`` is `quick` for a
    measure that is affordable at any size, `medium` (the default) for one that is so up to some ten thousand distinct
    records, `slow` for one that is so up to a few thousand. ``wide`` says that time or memory grow with the number of
    distinct records × sensitive values (by default they do not). ``attack`` says that the number comes from an attack
    that is run, not from a formula (the default); the report lists attacks in a section of their own.
    """

    __slots__ = ()

    name: ClassVar[str]
    title: ClassVar[str]
    summary: ClassVar[str]
    kind: ClassVar[Kind]
    better: ClassVar[Better]
    bounds: ClassVar[tuple[float | None, float | None]]
    unit: ClassVar[str]
    speed: ClassVar[Speed] = "medium"
    wide: ClassVar[bool] = False
    attack: ClassVar[bool] = False

    @abstractmethod
    def refuses(self, evidence: Evidence) -> str | None:
        """Why it does not apply to this release, in words; None if it does."""

    @abstractmethod
    def read(self, evidence: Evidence) -> Reading:
        """The number."""

    def means(self, value: float) -> str:  # noqa: ARG002 - a measure may use it
        """A sentence that says what this value means; by default the summary."""
        return f"{sentence(self.summary)}."

    def as_json(self) -> dict[str, Any]:
        """What the measure is, as plain values."""
        return {
            "name": self.name,
            "title": self.title,
            "kind": self.kind,
            "better": self.better,
            "bounds": list(self.bounds),
            "unit": self.unit,
            "summary": self.summary,
        }


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


def _plain(value: Any) -> Any:
    """A value as JSON has it: arrays as lists, numbers that are not finite as none."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not isfinite(value) else value
