"""Histograms of sensitive values in random classes of people, the table's and a release's (Sattar 2014, 6.2.1)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from sfumato.core.shown import Floats, Integers, Shown
from sfumato.errors import UsageError
from sfumato.measure.evidence import Evidence, dense
from sfumato.measure.measure import MEASURES, Better, Kind, Reading
from sfumato.measure.queries import workload
from sfumato.measure.uniform import Booleans, Workload, estimate, exact, parts

_ROUNDS = 20  # workloads drawn until there are enough classes
_FULL = 20_000_000  # numbers up to which a table is multiplied as a full one, which is quicker
_PSEUDO = 0.5  # records added to each value of both histograms before their divergence is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class _HistogramDistance:
    """The mean over random classes of the distance between two histograms of sensitive values.

    A class is a random conjunction over ``qd`` quasi-identifiers, drawn as for `query-error`, with at least ``least``
    records of the table. The histogram has a bar for every value that occurs in the table or in the release; the
    release's bars are estimated under the uniform assumption. Of several sensitive attributes, the mean.
    """

    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, None)
    qd: int = 4
    sel: float = 0.05
    classes: int = 1_000
    least: int = 20
    seed: int = 0
    attribute: str | None = None

    def __post_init__(self) -> None:
        if self.qd < 1 or self.classes < 1 or self.least < 1:
            raise UsageError("classes need a predicate, and records", "give qd, classes and least of at least 1")
        if not 0 < self.sel <= 1:
            raise UsageError(f"a selectivity of {self.sel:g} is no share", "give sel above 0 and at most 1")

    def refuses(self, evidence: Evidence) -> str | None:
        """Without sensitive values or without classes there are no histograms."""
        if not evidence.protected:
            return "no attribute is sensitive, so there are no sensitive values to count"
        if not evidence.view.quasi:
            return "there are no quasi-identifiers to make classes of"
        if evidence.records < self.least:
            return f"the table has fewer than {self.least} records, and a class needs as many; try a smaller `least`"
        if not any(chosen.any() for _, chosen in self._classes(evidence)):
            return f"no random class has {self.least} records; try another `sel` or `qd`, or a smaller `least`"
        return None

    def read(self, evidence: Evidence) -> Reading:
        """The mean over classes, with the largest."""
        found = []
        for attribute in evidence.chosen(self.attribute):
            if attribute.name in evidence.shown.values:
                true, guessed = self.histograms(evidence, attribute.name)
                found.append(self.distances(true, guessed))
        distances = np.concatenate(found)
        details = {
            "classes": len(found[0]),
            "median": float(np.median(distances)),
            "largest": float(distances.max()),
        }
        return Reading(value=float(distances.mean()), details=details)

    @staticmethod
    def distances(true: Floats, guessed: Floats) -> Floats:
        """The distance of the two histograms of each class."""
        raise NotImplementedError

    def _key(self) -> str:
        return f"classes qd={self.qd} sel={self.sel!r} n={self.classes} least={self.least} seed={self.seed}"

    def _classes(self, evidence: Evidence) -> list[tuple[Workload, Booleans]]:
        """Workloads, and which of their queries are classes with enough records, as many as are wanted."""
        if self._key() not in evidence.kept:
            found: list[tuple[Workload, Booleans]] = []
            wanted = self.classes
            for turn in range(_ROUNDS):
                asked = workload(
                    evidence, (), qd=self.qd, sel=self.sel, queries=self.classes, seed=self.seed * _ROUNDS + turn
                )
                enough = estimate(exact(evidence), asked) >= self.least - 1e-6
                enough &= np.cumsum(enough) <= wanted
                found.append((asked, enough))
                wanted -= int(enough.sum())
                if not wanted or wanted == self.classes:  # enough, or none at all: more would not help
                    break
            evidence.kept[self._key()] = found
        kept: list[tuple[Workload, Booleans]] = evidence.kept[self._key()]
        return kept

    def histograms(self, evidence: Evidence, name: str) -> tuple[Floats, Floats]:
        """The table's and the release's: (classes, values)."""
        key = f"{self._key()} of={name}"
        classes = self._classes(evidence)
        if key not in evidence.kept:
            codes = np.unique(evidence.column(name))
            evidence.kept[key] = codes, _bars(exact(evidence), name, codes, classes)
        if key not in evidence.found:
            known, bars = evidence.kept[key]
            codes = np.union1d(known, evidence.shown.values[name].counts.indices)
            true = np.zeros((len(bars), len(codes)))
            true[:, np.searchsorted(codes, known)] = bars
            evidence.found[key] = true, _bars(evidence.shown, name, codes, classes)
        true, guessed = evidence.found[key]
        return true, guessed


def _bars(shown: Shown, name: str, codes: Integers, classes: list[tuple[Workload, Booleans]]) -> Floats:
    """How many records of each class have each value."""
    values = shown.values[name]
    shares = csr_array(values.shares()[values.pool])
    at = np.searchsorted(codes, shares.indices)
    table: Any = csr_array((shares.data, at, shares.indptr), shape=(len(shown), len(codes)))
    if len(shown) * len(codes) <= _FULL:
        table = dense(table)
    found = []
    for asked, some in classes:
        bars = np.zeros((asked.queries, len(codes)))
        for block, records in parts(shown, asked):
            bars[block] = records @ table
        found.append(bars[some])
    return np.concatenate(found) / shown.rate


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramDivergence(_HistogramDistance):
    """KL(p ‖ p̂) of the two histograms as distributions, half a record added to every bar of both.

    The addition (Krichevsky & Trofimov 1981) keeps it finite where the release has nothing; a histogram without any
    records becomes the uniform one.
    """

    name: ClassVar[str] = "histogram-kl"
    title: ClassVar[str] = "Histograms, Kullback-Leibler"
    summary: ClassVar[str] = "how far the distribution of sensitive values in random classes is from the true one"
    unit: ClassVar[str] = "nats"

    @staticmethod
    def distances(true: Floats, guessed: Floats) -> Floats:
        """In nats, class by class; what is below 0 counts as 0."""
        p, q = (h + _PSEUDO for h in (true, np.maximum(guessed, 0.0)))
        p, q = (h / h.sum(axis=1, keepdims=True) for h in (p, q))
        return np.asarray(np.maximum((p * np.log(p / q)).sum(axis=1), 0.0))


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramCityBlock(_HistogramDistance):
    """Σ|h − ĥ| over the bars, divided by the class's records in the table; so the size of the class counts too."""

    name: ClassVar[str] = "histogram-city-block"
    title: ClassVar[str] = "Histograms, city block"
    summary: ClassVar[str] = (
        "how many records are counted under a wrong value, or too many or few, in random classes, as a share of them"
    )
    unit: ClassVar[str] = "share"

    @staticmethod
    def distances(true: Floats, guessed: Floats) -> Floats:
        """As shares, class by class."""
        return np.asarray(np.abs(true - guessed).sum(axis=1) / true.sum(axis=1))
