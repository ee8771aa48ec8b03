"""Diagnosis sets of the diabetes130 table: a readmission release at ε = 1 a person, and what it is worth.

The three diagnosis columns are one set of ICD-9 codes, with one of three taxonomies:

    observed  the 916 codes that occur (`diag_hierarchy.csv`), with four groups above the chapters
    icd9      all of ICD-9-CM as it is packaged, spelled as this table does: 19 chapters below the root
    grouped   the same with the four groups above its chapters

A patient may have many encounters; at most three of each take part, so everything runs at ε/3 for
records. The class is whether a patient came back (within 30 days, later, not), declared from the code book, as all
domains are.

    python -m bench.diabetes [--epsilon 1] [--runs 3] [--taxonomy icd9] [--data ../shared/data/diabetes130]
"""

import argparse
import tempfile
import time
from pathlib import Path

import sfumato as sf
from papers.machine import machine
from papers.tables import diabetes as diabetes130
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.study.file import icd9_taxonomy

DATA = Path(__file__).parents[2] / "shared" / "data" / "diabetes130"
CHAPTERS = {"240": "chapter 3", "390": "chapter 7", "460": "chapter 8", "520": "chapter 9", "580": "chapter 10"}
REST = "other diagnoses"
TAXONOMIES = ("observed", "icd9", "grouped")


def taxonomy(name: str, data: Path = DATA) -> Taxonomy:
    """One of the three taxonomies."""
    if name == "observed":
        return diabetes130.taxonomy(data / diabetes130.HIERARCHY)
    whole = icd9_taxonomy("unpadded")
    return whole if name == "icd9" else grouped(whole)


def grouped(whole: Taxonomy) -> Taxonomy:
    """ICD-9 with the four groups above its chapters."""
    below: dict[str, list[Node]] = {}
    for chapter in whole.nodes().children:
        below.setdefault(diabetes130.GROUPS.get(CHAPTERS.get(chapter.label[:3], ""), REST), []).append(chapter)
    return Taxonomy.of(Node("Any", tuple(Node(group, tuple(nodes)) for group, nodes in below.items())))


def study(folder: Path, data: Path = DATA, *, tree: str | None = "observed") -> sf.Study:
    """The study, with its table unpacked into a folder; without a taxonomy it has no diagnoses."""
    attributes: dict[str, object] = dict(diabetes130.ATTRIBUTES)
    if tree is not None:
        attributes[diabetes130.DIAGNOSIS] = {**diabetes130.diagnoses(data), "taxonomy": taxonomy(tree, data)}
    table = diabetes130.unpacked(data, folder)
    return sf.Study.from_mapping(
        {**diabetes130.fields("diabetes", table, attributes, budget="1000"), "ledger": "memory:"}
    )


def main() -> None:
    """Release once by each taxonomy, then measure; print both as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--taxonomy", choices=TAXONOMIES, action="append")
    parser.add_argument("--data", type=Path, default=DATA)
    asked = parser.parse_args()
    trees = asked.taxonomy or TAXONOMIES
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        print(f"{machine()}; {asked.runs} runs a line\n")
        print("| taxonomy | leaves | groups listed | nodes of diagnosis | seconds |\n|---|---|---|---|---|")
        for tree in trees:
            began = time.perf_counter()
            published = study(folder, asked.data, tree=tree).release(
                sf.DiffGen(epsilon=asked.epsilon, h="auto"), out=folder / f"out-{tree}"
            )
            took = time.perf_counter() - began
            cut = next(c for c in published.draft.groups.cuts if c.attribute == "diagnosis")
            print(f"| {tree} | {cut.size:,} | {published.rows:,} | {len(cut.starts)} | {took:.1f} |", flush=True)
        print("\n| taxonomy | method | CA % | BA % | LA % | seconds |\n|---|---|---|---|---|---|")
        for tree in (*trees, None):
            for score, h in (("max", "auto"), ("max", 4), ("gini", "auto")):
                began = time.perf_counter()
                method = sf.DiffGen(epsilon=asked.epsilon, h=h, score=score)
                found = study(folder, asked.data, tree=tree).accuracy(method, runs=asked.runs)
                assert found.ba is not None, "asked for"
                numbers = " | ".join(
                    f"{100 * part.mean:.2f} ± {100 * part.deviation:.2f}" for part in (found.ca, found.ba, found.la)
                )
                took = time.perf_counter() - began
                print(f"| {tree or 'no diagnoses'} | {score}, h = {h} | {numbers} | {took:.1f} |", flush=True)


if __name__ == "__main__":
    main()
