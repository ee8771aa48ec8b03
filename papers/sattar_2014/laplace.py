"""Sattar et al. 2014: Figures 6 and 7, answers of the table itself with Laplace noise beside those read off a release.

Figure 6 is how the paper comes to ε = 0.1: above it more than 30 % of 100,000 answers were left unchanged by noise that
is rounded to whole numbers. Noise does not look at the answer, so that share follows from ε alone: discrete Laplace
noise is 0 with probability tanh(ε/2), and rounded continuous noise with 1 − exp(−ε/2). What an answer of 0 becomes is
another matter, where answers below 0 are published as 0.

Figure 7 asks the queries of Figure 4 with ε = 0.1 each, as the paper does, and small ones with a predicate on all six
quasi-identifiers, since the paper's template may be read so. See `laplace_answers` for what that costs in
all, and `sattar_2014_queries` for the queries.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import atanh, tanh
from pathlib import Path
from typing import ClassVar

import numpy as np

from papers.drawing.panels import Curve, Level, Panels
from papers.figure import FIGURES, Fact, Reproduced, finished
from papers.parallel import side_by_side
from papers.sattar_2014.laplace_answers import apiece, together
from papers.sattar_2014.queries import (
    CAPPED,
    KINDS,
    NARROW,
    QD,
    WORDS,
    Answered,
    error_of,
    panel_of,
    samples_of,
)
from papers.sattar_2014.suppression import CHOSEN, PAPER, SIZES, drafted
from papers.tables.acs import NEEDS, OCCUPATION, SALARY, Sample
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import QueryError
from sfumato.evaluate.measures.query_error import Answers
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.progress import Progress, silent
from sfumato.release.shown import shown_records

EPSILON = Fraction(1, 10)  # the paper's
EPSILONS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "1")
UNCHANGED, QUERIES = 0.3, 100_000
RANGES, POINTS = "ranges and sets, as in Figure 4", "one value of every attribute"
AS_DRAWN, NOT_BELOW = "as drawn", "below 0 published as 0"
ASKED = {RANGES: (QD, 0.05), POINTS: (6, 1e-20)}  # predicates and selectivity: so small a one leaves one value each
ALL, SMALL = (*KINDS, *NARROW), ("small", *NARROW)
APIECE, TOGETHER = f"Laplace, ε = {float(EPSILON):g} a query", f"Laplace, ε = {float(EPSILON):g} for all queries"


@dataclass(frozen=True, slots=True)
class Unchanged:
    """How many answers are the same after noise, over all samples."""

    asked: str
    published: str
    epsilon: str
    queries: int
    unchanged: int
    zeros: int  # true answers that are 0

    @property
    def share(self) -> float:
        """Which part of the answers is unchanged."""
        return self.unchanged / self.queries


@FIGURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SattarFigure6:
    """The share of answers that Laplace noise leaves unchanged, by ε."""

    name: ClassVar[str] = "sattar-6"
    title: ClassVar[str] = "Figure 6: answers that Laplace noise leaves unchanged, by ε"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = NEEDS
    takes: ClassVar[str] = "about 2 minutes"
    data: Path | None = None
    sizes: tuple[int, ...] = SIZES[:1]  # the smallest: noise does not look at the answer
    queries: int = QUERIES

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Ask the samples random queries of two kinds, and add noise for every ε."""
        began = time.monotonic()
        plain = samples_of(self.data, self.sizes, progress)
        each = -(-self.queries // len(plain))
        parts = side_by_side(unchanged, [(one, each) for one in plain], workers, progress, "asking queries")
        found = [_added(some) for some in zip(*parts, strict=True)]
        facts = facts_6(found)
        columns = (*Unchanged.__dataclass_fields__, "share")
        return finished(self, folder, facts, _panel_6(found).save(folder, "unchanged", (found, columns), facts), began)


def unchanged(sample: Sample, queries: int) -> list[Unchanged]:
    """Both kinds of queries of one sample, with noise for every ε."""
    found = []
    evidence = _evidence(sample)
    for asked, (qd, sel) in ASKED.items():
        answers, _ = QueryError(qd=qd, sel=sel, queries=queries).asked(evidence)
        true = np.rint(answers).astype(np.int64)
        zeros = int((true == 0).sum())
        for epsilon in EPSILONS:
            noisy = apiece(true, Fraction(epsilon), answers=queries, source=SecureSource())
            for published, shown in ((AS_DRAWN, noisy), (NOT_BELOW, np.maximum(noisy, 0))):
                found.append(Unchanged(asked, published, epsilon, queries, int((shown == true).sum()), zeros))
    return found


def _added(some: Sequence[Unchanged]) -> Unchanged:
    one = some[0]
    return Unchanged(
        one.asked, one.published, one.epsilon, sum(each.queries for each in some),
        sum(each.unchanged for each in some), sum(each.zeros for each in some),
    )  # fmt: skip


def facts_6(found: Sequence[Unchanged]) -> list[Fact]:
    """The paper's sentence, read in the ways it can be."""
    by = {(one.asked, one.published, one.epsilon): one for one in found}
    at = f"{float(EPSILON):g}"
    plain, clipped = by[RANGES, AS_DRAWN, at], by[POINTS, NOT_BELOW, at]
    least = by[POINTS, NOT_BELOW, EPSILONS[0]]
    from_formula = max(
        abs(one.share - tanh(float(one.epsilon) / 2)) for one in found if one.published == AS_DRAWN
    )  # fmt: skip
    return [
        Fact(
            what=f"answers that are unchanged, ε = {at}", printed="more than 30 % above it",
            ours=f"{100 * plain.share:.1f} % of {plain.queries:,}", agrees=plain.share > UNCHANGED,
            why=f"noise is 0 with probability tanh(ε/2), which is {100 * tanh(float(EPSILON) / 2):.1f} % whatever is "
            f"asked; rounded continuous noise has about the same, and neither reaches 30 % before ε = "
            f"{2 * atanh(UNCHANGED):.2f}",
        ),
        Fact(
            what="the same from the formula, at most so far from it at any ε", printed="(not said)",
            ours=f"{100 * from_formula:.2f} points", agrees=None,
        ),
        Fact(
            what=f"unchanged at ε = {at} if a query has one value of every attribute and answers below 0 become 0",
            printed="(not said)",
            ours=f"{100 * clipped.share:.0f} %, since {100 * clipped.zeros / clipped.queries:.1f} % of the true "
            f"answers are 0; but then also {100 * least.share:.0f} % at ε = {EPSILONS[0]}",
            agrees=None,
        ),
    ]  # fmt: skip


@FIGURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SattarFigure7:
    """Query errors of capped confidence and of answers with Laplace noise, for three kinds of queries."""

    name: ClassVar[str] = "sattar-7"
    title: ClassVar[str] = "Figure 7: query errors of capped confidence and of answers with Laplace noise"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = NEEDS
    takes: ClassVar[str] = "about 2 minutes"
    data: Path | None = None
    sizes: tuple[int, ...] = SIZES
    queries: float = 1.0

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Ask a release of every sample, and the sample itself with noise, the same queries."""
        began = time.monotonic()
        plain = samples_of(self.data, self.sizes, progress)
        given = [(one, self.queries) for one in plain]
        each = side_by_side(with_noise, given, workers, progress, "asking queries")
        found = [one for some in each for one in some]
        facts = facts_7(found)
        columns = tuple(name for name in Answered.__dataclass_fields__ if name != "k")
        return finished(self, folder, facts, _panels_7(found).save(folder, "errors", (found, columns), facts), began)


def with_noise(sample: Sample, queries: float) -> list[Answered]:
    """Our release of one sample, and the sample itself with noise of both scales."""
    evidence = _evidence(sample)
    found = []
    for kind in ALL:
        measure = error_of(kind, queries)
        if measure.refuses(evidence) is not None:
            continue
        read = measure.read(evidence)
        of = (sample.sensitive, sample.records)
        number = read.details["queries"]
        found.append(Answered(*of, CAPPED, None, kind, read.value, read.details["median error"], number))
        answers, asked = measure.asked(evidence)
        true = np.rint(answers[asked]).astype(np.int64)
        for name, noise in ((APIECE, apiece), (TOGETHER, together)):
            noisy = noise(true, EPSILON, answers=number, source=SecureSource())
            errors = Answers(true.astype(np.float64), noisy.astype(np.float64)).errors(np.ones(number, np.bool_))
            found.append(Answered(*of, name, None, kind, float(errors.mean()), float(np.median(errors)), number))
    return found


def _evidence(sample: Sample) -> Evidence:
    """Our release beside the sample."""
    return Evidence(view=sample.view, raw=sample.cells, shown=shown_records(drafted(sample, CHOSEN)))


def facts_7(found: Sequence[Answered]) -> list[Fact]:
    """The paper's sentence on small queries, the other kinds beside it, and one ε for all queries."""
    by = {(one.sensitive, one.records, one.kind, one.release): one for one in found}
    facts = []
    for release in (APIECE, TOGETHER):
        for kind in ALL:
            pairs = [
                (ours.error, by[(*key[:3], release)].error)
                for key, ours in by.items() if key[2:] == (kind, CAPPED)
            ]  # fmt: skip
            if not pairs:
                continue
            higher = sum(noisy > ours for ours, noisy in pairs)
            said = kind in SMALL and release == APIECE
            agrees = higher == len(pairs) if said else None
            facts.append(
                Fact(
                    what=f"{release}: error of {WORDS[kind]} against capped confidence",
                    printed="significantly higher" if said else "a curve" if release == APIECE else "(not said)",
                    ours=f"higher at {higher} of {len(pairs)} points: {_range([n for _, n in pairs])} against "
                    f"{_range([o for o, _ in pairs])}",
                    agrees=agrees, why=_WHY if agrees is False else "",
                )
            )  # fmt: skip
    return facts


_WHY = (
    "with three predicates most small queries count tens to hundreds of records, which noise of scale 10 hardly "
    "changes; the paper does not say how many predicates its queries have, and with six it is as printed"
)


def _range(errors: Sequence[float]) -> str:
    low, high = (
        f"{100 * each:,.0f}" if each >= 1 else f"{100 * each:.2g}" for each in (min(errors), max(errors))
    )  # fmt: skip
    return f"{low} to {high} %"


def _panel_6(found: Sequence[Unchanged]) -> Panels:
    curves = [
        Curve(asked, published, tuple(
            (float(one.epsilon), 100 * one.share) for one in found if (one.asked, one.published) == (asked, published)
        ))
        for asked in ASKED for published in (AS_DRAWN, NOT_BELOW)
    ]  # fmt: skip
    return Panels(
        title=SattarFigure6.title,
        x="ε of each answer",
        y="unchanged answers, %",
        curves=tuple(curves),
        levels=tuple(Level(asked, 100 * UNCHANGED, "30 %: the paper, from ε = 0.1 on", left=True) for asked in ASKED),
        better="",
        ordered=False,
        logarithmic=True,
        ticks=tuple(float(each) for each in EPSILONS),
        zero=True,
        note="The more are unchanged, the less they hide; the fewer, the more they are off. Left, both curves are one.",
    )


def _panels_7(found: Sequence[Answered]) -> Panels:
    curves = []
    for sensitive in (SALARY, OCCUPATION):
        for kind in ALL:
            for release in (CAPPED, APIECE, TOGETHER):
                mine = [o for o in found if (o.sensitive, o.kind, o.release) == (sensitive, kind, release)]
                if mine:
                    points = tuple((one.records / 1000, 100 * one.error) for one in mine)
                    curves.append(Curve(panel_of(sensitive, kind), release, points))
    return Panels(
        title=SattarFigure7.title,
        x="thousand records",
        y="mean relative error, %",
        curves=tuple(curves),
        upwards="log",
        ordered=False,
        columns=4,
        shared=False,
        sizes=(230, 220),
        ticks=tuple(dict.fromkeys(one.records / 1000 for one in found)),
        note="Logarithmic upwards. With ε = 0.1 a query, as in the paper, a thousand answers cost ε = 100 in all.",
    )
