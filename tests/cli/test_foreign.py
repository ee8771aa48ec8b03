"""`--table`: tables of other tools on the command line."""

import csv

import pytest

from sfumato.cli.foreign import foreign_tables

pytestmark = pytest.mark.error_rate(0, reason="nothing that is asserted was drawn")


@pytest.fixture
def other(study):
    """The study's table as another tool might publish it."""
    with (study.parent / "people.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        low = int(row["age"] or 30) // 20 * 20
        row["age"] = f"{low}-{low + 19}"
        row["job"] = "Professional" if row["job"] in {"Engineer", "Lawyer"} else "Artist"
        row["hair"] = row.pop("person_id")
    rows[0] = dict.fromkeys(rows[0], "*")
    place = study.parent / "other.csv"
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return place


def test_a_table_is_measured(study, other, run):
    found = run("evaluate", "measures", study, "--table", other, "--only", "ploss,suppressed")
    assert found.code == 0, found.err
    assert "no guarantee of them was checked" in found.out and "1 rows tell nothing" in found.out
    assert "hair" in found.out and "ploss" in found.out and "never publish" in found.err


def test_json(study, other, run):
    found = run("evaluate", "measures", "--against", study, "--table", other, "--only", "ploss", "--json").json
    assert set(found) == {"owner_only", "table", "measures"}
    assert found["table"]["suppressed"] == 1 and found["table"]["undeclared"] == ["hair"]
    assert found["measures"][0]["name"] == "ploss" and found["measures"][0]["value"] is not None


def test_synthetic_rows(study, other, run):
    args = ("evaluate", "measures", study, "--table", other, "--synthetic", "--rate", "2", "--only", "prosecutor-risk")
    found = run(*args, "--json").json
    assert "synthetic rows" in found["measures"][0]["refused"] and found["table"]["synthetic"] is True


def test_a_hierarchy_and_a_purpose(study, other, run):
    file = study.parent / "job.csv"
    file.write_text(
        "Engineer;Professional;*\nLawyer;Professional;*\nDancer;Artist;*\nWriter;Artist;*\n", encoding="utf-8"
    )
    found = run(
        "evaluate", "measures", study, "--table", other, "--hierarchy", f"job={file}", "--purpose", "jobs", "--only",
        "general-loss", "--json",
    )  # fmt: skip
    assert found.code == 0, found.err
    assert list(found.json["measures"][0]["details"]) == ["job"]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("study.yaml", "--table", "other.csv", "--hierarchy", "job"), "SF-USAGE-355"),
        (("out", "--against", "study.yaml", "--synthetic"), "SF-USAGE-356"),
        (("study.yaml", "--against", "study.yaml", "--table", "other.csv"), "SF-USAGE-359"),
        (("--table", "other.csv"), "SF-USAGE-359"),
    ],
    ids=str,
)
def test_wrong_calls(study, other, run, monkeypatch, args, code):
    monkeypatch.chdir(study.parent)
    found = run("evaluate", "measures", *args, "--json")
    assert found.code == 2 and code in found.out + found.err


def test_people_are_linked(study, other, run):
    found = run("evaluate", "link", study, "--table", other, "--json")
    assert found.code == 0, found.err
    assert found.json["unique"] == 0


def test_a_frontier_with_foreign_points(study, other, run):
    with study.open("a", encoding="utf-8") as file:
        file.write("sweeps:\n  sizes: [{method: mondrian, k: [5, 40]}]\n")
    found = run(
        "frontier", study, "--table", other, "--table", f"again={other}", "--synthetic", "again", "--workers", "1",
        "--x", "ploss-li",
    )  # fmt: skip
    assert found.code == 0, found.err
    assert "other †" in found.out and "again †" in found.out and "made by another tool" in found.out
    assert "is chosen" in found.out and "other: 1 rows tell nothing" in found.out


def test_labels_of_a_foreign_point_by_a_hierarchy(study, other, run):
    with study.open("a", encoding="utf-8") as file:
        file.write("sweeps:\n  sizes: [{method: mondrian, k: [5]}]\n")
    other.write_text(other.read_text(encoding="utf-8").replace("Professional", "white collar"), encoding="utf-8")
    file = study.parent / "job.csv"
    file.write_text(
        "Engineer;white collar;*\nLawyer;white collar;*\nDancer;Artist;*\nWriter;Artist;*\n", encoding="utf-8"
    )
    call = ("frontier", study, "--table", other, "--workers", "1")
    assert run(*call, "--json").code != 0  # nothing says what a white collar is
    found = run(*call, "--hierarchy", f"job={file}")
    assert found.code == 0, found.err
    assert "other †" in found.out


def test_names_of_tables(tmp_path):
    odd = tmp_path / "a=b.csv"
    odd.write_text("x\n1\n", encoding="utf-8")
    found = foreign_tables(["arx/k5.csv.gz", "mst=drawn.parquet", str(odd)], ["mst"])
    assert {name: table.synthetic for name, table in found.items()} == {"k5": False, "mst": True, "a=b": False}
    assert found["mst"].source == "drawn.parquet"


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("--table", "a.csv", "--table", "b/a.csv"), "SF-USAGE-357"),
        (("--table", "a.csv", "--synthetic", "b"), "SF-USAGE-358"),
        (("--table", "a.csv", "--hierarchy", "job"), "SF-USAGE-355"),
        (("--hierarchy", "job=job.csv"), "SF-USAGE-356"),
    ],
    ids=str,
)
def test_names_that_are_none(study, run, args, code):
    found = run("frontier", study, *args, "--json")
    assert found.code == 2 and code in found.out + found.err
