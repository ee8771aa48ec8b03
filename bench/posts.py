"""What post-processing does to totals, class shares and learning: every way of it on the same noisy counts.

Each split draws two thirds of a table, makes DiffGen's cuts and noisy counts of it once for each way (the same ε, other
draws), and compares with the truth: the number of records, the share of the last class, one-way marginals (total
variation distance), and the accuracy and area under the ROC curve of two learners on the last third.

    python -m bench.posts [--data ../shared/data] [--splits 10] [--epsilon 0.1,0.5,1,4] [--table COMPAS]

COMPAS and Census-Income are left out where the data folder is absent.
"""

import argparse
import csv
import gzip
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from papers.machine import machine
from papers.tables.adult import coded_incomes
from sfumato.methods import DiffGen
from sfumato.methods.method import Context
from sfumato.methods.noise.post_processing import POSTS
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.release.draft import Draft
from sfumato.release.features import Features, region_matrix
from sfumato.study.file import load_study
from sfumato.study.purpose import tailor
from sfumato.study.view import View
from sfumato.tables import CodedTable, open_source
from sfumato.tables.arrays.array_counter import ArrayCounter

Codes = Mapping[str, NDArray[np.int64]]
MOST = 60_000  # records of a table that are drawn from
COMPAS = """\
name: compas
source: {path}
attributes:
  sex: {{role: quasi_identifier, values: [Male, Female]}}
  age: {{role: quasi_identifier, type: integer, bounds: [18, 100], step: 1}}
  race: {{role: quasi_identifier, values: [African-American, Asian, Caucasian, Hispanic, Native American, Other]}}
  juv_fel_count: {{role: quasi_identifier, type: integer, bounds: [0, 20], step: 1}}
  juv_misd_count: {{role: quasi_identifier, type: integer, bounds: [0, 20], step: 1}}
  juv_other_count: {{role: quasi_identifier, type: integer, bounds: [0, 20], step: 1}}
  priors_count: {{role: quasi_identifier, type: integer, bounds: [0, 40], step: 1}}
  c_charge_degree: {{role: quasi_identifier, values: [F, M]}}
  two_year_recid: {{role: class, values: ["0", "1"]}}
"""
CENSUS = ("class_of_worker", "education", "marital_stat", "sex", "major_occupation_code", "race", "tax_filer_stat")
CENSUS_NUMBERS = {"age": 90, "weeks_worked_in_year": 52, "capital_gains": 99_999, "dividends_from_stocks": 99_999}


def coded(text: str, folder: Path, name: str) -> tuple[View, Codes]:
    """The records of a study as codes."""
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    study = load_study(folder / f"{name}.yaml")
    view = tailor(study, None, DiffGen.needs)
    with open_source(study.source, base=study.base) as table:
        cells = CodedTable(table, view.attributes, unit=view.unit).full_cells([a.name for a in view.attributes])
    return view, {name: np.repeat(cells.codes[:, place], cells.counts) for place, name in enumerate(cells.attributes)}


def census(data: Path, folder: Path) -> tuple[View, Codes]:
    """Census-Income: 6 % in the class to predict."""
    path = (data / "census_kdd" / "train.csv.gz").resolve()
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        seen: dict[str, set[str]] = {name: set() for name in CENSUS}
        for row in csv.DictReader(file):
            for name, values in seen.items():
                values.add(row[name])
    lines = ["name: census", f"source: {path}", "attributes:"]
    lines += [
        f"  {name}: {{role: quasi_identifier, values: {json.dumps(sorted(found))}}}" for name, found in seen.items()
    ]
    lines += [
        f"  {name}: {{role: quasi_identifier, type: integer, bounds: [0, {most}], step: 1}}"
        for name, most in CENSUS_NUMBERS.items()
    ]
    lines.append('  income: {role: class, values: ["-50000", "50000+"]}')
    return coded("\n".join(lines) + "\n", folder, "census")


def tables(data: Path, folder: Path) -> Iterator[tuple[str, tuple[View, Codes]]]:
    """The tables that are there."""
    yield "Adult", coded_incomes()
    compas = data / "compas" / "compas_two_years.csv"
    if compas.is_file():
        yield "COMPAS", coded(COMPAS.format(path=compas.resolve()), folder, "compas")
        yield "Census-Income", census(data, folder)


