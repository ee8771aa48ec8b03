"""Partitions: records in equivalence classes, each with a region of its own (local recoding)."""

from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.boxes import Boxes
from sfumato.domains.counts import Cells
from sfumato.domains.locate import count_contained
from sfumato.errors import StudyError
from sfumato.privacy.groups.statistics import Statistics
from sfumato.study.view import View

__all__ = ["SUPPRESSED", "Boxes", "Partition", "people_in"]

SUPPRESSED = -1  # the group of a record that is not published


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Cells over all attributes of a view, the group each belongs to (`SUPPRESSED` for none), and the groups' regions.

    Two groups may have the same region only in a bucketization, where regions are not published. Where records alike
    lie in several groups, their combination stands once in each.
    """

    cells: Cells  # attributes in the view's order; every combination once a group
    group: NDArray[np.int64]  # (cells,)
    boxes: Boxes

    def __post_init__(self) -> None:
        assert len(self.group) == len(self.cells), "a group a cell"

    @property
    def suppressed(self) -> int:
        """How many records are not published."""
        return int(self.cells.counts[self.group == SUPPRESSED].sum())

    def column(self, name: str) -> NDArray[np.int64]:
        """The codes of one attribute, one a cell."""
        return self.cells.codes[:, self.cells.attributes.index(name)]

    def statistics(self, view: View) -> Statistics:
        """The published groups as models see them, compared with the published table."""
        kept = self.group != SUPPRESSED
        return Statistics.of(
            self.group[kept],
            self.cells.counts[kept],
            {a.name: self.column(a.name)[kept] for a in view.sensitive},
            {a.name: view.domain(a.name) for a in (*view.quasi, *view.sensitive)},
            groups=len(self.boxes),
            boxes=self.boxes,
            population=None if view.people is None else people_in(self.boxes, view.people),
        )


def people_in(boxes: Boxes, people: Cells) -> NDArray[np.int64]:
    """How many people of a population are in each region; nobody may be in two of them."""
    return Crowd(people).inside(boxes)


class Crowd:
    """A population that is counted in regions, some after others; nobody may be in two of all of them."""

    def __init__(self, people: Cells) -> None:
        self._people = people
        self._homes = np.zeros(len(people), np.int64)

    def inside(self, boxes: Boxes) -> NDArray[np.int64]:
        """How many people are in each of some more regions."""
        people = self._people
        codes = people.codes[:, [people.attributes.index(name) for name in boxes.attributes]]
        found, homes = count_contained(boxes.starts, boxes.stops, codes, people.counts)
        self._homes += homes
        if np.any(self._homes > 1):
            _refuse_overlap()
        return found


def _refuse_overlap() -> NoReturn:
    raise StudyError(
        "regions overlap, so one person may belong to several groups, and shares of people are undefined",
        "use a method whose regions do not overlap: `full-domain`, or `mondrian` with `strict: true`",
        code="SF-STUDY-110",
    )
