"""The packaged ICD-9-CM list as a taxonomy: every code once, in its chapter and block, whichever way it is spelled."""

import csv
import gzip
import hashlib
import re
from importlib.resources import files
from pathlib import Path

import pytest

from sfumato.domains.sets.set_domain import MOST_CHILDREN
from sfumato.domains.taxonomy.icd9 import SPELLINGS
from sfumato.domains.taxonomy.text import from_csv, to_csv
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import StudyError
from sfumato.study.file import icd9_taxonomy, parse_taxonomy, taxonomy_to_yaml
from tests.raising import raises_code

PACKAGED = Path(str(files("sfumato") / "data" / "icd9"))
CODES = (PACKAGED / "codes.txt").read_text(encoding="utf-8").split()

# The chapters of the tabular list, typed in from it: not read from the file that is tested.
CHAPTERS = [
    (1, 139), (140, 239), (240, 279), (280, 289), (290, 319), (320, 389), (390, 459), (460, 519), (520, 579),
    (580, 629), (630, 679), (680, 709), (710, 739), (740, 759), (760, 779), (780, 799), (800, 999),
]  # fmt: skip


def above(tree, leaf):
    """The labels from a leaf up to the root."""
    node = next(n for n, label in enumerate(tree.labels) if label == leaf and not tree.kids(n))
    found = []
    while node >= 0:
        found.append(tree.labels[node])
        node = tree.parents[node]
    return found


def dotted(code):
    """Three characters, or four after an E; then a dot and the rest."""
    return re.sub(r"^(E\d{3}|[V\d]\d\d)(.+)$", r"\1.\2", code)


@pytest.fixture(scope="module")
def tree():
    return icd9_taxonomy()


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_code_is_one_leaf(spelling):
    leaves = icd9_taxonomy(spelling).leaves
    want = {
        "plain": CODES,
        "dotted": [dotted(code) for code in CODES],
        "unpadded": [re.sub(r"^0+(?=\d)", "", dotted(code)) for code in CODES],
    }[spelling]
    assert len(set(want)) == len(CODES) == 14_567
    assert len(set(leaves)) == len(leaves)
    assert set(want) <= set(leaves)


def test_the_other_leaves_are_codes_cut_short(tree):
    """A category or four digits with codes below it is a leaf too; nothing else is."""
    known = {dotted(code) for code in CODES}
    begun = {code[:size] for code in known for size in range(len(code))}
    for leaf in set(tree.leaves) - known:
        assert re.fullmatch(r"(\d{3}|V\d\d|E\d{3})(\.\d)?", leaf)
        assert leaf in begun


def test_chapters_are_those_of_the_tabular_list(tree):
    labels = [tree.labels[kid] for kid in tree.kids(0)]
    assert [tuple(map(int, re.findall(r"\d+", label)[:2])) for label in labels[:-2]] == CHAPTERS
    assert [label.split()[0] for label in labels[-2:]] == ["V01-V91", "E000-E999"]
    for chapter in tree.kids(0):
        start, stop = tree.range_of(chapter)
        first, last = re.match(r"([EV]?\d+)-([EV]?\d+) ", tree.labels[chapter]).groups()
        kind = first.rstrip("0123456789")
        for leaf in tree.leaves[start:stop]:
            head = leaf.partition(".")[0]
            assert head.rstrip("0123456789") == kind
            assert int(first.lstrip("EV")) <= int(head.lstrip("EV")) <= int(last.lstrip("EV"))


@pytest.mark.parametrize(
    ("code", "path"),
    [
        ("250.83", ["250.8*", "250.*", "249-259", "240-279", "Any"]),
        ("250.8", ["250.8*", "250.*", "249-259", "240-279", "Any"]),
        ("428", ["428.*", "420-429", "390-459", "Any"]),
        ("428.0", ["428.*", "420-429", "390-459", "Any"]),
        ("042", ["042-042", "001-139", "Any"]),
        ("V57", ["V57.*", "V50-V59", "V01-V91", "Any"]),
        ("V57.3", ["V57.*", "V50-V59", "V01-V91", "Any"]),
        ("E888.0", ["E888.*", "E880-E888", "E000-E999", "Any"]),
    ],
)
def test_codes_of_any_depth_stand_below_their_block(tree, code, path):
    assert [label.split()[0] for label in above(tree, code)[1:]] == path


def test_what_tables_write_is_a_leaf():
    """As in diabetes130: categories alone, cut short, with and without zeros in front."""
    unpadded = set(icd9_taxonomy("unpadded").leaves)
    assert {"250.83", "250.8", "250", "365.44", "428", "8", "41", "V57", "E909", "E888"} <= unpadded
    assert not {"?", "", "008", "Any"} & unpadded


def test_it_goes_through_its_forms_and_back(tree):
    assert from_csv(to_csv(tree)) == tree
    assert parse_taxonomy(to_csv(tree), "icd9.csv") == tree
    small = icd9_taxonomy("plain").nodes().children[3]  # one chapter: YAML of all takes long
    assert parse_taxonomy(taxonomy_to_yaml(Taxonomy.of(small)), "blood.yaml") == Taxonomy.of(small)


def test_no_node_is_too_wide_for_a_set_and_no_label_has_a_comma(tree):
    assert max(len(tree.kids(node)) for node in range(len(tree.labels))) <= MOST_CHILDREN
    assert not [label for label in tree.labels if ", " in label]


def test_an_unknown_spelling_is_refused():
    with raises_code(
        StudyError, "SF-STUDY-018", match=r"no spelling 'roman' of ICD-9 codes\. To fix: use one of: dotted, plain"
    ):
        icd9_taxonomy("roman")


def test_the_sums_in_the_readme_are_right():
    text = (PACKAGED / "README.md").read_text(encoding="utf-8")
    for name in ("blocks.csv", "chapters.csv", "codes.txt"):
        assert f"| `{name}` | `{hashlib.sha256((PACKAGED / name).read_bytes()).hexdigest()}` |" in text


def test_it_is_the_list_it_was_made_from(tree, shared_data):
    """Category, block and chapter of each code, as the source's own columns say."""
    if not (shared_data / "icd9").is_dir():
        pytest.skip("the ICD-9 tables are not there")
    with gzip.open(shared_data / "icd9" / "codes_v32.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    parents = dict(enumerate(tree.parents))
    place = {tree.labels[n]: n for n in range(len(tree.labels)) if not tree.kids(n)}
    chapters = {tree.labels[kid]: str(number) for number, kid in enumerate(tree.kids(0), start=1)}
    assert sorted(row["code"] for row in rows) == sorted(CODES)
    for row in rows:
        up, node = [], place[dotted(row["code"])]
        while node > 0:
            up.append(tree.labels[node])
            node = parents[node]
        assert chapters[up[-1]] == row["chapter"]
        assert up[-2].split()[0] == row["block"]
        assert up[-3].removesuffix(".*") == row["category"]


def test_every_diagnosis_of_a_real_table_is_a_leaf(shared_data):
    if not (shared_data / "diabetes130").is_dir():
        pytest.skip("the diabetes130 table is not there")
    with gzip.open(shared_data / "diabetes130" / "diabetic_data.csv.gz", "rt", encoding="utf-8", newline="") as file:
        found = {row[f"diag_{n}"] for row in csv.DictReader(file) for n in (1, 2, 3)}
    assert found - set(icd9_taxonomy("unpadded").leaves) == {"?"}
