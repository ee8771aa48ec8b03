"""Regions as a column of text and back, where every group has a region of its own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sfumato.domains.cut import Range
from sfumato.domains.domain import Categories, Domain
from sfumato.domains.range_text import TO, node_labels, range_text, ranges_of
from sfumato.errors import PublishError, VerifyError

__all__ = ["RangeTexts", "range_text"]

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class RangeTexts:
    """The texts of one attribute's ranges, made and read a distinct range at a time, never by the row."""

    name: str
    domain: Domain

    def texts(self, starts: Integers, stops: Integers) -> pa.Array:
        """The texts of distinct ranges; refuses two that read alike."""
        if isinstance(self.domain, Categories):
            nodes, leaves = node_labels(self.domain), self.domain.taxonomy.leaves
            ranges = list(zip(starts.tolist(), stops.tolist(), strict=True))
            found = [nodes.get(pair) or f"{leaves[pair[0]]}{TO}{leaves[pair[1] - 1]}" for pair in ranges]
            self._refuse_misread(found, ranges)
        else:
            found = [self.domain.label(*pair) for pair in zip(starts.tolist(), stops.tolist(), strict=True)]
        texts = pa.array(found, pa.string())
        if pc.count_distinct(texts).as_py() != len(texts):
            raise PublishError(
                f"two regions of '{self.name}' read alike, so a receiver could not tell them apart",
                "give the values different names, or numbers a coarser step",
                code="SF-PUBLISH-018",
            )
        return texts

    def _refuse_misread(self, texts: Sequence[str], ranges: Sequence[Range]) -> None:
        """Names with the mark between first and last value in them can make a range read as something else."""
        for text, meant, read in zip(texts, ranges, ranges_of(self.domain, texts), strict=True):
            if meant != read:
                raise PublishError(
                    f"some neighbouring values of '{self.name}' would read as '{text}', and its taxonomy can be read "
                    "another way there",
                    f"rename the values and nodes of '{self.name}' that have '{TO}' in their names, or leave it out "
                    "of `ordered`",
                    code="SF-PUBLISH-019",
                )

    def ranges(self, texts: Sequence[str]) -> tuple[Integers, Integers]:
        """The ranges that texts stand for; a text that is none of them is an error."""
        found = ranges_of(self.domain, texts)
        if None in found:
            raise VerifyError(
                f"'{self.name}' has a value that is no region of its domain",
                "get the bundle again",
                code="SF-VERIFY-067",
            )
        pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
        return pairs[:, 0], pairs[:, 1]
