"""Boxes: the regions of groups, as ranges of codes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Boxes:
    """The region of each group: a half-open range of codes for every quasi-identifier."""

    attributes: tuple[str, ...]
    starts: NDArray[np.int64]  # (groups, attributes)
    stops: NDArray[np.int64]  # (groups, attributes)

    def __post_init__(self) -> None:
        assert self.starts.shape == self.stops.shape, "a start and a stop each"
        assert self.starts.shape[1] == len(self.attributes), "a range an attribute"
        assert bool(np.all(self.starts < self.stops)), "no empty range"

    def __len__(self) -> int:
        return len(self.starts)