LEARNERS: dict[str, Callable[[], Any]] = {
    "tree": lambda: DecisionTreeClassifier(min_weight_fraction_leaf=0.002, random_state=0),
    "logistic": lambda: LogisticRegression(max_iter=300),
}


def measured(view: View, draft: Draft, train: Codes, test: Codes) -> list[float]:
    """Bias of the total (%), of the class's share (points), marginals, then accuracy and AUC by learner."""
    groups, target = draft.groups, view.target.name
    true = np.bincount(train[target], minlength=len(view.classes))
    weights, last = groups.counts.astype(np.float64), len(view.classes) - 1
    total = weights.sum()
    share = weights[groups.classes == last].sum() / max(total, 1.0)
    distances = []
    for place, cut in enumerate(groups.cuts):
        if len(cut.starts) > 1:
            here = np.bincount(cut.regions(train[cut.attribute]), minlength=len(cut.starts)) / true.sum()
            told = np.bincount(groups.regions[:, place], weights=weights, minlength=len(cut.starts)) / max(total, 1.0)
            distances.append(float(np.abs(here - told).sum() / 2))
    found = [100 * (total / true.sum() - 1), 100 * (share - true[last] / true.sum()), fmean(distances or [0.0])]
    features = Features(groups.cuts, tuple(a.domain for a in view.predictors if a.domain is not None))
    learn = features.matrix(groups.regions)
    asked = features.matrix(region_matrix(groups.cuts, [test[a.name] for a in view.predictors]))
    truth = test[target]
    for learner in LEARNERS.values():
        if learn.shape[1] == 0 or len(np.unique(groups.classes)) == 1:
            found += [100 * float(np.mean(truth == np.argmax(true))), 0.5]
            continue
        middle, spread = np.average(learn, axis=0, weights=weights), learn.std(axis=0) + 1e-9
        model = learner().fit((learn - middle) / spread, groups.classes, sample_weight=weights)
        chance = model.predict_proba((asked - middle) / spread)
        right = model.classes_[chance.argmax(axis=1)] == truth
        found += [100 * float(right.mean()), float(roc_auc_score(truth, chance[:, -1]))]
    return found


def compared(view: View, codes: Codes, method: DiffGen, splits: int) -> list[list[float]]:
    """The numbers of one way, over splits that all ways share."""
    target, found = view.target.name, []
    for split in range(splits):
        order = np.random.default_rng(split).permutation(len(codes[target]))[:MOST]
        cut = 2 * len(order) // 3
        train = {name: column[order[:cut]] for name, column in codes.items()}
        test = {name: column[order[cut:]] for name, column in codes.items()}
        counter = ArrayCounter(train, {target: len(view.classes)})
        draft = method.draft(view, counter, Context(accountant=Accountant(method.spends), source=SecureSource()))
        found.append(measured(view, draft, train, test))
    return found


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--epsilon", default="0.1,0.5,1,4")
    parser.add_argument("--table", help="one of the tables, by its name in the result")
    asked = parser.parse_args()
    print(f"{machine()}; DiffGen with score max, means of {asked.splits} splits\n")
    names = " | ".join(f"{name} % | AUC" for name in LEARNERS)
    print(f"| table | ε | h | post | total | class share | marginals | {names} |")
    print("|---|---|---|---|---|---|---|" + "---|" * 2 * len(LEARNERS), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, (view, codes) in tables(asked.data, Path(folder)):
            if asked.table not in (None, name):
                continue
            for epsilon in asked.epsilon.split(","):
                for h in (10, "auto"):
                    for post in POSTS:
                        runs = compared(view, codes, DiffGen(epsilon=epsilon, h=h, post=post), asked.splits)
                        total, share, marginals, *rest = np.mean(runs, axis=0)
                        cells = " | ".join(
                            f"{value:.2f}" if place % 2 == 0 else f"{value:.3f}" for place, value in enumerate(rest)
                        )
                        print(
                            f"| {name} | {epsilon} | {h} | `{post}` | {total:+.1f} % | {share:+.1f} | {marginals:.3f} "
                            f"| {cells} |",
                            flush=True,
                        )


if __name__ == "__main__":
    main()
