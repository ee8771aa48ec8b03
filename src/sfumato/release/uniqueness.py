"""How many published records are unique over all columns that are published of a person.

k-anonymity is about quasi-identifiers. Columns that are published exactly beside them (the class, insensitive and
sensitive attributes) tell records of one equivalence class apart, and whoever knows them can single out a row.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.release.draft import Draft
from sfumato.release.partition import SUPPRESSED
from sfumato.study.attribute import Attribute, Role
from sfumato.study.view import View


@dataclass(frozen=True, slots=True)
class Uniqueness:
    """How many of the published records are unique, and which columns are exact beside the generalised ones."""

    unique: int
    published: int
    exact: tuple[str, ...]
    quasi: bool = False  # whether quasi-identifiers are among the exact columns, as where values are put into buckets

    @property
    def share(self) -> float:
        """The share of unique records among the published ones."""
        return self.unique / self.published if self.published else 0.0

    @property
    def words(self) -> str:
        """The number with its share, for a sentence."""
        return f"{self.unique:,} of {self.published:,} published records ({100 * self.share:.3g} %)"


def count_unique(columns: Sequence[NDArray[np.integer]], times: NDArray[np.int64]) -> int:
    """How many records are like no other, where a row stands for so many ``times`` records.

    >>> count_unique([np.array([0, 0, 1, 1]), np.array([5, 6, 5, 5])], np.array([1, 2, 1, 1]))
    1
    """
    key = np.zeros(len(times), dtype=np.int64)
    for column in columns:  # numbered anew each time, so that the product stays within 64 bits
        _, place = np.unique(column, return_inverse=True)
        _, key = np.unique(key * (int(place.max(initial=0)) + 1) + place, return_inverse=True)
    return int(np.count_nonzero(np.bincount(key, weights=times) == 1))


def exact_attributes(view: View, form: str) -> tuple[Attribute, ...]:
    """The attributes that stand exactly in a person's own row of a release of such a form."""
    if form == "generalised":
        return (*view.sensitive, *view.others)
    return (*view.quasi, *view.others)


def uniqueness(draft: Draft) -> Uniqueness:
    """How many records of a draft would be unique over all columns that are published of a person."""
    partition = draft.partition
    kept = partition.group != SUPPRESSED
    exact = exact_attributes(draft.view, draft.form)
    columns: list[NDArray[np.int64]] = [partition.column(a.name)[kept] for a in exact]
    if draft.form == "generalised":
        boxes = np.hstack([partition.boxes.starts, partition.boxes.stops])
        _, region = np.unique(boxes, axis=0, return_inverse=True)
        columns.insert(0, region.ravel()[partition.group[kept]])
    times = partition.cells.counts[kept]
    names = tuple(a.name for a in exact)
    return Uniqueness(count_unique(columns, times), int(times.sum()), names, quasi=draft.form != "generalised")


def exact_words(view: View, form: str) -> list[str]:
    """A warning about columns that are published exactly, from the declared domains alone; nothing without any."""
    exact = exact_attributes(view, form)
    if not exact:
        return []
    names = ", ".join(f"{a.name} ({_role(a)})" for a in exact)
    combinations = 1
    for attribute in exact:
        combinations *= view.domain(attribute.name).size
    many = f"{combinations:,}" if combinations < 10**15 else "more than 10^15"
    beside = "beside the generalised ones" if form == "generalised" else "beside the buckets"
    about = "quasi-identifiers" if form == "generalised" else "sensitive attributes"
    said = (
        f"these columns are published exactly {beside}: {names}. They have {many} combinations of declared values: "
        f"anyone who knows these values of a person can single out rows. The privacy model is about the {about} and "
        "does not cover that"
    )
    return [said]


def unique_words(found: Uniqueness) -> list[str]:
    """A warning about records that are unique over all published columns; nothing if there are none."""
    if not found.unique:
        return []
    instead = (
        "use a method that generalises them" if found.quasi else "make them quasi-identifiers or do not release them"
    )
    said = (
        f"{found.words} are unique over all published columns, because these are exact: {', '.join(found.exact)}. "
        f"Anyone who knows those values of a person can single out the row; to avoid that, {instead}"
    )
    return [said]


def _role(attribute: Attribute) -> str:
    return "class" if attribute.role is Role.CLASS else attribute.role.value.replace("_", "-")
