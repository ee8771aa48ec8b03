"""Sets of codes through the whole command line; numbers beside a plain computation (`tests/workflow/plain_sets`)."""

import csv

import numpy as np
import pytest

from sfumato.release.release import Release
from tests.workflow import plain_sets as plain
from tests.workflow.plain_sets import ILLS, LEAVES, WARDS

pytestmark = pytest.mark.usefixtures("seeded")

SIZE = 240
STUDY = """\
name: clinic
source: visits.csv
privacy: {unit: record, budget: 1000}
attributes:
  ward: {role: quasi_identifier, values: [a, b, c]}
  codes: {role: quasi_identifier, type: set, separator: "+", level: 2, taxonomy: codes.csv}
  ill: {role: ROLE, values: [flu, cold, gout]}
releases:
  full: {method: full-domain, k: 3, suppress: 0.3}
  k3: {method: mondrian, k: 3, suppress: 0.3}
  dp: {method: diffgen, epsilon: 20, h: 3}
sweeps:
  few:
    - {method: full-domain, k: [3, 9], suppress: 0.3}
    - {method: mondrian, k: 3}
"""


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(17)
    held = rng.random((SIZE, len(LEAVES))) < [0.5, 0.2, 0.05, 0.3, 0.1, 0.05, 0.02]
    return [
        (str(rng.choice(WARDS)), frozenset(np.array(LEAVES)[row].tolist()), str(rng.choice(ILLS, p=[0.6, 0.3, 0.1])))
        for row in held
    ]


def table(path, records):
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["ward", "codes", "ill"])
        rows.writerows([ward, " + ".join(sorted(codes)), ill] for ward, codes, ill in records)


