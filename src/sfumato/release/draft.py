"""Drafts: what a method hands over, before it is published."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.study.view import View


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The published groups: a region an attribute, a class, and a count. A group that is not listed has count 0."""

    cuts: tuple[Cut, ...]  # one a predictor, in the view's order
    regions: NDArray[np.int64]  # (groups, predictors): which range of each cut
    classes: NDArray[np.int64]  # (groups,)
    counts: NDArray[np.int64]  # (groups,), all above 0

    def __post_init__(self) -> None:
        assert self.regions.shape == (len(self.counts), len(self.cuts)), "a region a cut"
        assert self.classes.shape == self.counts.shape, "a class a group"

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A release that is not published yet.

    ``facts`` goes into the manifest as it is, so it holds only what the promise covers: outputs of mechanisms, public
    parameters, and what follows from them.
    """

    view: View
    groups: Groups
    facts: Mapping[str, Any] = field(default_factory=dict)
