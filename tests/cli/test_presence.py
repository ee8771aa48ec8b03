"""δ-presence from the study to the receiver: the population is named, counted, and has to be there to check."""

import json
from collections import Counter

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

import sfumato as sf
from sfumato.errors import SourceError, StudyError, UsageError
from sfumato.release.storage.seal import render, seal
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

STUDY = """
name: screening
source: patients.csv
privacy: {budget: 1}
attributes:
  age:
    {role: quasi_identifier, type: integer, bounds: [20, 59], outside: suppress,
     taxonomy: {intervals: {width: 5, levels: 4}}}
  town: {role: quasi_identifier, taxonomy: {Any: {North: [A, B], South: [C, D]}}}
  ill:  {role: sensitive, values: [no, yes]}
purposes:
  north: {attributes: [age, ill], where: "town in (A, B)"}
releases:
  present: {method: METHOD, privacy: {delta-presence: {minimum: 0.05, maximum: 0.3, population: people.csv}}}
  north:   {purpose: north, method: METHOD, privacy: {delta-presence: {maximum: 0.3, population: people.csv}}}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """4,000 people, of whom older ones are more often patients; nobody's row says whether they are one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(11)
    age, town = rng.integers(20, 60, 4000), rng.choice(list("ABCD"), 4000, p=[0.4, 0.3, 0.2, 0.1])
    patient = rng.random(4000) < (age - 10) / 250
    pc.write_csv(pa.table({"age": age, "town": town}), "people.csv")
    ill = rng.choice(["no", "yes"], int(patient.sum()))
    pc.write_csv(pa.table({"age": age[patient], "town": town[patient], "ill": ill}), "patients.csv")
    return tmp_path


def study(folder, method="mondrian"):
    (folder / "study.yaml").write_text(STUDY.replace("METHOD", method))
    return folder / "study.yaml"


def inside(row, person):
    low, high = (int(part) for part in row["age"].strip("[]()").replace("[", "").split(", "))
    towns = {"Any": "ABCD", "North": "AB", "South": "CD"}.get(row["town"], row["town"])
    return low <= person["age"] < high + row["age"].endswith("]") and person["town"] in towns


@pytest.mark.parametrize("method", ["mondrian", "full-domain"])
def test_every_region_holds_enough_people(folder, run, method):
    path = study(folder, method)
    assert run("release", str(path), "present", "--out", "out").code == 0
    done = run("verify", "out", "--population", "people.csv", "--json")
    told = json.loads(done.out)
    assert done.code == 0 and told["ok"]
    assert [c["detail"] for c in told["checks"] if c["name"] == "privacy model"] == [
        "delta-presence (maximum = 0.3, minimum = 0.05, population = people.csv) holds in every group"
    ]
    rows = sf.Release.open("out").to_arrow().to_pylist()
    groups = Counter((row["age"], row["town"]) for row in rows)
    assert len(groups) > 3  # else there would be nothing to see
    people = pc.read_csv("people.csv").to_pylist()
    for (age, town), patients in groups.items():
        living = sum(inside({"age": age, "town": town}, person) for person in people)
        assert 0.05 <= patients / living <= 0.3


def test_a_receiver_without_the_population_cannot_check(folder, run):
    path = study(folder)
    assert run("release", str(path), "present", "--out", "out", "--no-report").code == 0
    done = run("verify", "out")
    assert done.code == 8 and "--population FILE" in done.out


def test_another_population_breaks_the_promise(folder, run):
    path = study(folder)
    assert run("release", str(path), "present", "--out", "out", "--no-report").code == 0
    people = pc.read_csv("people.csv")
    pc.write_csv(people.slice(0, 1500), "few.csv")
    done = run("verify", "out", "--population", "few.csv")
    assert done.code == 8 and "is violated in" in done.out


def test_a_purpose_counts_those_it_selects(folder, run):
    """Everybody knows that only the north takes part: were all counted, a share could be above what is promised."""
    path = study(folder)
    assert run("release", str(path), "north", "--out", "out", "--no-report").code == 0
    rows = sf.Release.open("out").to_arrow().to_pylist()
    groups = Counter(row["age"] for row in rows)
    north = [person for person in pc.read_csv("people.csv").to_pylist() if person["town"] in "AB"]
    shares = []
    for age, patients in groups.items():
        shares.append(patients / sum(inside({"age": age, "town": "Any"}, person) for person in north))
    assert max(shares) <= 0.3


def test_a_sweep_counts_people_too_and_notices_others(folder):
    made = sf.Study.load(study(folder))
    promise = {"delta-presence": {"maximum": ["0.2", "0.3"], "population": "people.csv"}}
    swept = sf.sweep("full-domain", privacy=promise)
    points = sf.frontier(made, swept, workers=1).points
    assert [point.failure for point in points] == [None, None]
    people = pc.read_csv("people.csv")
    pc.write_csv(pa.concat_tables([people] * 20), "people.csv")  # everybody has neighbours: nothing needs to be coarse
    finer = sf.frontier(made, swept, workers=1).points
    assert finer[0].numbers["uloss"] < points[0].numbers["uloss"]


