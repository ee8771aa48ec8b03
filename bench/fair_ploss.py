"""Privacy loss and own-record loss of exact and noisy releases, beside the loss that takes noise at its word.

    python -m bench.fair_ploss [--data ../shared/data] [--table Adult] [--draws 3]

The prior of the noise-aware loss was tuned on the occupations of Adult, so the checks are repeated on COMPAS (the risk
score is sensitive) and on Census-Income (occupation). For each table: the raw records, Mondrian, DiffGen, noisy
contingency tables and staged tables. `--shuffled` takes the same tables with the sensitive values of everybody
permuted, so that nothing but chance tells of anybody. Random releases are means over the draws. COMPAS and
Census-Income are left out where the data folder is absent.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from time import perf_counter
from typing import Any

import numpy as np

from papers.machine import machine
from sfumato.domains.counts import Cells
from sfumato.domains.domain import Categories, Domain, Grid
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import LiWorstPrivacyLoss, MeanPrivacyLoss, OwnRecordLoss, WorstPrivacyLoss
from sfumato.evaluate.measures.own_record_loss import BOUND
from sfumato.methods import ContingencyTable, DiffGen, Mondrian, Staged
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.release.form import FORMS
from sfumato.release.shown import Shown, shown_records
from sfumato.study.attribute import Role
from sfumato.study.file import load_study
from sfumato.study.purpose import tailor
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from sfumato.tables import CodedTable, open_source
from sfumato.tables.arrays.array_counter import ArrayCounter
from sfumato.workflow.sweeping.baselines import everything_published

EPSILONS = ("4", "1", "0.5", "0.1")
SPEC = {  # Adult, occupation: what the prototype gave, one draw each
    "raw": 0.692,
    **dict(zip(("k = 2", "k = 10", "k = 100", "k = 1000"), (0.677, 0.496, 0.295, 0.113), strict=True)),
    **dict(zip((f"diffgen ε = {e}" for e in EPSILONS), (0.374, 0.120, 0.110, 0.092), strict=True)),
}
COLUMNS = (
    "release",
    "`ploss-li`",
    "`ploss`",
    "prototype",
    "`mean-ploss`",
    "`own-record-loss`",
    "bound by ε",
    "seconds",
)
COMPAS = """\
name: compas
source: {path}
attributes:
  sex: {{role: quasi_identifier, values: [Male, Female]}}
  age: {{role: quasi_identifier, type: integer, bounds: [18, 100], step: 1}}
  race: {{role: quasi_identifier, values: [African-American, Asian, Caucasian, Hispanic, Native American, Other]}}
  priors_count: {{role: quasi_identifier, type: integer, bounds: [0, 40], step: 1}}
  c_charge_degree: {{role: quasi_identifier, values: [F, M]}}
  score_text: {{role: sensitive, values: [Low, Medium, High]}}
  two_year_recid: {{role: class, values: ["0", "1"]}}
