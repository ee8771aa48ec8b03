"""Li & Li, *On the Tradeoff Between Privacy and Utility in Data Publishing*, KDD 2009: Figure 2.

Adult's seven attributes, 45,222 records; Mondrian with four requirements, by generalisation and by buckets; minSup is
0.05 (5.1). The paper gives few numbers in its text and the rest as curves; only what the text says is compared.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from papers.figure import FIGURES, Fact, Figure, Reproduced, finished
from papers.tables.adult import occupations
from sfumato.domains.divergence import jensen_shannon
from sfumato.frontier import Frontier, Point, Sweep, sweep
from sfumato.progress import Progress, silent
from sfumato.workflow import run_frontier
from sfumato.workflow.evaluate import measuring_view, raw_cells

PAPER = "Li & Li, On the Tradeoff Between Privacy and Utility in Data Publishing, KDD 2009"
K = (10, 50, 100, 200, 500, 1000, 2000, 5000)
L = ("3", "3.5", "4", "4.25", "4.5", "4.75", "5", "5.5")
T = ("0.075", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4")
DELTA = ("1", "1.2", "1.4", "1.5", "1.7", "1.9", "2", "2.1")
DIVERSE = {"probabilistic-l-diversity": {"l": list(L)}}
CLOSE = {"t-closeness": {"t": list(T), "distance": "js"}}
SEMANTIC = {"delta-disclosure": {"delta": list(DELTA)}}
FILES = ("frontier.html", "frontier.png", "frontier.svg", "frontier.csv")
_CUTS = "the paper names no taxonomies and no rule for cuts on categories; ours are the packaged ones, widest first"
_LARGEST = (
    f"{_CUTS}. No cause was found: of 6,804 settings that the paper leaves open (bench/li_k5000.py) none has both "
    "numbers, and none the printed privacy loss; they go from 0.021 to 0.125 and from 0.0144 to 0.0620, the nearest is "
    "0.0835 and 0.0286"
)
_NEAR = 0.02  # how near two losses are called equal: about the width of a mark in the paper's plots


def requirements() -> Sweep:
    """Figure 2a: 32 generalisations."""
    return (
        sweep("mondrian", k=list(K))
        + sweep("mondrian", privacy=DIVERSE)
        + sweep("mondrian", privacy=CLOSE)
        + sweep("mondrian", privacy=SEMANTIC)
    )


def techniques() -> Sweep:
    """Figure 2b: the same 16 requirements, by generalisation and by buckets."""
    found = Sweep(())
    for method in ("mondrian", "bucketization"):
        found += sweep(method, privacy=DIVERSE) + sweep(method, privacy=CLOSE)
    return found


def of(found: Frontier, method: str, model: str) -> list[Point]:
    """The points of one curve."""
    return [point for point in found.points if point.series == f"{method}: {model}"]


@FIGURES.add
@dataclass(frozen=True, slots=True)
class LiFigure2a:
    """Utility loss against privacy loss for four requirements."""

    name: ClassVar[str] = "li-2a"
    title: ClassVar[str] = "Figure 2a: utility loss against privacy loss, varied privacy requirements"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = ""
    takes: ClassVar[str] = "half a minute"

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Make and measure 32 generalisations."""
        began = time.monotonic()
        found = run_frontier(
            occupations(), requirements(), x="ploss-li", workers=workers, folder=folder, progress=progress
        )
        facts = (*_interpretation(found), *_facts_2a(found))
        return written(self, found, facts, folder, began)


