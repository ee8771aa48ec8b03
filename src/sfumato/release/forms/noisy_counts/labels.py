"""Regions as text and back: the columns of a release, built and read by the region, not by the row."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain, Grid
from sfumato.domains.sets.set_cut import SetCut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import InternalError, PublishError, VerifyError

_LISTED: Final = 100_000  # grids with up to this many regions are labelled whole; of larger ones, those that occur
_LISTED_SETS: Final = 4_096  # the same for sets of nodes
_EPOCH: Final = 719_163  # the ordinal of 1970-01-01, which Arrow counts days from


@dataclass(frozen=True)
class Labels:
    """How the regions of one attribute's cut read.

    >>> from fractions import Fraction
    >>> age = Grid(lower=Fraction(0), upper=Fraction(120), step=Fraction(1), unit="integer")
    >>> labels = Labels(age, Cut("age", (0, 40), 121))
    >>> labels.texts(np.array([1, 0])).to_pylist(), labels.regions(["[0, 40)"]).tolist()
    (['[40, 120]', '[0, 40)'], [0])
    """

    domain: Domain
    cut: Cut

    @property
    def listed(self) -> bool:
        """Whether all labels can be written down: a taxonomy is, and a grid may have too many points."""
        if isinstance(self.domain, SetDomain):
            return self.cut.total <= _LISTED_SETS
        return len(self.cut) <= _LISTED or not isinstance(self.domain, Grid)

    @cached_property
    def all(self) -> tuple[str, ...]:
        """The labels of all regions, in order; of a listed cut only."""
        if isinstance(self.domain, SetDomain):
            return tuple(self._sets.labels(self.domain.taxonomy, np.arange(self.cut.total)))
        return tuple(self.domain.label(*self.cut.range_at(region)) for region in range(len(self.cut)))

    def texts(self, regions: NDArray[np.int64]) -> pa.Array:
        """The labels of region numbers."""
        if self._whole and self.cut.is_finest:
            return self._whole_texts(regions)
        if isinstance(self.domain, SetDomain):
            return pa.array(self._sets.labels(self.domain.taxonomy, regions), pa.string())
        return pa.array([self.domain.label(*self.cut.range_at(region)) for region in regions.tolist()], pa.string())

    def column(self, regions: NDArray[np.int64]) -> pa.DictionaryArray:
        """A column of labels, each label stored once; refuses a cut in which two regions read alike."""
        if self.listed:
            texts, places = pa.array(self.all, pa.string()), regions
        else:
            present, places = np.unique(regions, return_inverse=True)
            texts = self.texts(present)
        if pc.count_distinct(texts).as_py() != len(texts):
            raise PublishError(
                f"two regions of '{self.cut.attribute}' read alike, so a receiver could not tell them apart",
                "give the values different names, or numbers a coarser step",
                code="SF-PUBLISH-018",
            )
        return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), texts)

    def regions(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The region numbers of labels; a text that is none of them is an error."""
        if self.listed:
            known = {label: region for region, label in enumerate(self.all)}
            numbers = np.array([known.get(text, -1) for text in texts], dtype=np.int64)
        elif isinstance(self.domain, SetDomain):
            numbers = self._sets.read(self.domain.taxonomy, texts)
        else:
            numbers = self._search(texts)
        if (numbers < 0).any():
            raise VerifyError(
                f"'{self.cut.attribute}' has a value that is no region of its cut",
                "get the bundle again",
                code="SF-VERIFY-055",
            )
        return numbers

    @property
    def _sets(self) -> SetCut:
        if not isinstance(self.cut, SetCut):
            raise InternalError(f"the sets '{self.cut.attribute}' have a cut of single values")
        return self.cut

    @property
    def _whole(self) -> bool:
        """Whether every point of the grid reads as a whole number or a day."""
        domain = self.domain
        return (
            isinstance(domain, Grid)
            and domain.unit != "number"
            and domain.step == 1
            and domain.lower.denominator == 1
            and domain.missing is None
            and max(abs(domain.lower), abs(domain.upper)) < 2**31
        )

    def _whole_texts(self, codes: NDArray[np.int64]) -> pa.Array:
        assert isinstance(self.domain, Grid), "see `_whole`"
        values = codes + int(self.domain.lower)
        if self.domain.unit == "day":
            return pa.array((values - _EPOCH).astype(np.int32)).cast(pa.date32()).cast(pa.string())
        return pa.array(values).cast(pa.string())

    def _search(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Regions of a cut too large to list: found by where each interval begins, then compared; -1 where none is."""
        assert isinstance(self.domain, Grid), "only grids have too many regions to list"
        starts = self.domain.codes_of_labels(text.removeprefix("[").split(", ")[0] for text in texts)
        places = self.cut.regions(starts)
        # A beginning that is no float may be coded one step off; the missing value has no beginning, and stands last.
        last = len(self.cut) - 1
        if (places >= 0).all() and self.texts(places).to_pylist() == list(texts):
            return places
        near = [self._near(text, place, last) for text, place in zip(texts, places.tolist(), strict=True)]
        return np.array(near, dtype=np.int64)

    def _near(self, text: str, place: int, last: int) -> int:
        for region in (place, place + 1, place - 1, last):
            if 0 <= region <= last and self.domain.label(*self.cut.range_at(region)) == text:
                return region
        return -1
