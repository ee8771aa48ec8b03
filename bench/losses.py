"""Privacy and utility loss of k-anonymous releases, beside what Li & Li (KDD 2009) print.

    python -m bench.losses [--min-sup 0.05]

The packaged census table with the paper's seven attributes: six quasi-identifiers, and the occupation as the sensitive
attribute. Prints the tables of docs/reference/measures.md: the releases, and what k = 5,000 comes to under every
combination of settings that the paper leaves open and we tried (all of them are printed).
"""

import argparse
import time
from dataclasses import replace
from fractions import Fraction
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from papers.machine import machine
from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import LiWorstPrivacyLoss, UtilityLoss, large_populations
from sfumato.methods import Mondrian
from sfumato.release.draft import Draft
from sfumato.release.guarantee import SyntacticGuarantee
from sfumato.release.partition import Boxes, Partition
from sfumato.study.attribute import Role
from sfumato.study.file import load_study
from sfumato.study.study import Study
from sfumato.workflow.evaluate import evidence_of_draft, measuring_view, raw_cells

QUASI = ("age", "workclass", "education", "marital_status", "race", "sex")
SENSITIVE = "occupation"
K = (10, 50, 100, 200, 500, 1000, 2000, 5000)
PRINTED = {"nothing published": ("0", "0.05"), "everything published": ("", "0"), "k = 5,000": ("0.086", "0.0288")}


def seven(folder: Path) -> Study:
    """The packaged study with the paper's attributes and roles."""
    declared = load_study(folder / "study.yaml")
    roles = {**dict.fromkeys(QUASI, Role.QUASI_IDENTIFIER), SENSITIVE: Role.SENSITIVE}
    chosen = {name: replace(declared.attributes[name], role=role) for name, role in roles.items()}
    return replace(declared, attributes=chosen)


def with_age(study: Study, lower: int, upper: int) -> Study:
    """The same study with other bounds of age; the table has ages from 17 to 90, the 74 values of the paper."""
    age = study.attributes["age"]
    assert isinstance(age.domain, Grid), "age is a number"
    domain = replace(age.domain, lower=Fraction(lower), upper=Fraction(upper))
    return replace(study, attributes={**study.attributes, "age": replace(age, domain=domain)})


def with_flat_trees(study: Study) -> Study:
    """The same study with every value right below the root."""
    found = dict(study.attributes)
    for name in QUASI:
        domain = found[name].domain
        if isinstance(domain, Categories):
            leaves = tuple(Node(leaf) for leaf in domain.taxonomy.leaves)
            found[name] = replace(found[name], domain=Categories(taxonomy=Taxonomy.of(Node("Any", leaves))))
    return replace(study, attributes=found)


def left_open(study: Study, min_sup: float) -> None:
    """Print k = 5,000 under settings that the paper does not tell."""
    wide, narrow = "age 0 to 120, packaged trees", "age 17 to 90, packaged trees"
    studies = {wide: study, narrow: with_age(study, 17, 90)}
    studies["age 17 to 90, flat trees"] = with_flat_trees(studies[narrow])
    settings: dict[str, dict[str, Any]] = {
        "default": {},
        "`ranges: partition`": {"ranges": "partition"},
        "`strict: false`": {"strict": False},
        "`ordered: all`": {"ordered": "all"},
        "`choose: loss`": {"choose": "loss"},
    }
    print("\n| domains | Mondrian | groups | populations | Ploss | Uloss |\n|---|---|---|---|---|---|")
    for domains, one in studies.items():
        view = measuring_view(one)
        cells = raw_cells(one, view)
        kept: dict[str, Any] = {}
        for told, parameters in settings.items():
            draft = Mondrian(k=K[-1], **parameters).draft(view, cells)
            beside = evidence_of_draft(one, None, draft, cells, view, kept=kept)
            utility = UtilityLoss(min_sup=min_sup).read(beside)
            privacy = LiWorstPrivacyLoss().read(beside).value
            many = utility.details["populations"]
            print(f"| {domains} | {told} | {len(beside.shown)} | {many:,} | {privacy:.3f} | {utility.value:.4f} |")


def main() -> None:
    """Print a row a release."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--min-sup", type=float, default=0.05, help="the least share of records of a population")
    given = parser.parse_args()
    with as_file(files("sfumato") / "data" / "adult") as folder:
        study = seven(Path(folder))
        report(study, given.min_sup)
        left_open(study, given.min_sup)


def report(study: Study, min_sup: float) -> None:
    """Print the releases with the paper's numbers, and how long populations and one release take."""
    view = measuring_view(study)
    cells = raw_cells(study, view)
    kept: dict[str, Any] = {}

    def evidence(draft: Draft) -> Evidence:
        return evidence_of_draft(study, None, draft, cells, view, kept=kept)

    def records(form: str, partition: Partition) -> Draft:
        return Draft(view=view, content=partition, form=form, guarantee=SyntacticGuarantee(()))

    sizes = np.array([[view.domain(name).size for name in QUASI]])
    nothing = Partition(cells, np.zeros(len(cells), np.int64), Boxes(QUASI, np.zeros_like(sizes), sizes))
    exact = cells.codes[:, : len(QUASI)]
    everything = Partition(cells, np.arange(len(cells)), Boxes(QUASI, exact, exact + 1))
    drafts = {
        "nothing published": records("generalised", nothing),
        **{f"k = {k:,}": Mondrian(k=k).draft(view, cells) for k in reversed(K)},
        "everything published": records("bucketized", everything),
    }
    begin = time.perf_counter()
    found = large_populations(evidence(drafts["nothing published"]), min_sup)
    print(f"{machine()}; {cells.counts.sum():,} records")
    print(f"{len(found):,} populations of at least {min_sup:g}, found in {time.perf_counter() - begin:.2f} s")
    UtilityLoss(min_sup=min_sup).read(evidence(drafts["nothing published"]))  # counts the true distributions
    print("| release | groups | Ploss | Uloss | the paper's | Uloss takes |\n|---|---|---|---|---|---|")
    for name, draft in drafts.items():
        beside = evidence(draft)
        begin = time.perf_counter()
        utility = UtilityLoss(min_sup=min_sup).read(beside).value
        took = time.perf_counter() - begin
        privacy = LiWorstPrivacyLoss().read(beside).value
        printed = ", ".join(filter(None, PRINTED.get(name, ())))
        print(f"| {name} | {len(beside.shown):,} | {privacy:.3f} | {utility:.4f} | {printed} | {took:.2f} s |")


if __name__ == "__main__":
    main()