@pytest.fixture
def clinic(tmp_path, monkeypatch, records):
    """A folder with the table, its codes, and two studies: the illness is sensitive in one, the class in the other."""
    monkeypatch.chdir(tmp_path)
    table(tmp_path / "visits.csv", records)
    lines = [f"{leaf};{node};Any" for node, below in plain.TREE["Any"].items() for leaf in below]
    (tmp_path / "codes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "study.yaml").write_text(STUDY.replace("ROLE", "sensitive"), encoding="utf-8")
    (tmp_path / "dp.yaml").write_text(STUDY.replace("ROLE", "class").replace("clinic", "counts"), encoding="utf-8")
    return tmp_path


def published(run, study, name, *options):
    made = run("release", study, name, "--out", name, "--json", *options)
    assert made.code == 0, made.err
    assert run("verify", name).code == 0
    release = Release.open(name)
    return release, plain.rows_of(release, "ill")


def test_check_and_plan_know_sets(clinic, run, records):
    assert run("check", "study.yaml").code == 0
    table(clinic / "visits.csv", [*records, ("a", frozenset(["zz"]), "flu")])
    strange = run("check", "study.yaml")
    assert "'codes'" in strange.out and "zz" in strange.out
    planned = run("plan", "study.yaml", "full")
    assert "codes (to sets of nodes of its taxonomy)" in planned.out and "'codes' (3)" in planned.out
    assert "Nothing below level 2 of the taxonomy" in planned.out
    assert run("plan", "dp.yaml", "dp").code == 0


@pytest.mark.parametrize(("study", "name"), [("study.yaml", "full"), ("study.yaml", "k3"), ("dp.yaml", "dp")])
def test_a_release_is_measured(clinic, run, records, study, name):
    _, rows = published(run, study, name, "--no-report")
    found = run("evaluate", "measures", name, "--against", study, "--json")
    assert found.code == 0, found.err
    said = {one["name"]: one for one in found.json["measures"]}
    worst, mean = plain.ploss(rows, records)
    assert said["ploss-li"]["value"] == pytest.approx(worst) and said["mean-ploss-li"]["value"] == pytest.approx(mean)
    loss, many = plain.uloss(rows, records, 2, 0.05)
    assert said["uloss"]["value"] == pytest.approx(loss) and said["uloss"]["details"]["populations"] == many
    refused = {one["name"] for one in said.values() if one["refused"]}
    assert refused >= {"population-uniques"} and len(said) - len(refused) >= 15
    if name != "dp":
        assert refused <= {"population-uniques", "classification-loss", "classification-metric", "query-error-small"}
    words = run("evaluate", "measures", name, "--against", study, "--only", "uloss")
    assert words.code == 0 and "uloss" in words.out and "never publish" in words.err


@pytest.mark.parametrize(("study", "name"), [("study.yaml", "full"), ("dp.yaml", "dp")])
def test_people_are_looked_up(clinic, run, records, study, name):
    _, rows = published(run, study, name, "--no-report")
    people = plain.linked(rows, records)
    found = run("evaluate", "link", name, "--against", study, "--json").json
    assert found["people"] == SIZE
    assert found["found"] == pytest.approx(sum(many > 0 for many, _, _ in people) / SIZE)
    assert found["unique"] == pytest.approx(sum(0 < many <= 1 for many, _, _ in people) / SIZE)
    # Somebody else's table: one who is published, and one with codes that nobody here has.
    other = ("b", frozenset(LEAVES), "gout")
    table(clinic / "known.csv", [records[0], other])
    known = run("evaluate", "link", name, "--against", study, "--with", "known.csv", "--json").json
    near = [plain.linked(rows, [one])[0][0] for one in (records[0], other)]
    assert known["people"] == 2 and known["found"] == pytest.approx(sum(many > 0 for many in near) / 2)
    (clinic / "known.csv").write_text("ward,ill\na,flu\n", encoding="utf-8")
    lacking = run("evaluate", "link", name, "--against", study, "--with", "known.csv")
    assert lacking.code != 0 and "lacks quasi-identifiers of the release: codes" in lacking.err


def test_two_releases_are_intersected(clinic, run, records):
    alone = [plain.linked(published(run, "study.yaml", name, "--no-report")[1], records) for name in ("full", "k3")]
    found = run("evaluate", "intersect", "full", "k3", "--against", "study.yaml", "--k", "4", "--json")
    assert found.code == 0, found.err
    both = [(a[1], b[1]) for a, b in zip(*alone, strict=True) if a[0] > 0 and b[0] > 0]
    left = [[min(n, b[value]) for value, n in a.items() if b.get(value)] for a, b in both]
    assert found.json["in_both"] == len(both)
    assert found.json["below_k"] == pytest.approx(sum(sum(values) < 4 - 1e-9 for values in left) / len(both))
    assert found.json["one_value"] == pytest.approx(sum(len(values) == 1 for values in left) / len(both))
    assert "candidates in both releases" in run("evaluate", "intersect", "full", "k3", "--against", "study.yaml").out


@pytest.mark.parametrize(("study", "name"), [("study.yaml", "full"), ("study.yaml", "k3"), ("dp.yaml", "dp")])
def test_a_bundle_is_asked_what_sets_contain(clinic, run, study, name):
    _, rows = published(run, study, name, "--no-report")
    for text, wish in (("codes contains 31", plain.UNDER["31"]), ("codes contains 1*", plain.UNDER["1*"])):
        guess = sum(row.weight * plain.chance(row.codes, wish) for row in rows)
        assert run("query", name, text, "--json").json["count"] == pytest.approx(guess)
    unknown = run("query", name, "codes contains 33")
    assert unknown.code != 0 and "'codes' has no value '33'" in unknown.err


def test_the_table_is_asked_about_other_attributes(clinic, run, records):
    answer = run("ask", "dp.yaml", "ward = a", "--epsilon", "50", "--json").json
    assert answer["count"] == pytest.approx(sum(ward == "a" for ward, _, _ in records), abs=3)
    refused = run("ask", "dp.yaml", "codes contains 31", "--epsilon", "1")
    assert refused.code != 0 and "'codes' has sets of codes" in refused.err
    assert run("ledger", "dp.yaml", "--json").json["spent"] == "50"


def test_releases_are_compared(clinic, run):
    found = run("frontier", "study.yaml", "--sweep", "few", "--workers", "1", "--out", "compared", "--json")
    assert found.code == 0, found.err
    points = found.json["points"]
    assert len(points) == 3 and found.json["failures"] == []
    published(run, "study.yaml", "full", "--no-report")
    measured = run("evaluate", "measures", "full", "--against", "study.yaml", "--only", "ploss,uloss", "--json").json[
        "measures"
    ]
    for one in measured:
        assert points[0]["numbers"][one["name"]] == pytest.approx(one["value"])
    nothing, everything = found.json["baselines"]
    assert nothing["numbers"]["ploss"] == 0 and everything["numbers"]["uloss"] == 0
    assert run("frontier", "study.yaml", "--sweep", "few", "--workers", "1", "--out", "compared").code == 0


def test_the_least_k_is_found(clinic, run):
    found = run("evaluate", "max-k", "study.yaml", "--rate", "0.9", "--distortion", "1", "--json")
    assert found.code == 0, found.err
    assert found.json["max_k"] >= 2 and found.json["average_k"] >= 1


def test_the_owners_report_shows_measures(clinic, run):
    published(run, "dp.yaml", "dp")
    report = (clinic / "dp" / "owner" / "report.html").read_text(encoding="utf-8")
    assert "codes, before and after" in report and "For the record with the largest loss" in report
    assert "A random count query" in report and "do not work with sets" not in report
