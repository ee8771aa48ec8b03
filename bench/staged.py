"""Staged tables beside DiffGen on the same splits: accuracy, AUC, and the error of count queries.

Two thirds of the records of a table are released, one third is predicted. `plug-in` is the classifier that the tables
make, `tree` a decision tree on the synthetic records (with smaller leaves than the others: its labels are
probabilities and have no noise of their own); DiffGen has the better of its scores `max` and `gini` (by accuracy),
with h = 10, and a tree on its counts; raw is a tree on the records themselves, encoded by the groupings of `staged`
at their finest. Queries count records by 1 to 3 random conditions on attributes of one measured table; the error is
that of the single number, relative to the true count or a thousandth of the records. Nothing is seeded but the splits
and the queries.

    python -m bench.staged [--data ../shared/data] [--splits 10] [--epsilon 0.05,0.1,0.25,0.5,1] [--table Adult]
        [--numbers docs/images/staged.json]
"""

import argparse
import csv
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean, stdev
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from bench.posts import MOST, coded, tables
from papers.machine import machine
from papers.tables import diabetes
from sfumato.domains.domain import Categories
from sfumato.methods import DiffGen, Staged
from sfumato.methods.method import Context
from sfumato.methods.staged.groupings import groupings_of
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.release.answer.estimate import query
from sfumato.release.answer.interval import Noise
from sfumato.release.draft import Draft
from sfumato.release.features import Features, region_matrix
from sfumato.release.forms.noisy_counts.count_table import layout_of as counts_layout
from sfumato.release.forms.tables.answer import query as query_tables
from sfumato.release.forms.tables.layout import layout_of as tables_layout
from sfumato.release.model.plug_in import PlugIn, softmax
from sfumato.study.view import View
from sfumato.tables.arrays.array_counter import ArrayCounter

Codes = Mapping[str, NDArray[np.int64]]
QUERIES = 60  # of each split
LEAF = 0.002  # the least share of all weight in a leaf
SMALL_LEAF = 0.0002  # on synthetic records, whose labels are probabilities and have no noise of their own
SMALLEST = 0.001  # of the records: an error is relative to no fewer


ACS = """\
name: acs
source: {path}
attributes:
  age: {{role: quasi_identifier, type: integer, bounds: [16, 99], step: 1}}
  sex: {{role: quasi_identifier, values: ["1", "2"]}}
  education: {{role: quasi_identifier, type: integer, bounds: [1, 24], step: 1}}
  marital: {{role: quasi_identifier, values: ["1", "2", "3", "4", "5"]}}
  race: {{role: quasi_identifier, values: ["1", "2", "3", "4", "5", "6", "7", "8", "9"]}}
  work_class: {{role: quasi_identifier, values: ["1", "2", "3", "4", "5", "6", "7", "8", "9"]}}
  hispanic_origin: {{role: quasi_identifier, type: integer, bounds: [1, 24], step: 1}}
  occupation_group: {{role: quasi_identifier, values: [{groups}]}}
  income: {{role: class, type: integer, bounds: [-20000, 2000000], step: 1, classes: [50001]}}
"""


def all_tables(data: Path, folder: Path) -> Iterator[tuple[str, tuple[View, Codes]]]:
    """Those of `bench.posts`, and two more where the data folder has them: patients without sets, and incomes."""
    yield from tables(data, folder)
    patients = data / "diabetes130" / "diabetic_data.csv.gz"
    if patients.is_file():
        lines = [
            f"  {name}: {json.dumps(fields)}" for name, fields in {**diabetes.ATTRIBUTES, "race": diabetes.RACE}.items()
        ]
        text = f"name: diabetes\nsource: {patients.resolve()}\nattributes:\n" + "\n".join(lines) + "\n"
        yield "Diabetes", coded(text, folder, "diabetes")
    people = data / "acs_pums_2024" / "occ_sal_view.csv.gz"
    if people.is_file():
        with (data / "acs_pums_2024" / "occp_groups.csv").open(encoding="utf-8") as file:
            groups = ", ".join(sorted({row["group"] for row in csv.DictReader(file)}))
        yield "ACS income", coded(ACS.format(path=people.resolve(), groups=groups), folder, "acs")


