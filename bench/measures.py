"""Query errors, risk and confidence of releases of Adult, and how long each measure takes.

    python -m bench.measures [--repeats 5]

The packaged census table with the seven attributes of Li & Li (KDD 2009): six quasi-identifiers, and the occupation as
the sensitive attribute; for DiffGen the occupation is the class. Queries and classes are drawn from the measures' own
seed, so every release is asked the same. What is random is drawn several times: the mean ± the standard deviation.
"""

import argparse
import os
import tempfile
import time
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from bench.losses import SENSITIVE, seven
from papers.machine import machine
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES
from sfumato.frontier import Point, Sweep, sweep
from sfumato.methods import Mondrian
from sfumato.release.shown import shown_records
from sfumato.study.attribute import Role
from sfumato.study.study import Study
from sfumato.workflow import run_frontier
from sfumato.workflow.evaluate import measuring_view, raw_cells

CLOSE = {"t-closeness": {"t": "0.2", "distance": "js"}}
GROUPS = (
    sweep("mondrian", k=[10, 100, 1000])
    + sweep("mondrian", privacy=CLOSE)
    + sweep("bucketization", privacy=CLOSE)
    + sweep("anatomy", l=4)
    + sweep("capped-confidence", rate="0.9")
)
NOISE = sweep("diffgen", epsilon=["0.1", "1"], h=10)
TABLES = {
    "queries and histograms": (
        "query-error", "query-error-small", "query-error-large", "histogram-kl", "histogram-city-block",
    ),
    "risk": (
        "prosecutor-risk", "records-at-risk", "journalist-risk", "marketer-risk", "sample-uniques", "linked-people",
        "guessed-values",
    ),
    "privacy loss and confidence": ("ploss-li", "mean-ploss-li", "records-over-confidence", "confidence-excess"),
}  # fmt: skip


def compared(study: Study, candidates: Sweep, repeats: int) -> list[Point]:
    """The candidates with all numbers of the tables, and the two ends."""
    names = [name for some in TABLES.values() for name in some]
    with tempfile.TemporaryDirectory() as folder:
        found = run_frontier(study, candidates, measures=names, repeats=repeats, folder=Path(folder))
    return [*found.tried, *found.baselines]


def shown(point: Point, name: str) -> str:
    """A number, with how far draws lie apart."""
    value, spread = point.numbers.get(name), point.spread.get(name)
    if value is None:
        return "–"
    return f"{value:.3f}" if spread is None else f"{value:.3f} ± {spread.deviation:.3f}"


def timed(study: Study) -> None:
    """Print what each measure takes on one release: processor seconds, the first time and once more."""
    view = measuring_view(study)
    cells = raw_cells(study, view)
    release = shown_records(Mondrian(k=10).draft(view, cells))
    kept: dict[str, Any] = {}
    print("\n| measure | first s | again s |\n|---|---|---|")
    for name, kind in zip(MEASURES, MEASURES.values(), strict=True):
        took = []
        for _ in range(2):
            evidence = Evidence(view=view, raw=cells, shown=release, kept=kept)
            began = time.process_time()
            if kind().refuses(evidence) is None:
                kind().read(evidence)
                took.append(f"{time.process_time() - began:.2f}")
        print(f"| `{name}` | {' | '.join(took) if took else 'does not apply | '} |", flush=True)


def main() -> None:
    """Print a table for each kind of measure, and the times."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    with as_file(files("sfumato") / "data" / "adult") as folder:
        study = seven(Path(folder))
        known = {**study.attributes, SENSITIVE: replace(study.attributes[SENSITIVE], role=Role.CLASS)}
        points = compared(study, GROUPS, asked.repeats)
        points[-2:-2] = compared(replace(study, attributes=known), NOISE, asked.repeats)[:-2]
        print(f"{machine()}; load {os.getloadavg()[0]:.1f}; what is random {asked.repeats} times")
        for title, names in TABLES.items():
            print(f"\n| {title} | {' | '.join(f'`{name}`' for name in names)} |\n|---|{'---|' * len(names)}")
            for point in points:
                print(f"| {point.label} | {' | '.join(shown(point, name) for name in names)} |")
        timed(study)


if __name__ == "__main__":
    main()
