"""Prediction from private releases and by private classifiers of others, on the same splits in the same run.

Two thirds of the records of Adult are released or learnt from, one third is predicted. Ours: `staged` (its plug-in
classifier, and a tree on its synthetic records) and DiffGen (both scores, and at the paper's costs). Peers, where the
interpreter of `--peers` has them: trees on records by MST and AIM (dpmm, δ = 10⁻⁹), DP-EBM (interpret, δ = 10⁻⁶), and
three classifiers of diffprivlib (pure ε). Peers see the atoms of our groupings, which are public parts of each
domain. MST and AIM take minutes, so they may get fewer splits.

    python -m bench.prediction [--peers PYTHON] [--splits 10] [--slow-splits 2] [--epsilon 0.1,1]
"""

import argparse
import tempfile
from pathlib import Path
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from bench.posts import tables
from bench.run_peer import chance_by_tree, run_peer
from bench.staged import SMALL_LEAF, by_tree, drafted, scored
from papers.machine import machine
from papers.mohammed_2011.accuracy import at_papers_costs
from sfumato.methods import DiffGen, Staged
from sfumato.methods.staged.groupings import groupings_of
from sfumato.release.model.plug_in import PlugIn, softmax
from sfumato.tables.arrays.array_counter import ArrayCounter

PEERS = ("MST", "AIM", "DP-EBM", "diffprivlib logistic", "diffprivlib naive Bayes", "diffprivlib forest")
SLOW = ("MST", "AIM")
Scores = dict[str, list[tuple[float, float, float]]]  # accuracy, AUC and seconds of each split


def peer(method: str, python: str, epsilon: str, given: dict[str, Any], folder: Path) -> tuple[float, float, float]:
    """Accuracy, AUC and seconds of a peer."""
    found = run_peer(method, python, epsilon, given, folder)
    truth = given["test"][:, -1]
    chance = found["chance"] if "chance" in found else chance_by_tree(found["rows"], given["test"])
    right = 100 * float(np.mean((chance > 0.5) == truth))  # noqa: PLR2004 - the likelier class
    return right, float(roc_auc_score(truth, chance)), float(found["seconds"])


def split_scores(view: Any, train: Any, test: Any, epsilon: str, found: Scores) -> None:
    """What our own releases of one split score."""
    target = view.target.name

    def add(name: str, score: tuple[float, float], began: float) -> None:
        found.setdefault(name, []).append((*score, perf_counter() - began))

    began = perf_counter()
    staged = drafted(Staged(epsilon=epsilon), view, train)
    chance = softmax(PlugIn(staged.measured.stages).scores(test, len(test[target])))
    add("staged, plug-in", scored(test[target], chance, np.arange(chance.shape[1])), began)
    add("staged, tree", by_tree(view, staged, test, SMALL_LEAF), began)
    for score in ("max", "gini"):
        began = perf_counter()
        draft = drafted(DiffGen(epsilon=epsilon, h=10, score=score), view, train)
        add(f"DiffGen, {score}", by_tree(view, draft, test), began)
    began = perf_counter()
    counter = ArrayCounter(train, {target: len(view.classes)})
    draft = at_papers_costs(DiffGen(epsilon=epsilon, h=10, post="none"), view, counter)
    add("DiffGen, max, at the paper's costs", by_tree(view, draft, test), began)


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--peers", help="a Python interpreter that has dpmm, interpret-core and diffprivlib")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--slow-splits", type=int, default=2)
    parser.add_argument("--epsilon", default="0.1,1")
    asked = parser.parse_args()
    print(f"{machine()}; {asked.splits} splits of Adult (MST, AIM: {asked.slow_splits})\n")
    print("| ε | method | accuracy % ± standard error | AUC | seconds |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as place:
        _, (view, codes) = next(iter(tables(asked.data, Path(place))))
        target = view.target.name
        atoms = [found.atoms for found in groupings_of(view).values()]
        sizes = np.array([*(cut.total for cut in atoms), len(view.classes)])
        ordered = np.array([view.domain(cut.attribute).taxonomy is None for cut in atoms])
        coded = np.column_stack([*(cut.regions(codes[cut.attribute]) for cut in atoms), codes[target]])
        for epsilon in asked.epsilon.split(","):
            found: Scores = {}
            for split in range(asked.splits):
                order = np.random.default_rng(split).permutation(len(codes[target]))
                learn, rest = order[: 2 * len(order) // 3], order[2 * len(order) // 3 :]
                train, test = ({name: column[some] for name, column in codes.items()} for some in (learn, rest))
                split_scores(view, train, test, epsilon, found)
                given = {"train": coded[learn], "test": coded[rest], "sizes": sizes, "ordered": ordered}
                for method in PEERS if asked.peers else ():
                    if method not in SLOW or split < asked.slow_splits:
                        found.setdefault(method, []).append(peer(method, asked.peers, epsilon, given, Path(place)))
            for name, scores in found.items():
                right, area, seconds = (list(column) for column in zip(*scores, strict=True))
                error = stdev(right) / len(right) ** 0.5 if len(right) > 1 else 0.0
                print(
                    f"| {epsilon} | {name} | {fmean(right):.1f} ± {error:.1f} | {fmean(area):.3f} | "
                    f"{fmean(seconds):.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
