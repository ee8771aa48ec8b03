"""Histograms of sensitive values in random classes of people, the table's and a release's (Sattar 2014, 6.2.1)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from sfumato.errors import UsageError
from sfumato.evaluate.evidence import Evidence, dense
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading, Speed
from sfumato.evaluate.measures.query_error import workload
from sfumato.evaluate.uniform_assumption import Booleans, Workload, estimate, exact, parts
from sfumato.release.shown import Floats, Shown

_ROUNDS = 20  # workloads drawn until there are enough classes
_FULL = 10_000_000  # numbers up to which a table is multiplied as a full one, which is quicker
_TOGETHER = 2_000_000  # numbers of histograms that are held at once
_PSEUDO = 0.5  # records added to each value of both histograms before their divergence is taken


@dataclass(frozen=True, slots=True, kw_only=True)
class _HistogramDistance(Measure):
    """The mean over random classes of the distance between two histograms of sensitive values.

    A class is a random conjunction over ``qd`` quasi-identifiers, drawn as for `query-error`, with at least ``least``
    records of the table. The histogram has a bar for every value that occurs in the table or in the release; the
    release's bars are estimated under the uniform assumption. Of several sensitive attributes, the mean.
    """

    name: ClassVar[str]
    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, None)
    speed: ClassVar[Speed] = "slow"
    wide: ClassVar[bool] = True
    qd: int = 4
    sel: float = 0.05
    classes: int = 1_000
    least: int = 20
    seed: int = 0
    attribute: str | None = None

    def __post_init__(self) -> None:
        if self.qd < 1 or self.classes < 1 or self.least < 1:
            raise UsageError(
                "qd, classes and least must be at least 1",
                "give qd, classes and least of at least 1",
                code="SF-USAGE-031",
            )
        if not 0 < self.sel <= 1:
            raise UsageError(
                f"a selectivity of {self.sel:g} is not a share", "give sel above 0 and at most 1", code="SF-USAGE-032"
            )

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs sensitive values, quasi-identifiers and classes with enough records."""
        if not evidence.protected:
            return "no attribute is sensitive"
        if lacking := evidence.unpublished(self.attribute):
            return lacking
        if not evidence.view.quasi:
            return "there are no quasi-identifiers"
        if evidence.records < self.least:
            return f"the table has fewer than {self.least} records; try a smaller `least`"
        if not any(chosen.any() for _, chosen in self._classes(evidence)):
            return f"no random class has {self.least} records; try another `sel` or `qd`, or a smaller `least`"
        return None

    def read(self, evidence: Evidence) -> Reading:
        """The mean over classes, with the largest."""
        names = [a.name for a in evidence.chosen(self.attribute) if a.name in evidence.shown.values]
        found = [self._distances(evidence, name)[self.name] for name in names]
        distances = np.concatenate(found)
        details = {
            "classes": len(found[0]),
            "median": float(np.median(distances)),
            "largest": float(distances.max()),
        }
        return Reading(value=float(distances.mean()), details=details)

    @staticmethod
    def distances(true: Floats, guessed: Floats, many: Floats | None = None) -> Floats:
        """The distance of the two histograms of each class; a bar may be of ``many`` values, with its count each."""
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

    def _distances(self, evidence: Evidence, name: str) -> dict[str, Floats]:
        """Both kinds of distances, by name, since the histograms are the same; some classes at a time."""
        key = f"{self._key()} of={name}"
        if key not in evidence.found:
            found: dict[str, list[Floats]] = {kind.name: [] for kind in (HistogramDivergence, HistogramCityBlock)}
            for true, guessed, many in self._blocks(evidence, name):
                for kind in (HistogramDivergence, HistogramCityBlock):
                    found[kind.name].append(kind.distances(true, guessed, many))
            evidence.found[key] = {kind: np.concatenate(parts) for kind, parts in found.items()}
        distances: dict[str, Floats] = evidence.found[key]
        return distances

    def histograms(self, evidence: Evidence, name: str) -> tuple[Floats, Floats, Floats]:
        """The table's and the release's, (classes, bars), and how many values each bar stands for, with its count each.

        The values of a range that no record of the table has are one bar.
        """
        blocks = list(self._blocks(evidence, name))
        true, guessed = (np.concatenate([block[side] for block in blocks]) for side in (0, 1))
        return true, guessed, blocks[0][2]

    def _blocks(self, evidence: Evidence, name: str) -> Iterator[tuple[Floats, Floats, Floats]]:
        codes, _, _ = evidence.occurring(name)
        over = evidence.shown.values[name].over_ranges()
        within = over.range_of(codes)
        inside = np.flatnonzero(within >= 0)
        rest = over.widths - np.bincount(within[inside], minlength=len(over.starts))
        more = np.flatnonzero(rest > 0)
        many = np.concatenate([np.ones(len(codes)), rest[more]])
        sides = (_Bars.of(exact(evidence), name), _Bars.of(evidence.shown, name))
        step = max(1, _TOGETHER // len(many))
        for asked, some in self._classes(evidence):
            for first in range(0, asked.queries, step):
                last = min(asked.queries, first + step)
                kept = some[first:last]
                if not kept.any():
                    continue
                true, guessed = np.zeros((int(kept.sum()), len(many))), np.zeros((int(kept.sum()), len(many)))
                true[:, : len(codes)] = sides[0].bars(asked, first, last)[kept]  # exact: its values are the codes
                bars = sides[1].bars(asked, first, last)[kept] / over.widths
                guessed[:, inside], guessed[:, len(codes) :] = bars[:, within[inside]], bars[:, more]
                yield true, guessed, many


@dataclass(frozen=True, slots=True, eq=False)
class _Bars:
    """A release, and how the records of each row lie over the ranges of one attribute."""

    shown: Shown
    table: Any  # (rows, ranges), full or sparse

    @classmethod
    def of(cls, shown: Shown, name: str) -> "_Bars":
        values = shown.values[name]
        table = csr_array(values.over_ranges().shares[values.pool])
        return cls(shown, dense(table) if table.shape[0] * table.shape[1] <= _FULL else table)

    def bars(self, asked: Workload, first: int, last: int) -> Floats:
        """How many records that fulfil each of some queries lie in each range."""
        found = np.zeros((last - first, self.table.shape[1]))
        for block, records in parts(self.shown, asked, first, last):
            found[block.start - first : block.stop - first] = records @ self.table
        return found / self.shown.rate


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramDivergence(_HistogramDistance):
    """KL(p ‖ p̂) of the two histograms as distributions, half a record added to every bar of both.

    The addition (Krichevsky & Trofimov 1981) keeps it finite where the release has nothing; a histogram without any
    records becomes the uniform one.
    """

    name: ClassVar[str] = "histogram-kl"
    title: ClassVar[str] = "Histograms, Kullback-Leibler divergence"
    summary: ClassVar[str] = (
        "the divergence between the estimated and the true distribution of sensitive values, averaged over random"
        " subpopulations"
    )
    unit: ClassVar[str] = "nats"

    @staticmethod
    def distances(true: Floats, guessed: Floats, many: Floats | None = None) -> Floats:
        """In nats, class by class; what is below 0 counts as 0."""
        each = np.ones(true.shape[1]) if many is None else many
        p, q = (h + _PSEUDO for h in (true, np.maximum(guessed, 0.0)))
        p, q = (h / (h @ each)[:, None] for h in (p, q))
        return np.asarray(np.maximum((p * np.log(p / q)) @ each, 0.0))


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramCityBlock(_HistogramDistance):
    """Σ|h − ĥ| over the bars, divided by the class's records in the table; so the size of the class counts too."""

    name: ClassVar[str] = "histogram-city-block"
    title: ClassVar[str] = "Histograms, city-block distance"
    summary: ClassVar[str] = (
        "the sum of absolute differences between estimated and true counts of sensitive values, as a share of the"
        " records of the subpopulation, averaged over random subpopulations"
    )
    unit: ClassVar[str] = "share"

    @staticmethod
    def distances(true: Floats, guessed: Floats, many: Floats | None = None) -> Floats:
        """As shares, class by class."""
        each = np.ones(true.shape[1]) if many is None else many
        return np.asarray((np.abs(true - guessed) @ each) / (true @ each))
