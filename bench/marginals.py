"""Marginals on Adult, or other tables: how far the synthetic records are from the table, and what they are good for.

Two thirds of the records of a table are released, one third is predicted. Total variation is the mean over all one-way
and two-way marginals of the attributes' groups, of the synthetic records. Queries are 1,000 random conditions on one to
three attributes, each a range of groups; the error of the records' count is in percent of all records, on average.
`tree` is the accuracy of a decision tree on the records. `independent` draws every attribute by itself, from one-way
marginals that have all of ε. AIM (dpmm, δ = 10⁻⁹) runs on the same splits where the interpreter of `--peers` has it; it
takes minutes, so it may get fewer splits, and then lines say what ours gives on those alone. `normal noise and AIM's δ`
is an experiment: `marginals` with the noise of AIM's guarantee, which is weaker (`bench.gaussian_marginals`). Nothing
is seeded but the splits and the queries; `time` is that of the method and of the records, without reading the table.

    python -m bench.marginals [--data ../shared/data] [--splits 5] [--epsilon 0.1,0.5,1] [--table Adult]
                              [--peers PYTHON] [--peer-splits 3]
"""

import argparse
import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.gaussian_marginals import GaussianMarginals
from bench.posts import MOST, tables
from bench.run_peer import chance_by_tree, run_peer
from bench.staged import Codes, by_tree, drafted
from papers.machine import machine
from sfumato.domains.cut import Cut
from sfumato.methods import Marginals
from sfumato.release.draft import Draft
from sfumato.study.view import View

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
QUERIES = 1_000
GROUPS = 20  # of an attribute, at most
GAUSSIAN = "marginals, normal noise and AIM's δ"
KINDS = ("marginals", "independent", GAUSSIAN)


def share(values: Integers, weights: Floats, sizes: list[int]) -> Floats:
    """The distribution of weighted rows over the cells of some attributes."""
    place = np.ravel_multi_index(list(values.T), sizes)
    found: Floats = np.bincount(place, weights=weights, minlength=int(np.prod(sizes))).astype(np.float64)
    return np.asarray(found / weights.sum())


def variation(records: tuple[Integers, Floats], true: Integers, sizes: list[int], ways: int) -> float:
    """The mean total variation of all marginals of so many attributes."""
    ones = np.ones(len(true))
    found = []
    for some in combinations(range(len(sizes)), ways):
        over = [sizes[a] for a in some]
        one, other = share(records[0][:, some], records[1], over), share(true[:, some], ones, over)
        found.append(float(np.abs(one - other).sum()) / 2)
    return fmean(found)


def query_error(records: tuple[Integers, Floats], true: Integers, sizes: list[int], seed: int) -> float:
    """The mean error of random count queries, in percent of all records."""
    rng = np.random.default_rng(seed)
    values, weights = records
    found = []
    for _ in range(QUERIES):
        held, told = np.ones(len(true), dtype=bool), np.ones(len(values), dtype=bool)
        for a in rng.choice(len(sizes), size=int(rng.integers(1, 4)), replace=False).tolist():
            low, high = sorted(rng.integers(0, sizes[a] + 1, 2).tolist())
            high = max(high, low + 1)
            held &= (true[:, a] >= low) & (true[:, a] < high)
            told &= (values[:, a] >= low) & (values[:, a] < high)
        found.append(abs(float(weights[told].sum() / weights.sum()) - float(held.mean())))
    return 100 * fmean(found)


Records = tuple[Integers, Floats]


def distances(records: Records, true: Integers, sizes: list[int], split: int) -> list[float]:
    """Total variation of one-way and two-way marginals, and query error."""
    return [*(variation(records, true, sizes, many) for many in (1, 2)), query_error(records, true, sizes, split)]


def measured(view: View, draft: Draft, train: Codes, test: Codes, split: int) -> list[float]:
    """The distances of the records that a draft has, and a tree's accuracy."""
    groups, cuts = draft.groups, draft.marginals.cuts
    records = np.column_stack([groups.regions, groups.classes]), groups.counts.astype(np.float64)
    found = distances(records, coded(cuts, train), [cut.total for cut in cuts], split)
    return [*found, by_tree(view, draft, test)[0]]


