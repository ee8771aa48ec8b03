"""Sattar et al. 2014: Figure 8, histograms of sensitive values in random classes, off a release and with Laplace noise.

The paper "randomly defines some equivalence classes" and does not say how large they are, which decides who is ahead:
noise is the same for every bar, and a release is worse the finer one looks. So there are two kinds of a thousand
classes. Wide ones are random conjunctions over three quasi-identifiers with about a twentieth of the records; narrow
ones are over all six with about a thousandth, which is nearer to the paper's definition of an equivalence group (all
records with the same quasi-identifiers). The noisy histograms have ε = 0.1 each; the bars of one are disjoint, so a
record changes one bar of it by 1. See `laplace_answers`.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from papers.drawing.panels import Curve, Panels
from papers.figure import FIGURES, Fact, Reproduced, finished
from papers.parallel import side_by_side
from papers.sattar_2014.laplace import EPSILON
from papers.sattar_2014.laplace_answers import apiece
from papers.sattar_2014.queries import CAPPED, samples_of
from papers.sattar_2014.suppression import CHOSEN, NAMES, PAPER, SIZES, drafted
from papers.tables.acs import NEEDS, OCCUPATION, SALARY, Sample
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import HistogramCityBlock, HistogramDivergence
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.progress import Progress, silent
from sfumato.release.shown import shown_records

CLASSES = 1_000
WIDE, NARROW = "wide classes", "narrow classes"
KINDS = {WIDE: (3, 0.05), NARROW: (6, 0.001)}  # predicates and selectivity
MEASURES = {"Kullback-Leibler": HistogramDivergence, "city block": HistogramCityBlock}
UNITS = {"Kullback-Leibler": "nats", "city block": "share of the class"}
NOISY = f"Laplace, ε = {float(EPSILON):g} a histogram"


@dataclass(frozen=True, slots=True)
class Apart:
    """How far histograms are from the true ones, the mean over the classes."""

    sensitive: str
    records: int
    release: str
    kind: str
    measure: str
    distance: float
    classes: int
    in_class: float  # records of a class, on average


@FIGURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SattarFigure8:
    """Distances of histograms by capped confidence and with Laplace noise, by the size of the table."""

    name: ClassVar[str] = "sattar-8"
    title: ClassVar[str] = "Figure 8: distances of histograms of sensitive values"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = NEEDS
    takes: ClassVar[str] = "about 2 minutes"
    data: Path | None = None
    sizes: tuple[int, ...] = SIZES
    classes: int = CLASSES

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Draw classes of every sample, and compare their histograms."""
        began = time.monotonic()
        plain = samples_of(self.data, self.sizes, progress)
        given = [(one, self.classes) for one in plain]
        each = side_by_side(apart, given, workers, progress, "comparing histograms")
        found = [one for some in each for one in some]
        facts = facts_of(found)
        files = _panels(found).save(folder, "distances", (found, tuple(Apart.__dataclass_fields__)), facts)
        return finished(self, folder, facts, files, began)


def apart(sample: Sample, classes: int) -> list[Apart]:
    """Both distances of one sample, for both kinds of classes."""
    shown = shown_records(drafted(sample, CHOSEN))
    evidence = Evidence(view=sample.view, raw=sample.cells, shown=shown)
    found = []
    for kind, (qd, sel) in KINDS.items():
        for name, measure in MEASURES.items():
            one = measure(qd=qd, sel=sel, classes=classes, least=1)
            if one.refuses(evidence) is not None:
                continue
            true, guessed, _ = one.histograms(evidence, sample.sensitive)  # records: a bar is one value
            counts = np.rint(true).astype(np.int64)
            noisy = apiece(counts, EPSILON, answers=len(counts), source=SecureSource()).astype(np.float64)
            for release, bars in ((CAPPED, guessed), (NOISY, noisy)):
                found.append(
                    Apart(
                        sample.sensitive, sample.records, release, kind, name,
                        float(one.distances(true, bars).mean()), len(true), float(true.sum(axis=1).mean()),
                    )
                )  # fmt: skip
    return found


def facts_of(found: Sequence[Apart]) -> list[Fact]:
    """The paper's sentence, for both kinds of classes."""
    by = {(one.sensitive, one.records, one.kind, one.measure, one.release): one for one in found}
    facts = []
    for kind in KINDS:
        for measure in MEASURES:
            pairs = [
                (ours, by[(*key[:4], NOISY)]) for key, ours in by.items() if key[2:] == (kind, measure, CAPPED)
            ]  # fmt: skip
            if not pairs:
                continue
            higher = sum(noisy.distance > ours.distance for ours, noisy in pairs)
            sizes = [ours.in_class for ours, _ in pairs]
            facts.append(
                Fact(
                    what=f"{measure}, {kind} ({min(sizes):,.0f} to {max(sizes):,.0f} records on average): noise "
                    "against capped confidence",
                    printed="significantly higher",
                    ours=f"higher at {higher} of {len(pairs)} points: {_range([n.distance for _, n in pairs])} against "
                    f"{_range([o.distance for o, _ in pairs])}",
                    agrees=higher == len(pairs), why="" if higher == len(pairs) else _WHY[kind],
                )
            )  # fmt: skip
    return facts


_WHY = {
    WIDE: "classes of hundreds of records and more have large bars, which noise of scale 10 hardly changes; the "
    "paper's classes are likely to be smaller",
    NARROW: "the larger the sample, the larger the classes, and the less the same noise does",
}


def _range(distances: Sequence[float]) -> str:
    return f"{min(distances):.3g} to {max(distances):.3g}"


def _panels(found: Sequence[Apart]) -> Panels:
    curves, words = [], {}
    for kind in KINDS:
        for measure in MEASURES:
            panel = f"{measure}, {kind}"
            words[panel] = f"mean distance, {UNITS[measure]}"
            for sensitive in (SALARY, OCCUPATION):
                for release in (CAPPED, NOISY):
                    mine = [
                        o for o in found
                        if (o.kind, o.measure, o.sensitive, o.release) == (kind, measure, sensitive, release)
                    ]  # fmt: skip
                    if mine:
                        points = tuple((one.records / 1000, one.distance) for one in mine)
                        curves.append(Curve(panel, f"{NAMES[sensitive]}: {release}", points))
    return Panels(
        title=SattarFigure8.title,
        x="thousand records",
        y=words,
        curves=tuple(curves),
        ordered=False,
        columns=2,
        shared=False,
        sizes=(320, 260),
        ticks=tuple(dict.fromkeys(one.records / 1000 for one in found)),
        upwards="log",
        note="Logarithmic upwards. The paper says that noise is further off, and not how large its classes are.",
    )