@FIGURES.add
@dataclass(frozen=True, slots=True)
class LiFigure2b:
    """Utility loss against privacy loss, generalisation and bucketization."""

    name: ClassVar[str] = "li-2b"
    title: ClassVar[str] = "Figure 2b: utility loss against privacy loss, generalisation and bucketization"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = ""
    takes: ClassVar[str] = "half a minute"

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Make and measure 16 generalisations and as many bucketizations."""
        began = time.monotonic()
        found = run_frontier(
            occupations(), techniques(), x="ploss-li", workers=workers, folder=folder, progress=progress
        )
        return written(self, found, _facts_2b(found), folder, began)


def written(figure: Figure, found: Frontier, facts: Sequence[Fact], folder: Path, began: float) -> Reproduced:
    """Write plot, table and comparison."""
    folder.mkdir(parents=True, exist_ok=True)
    return finished(figure, folder, facts, [found.save(folder / name) for name in FILES], began)


def _interpretation(found: Frontier) -> list[Fact]:
    """What the text says of the two special cases, and of a value that is revealed."""
    study = occupations()
    view = measuring_view(study)
    cells = raw_cells(study, view)
    domain = view.domain("occupation")
    counts = np.bincount(
        cells.codes[:, cells.attributes.index("occupation")], weights=cells.counts, minlength=domain.size
    )
    revealed = jensen_shannon(np.eye(domain.size), (counts / counts.sum())[None, :])
    facts = []
    for value, printed in (("Armed-Forces", 0.692), ("Craft-repair", 0.488)):
        ours = float(revealed[int(domain.encode([value])[0])])
        facts.append(
            Fact(
                what=f"privacy loss when {value} is revealed",
                printed=f"{printed}",
                ours=f"{ours:.3f}",
                agrees=f"{ours:.3f}" == f"{printed:.3f}",
            )
        )
    nothing, everything = found.baselines
    return [
        *facts,
        Fact(
            what="all quasi-identifiers removed (Ploss, Uloss)", printed="0, 0.05", ours=_pair(nothing),
            agrees=nothing.numbers["ploss-li"] == 0 and round(nothing.numbers["uloss"], 2) == 0.05,  # noqa: PLR2004
        ),
        Fact(
            what="the original table (Ploss, Uloss)", printed="up to 0.692, 0", ours=_pair(everything),
            agrees=round(everything.numbers["ploss-li"], 3) == 0.692 and everything.numbers["uloss"] == 0,  # noqa: PLR2004
        ),
    ]  # fmt: skip


def _facts_2a(found: Frontier) -> list[Fact]:
    sizes, diverse, close, semantic = (
        of(found, "mondrian", model)
        for model in ("k-anonymity", "probabilistic-l-diversity", "t-closeness", "delta-disclosure")
    )
    largest = sizes[-1]
    apart = [abs(largest.numbers[name] - printed) for name, printed in (("ploss-li", 0.086), ("uloss", 0.0288))]
    chosen = found.choose("knee").point
    most = max(point.numbers["uloss"] for point in found.points)
    rightmost = sorted((point.numbers["ploss-li"] for point in diverse), reverse=True)[:2]
    low = sum(point.numbers["uloss"] < 0.02 for point in found.points)  # noqa: PLR2004 - the paper's bound
    return [
        Fact(
            what="k = 5000 (Ploss, Uloss)", printed="0.086, 0.0288", ours=_pair(largest),
            agrees=bool(max(apart) <= _NEAR and apart[1] <= 0.01),  # noqa: PLR2004 - the second axis is finer
            why=_LARGEST,
        ),
        Fact(
            what="t-closeness performs best: nearest to the origin, both axes scaled", printed="better than the others",
            ours=_nearest(found), agrees="t-closeness" in _nearest(found),
        ),
        Fact(
            what="what one would publish", printed="t-closeness with t = 0.075, 0.1 or 0.15",
            ours=f"{chosen.label} (the knee)", agrees=any(chosen is point for point in close[:3]),
        ),
        Fact(
            what="l-diversity does not perform well: none of it is efficient",
            printed="does not perform well", ours=f"{_efficient(found, diverse)} of {len(diverse)} are efficient",
            agrees=_efficient(found, diverse) == 0,
            why="the strictest of them lies left of every other curve" if _efficient(found, diverse) else "",
        ),
        Fact(
            what="semantic privacy does not perform well: few groups", printed="few equivalence classes",
            ours=f"{min(p.facts['rows'] for p in semantic)} to {max(p.facts['rows'] for p in semantic)} groups",
            agrees=max(p.facts["rows"] for p in semantic) < min(p.facts["rows"] for p in close),
        ),
        Fact(
            what="the two rightmost points of l-diversity (Ploss)", printed="above 0.488",
            ours=", ".join(f"{value:.3f}" for value in rightmost),
            agrees=min(rightmost) > 0.488,  # noqa: PLR2004 - the paper's number
            why=_CUTS,
        ),
        Fact(
            what="the largest utility loss of any release", printed="below 0.04", ours=f"{most:.4f}",
            agrees=most < 0.04, why=_CUTS,  # noqa: PLR2004 - the paper's bound
        ),
        Fact(
            what="releases with a utility loss below 0.02", printed="many", ours=f"{low} of {len(found.points)}",
            agrees=low >= len(found.points) / 2,
        ),
    ]  # fmt: skip


def _facts_2b(found: Frontier) -> list[Fact]:
    facts = []
    for model, words in (("probabilistic-l-diversity", "l-diversity"), ("t-closeness", "t-closeness")):
        wide, exact = of(found, "mondrian", model), of(found, "bucketization", model)
        better = sum(b.numbers["uloss"] < a.numbers["uloss"] for a, b in zip(wide, exact, strict=True))
        same = all(a.numbers["ploss-li"] == b.numbers["ploss-li"] for a, b in zip(wide, exact, strict=True))
        times = np.median([a.numbers["uloss"] / b.numbers["uloss"] for a, b in zip(wide, exact, strict=True)])
        facts += [
            Fact(
                what=f"{words}: bucketization has the lower utility loss", printed="better",
                ours=f"lower at {better} of {len(wide)} parameters", agrees=better == len(wide),
            ),
            Fact(
                what=f"{words}: how much lower", printed="substantially",
                ours=f"generalisation loses {times:.1f} times as much (median)", agrees=None,
            ),
            Fact(
                what=f"{words}: privacy loss of both", printed="(not said)",
                ours="the same at every parameter: the same groups" if same else "not the same", agrees=None,
            ),
        ]  # fmt: skip
    return facts


def _efficient(found: Frontier, points: Sequence[Point]) -> int:
    return sum(any(point is one for one in found.efficient) for point in points)


def _nearest(found: Frontier) -> str:
    """The series of the point nearest to no loss at all, with both losses as shares of the worst in the figure."""
    worst = {name: max(point.numbers[name] for point in found.points) for name in ("ploss-li", "uloss")}
    nearest = min(found.points, key=lambda p: sum((p.numbers[name] / most) ** 2 for name, most in worst.items()))
    return nearest.label


def _pair(point: Point) -> str:
    return f"{point.numbers['ploss-li']:.3f}, {point.numbers['uloss']:.4f}"
