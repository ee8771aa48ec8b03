"""What a measure looks at: a release beside the table it was made from. For the owner's eyes only."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.core.attribute import Attribute, Role
from sfumato.core.counts import Cells
from sfumato.core.partition import PartitionView
from sfumato.core.shown import Shown
from sfumato.errors import StudyError
from sfumato.models import CappedConfidence

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A release (``shown``) and the records of the table (``raw``), over the same attributes of a view.

    ``kept`` holds what does not depend on the release and is worth keeping between releases of one study, such as its
    large populations; measures put it there under their own name. ``found`` is the same for this release alone. ``cap``
    is the release's own promise about confidence, if it says which statistics are public.
    """

    view: PartitionView
    raw: Cells  # over all attributes of the view, before anything was sampled or suppressed
    shown: Shown
    kept: dict[str, Any] = field(default_factory=dict)
    cap: CappedConfidence | None = None
    found: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def records(self) -> int:
        """How many records the table has."""
        return int(self.raw.counts.sum())

    @property
    def target(self) -> Attribute | None:
        """The class, if there is one."""
        return next((a for a in self.view.others if a.role is Role.CLASS), None)

    @property
    def protected(self) -> tuple[Attribute, ...]:
        """The sensitive attributes; where none is declared, the class is what one could learn of a person."""
        if self.view.sensitive:
            return self.view.sensitive
        return () if self.target is None else (self.target,)

    def chosen(self, name: str | None) -> tuple[Attribute, ...]:
        """The protected attribute of this name, or all of them."""
        found = tuple(a for a in self.protected if name in (None, a.name))
        if not found:
            raise StudyError(
                f"'{name}' is no sensitive attribute of this release" if name else "no attribute is sensitive",
                f"name one of: {', '.join(a.name for a in self.protected)}"
                if self.protected
                else "give the attribute to protect `role: sensitive`",
            )
        return found

    def column(self, name: str) -> NDArray[np.int64]:
        """The codes of one attribute in the table, one a cell."""
        return self.raw.codes[:, self.raw.attributes.index(name)]

    def overall(self, name: str) -> Floats:
        """The distribution of one attribute in the table."""
        size = self.view.domain(name).size
        found = np.bincount(self.column(name), weights=self.raw.counts, minlength=size)
        return np.asarray(found / max(1.0, found.sum()))

    @cached_property
    def people(self) -> tuple[NDArray[np.int64], Cells]:
        """For each cell of the table its place among the distinct quasi-identifiers, and those with their counts."""
        names = tuple(a.name for a in self.view.quasi)
        place, first = alike([self.column(name) for name in names], len(self.raw))
        codes = np.stack([self.column(name)[first] for name in names], axis=1) if names else np.zeros((len(first), 0))
        counts = np.bincount(place, weights=self.raw.counts, minlength=len(first)).astype(np.int64)
        return place, Cells(names, codes.astype(np.int64), counts)


def alike(columns: Sequence[NDArray[np.int64]], rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each row its place among the distinct ones, which stand in order, and the first row of each of those.

    Column by column, which is much faster than `np.unique` of whole rows.

    >>> place, first = alike([np.array([2, 0, 2]), np.array([1, 1, 1])], 3)
    >>> place.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    place = np.zeros(rows, np.int64)
    for column in columns:
        distinct, code = np.unique(column, return_inverse=True)
        _, place = np.unique(place * len(distinct) + code, return_inverse=True)
    _, first = np.unique(place, return_index=True)
    return place, first


def dense(table: csr_array) -> Floats:
    """A sparse table as a full one."""
    return np.asarray(table.todense(), dtype=np.float64)