def test_what_is_refused(folder):
    made = sf.Study.load(study(folder))
    with raises_code(StudyError, "SF-STUDY-097"):
        made.plan(sf.Mondrian(privacy={"delta-presence": "0.3"}))
    pc.write_csv(pc.read_csv("people.csv").drop_columns(["town"]), "ages.csv")
    with raises_code(SourceError, "SF-SOURCE-036", match="has no column 'town'"):
        made.release(
            sf.Mondrian(privacy={"delta-presence": {"maximum": "0.3", "population": "ages.csv"}}), out=folder / "no"
        )
    assert not (folder / "no").exists()
    with raises_code(UsageError, "SF-USAGE-081"):
        sf.verify_table("patients.csv", privacy={"delta-presence": "0.3"}, quasi=["age", "town"])


@pytest.mark.parametrize("method", ["mondrian", "full-domain"])
def test_people_beyond_the_bounds_live_in_no_region(folder, run, method):
    """All ten people of 59 are patients. Were those of 80 counted at the upper bound, a hundredth would seem to be."""
    pc.write_csv(pa.table({"age": [59] * 10 + [30] * 90 + [80] * 900, "town": ["A"] * 1000}), "people.csv")
    pc.write_csv(pa.table({"age": [59] * 10 + [30] * 20, "town": ["A"] * 30, "ill": ["no"] * 30}), "patients.csv")
    path = study(folder, method)
    assert run("release", str(path), "present", "--out", "out", "--no-report").code == 0
    rows = sf.Release.open("out").to_arrow().to_pylist()
    for (age, town), patients in Counter((row["age"], row["town"]) for row in rows).items():
        living = sum(inside({"age": age, "town": town}, {"age": n, "town": "A"}) for n in [59] * 10 + [30] * 90)
        assert patients / living <= 0.3
    assert run("verify", "out", "--population", "people.csv").code == 0


@pytest.mark.parametrize("scheme", ["", "duckdb://"])
def test_only_the_name_of_the_population_leaves(folder, run, scheme):
    """Where the owner keeps a table is nobody's business; the owner's own notes and ledger keep what was typed."""
    typed = str(folder / "people.csv")
    if scheme:
        with duckdb.connect(str(folder / "people.db")) as made:
            made.execute("CREATE TABLE everyone AS FROM read_csv('people.csv')")
        typed = f"duckdb:///{folder / 'people.db'}?table=everyone"
    path = study(folder)
    path.write_text(path.read_text().replace("people.csv", typed))
    assert run("release", str(path), "present", "--out", "out").code == 0
    bundle = folder / "out" / "bundle"
    texts = [file.read_text() for file in bundle.iterdir() if file.suffix in {".json", ".md", ".csv"}]
    assert len(texts) >= 4 and not any(str(folder) in text or "everyone" in text for text in texts)
    manifest = json.loads((bundle / "manifest.json").read_text())
    name = "people.db" if scheme else "people.csv"
    assert manifest["privacy"]["models"][0]["parameters"]["population"] == name
    assert manifest["method"]["parameters"]["privacy"]["delta-presence"]["population"] == name
    assert any(typed in file.read_text() for file in (folder / "out" / "owner").glob("*.json*"))
    assert run("verify", "out", "--population", typed).code == 0
    assert run("verify", "out", "--population", "people.csv").code == 0
    [ran] = run("run", str(path), "--only", "present", "--json").json
    assert ran["verified"], "a run finds the population where it lies"


def test_only_the_name_of_public_statistics_leaves(folder, run):
    (folder / "shares.csv").write_text("attribute,value,share\ntown,A,0.4\ntown,B,0.3\ntown,C,0.2\ntown,D,0.1\n")
    path = study(folder)
    path.write_text(f"{path.read_text()}  capped: {{method: capped-confidence, population: {folder / 'shares.csv'}}}\n")
    assert run("release", str(path), "capped", "--out", "out", "--no-report").code == 0
    texts = {file.name: file.read_text() for file in (folder / "out" / "bundle").glob("*.[jm]*")}
    assert json.loads(texts["manifest.json"])["method"]["parameters"]["population"] == "shares.csv"
    assert not any(str(folder) in text for text in texts.values())
    assert run("verify", "out").code == 0


def test_a_population_that_nothing_compares_with_is_refused(folder, run):
    path = study(folder)
    path.write_text(path.read_text() + "  plain: {method: mondrian, k: 5}\n")
    assert run("release", str(path), "plain", "--out", "out", "--no-report").code == 0
    done = run("verify", "out", "--population", "people.csv")
    assert done.code == 2 and "no privacy model of the release compares with a population" in done.err
    given = ("--model", "k-anonymity=2", "--quasi", "age", "--population", "people.csv")
    done = run("verify", "patients.csv", *given)
    assert done.code == 2 and "omit `--population`" in done.err


def test_a_selection_that_is_nonsense_is_a_failed_check(folder, run):
    path = study(folder)
    assert run("release", str(path), "north", "--out", "out").code == 0
    manifest = folder / "out" / "bundle" / "manifest.json"
    content = json.loads(manifest.read_text())
    content["selection"]["where"] = "nowhere in ("
    content["seal"] = seal(content)
    manifest.write_bytes(render(content))
    done = run("verify", "out", "--population", "people.csv", "--json")
    failed = [check["name"] for check in json.loads(done.out)["checks"] if not check["ok"]]
    assert done.code == 8 and "population" in failed and "privacy model" in failed
