"""Releases of Adult that other tools made, beside ours of the same records, measured in the same way.

    python -m bench.peers [--data ../shared/data] [--draws 5]

30,162 records, nine columns. ARX's hierarchies are the taxonomies of the study, so our releases use the same trees.
Everything is measured over eight quasi-identifiers with `salary_class` as the target, which is what privacy loss is
about. ARX made k = 5 hold over all nine columns: so do ours where the table says `nine columns`. These are published
from a study in which `salary_class` is a quasi-identifier too, capped confidence from one in which it is sensitive, and
their CSV files are read as any other tool's. A release that is random is drawn several times; its numbers are means.

`ploss` and `own-record-loss` are those of an adversary who knows the noise; of rows that another tool drew they are not
known, but for the bound on own-record loss that follows from the ε that the tool states. `ploss-li` and `mean-ploss-li`
take synthetic rows and noisy counts at their word, and are known of all: so releases are compared by these. A number of
a utility measure has the mark * if no other release is as good in it and in `ploss-li`, and better in one of the two; °
is the same with `mean-ploss-li`.
"""

import argparse
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import sfumato as sf
from papers.machine import machine
from sfumato.evaluate.beliefs.own_noisy import largest_loss
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.foreign import read_foreign
from sfumato.evaluate.measures import Reading
from sfumato.frontier import Axis, Point, efficient
from sfumato.ledger import open_ledger
from sfumato.release.shown import Shown
from sfumato.workflow import evidence_of_draft, measure
from sfumato.workflow.evaluate import measuring_view, raw_records

FOREIGN = {
    "arx-k5-full-domain-0": False,
    "arx-k5-full-domain-2": False,
    "arx-k5-full-domain-100": False,
    "arx-k5-local-recoding": False,
    "mst-eps1": True,
    "aim-eps1": True,
}  # and whether the rows are synthetic
FAIR = ("ploss", "own-record-loss")
PRIVACY = ("ploss-li", "mean-ploss-li")
STATED = {"mst-eps1": 1.0, "aim-eps1": 1.0}  # ε; their δ is 10⁻⁹, and the bound is that of δ = 0
UTILITY = ("uloss", "query-error", "marginals-1", "marginals-2")
_FILES = {"marital_status": "marital-status", "native_country": "native-country"}
_NAMES = ("education", "marital_status", "native_country", "occupation", "race", "sex", "workclass")
_MARKS = {"ploss-li": "*", "mean-ploss-li": "°"}


def peers_study(data: Path, role: str = "class") -> dict[str, Any]:
    """The fields of the study, with this role of the salary class; for ARX it was a quasi-identifier."""
    trees = data / "adult" / "hierarchies" / "arx"
    quasi = {"role": "quasi_identifier"}
    return {
        "name": f"peers-{role}",
        "source": str(data / "peers" / "adult" / "original.csv.gz"),
        "privacy": {"budget": 1_000},
        "attributes": {
            "age": {
                **quasi, "type": "integer", "bounds": [0, 99],
                "taxonomy": {"intervals": {"width": 5, "levels": 3, "factor": 2, "from": 0}},
            },
            **{
                name: {**quasi, "taxonomy": str(trees / f"adult_hierarchy_{_FILES.get(name, name)}.csv")}
                for name in _NAMES
            },
            "salary_class": {"role": role, "values": ["<=50K", ">50K"]},
        },
    }  # fmt: skip


@dataclass(frozen=True)
class Ours:
    """One of our releases: its method, the role of the salary class in its study, and the share that it samples."""

    method: Any
    role: str = "class"
    rate: float = 1.0


def ours() -> dict[str, Ours]:
    """Our releases by name."""
    found = {}
    for role, over in (("quasi_identifier", "nine columns"), ("class", "eight, target exact")):
        found[f"Mondrian k = 5, {over}"] = Ours(sf.Mondrian(k=5), role)
        found[f"Mondrian k = 5, `choose: loss`, {over}"] = Ours(sf.Mondrian(k=5, choose="loss"), role)
        for share in ("0", "0.02", "1"):
            name = f"full-domain k = 5, at most {float(share):.0%} suppressed, {over}"
            found[name] = Ours(sf.FullDomain(k=5, suppress=share), role)
    found["capped confidence, β = 0.9"] = Ours(sf.ConfidenceCap(rate="0.9"), "sensitive", 0.9)
    found["staged, ε = 1"] = Ours(sf.Staged(epsilon=1))
    found["marginals, ε = 1"] = Ours(sf.Marginals(epsilon=1))
    found["marginals, ε = 1, `groups: 20`"] = Ours(sf.Marginals(epsilon=1, groups=20))
    return found


