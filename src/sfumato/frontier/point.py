"""Points: one candidate release each, with what was measured of it. For the owner's eyes only."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sfumato.display import Display, Displayed
from sfumato.study.recipe import Recipe

Better = Literal["lower", "higher"]
FOREIGN = "made by other tools, guarantee not checked"  # the series of their releases
NOTHING = "nothing published"  # the baseline without any quasi-identifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A measure as an axis of the plane: its name, its words, and which way is better.

    >>> Axis(name="ploss", title="Privacy loss", better="lower", unit="nats").cost(0.25)
    0.25
    """

    name: str
    title: str
    better: Better
    unit: str = ""

    def cost(self, value: float) -> float:
        """The value turned so that less is better."""
        return value if self.better == "lower" else -value

    def says(self, value: float) -> str:
        """A value in words."""
        return f"{self.name} {value:.4g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How far the draws of one candidate lie apart in one measure: standard deviation, the least and the largest."""

    deviation: float
    least: float
    most: float

    def as_json(self) -> dict[str, float]:
        """All of it as plain values."""
        return {"deviation": self.deviation, "least": self.least, "most": self.most}


@dataclass(frozen=True, kw_only=True, repr=False)
class Point(Displayed):
    """One candidate: how it was made, its numbers by the name of the measure, or why there is none.

    ``series`` is the method with its privacy models, ``family`` all that is the same along one line of a plot. A
    baseline (nothing published, everything published) has no recipe, and neither has a ``foreign`` release, which
    another tool made and whose guarantee nobody checked here. A candidate whose release is random was drawn
    ``draws`` times: its numbers are the means, and ``spread`` says how far the draws lie apart.
    """

    label: str
    series: str
    family: str
    recipe: Recipe | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)  # measures that do not apply, and why
    facts: Mapping[str, Any] = field(default_factory=dict)  # rows, records and suppressed records of the draft
    seconds: float = 0.0
    failure: str | None = None  # why there is no draft
    draws: int = 1
    spread: Mapping[str, Spread] = field(default_factory=dict)
    foreign: bool = False  # whether another tool made it
    notes: tuple[str, ...] = ()  # what was read of it, if so

    def has(self, *names: str) -> bool:
        """Whether it has a number for each of these measures."""
        return all(math.isfinite(self.numbers.get(name, math.nan)) for name in names)

    def why_not(self, *names: str) -> str:
        """Why it has no number for one of these measures."""
        if self.failure is not None:
            return self.failure
        told = [f"{name} does not apply: {self.refused[name]}" for name in names if name in self.refused]
        return "; ".join(told) or f"{' and '.join(n for n in names if not self.has(n))} was not measured"

    def display(self) -> Display:
        """Its label and its numbers, or why it has none."""
        numbers = tuple((name, self._number(name)) for name in self.numbers)
        failure = () if self.failure is None else (("failed", self.failure),)
        refused = tuple((name, f"does not apply: {why}") for name, why in self.refused.items())
        return Display(
            title=f"Candidate release '{self.label}'" + (", made by another tool" if self.foreign else ""),
            facts=(("kind", self.series), *failure, *numbers, *refused),
            sentences=self.notes,
            owner_only=True,
        )

    def _number(self, name: str) -> str:
        spread = self.spread.get(name)
        apart = "" if spread is None else f" ± {spread.deviation:.2g} in {self.draws} draws"
        return f"{self.numbers[name]:.4g}{apart}"

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "label": self.label,
            "series": self.series,
            "family": self.family,
            "recipe": None if self.recipe is None else json.loads(self.recipe.as_json()),
            "numbers": dict(self.numbers),
            "refused": dict(self.refused),
            "facts": dict(self.facts),
            "seconds": round(self.seconds, 3),
            "failure": self.failure,
            "draws": self.draws,
            "spread": {name: found.as_json() for name, found in self.spread.items()},
            "foreign": self.foreign,
            "notes": list(self.notes),
        }