"""
CENSUS = ("sex", "education", "marital_stat", "race", "class_of_worker", "major_occupation_code")


@dataclass(frozen=True, eq=False)
class Case:
    """A table with its view: quasi-identifiers, one sensitive attribute, a class."""

    name: str
    view: View
    cells: Cells

    def shuffled(self, seed: int) -> "Case":
        """The same with the sensitive values permuted over the records."""
        place = self.cells.attributes.index(self.view.sensitive[0].name)
        rows = np.repeat(self.cells.codes, self.cells.counts, axis=0)
        rows[:, place] = np.random.default_rng(seed).permutation(rows[:, place])
        codes, counts = np.unique(rows, axis=0, return_counts=True)
        return Case(f"{self.name}, shuffled", self.view, Cells(self.cells.attributes, codes, counts))


def cases(data: Path, folder: Path) -> Iterator[Case]:
    """The tables that are there."""
    from importlib.resources import as_file, files  # noqa: PLC0415 - the packaged table alone

    with as_file(files("sfumato") / "data" / "adult") as adult:
        study = load_study(adult / "study.yaml")
        quasi = ("age", "workclass", "education", "marital_status", "race", "sex")
        known = study.attributes
        view = View(
            quasi=tuple(known[name] for name in quasi),
            sensitive=(replace(known["occupation"], role=Role.SENSITIVE),),
            others=(study.target,),
            unit=RecordUnit(),
        )
        with open_source(study.source, base=study.base) as table:
            yield Case("Adult", view, CodedTable(table, view.attributes).full_cells([a.name for a in view.attributes]))
    compas = data / "compas" / "compas_two_years.csv"
    if compas.is_file():
        yield _declared("COMPAS", COMPAS.format(path=compas.resolve()), folder)
        yield _declared("Census-Income", _census(data), folder)


def _census(data: Path) -> str:
    import csv  # noqa: PLC0415 - one table alone
    import gzip  # noqa: PLC0415

    path = (data / "census_kdd" / "occ_view.csv.gz").resolve()
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        seen: dict[str, set[str]] = {name: set() for name in CENSUS}
        for row in csv.DictReader(file):
            for name, values in seen.items():
                values.add(row[name])
    lines = ["name: census", f"source: {path}", "attributes:"]
    lines.append("  age: {role: quasi_identifier, type: integer, bounds: [0, 90], step: 1}")
    for name, found in seen.items():
        role = "sensitive" if name == "major_occupation_code" else "quasi_identifier"
        lines.append(f"  {name}: {{role: {role}, values: {json.dumps(sorted(found))}}}")
    lines.append('  income: {role: class, values: ["-50000", "50000+"]}')
    return "\n".join(lines) + "\n"


def _declared(name: str, text: str, folder: Path) -> Case:
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    study = load_study(folder / f"{name}.yaml")
    view = replace(tailor(study, None, Mondrian.needs), unit=RecordUnit())
    with open_source(study.source, base=study.base) as table:
        return Case(name, view, CodedTable(table, view.attributes).full_cells([a.name for a in view.attributes]))


def shown_noisy(case: Case, method: Any) -> Shown:
    """What a draft of a differentially private method shows."""
    codes = {name: np.repeat(case.cells.codes[:, n], case.cells.counts) for n, name in enumerate(case.cells.attributes)}
    counter = ArrayCounter(codes, {case.view.target.name: len(case.view.classes)})
    draft = method.draft(case.view, counter, Context(accountant=Accountant(method.spends), source=SecureSource()))
    return FORMS[draft.form].shown(draft, case.view, {})


def shown_exact(case: Case, method: Any) -> Shown:
    """What a draft of a partition method shows."""
    return shown_records(method.draft(case.view, case.cells))


def releases(case: Case, draws: int) -> Iterator[tuple[str, list[Shown]]]:
    """Every release of the comparison; a random one several times."""
    yield "raw", [everything_published(case.view, case.cells)]
    for k in (2, 10, 100, 1000):
        yield f"k = {k}", [shown_exact(case, Mondrian(k=k))]
    for epsilon in EPSILONS:
        method = DiffGen(epsilon=epsilon, h=10, post="none")
        yield f"diffgen ε = {epsilon}", [shown_noisy(case, method) for _ in range(draws)]
    for epsilon in EPSILONS:
        method = DiffGen(epsilon=epsilon, h=10)
        yield f"diffgen, class totals, ε = {epsilon}", [shown_noisy(case, method) for _ in range(draws)]
    for epsilon in (*EPSILONS, "0.01"):
        yield (
            f"contingency ε = {epsilon}",
            [shown_noisy(case, ContingencyTable(epsilon=epsilon)) for _ in range(draws)],
        )
    for epsilon in EPSILONS:
        yield f"staged ε = {epsilon}", [shown_noisy(case, Staged(epsilon=epsilon)) for _ in range(draws)]


def row(case: Case, name: str, drafts: list[Shown]) -> str:
    """A release as a line of the table."""
    found = []
    began = perf_counter()
    for shown in drafts:
        evidence = Evidence(view=case.view, raw=case.cells, shown=shown)
        own = OwnRecordLoss().read(evidence)
        found.append(
            (
                LiWorstPrivacyLoss().read(evidence).value if len(shown) else 0.0,
                WorstPrivacyLoss().read(evidence).value,
                MeanPrivacyLoss().read(evidence).value,
                own.value,
                float(own.details.get(BOUND, "nan")),
            )
        )
    seconds = (perf_counter() - began) / len(drafts)
    old, worst, mean, own_loss, bound = (fmean(column) for column in zip(*found, strict=True))
    spec = f"{SPEC[name]:.3f}" if case.name == "Adult" and name in SPEC else "–"
    said = "–" if np.isnan(bound) else f"{bound:.2g}"
    return f"| {name} | {old:.3f} | {worst:.3f} | {spec} | {mean:.4f} | {own_loss:.2g} | {said} | {seconds:.1f} |"


def domain_words(domain: Domain | None) -> str:
    """A domain in a word."""
    return f"{domain.size} {'numbers' if isinstance(domain, Grid) else 'values'}" if domain is not None else ""


def main() -> None:
    """Print a table a case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--table", help="one table alone")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--shuffled", action="store_true", help="with the sensitive values permuted")
    given = parser.parse_args()
    print(machine())
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(given.data, Path(folder)):
            if given.table not in (None, case.name):
                continue
            each = case.shuffled(0) if given.shuffled else case
            sensitive = each.view.sensitive[0]
            assert isinstance(sensitive.domain, Categories), "one of the declared categories"
            of = f"{sensitive.name} ({domain_words(sensitive.domain)})"
            print(f"\n{each.name}: {int(each.cells.counts.sum()):,} records, {of}\n")
            print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
            for name, drafts in releases(each, given.draws):
                print(row(each, name, drafts), flush=True)


if __name__ == "__main__":
    main()
