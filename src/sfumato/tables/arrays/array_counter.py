"""A counter over arrays of codes in memory: for parts of a table (train and test), audits, and tests."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells, Counter, Marginal, SetMarginal, tally
from sfumato.domains.cut import Cut
from sfumato.domains.domain import DROP
from sfumato.domains.sets.set_cut import SetCut
from sfumato.domains.sets.set_domain import SetCodes
from sfumato.errors import InternalError


class ArrayCounter(Counter):
    """Counts records given as one array of codes an attribute; records with a `DROP` anywhere are left out.

    What is alike may stand there once, with how many records it is as ``times``.

    >>> counter = ArrayCounter({"job": np.array([0, 1, 1, DROP]), "class": np.array([0, 0, 1, 1])}, {"class": 2})
    >>> counter.marginals(["job"], "class")["job"].counts.tolist()
    [[1, 0], [1, 1]]
    >>> counter.cells([Cut("job", (0,), 2), Cut.finest("class", 2)]).counts.tolist()
    [2, 1]
    """

    def __init__(
        self,
        codes: Mapping[str, NDArray[np.int64]],
        sizes: Mapping[str, int],
        *,
        times: NDArray[np.int64] | None = None,
    ) -> None:
        """``sizes`` gives the number of codes of each attribute that others are counted by."""
        kept = np.all([column != DROP for column in codes.values()], axis=0)
        self._codes = {name: column[kept] for name, column in codes.items()}
        self._sizes = dict(sizes)
        self._times = None if times is None else times[kept]

    def marginals(self, attributes: Sequence[str], by: str) -> Mapping[str, Marginal]:
        """Every attribute against ``by``."""
        classes = self._sizes[by]
        found = {}
        for name in attributes:
            codes, place = np.unique(self._codes[name], return_inverse=True)
            flat = np.bincount(place * classes + self._codes[by], self._times, minlength=len(codes) * classes)
            counts = flat.reshape(len(codes), classes).astype(np.int64)
            column = self._codes[name]
            found[name] = Marginal(codes, counts)
            if isinstance(column, SetCodes):
                found[name] = SetMarginal(np.asarray(codes), counts, column.sets)
        return found

    def cells(self, cuts: Sequence[Cut]) -> Cells:
        """The occupied combinations of regions, in order."""
        if not cuts:
            raise InternalError("cells were asked for without a cut")
        for cut in cuts:
            if isinstance(self._codes[cut.attribute], SetCodes) and not isinstance(cut, SetCut):
                raise InternalError(f"'{cut.attribute}' holds sets, and was cut as if it held single codes")
        codes, counts = tally([cut.regions(self._codes[cut.attribute]) for cut in cuts], self._times)
        return Cells(tuple(cut.attribute for cut in cuts), codes, counts)