def coded(cuts: Sequence[Cut], codes: Codes) -> Integers:
    """The groups that records lie in; the target is the last column."""
    return np.stack([cut.regions(codes[cut.attribute]) for cut in cuts], axis=1)


def of_peer(python: str, epsilon: str, cuts: Sequence[Cut], train: Codes, test: Codes, split: int) -> list[float]:
    """The same of AIM's records over the same groups, and AIM's seconds."""
    true, asked, sizes = coded(cuts, train), coded(cuts, test), [cut.total for cut in cuts]
    with tempfile.TemporaryDirectory() as folder:
        found = run_peer("AIM", python, epsilon, {"train": true, "test": asked, "sizes": sizes}, Path(folder))
    rows = found["rows"]
    right = (chance_by_tree(rows, asked) > 0.5) == asked[:, -1]  # noqa: PLR2004 - the likelier class
    return [
        *distances((rows, np.ones(len(rows))), true, sizes, split),
        100 * float(np.mean(right)),
        float(found["seconds"]),
    ]


def _method(kind: str, epsilon: str, alone: list[list[str]]) -> Any:
    """Both with the same groups, few enough for the numbers that others print; the method's own default has more."""
    if kind == "marginals":
        return Marginals(epsilon=epsilon, groups=GROUPS)
    if kind == GAUSSIAN:
        return GaussianMarginals(epsilon=epsilon, groups=GROUPS)
    return Alone(epsilon=epsilon, groups=GROUPS, workload=alone)


def lines(name: str, view: View, codes: Codes, epsilon: str, asked: argparse.Namespace) -> list[str]:
    """The rows of a table and an ε, as Markdown."""
    target = view.target.name
    found: dict[str, list[list[float]]] = {kind: [] for kind in KINDS}
    alone = [[a.name] for a in view.attributes]
    cuts: Sequence[Cut] = ()
    for split in range(asked.splits):
        order = np.random.default_rng(split).permutation(len(codes[target]))[:MOST]
        cut = 2 * len(order) // 3
        train = {each: column[order[:cut]] for each, column in codes.items()}
        test = {each: column[order[cut:]] for each, column in codes.items()}
        for kind in KINDS:
            method = _method(kind, epsilon, alone)
            begin = perf_counter()
            draft = drafted(method, view, train)
            cuts = draft.marginals.cuts
            _ = draft.groups
            seconds = perf_counter() - begin
            found[kind].append([*measured(view, draft, train, test, split), seconds])
        if asked.peers and split < asked.peer_splits:
            found.setdefault("AIM", []).append(of_peer(asked.peers, epsilon, cuts, train, test, split))
    if 0 < (few := len(found.get("AIM", ()))) < asked.splits:
        for kind in ("marginals", GAUSSIAN):
            found[f"{kind}, the first {few} splits"] = found[kind][:few]
    return [f"| {name} | {epsilon} | {kind} | {_cells(runs)} |" for kind, runs in found.items()]


class Alone(Marginals):
    """All of ε on one-way marginals: the workload has nothing to join."""

    def _workload(self, cuts: Any, view: View) -> Any:
        found = super()._workload(cuts, view)
        return type(found)(sets=(), candidates=(), weights=())


def _cells(runs: list[list[float]]) -> str:
    columns = list(zip(*runs, strict=True))
    shown = []
    for place, digits in enumerate((4, 4, 3, 1)):
        error = stdev(columns[place]) / len(runs) ** 0.5 if len(runs) > 1 else 0.0
        shown.append(f"{fmean(columns[place]):.{digits}f} ± {error:.{digits}f}")
    return " | ".join([*shown, f"{fmean(columns[4]):.1f} s"])


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--epsilon", default="0.1,0.5,1")
    parser.add_argument("--table", default="Adult", help="this table alone; `all` for every one that is there")
    parser.add_argument("--peers", help="a Python interpreter that has dpmm")
    parser.add_argument("--peer-splits", type=int, default=3)
    given = parser.parse_args()
    print(f"{machine()}; means of {given.splits} splits ± standard error\n")
    print("| table | ε | records from | one-way | two-way | query error % | tree % | time |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, (view, codes) in tables(given.data, Path(folder)):
            if given.table in {"all", name}:
                for epsilon in given.epsilon.split(","):
                    print("\n".join(lines(name, view, codes, epsilon, given)), flush=True)


if __name__ == "__main__":
    main()
