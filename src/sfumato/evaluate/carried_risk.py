"""Which quasi-identifiers carry the risk of linkage: how much it falls when an adversary does not know one of them.

An adversary looks a person up by the quasi-identifiers and picks one of her candidates at random. With c candidates
that is right with probability 1/c, if her record is among them. The expected share of people who are linked correctly
is the mean of 1/c. Without one quasi-identifier there are more candidates, and the difference is what it carries.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from sfumato.errors import UsageError
from sfumato.evaluate.equivalence_classes import containing, equivalence_classes, people_of
from sfumato.evaluate.evidence import Evidence, distinct_rows
from sfumato.release.shown import Integers, Shown

_WORST: Final = 10  # equivalence classes that are named


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """One quasi-identifier: what an adversary achieves who knows all others."""

    attribute: str
    linked: float  # expected share of people who are linked correctly
    unique: float  # share of people with exactly one candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallClass:
    """One of the smallest equivalence classes: its published values and its records."""

    values: tuple[str, ...]
    records: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedRisk:
    """Linkage by all quasi-identifiers, and without each of them; the one that carries most is first."""

    people: int
    linked: float
    unique: float
    attributes: tuple[Carried, ...]
    names: tuple[str, ...]  # of the values of the smallest classes
    smallest: tuple[SmallClass, ...]

    def sentences(self) -> list[str]:
        """The findings in words."""
        said = [f"an adversary who guesses among the candidates links {self.linked:.2%} of the people correctly"]
        return said + [f"without '{one.attribute}' it is {one.linked:.2%}" for one in self.attributes]

    def as_json(self) -> dict[str, Any]:
        """The findings as plain values."""
        return {
            "people": self.people,
            "linked": self.linked,
            "unique": self.unique,
            "attributes": [
                {
                    "attribute": one.attribute,
                    "linked": one.linked,
                    "carried": self.linked - one.linked,
                    "unique": one.unique,
                }
                for one in self.attributes
            ],
            "smallest": [
                {"values": dict(zip(self.names, one.values, strict=True)), "records": one.records}
                for one in self.smallest
            ],
        }


def carried_risk(evidence: Evidence) -> CarriedRisk:
    """Look up everybody by all published quasi-identifiers, and by all but one."""
    shown = evidence.shown
    if shown.noisy or shown.synthetic:
        raise UsageError(
            "the release contains no records of people, and so none to link anybody to",
            "ask for `guessed-values`, which says what the release tells about people",
            code="SF-USAGE-480",
        )
    codes, counts = people_of(evidence), evidence.people[1].counts
    linked, unique = _linked(shown, codes, counts)
    found = []
    for place, name in enumerate(shown.attributes):
        kept = [at for at in range(len(shown.attributes)) if at != place]
        less = replace(
            shown,
            attributes=tuple(shown.attributes[at] for at in kept),
            starts=shown.starts[:, kept],
            stops=shown.stops[:, kept],
        )
        fewer, alone = _linked(less, codes[:, kept], counts)
        found.append(Carried(attribute=name, linked=fewer, unique=alone))
    found.sort(key=lambda one: (one.linked, one.unique))
    return CarriedRisk(
        people=int(counts.sum()),
        linked=linked,
        unique=unique,
        attributes=tuple(found),
        names=shown.attributes,
        smallest=_smallest(evidence),
    )


def _linked(shown: Shown, codes: Integers, counts: Integers) -> tuple[float, float]:
    """The expected share of people who are linked correctly, and the share with one candidate."""
    place, first = distinct_rows(list(codes.T), len(codes))
    people = np.bincount(place, weights=counts, minlength=len(first)).astype(np.float64)
    many = np.asarray(containing(shown, codes[first]) @ shown.weights).ravel()
    chance = np.where(many > 0, 1.0 / np.maximum(many, 1.0), 0.0)
    total = max(1.0, float(people.sum()))
    return float(people @ chance) / total, float(people[(many > 0) & (many <= 1)].sum()) / total


def _smallest(evidence: Evidence) -> tuple[SmallClass, ...]:
    """The smallest equivalence classes; sets are named by the label of their place."""
    shown, classes = evidence.shown, equivalence_classes(evidence)
    first = np.full(len(classes.sizes), -1)
    first[classes.group[::-1]] = np.arange(len(shown))[::-1]
    found = []
    for at in np.argsort(classes.sizes, kind="stable")[:_WORST]:
        row = int(first[at])
        values = tuple(
            "a set" if name in shown.sets else
            evidence.view.domain(name).label(int(shown.starts[row, n]), int(shown.stops[row, n]))
            for n, name in enumerate(shown.attributes)
        )  # fmt: skip
        found.append(SmallClass(values=values, records=float(classes.sizes[at])))
    return tuple(found)
