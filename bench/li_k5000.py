"""Li & Li's k = 5,000, (Ploss, Uloss) = (0.086, 0.0288): every setting that the paper leaves open, crossed.

    python -m bench.li_k5000

A second implementation of Mondrian, the large populations and both losses, on sets of values and with none of our code
but the packaged table and trees. It crosses how categories are cut (by a tree, or as ordered values in one of six
orders), what the widest attribute is, on which side of a cut the median lies, the bounds of age, what regions are
published, and which trees and ranges of age populations are described by. Takes some minutes.
"""

import itertools
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from papers.machine import machine

Tree = Mapping[str, Sequence[str]]  # a value's ancestors, the root last
Groups = list[tuple[NDArray[np.int64], list[set[Any]]]]  # records, and the values of each attribute's region

QUASI = ("age", "workclass", "education", "marital_status", "race", "sex")
K, MIN_SUP, PRINTED = 5_000, 0.05, (0.086, 0.0288)
AGES = range(17, 91)
YEARS = [
    "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college",
    "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate",
]  # fmt: skip
DOCUMENTED = {  # the order in which the table's documentation lists them
    "workclass": "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    "education": "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters "
    "1st-4th 10th Doctorate 5th-6th Preschool",
    "marital_status": "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent "
    "Married-AF-spouse",
    "race": "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black",
    "sex": "Female Male",
}
COARSE = {  # small trees, as papers of those years draw them
    "workclass": {"Self-emp": "Self-emp-not-inc Self-emp-inc", "Gov": "Federal-gov Local-gov State-gov"}
    | {"Private": "Private", "Unpaid": "Without-pay Never-worked"},
    "education": {"Primary": " ".join(YEARS[:4]), "Secondary": " ".join(YEARS[4:9])}
    | {"College": " ".join(YEARS[9:13]), "Graduate": " ".join(YEARS[13:])},
    "marital_status": {"Alone": "Never-married Widowed", "Left": "Divorced Separated"}
    | {"Spouse": "Married-spouse-absent Married-AF-spouse Married-civ-spouse"},
}
RANGES = ("none", "5, 10, 20", "10, 20, 40", "5, 10, 20, 40", "halves of 0 to 120", "halves of 17 to 90", "≥ and <")


class Table:
    """The records, and what never changes."""

    def __init__(self, folder: Path) -> None:
        found = pq.read_table(folder / "adult.parquet", columns=[*QUASI, "occupation"]).to_pydict()
        whole = [n for n in range(len(found["age"])) if all(found[c][n] not in (None, "?") for c in found)]
        self.columns = [np.array([found[name][n] for n in whole]) for name in QUASI]
        _, self.sensitive = np.unique(np.array([found["occupation"][n] for n in whole]), return_inverse=True)
        self.prior = self.shares(np.arange(len(whole)))
        self.packaged = {name: _read_tree(folder / f"{name}.csv") for name in QUASI[1:]}

    def shares(self, records: NDArray[np.int64]) -> NDArray[np.float64]:
        """The distribution of the sensitive attribute over some records."""
        return np.bincount(self.sensitive[records], minlength=self.sensitive.max() + 1) / len(records)

    def orders(self) -> dict[str, dict[str, list[str]]]:
        """Orders of the values of categories."""
        documented = {name: text.split() for name, text in DOCUMENTED.items()}
        tree = {name: list(of) for name, of in self.packaged.items()}
        often = {}
        for name, column in zip(QUASI[1:], self.columns[1:], strict=True):
            values, counts = np.unique(column, return_counts=True)
            seen = values[np.argsort(-counts)].tolist()
            often[name] = [*seen, *(value for value in documented[name] if value not in seen)]
        return {
            "as documented": documented,
            "as documented, education by years": documented | {"education": YEARS},
            "alphabetical": {name: sorted(values) for name, values in documented.items()},
            "of the tree": tree,
            "of the tree, education by years": tree | {"education": YEARS},
            "by frequency": often,
        }

    def trees(self) -> dict[str, dict[str, Tree]]:
        """Trees of the categories."""
        flat: dict[str, Tree] = {name: dict.fromkeys(of, ("*",)) for name, of in self.packaged.items()}
        small: dict[str, Tree] = {
            name: {value: (node, "*") for node, below in of.items() for value in below.split()}
            for name, of in COARSE.items()
        }
        return {"packaged": dict(self.packaged), "coarse": {**flat, **small}, "flat": flat}


def _read_tree(file: Path) -> dict[str, tuple[str, ...]]:
    lines = [line.split(";") for line in file.read_text(encoding="utf-8").split()]
    return {line[0]: tuple(line[1:]) for line in lines}