def drafted(method: Any, view: View, train: Codes) -> Draft:
    """A release of the records that are learnt from."""
    counter = ArrayCounter(train, {view.target.name: len(view.classes)})
    context = Context(accountant=Accountant(method.spends), source=SecureSource())
    found: Draft = method.draft(view, counter, context)
    return found


def scored(truth: NDArray[np.int64], chance: NDArray[np.float64], classes: NDArray[np.int64]) -> tuple[float, float]:
    """Accuracy in percent, and AUC; of more than two classes none."""
    right = 100 * float(np.mean(classes[chance.argmax(axis=1)] == truth))
    two = chance.shape[1] == 2  # noqa: PLR2004 - the area is that of one class against another
    return right, float(roc_auc_score(truth, chance[:, 1])) if two else float("nan")


def by_tree(view: View, draft: Draft, test: Codes, leaf: float = LEAF) -> tuple[float, float]:
    """A tree on the groups or synthetic records of a draft."""
    groups = draft.groups
    features = Features(groups.cuts, tuple(view.domain(a.name) for a in view.predictors))
    asked = features.matrix(region_matrix(groups.cuts, [test[a.name] for a in view.predictors]))
    learn = features.matrix(groups.regions)
    return _tree(learn, groups.classes, groups.counts, asked, test[view.target.name], leaf)


def raw_tree(view: View, train: Codes, test: Codes) -> tuple[float, float]:
    """A tree on the records, by the atoms of the groupings."""
    atoms = tuple(found.atoms for found in groupings_of(view).values())
    features = Features(atoms, tuple(view.domain(cut.attribute) for cut in atoms))
    learn, asked = (features.matrix(region_matrix(atoms, [of[c.attribute] for c in atoms])) for of in (train, test))
    target = view.target.name
    return _tree(learn, train[target], np.ones(len(learn)), asked, test[target])


def _tree(learn: Any, classes: Any, weights: Any, asked: Any, truth: Any, leaf: float = LEAF) -> tuple[float, float]:
    model = DecisionTreeClassifier(min_weight_fraction_leaf=leaf, random_state=0)
    model.fit(learn, classes, sample_weight=weights)
    return scored(truth, model.predict_proba(asked), model.classes_)


def conditions(view: View, names: list[str], rng: np.random.Generator) -> dict[str, tuple[int, int]]:
    """A range of codes for one to three of the attributes."""
    some = rng.choice(names, size=min(len(names), int(rng.integers(1, 4))), replace=False)
    found = {}
    for name in some.tolist():
        size = view.domain(name).size
        if isinstance(view.domain(name), Categories):
            start = int(rng.integers(0, size))
            found[name] = (start, start + 1)
        else:
            start, stop = sorted(rng.integers(0, size + 1, 2).tolist())
            found[name] = (start, max(stop, start + 1))
    return found


def text_of(view: View, asked: Mapping[str, tuple[int, int]]) -> str:
    """The condition as a query."""
    parts = []
    for name, (start, stop) in asked.items():
        domain = view.domain(name)
        if isinstance(domain, Categories):
            leaf = domain.taxonomy.leaves[start].replace("'", "''")
            parts.append(f"'{name}' = '{leaf}'")
        else:
            low, high = (domain.label(code, code + 1) for code in (start, stop - 1))
            parts.append(f"'{name}' >= {low} and '{name}' <= {high}")
    return " and ".join(parts)


