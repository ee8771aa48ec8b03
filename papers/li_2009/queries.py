"""Li & Li, KDD 2009: Figure 3, the error of aggregate queries against privacy loss. All releases are bucketized."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from papers.figure import FIGURES, Fact, Reproduced
from papers.li_2009.losses import CLOSE, DIVERSE, PAPER, SEMANTIC, K, of, written
from papers.tables.adult import occupations
from sfumato.evaluate.measures import MEASURES, Measure
from sfumato.frontier import Axis, Frontier, Point, Sweep, sweep
from sfumato.progress import Progress, silent
from sfumato.workflow import run_frontier

SEL = (0.03, 0.05, 0.07, 0.1)
QD = (2, 3, 4, 5)
ERROR = Axis(name="query-error", title="Relative error of counts, mean", better="lower", unit="share")
_QUERIES = "how the paper draws the values of a predicate is not said; ours are ranges of ages and sets of other values"


def buckets() -> Sweep:
    """Figure 3a: the four requirements, all as buckets; k alone promises nothing of buckets, so l = 1 stands beside."""
    return (
        sweep("bucketization", k=list(K), privacy={"distinct-l-diversity": 1})
        + sweep("bucketization", privacy=DIVERSE)
        + sweep("bucketization", privacy=CLOSE)
        + sweep("bucketization", privacy=SEMANTIC)
    )


def error(qd: int = 4, sel: float = 0.05) -> Measure:
    """The measure, with the figure's parameters."""
    found: Measure = MEASURES["query-error"](qd=qd, sel=sel)
    return found


@FIGURES.add
@dataclass(frozen=True, slots=True)
class LiFigure3a:
    """Query error against privacy loss for four requirements."""

    name: ClassVar[str] = "li-3a"
    title: ClassVar[str] = "Figure 3a: query error against privacy loss, varied privacy requirements"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = ""
    takes: ClassVar[str] = "about a minute"

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Make and measure 32 bucketizations."""
        began = time.monotonic()
        found = run_frontier(
            occupations(), buckets(), x="ploss-li", y=error(), workers=workers, folder=folder, progress=progress
        )
        close = of(found, "bucketization", "t-closeness")
        best = min(found.points, key=lambda point: _scaled(found, point))
        most = max(point.numbers[found.y.name] for point in found.points)
        facts = [
            Fact(
                what="a similar pattern as in Figure 2a: nearest to the origin, both axes scaled",
                printed="t-closeness",
                ours=best.label,
                agrees=any(best is point for point in close),
            ),
            Fact(
                what="the largest error", printed="axis to 10 %", ours=f"{100 * most:.1f} %", agrees=most <= 0.1,  # noqa: PLR2004
                why=_QUERIES,
            ),
        ]  # fmt: skip
        return written(self, found, facts, folder, began)


@FIGURES.add
@dataclass(frozen=True, slots=True)
class LiFigure3b:
    """Query error against privacy loss for four selectivities."""

    name: ClassVar[str] = "li-3b"
    title: ClassVar[str] = "Figure 3b: query error against privacy loss, varied query selectivity"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = ""
    takes: ClassVar[str] = "about a minute"

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Make eight bucketizations with t-closeness, and ask four kinds of queries of each."""
        began = time.monotonic()
        kinds = {f"sel = {sel:g}": error(sel=sel) for sel in SEL}
        found = _by_kind(kinds, folder, workers, progress)
        fact = _ordered(found, list(kinds), "a larger sel has the smaller error", "smaller when sel is larger")
        return written(self, found, [fact], folder, began)


@FIGURES.add
@dataclass(frozen=True, slots=True)
class LiFigure3c:
    """Query error against privacy loss for four numbers of predicates."""

    name: ClassVar[str] = "li-3c"
    title: ClassVar[str] = "Figure 3c: query error against privacy loss, varied query dimension"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = ""
    takes: ClassVar[str] = "about a minute"

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Make eight bucketizations with t-closeness, and ask four kinds of queries of each."""
        began = time.monotonic()
        kinds = {f"qd = {qd}": error(qd=qd) for qd in QD}
        found = _by_kind(kinds, folder, workers, progress)
        fact = _ordered(found, list(kinds), "a larger qd has the smaller error", "more accurate as qd increases")
        return written(self, found, [fact], folder, began)


def _by_kind(kinds: dict[str, Measure], folder: Path, workers: int | None, progress: Progress) -> Frontier:
    """One curve a kind of query: the same releases, with another error each."""
    found = run_frontier(
        occupations(),
        sweep("bucketization", privacy=CLOSE),
        x="ploss-li",
        y=next(iter(kinds.values())),
        measures=tuple(kinds.values()),
        workers=workers,
        folder=folder,
        progress=progress,
    )
    names = dict(zip(kinds, [name for name in found.axes if name != "ploss-li"], strict=True))

    def taken(point: Point, kind: str) -> Point:
        numbers = {"ploss-li": point.numbers["ploss-li"], ERROR.name: point.numbers[names[kind]]}
        return replace(point, label=f"{point.label}; {kind}", series=kind, family=kind, numbers=numbers)

    tried = tuple(taken(point, kind) for kind in kinds for point in found.points)
    ends = tuple(
        replace(taken(point, kind), label=point.label) for point in found.baselines for kind in list(kinds)[:1]
    )
    return replace(
        found,
        y=ERROR,
        axes={"ploss-li": found.x, ERROR.name: ERROR},
        tried=tried,
        baselines=ends[1:],
        legend="queries",
        choosable=False,
    )


def _ordered(found: Frontier, kinds: Sequence[str], what: str, printed: str) -> Fact:
    means = []
    for kind in kinds:
        errors = [point.numbers[ERROR.name] for point in found.points if point.series == kind]
        means.append(sum(errors) / len(errors))
    falls = all(after < before for before, after in pairwise(means))
    said = "; ".join(f"{kind}: {100 * mean:.1f} %" for kind, mean in zip(kinds, means, strict=True))
    return Fact(what=what, printed=printed, ours=f"mean over t: {said}", agrees=falls, why=_QUERIES)


def _scaled(found: Frontier, point: Point) -> float:
    """The squared distance from no loss at all, with both losses as shares of the worst in the figure."""
    axes = (found.x.name, found.y.name)
    return sum((point.numbers[name] / max(p.numbers[name] for p in found.points)) ** 2 for name in axes)