class Desk:
    """The table, counted once, and how everything is measured."""

    def __init__(self, data: Path, folder: Path) -> None:
        self.data, self.folder = data, folder
        self.studies = {
            role: sf.Study.from_mapping(peers_study(data, role), ledger=open_ledger("memory:"))
            for role in ("class", "quasi_identifier", "sensitive")
        }
        self.declared = self.studies["class"].declared
        self.view = measuring_view(self.declared)
        self.raw = raw_records(self.declared, self.view)
        self.kept: dict[str, Any] = {}
        self.made = 0

    def foreign(self, table: sf.ForeignTable) -> dict[str, float]:
        """The numbers of a table."""
        return self.numbers(read_foreign(self.declared, self.view, table, reorder=False).shown)

    def own(self, release: Ours) -> dict[str, float]:
        """The numbers of a release that is made for it; of another study's, by its CSV file."""
        self.made += 1
        done = self.studies[release.role].release(release.method, out=self.folder / str(self.made), report=False)
        if release.role != "class":
            return self.foreign(sf.ForeignTable(source=done.bundle / "data.csv", rate=release.rate))
        return self.numbers(evidence_of_draft(self.declared, None, done.draft, self.raw, self.view).shown)

    def numbers(self, shown: Shown) -> dict[str, float]:
        """What the measures say; all but those of an adversary who knows the noise apply."""
        evidence = Evidence(view=self.view, raw=self.raw.cells, shown=shown, kept=self.kept)
        found = {}
        for name, one in measure(evidence, (*FAIR, *PRIVACY, *UTILITY)).items():
            assert isinstance(one, Reading) or name in FAIR, f"{name} does not apply"
            # Last bits make no release better than another.
            found[name] = round(one.value, 12) if isinstance(one, Reading) else nan
        return {**found, "regions": float(len(shown)), "suppressed": float(shown.suppressed)}


def averaged(draws: list[dict[str, float]]) -> tuple[dict[str, float], dict[str, float]]:
    """Means, and standard deviations where there are several draws."""
    mean = {name: fmean(draw[name] for draw in draws) for name in draws[0]}
    if len(draws) == 1:
        return mean, {}
    return mean, {name: nan if isnan(mean[name]) else stdev(draw[name] for draw in draws) for name in mean}


def marks(found: Mapping[str, Mapping[str, float]]) -> dict[tuple[str, str], str]:
    """Which releases no other beats, by release and utility measure."""
    said: dict[tuple[str, str], str] = {}
    axes = {name: Axis(name=name, title=name, better="lower") for name in (*PRIVACY, *UTILITY)}
    points = [Point(label=name, series="", family="", numbers=numbers) for name, numbers in found.items()]
    for privacy in PRIVACY:
        for utility in UTILITY:
            for point in efficient(points, axes[privacy], axes[utility]):
                said[point.label, utility] = said.get((point.label, utility), "") + _MARKS[privacy]
    return said


def beaten(found: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, list[str]]]:
    """Where foreign releases beat ours: as good in a privacy and in a utility measure, and better in one of them."""
    said: dict[str, dict[str, list[str]]] = {}
    for name in found:
        if name in FOREIGN:
            continue
        said[name] = {}
        for privacy in PRIVACY:
            by = {utility: _better(found, name, (privacy, utility)) for utility in UTILITY}
            said[name][privacy] = [f"{utility} by {', '.join(others)}" for utility, others in by.items() if others]
    return said


def _better(found: Mapping[str, Mapping[str, float]], name: str, plane: tuple[str, str]) -> list[str]:
    """The foreign releases that are as good in both measures and better in one."""
    mine = [found[name][each] for each in plane]
    theirs = {other: [found[other][each] for each in plane] for other in FOREIGN}
    pairs = {other: list(zip(numbers, mine, strict=True)) for other, numbers in theirs.items()}
    return [other for other, both in pairs.items() if all(a <= b for a, b in both) and any(a < b for a, b in both)]


def _cell(name: str, each: str, value: float, deviation: float | None, best: Mapping[tuple[str, str], str]) -> str:
    """A number with its deviation and marks; what is not known as a dash, or as the bound by a stated ε."""
    if isnan(value):
        bounded = each == "own-record-loss" and name in STATED
        return f"≤ {largest_loss(STATED[name]):.3g}" if bounded else "–"
    return f"{value:.3g}{'' if deviation is None else f' ± {deviation:.1g}'}{best.get((name, each), '')}"


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--draws", type=int, default=5)
    given = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    apart: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(given.data.resolve(), Path(folder))
        for name, synthetic in FOREIGN.items():
            table = sf.ForeignTable(source=desk.data / "peers" / "adult" / f"{name}.csv.gz", synthetic=synthetic)
            found[name] = desk.foreign(table)
        for name, release in ours().items():
            times = given.draws if release.method.needs.random else 1
            found[name], apart[name] = averaged([desk.own(release) for _ in range(times)])
    best = marks(found)
    print(f"{machine()}; {given.draws} draws of random releases\n")
    shown = (*FAIR, *PRIVACY, *UTILITY)
    print(f"| release | regions | suppressed | {' | '.join(shown)} |")
    print("|---" * (3 + len(shown)) + "|")
    for name, numbers in found.items():
        cells = [_cell(name, each, numbers[each], apart.get(name, {}).get(each), best) for each in shown]
        print(f"| {name} | {numbers['regions']:,.0f} | {numbers['suppressed']:,.0f} | {' | '.join(cells)} |")
    print(f"\n| ours | {' | '.join(f'with `{each}` beaten in' for each in PRIVACY)} |\n|---|---|---|")
    for name, by in beaten(found).items():
        print(f"| {name} | {' | '.join('; '.join(by[privacy]) or '–' for privacy in PRIVACY)} |")


if __name__ == "__main__":
    main()