def divergence(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """JS with natural logarithms, over the last axis."""
    middle, found = (p + q) / 2, np.zeros(np.broadcast(p, q).shape)
    for one in (p, q):
        part = np.broadcast_to(one, found.shape)
        found += part * np.log(np.divide(part, middle, out=np.ones_like(found), where=part > 0)) / 2
    return np.asarray(found.sum(axis=-1))


def mondrian(codes: NDArray[np.int64], sizes: Sequence[int], trees: Sequence[Any], width: str, side: str) -> Groups:
    """Strict partitioning, the widest attribute first; ``trees`` has a tree of codes, or None to cut an ordered one."""
    todo: Groups = [(np.arange(len(codes)), [set(range(size)) for size in sizes])]
    done: Groups = []
    distinct = [len(np.unique(column)) for column in codes.T]
    while todo:
        records, region = todo.pop()
        for place in _widest(codes[records], region, sizes, trees, width, distinct):
            parts = _parts(codes[records, place], region[place], trees[place], side)
            if len(parts) > 1 and min(int(inside.sum()) for inside, _ in parts) >= K:
                todo += [(records[inside], [*region[:place], values, *region[place + 1 :]]) for inside, values in parts]
                break
        else:
            done.append((records, region))
    return done


def _widest(
    codes: NDArray[np.int64], region: list[set[int]], sizes: Sequence[int], trees: Sequence[Any], width: str,
    distinct: Sequence[int],
) -> list[int]:  # fmt: skip
    found = []
    for place, column in enumerate(codes.T):
        span, different = int(column.max() - column.min()), len(np.unique(column))
        if trees[place] is not None:
            found.append((len(region[place]) - 1) / (sizes[place] - 1))
        elif width == "share of the domain":
            found.append(span / (sizes[place] - 1))
        else:
            found.append({"span": span, "values": different - 1, "share of values": different / distinct[place]}[width])
        if different == 1:
            found[-1] = 0.0
    return [place for place in sorted(range(len(found)), key=lambda n: (-found[n], n)) if found[place] > 0]


def _parts(column: NDArray[np.int64], region: set[int], tree: Any, side: str) -> list[tuple[Any, set[int]]]:
    """The parts of a group by one attribute: the children of its node, or both sides of the median."""
    if tree is not None:
        found = [(np.isin(column, list(values)), values) for values in _children(region, tree)]
        return [(inside, values) for inside, values in found if inside.any()]
    ordered = np.sort(column)
    upto, below = column <= ordered[(len(column) - 1) // 2], column < ordered[len(column) // 2]
    left = {"≤": upto, "<": below, "nearer": min(upto, below, key=lambda one: abs(2 * int(one.sum()) - len(column)))}[
        side
    ]
    if not left.any():
        return []
    cut = int(column[left].max())
    return [(left, {v for v in region if v <= cut}), (~left, {v for v in region if v > cut})]


def _children(region: set[int], tree: Mapping[int, Sequence[str]]) -> list[set[int]]:
    """The values below each child of the lowest node that has children and covers the region."""
    paths = {value: (*reversed(tree[value]), str(value)) for value in region}
    for depth in itertools.count(1):
        below: dict[tuple[str, ...], set[int]] = {}
        for value, path in paths.items():
            below.setdefault(path[:depth], set()).add(value)
        if len(below) > 1 or all(len(path) <= depth for path in paths.values()):
            return list(below.values())
    raise AssertionError("a path ends")


def age_ranges(kind: str) -> list[frozenset[int]]:
    """Ranges of age that populations may have."""
    edges: list[tuple[int, int]] = []
    if kind == "≥ and <":
        edges = [ends for cut in range(20, 90, 5) for ends in ((0, cut), (cut, 121))]
    elif kind.startswith("halves"):
        todo = [(0, 121) if "120" in kind else (17, 91)]
        while todo:
            low, high = todo.pop()
            edges.append((low, high))
            todo += [(low, (low + high + 1) // 2), ((low + high + 1) // 2, high)] if high - low > 1 else []
    elif kind != "none":
        edges = [(low, low + wide) for wide in map(int, kind.split(", ")) for low in range(0, 121, wide)]
    return list({frozenset(age for age in AGES if low <= age < high) for low, high in edges})


def populations(
    table: Table, trees: Mapping[str, Tree], ranges: str
) -> Iterator[tuple[dict[int, frozenset[Any]], Any]]:
    """Conjunctions of nodes, at most one an attribute, that hold for at least 5 % of the records."""
    nodes: list[set[frozenset[Any]]] = [set(age_ranges(ranges))]
    for name in QUASI[1:]:
        below: dict[tuple[str, ...], set[str]] = {}
        for value, above in trees[name].items():
            for depth in range(len(above)):
                below.setdefault((value, *above)[depth:], set()).add(value)
        nodes.append({frozenset(values) for values in below.values()})
    records = len(table.sensitive)
    inside = [[(node, np.isin(c, list(node))) for node in some] for c, some in zip(table.columns, nodes, strict=True)]
    todo: list[tuple[int, dict[int, frozenset[Any]], Any]] = [(0, {}, np.ones(records, np.bool_))]
    while todo:
        place, chosen, here = todo.pop()
        if place == len(QUASI):
            if chosen:
                yield chosen, here
            continue
        todo.append((place + 1, chosen, here))
        for node, held in inside[place]:
            both = here & held
            if MIN_SUP * records <= both.sum() and held.sum() < records:
                todo.append((place + 1, {**chosen, place: node}, both))


def utility_loss(regions: list[list[set[Any]]], counts: Any, found: Sequence[Any], truth: Any, prior: Any) -> float:
    """The mean divergence over populations, under the uniform assumption."""
    weights = np.ones((len(found), len(regions)))
    for place in range(len(QUASI)):
        kept: dict[Any, Any] = {}
        for row, chosen in enumerate(found):
            if (node := chosen.get(place)) is not None:
                if node not in kept:
                    kept[node] = np.array([len(r[place] & node) / len(r[place]) for r in regions])
                weights[row] *= kept[node]
    guessed = weights @ counts
    total = guessed.sum(axis=1, keepdims=True)
    return float(divergence(truth, np.where(total > 0, guessed / np.where(total > 0, total, 1), prior)).mean())


def settings(table: Table) -> Iterator[tuple[str, Groups, NDArray[np.int64], list[Any]]]:
    """Every way to cut that is tried: in words, the groups, the codes and their values."""
    orders, trees = table.orders(), table.trees()
    by_order = itertools.product(orders, ("share of the domain", "span", "values", "share of values"))
    ways: list[tuple[str, str | None, str]] = [(order, None, width) for order, width in by_order]
    ways += [("of the tree", name, "share of the domain") for name in trees]
    for (order, tree, width), side, low in itertools.product(ways, ("≤", "<", "nearer"), (17, 0)):
        values: list[Any] = [list(range(low, 91 if low else 121)), *(orders[order][name] for name in QUASI[1:])]
        place = [{value: code for code, value in enumerate(of)} for of in values]
        codes = np.stack([[p[v] for v in c.tolist()] for p, c in zip(place, table.columns, strict=True)], axis=1)
        cut = [
            None if tree is None or name == "age" else {code: trees[tree][name][v] for code, v in enumerate(values[n])}
            for n, name in enumerate(QUASI)
        ]
        told = f"ordered {order}, widest by {width}" if tree is None else f"{tree} trees"
        groups = mondrian(codes, [len(of) for of in values], cut, width, side)
        yield f"{told}; median {side}; age from {low}", groups, codes, values


def main() -> None:
    """Print how both losses range, and the nearest pairs."""
    with as_file(files("sfumato") / "data" / "adult") as folder:
        table = Table(Path(folder))
    described = {}
    for (name, trees), ranges in itertools.product(table.trees().items(), RANGES):
        each = list(populations(table, trees, ranges))
        truth = np.array([table.shares(np.flatnonzero(held)) for _, held in each])
        described[f"{name} trees, ages {ranges}"] = ([chosen for chosen, _ in each], truth)
        nothing = float(divergence(truth, table.prior[None, :]).mean())
        print(
            f"{len(each):6,} populations by {name} trees, ages {ranges}; nothing published: {nothing:.4f}", flush=True
        )
    pairs: list[tuple[float, float, str, int]] = []
    ways = 0
    for told, groups, codes, values in settings(table):
        ways += 1
        privacy = max(float(divergence(table.shares(records), table.prior)) for records, _ in groups)
        counts = np.array([table.shares(records) * len(records) for records, _ in groups])
        for ranges in ("whole", "tight"):
            regions = [_region(records, region, codes, values, tight=ranges == "tight") for records, region in groups]
            for by, (found, truth) in described.items():
                utility = utility_loss(regions, counts, found, truth, table.prior)
                pairs.append((privacy, utility, f"{told}; {ranges} regions; {by}", len(groups)))
        print(f"\r{ways} ways to cut", end="", file=sys.stderr)
    privacies, utilities = {round(pair[0], 4) for pair in pairs}, {round(pair[1], 4) for pair in pairs}
    exact = [p for p in pairs if (round(p[0], 3), round(p[1], 4)) == PRINTED]
    print(f"\n{machine()}; {ways} ways to cut, {len(pairs):,} settings in all")
    print(f"Ploss {min(privacies)} to {max(privacies)}, Uloss {min(utilities)} to {max(utilities)}; printed {PRINTED}")
    near = sum(round(p, 3) == PRINTED[0] for p in privacies)
    print(f"settings with both printed numbers: {len(exact)}; values of Ploss that round to the printed one: {near}")
    for privacy, utility, told, number in sorted(pairs, key=_apart)[:8]:
        print(f"| {privacy:.4f} | {utility:.4f} | {number} groups | {told} |")


def _region(
    records: NDArray[np.int64], region: list[set[int]], codes: NDArray[np.int64], values: list[Any], *, tight: bool
) -> list[set[Any]]:
    """The values of a group's region; tight ones lie between those that occur."""
    found = []
    for place, covered in enumerate(region):
        column = codes[records, place]
        kept = {code for code in covered if not tight or column.min() <= code <= column.max()}
        found.append({values[place][code] for code in kept})
    return found


def _apart(pair: tuple[float, float, str, int]) -> float:
    return math.hypot(*(one / printed - 1 for one, printed in zip(pair[:2], PRINTED, strict=True)))


if __name__ == "__main__":
    main()