def errors(view: View, staged: Draft, diffgen: Draft, train: Codes, seed: int) -> list[tuple[float, float, bool]]:
    """The relative errors of the same queries, and whether the interval of the staged release holds."""
    rng = np.random.default_rng(seed)
    size = len(train[view.target.name])
    own = [[cut.attribute for cut in table.cuts] for table in staged.measured.stages if table.cuts]
    layout, counts = tables_layout(staged), counts_layout(diffgen)
    noise = Noise.of_facts(
        diffgen.facts, groups=float(counts.combinations // len(view.classes)), classes=len(view.classes)
    )
    found = []
    for _ in range(QUERIES):
        asked = conditions(view, own[int(rng.integers(len(own)))], rng)
        true = int(np.all([(train[n] >= a) & (train[n] < b) for n, (a, b) in asked.items()], axis=0).sum())
        one = query_tables(layout, staged.content, text_of(view, asked))
        other = query(counts, diffgen.groups, text_of(view, asked), noise=noise)
        scale = max(true, SMALLEST * size)
        said = [each.count if each.count is not None else (each.low + each.high) / 2 for each in (one, other)]
        found.append((abs(said[0] - true) / scale, abs(said[1] - true) / scale, one.low <= true <= one.high))
    return found


def line(name: str, view: View, codes: Codes, epsilon: str, splits: int) -> tuple[str, list[dict[str, Any]]]:
    """The means over splits that all share, as a row of Markdown and as numbers."""
    target = view.target.name
    found: dict[str, list[tuple[float, float]]] = {"plug-in": [], "tree": [], "max": [], "gini": [], "raw": []}
    asked: list[tuple[float, float, bool]] = []
    seconds = []
    for split in range(splits):
        order = np.random.default_rng(split).permutation(len(codes[target]))[:MOST]
        cut = 2 * len(order) // 3
        train = {each: column[order[:cut]] for each, column in codes.items()}
        test = {each: column[order[cut:]] for each, column in codes.items()}
        begin = perf_counter()
        staged = drafted(Staged(epsilon=epsilon), view, train)
        seconds.append(perf_counter() - begin)
        chance = softmax(PlugIn(staged.measured.stages).scores(test, len(test[target])))
        found["plug-in"].append(scored(test[target], chance, np.arange(chance.shape[1])))
        found["tree"].append(by_tree(view, staged, test, SMALL_LEAF))
        others = {score: drafted(DiffGen(epsilon=epsilon, h=10, score=score), view, train) for score in ("max", "gini")}
        for score, draft in others.items():
            found[score].append(by_tree(view, draft, test))
        found["raw"].append(raw_tree(view, train, test))
        asked += errors(view, staged, others["max"], train, split)
    better = max(("max", "gini"), key=lambda score: fmean(right for right, _ in found[score]))
    cells = [_cell(found[each]) for each in ("plug-in", "tree", better, "raw")]
    one, two, held = (fmean(column) for column in zip(*asked, strict=True))
    row = (
        f"| {name} | {epsilon} | {' | '.join(cells)} | {one:.2f} | {two:.2f} | {100 * held:.1f} % "
        f"| {fmean(seconds):.1f} s |"
    )
    titles = {"plug-in": "staged, its classifier", "tree": "staged, tree on its records", better: "DiffGen, tree"}
    wrong = {"plug-in": one, better: two}
    return row, [
        {
            "table": name,
            "epsilon": epsilon,
            "what": title,
            "accuracy": fmean(right for right, _ in found[each]),
            "auc": fmean(area for _, area in found[each]),
            "query_error": wrong.get(each),
        }
        for each, title in {**titles, "raw": "raw records, tree"}.items()
    ]


def _cell(scores: list[tuple[float, float]]) -> str:
    right = [one for one, _ in scores]
    error = stdev(right) / len(right) ** 0.5 if len(right) > 1 else 0.0
    return f"{fmean(right):.1f} ± {error:.1f} / {fmean(area for _, area in scores):.3f}"


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--epsilon", default="0.05,0.1,0.25,0.5,1")
    parser.add_argument("--table", help="this table alone")
    parser.add_argument("--numbers", type=Path, help="a JSON file for the numbers, which `bench.picture` draws")
    given = parser.parse_args()
    print(f"{machine()}; {given.splits} splits; accuracy % ± standard error / AUC\n")
    print(
        "| table | ε | plug-in | tree on records | DiffGen, tree | raw, tree | query error | of DiffGen | held | time |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    numbers: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (view, codes) in all_tables(given.data, Path(folder)):
            if given.table in {None, name}:
                for epsilon in given.epsilon.split(","):
                    row, more = line(name, view, codes, epsilon, given.splits)
                    numbers += more
                    print(row, flush=True)
    if given.numbers is not None:
        found = {"machine": machine(), "splits": given.splits, "points": numbers}
        given.numbers.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
