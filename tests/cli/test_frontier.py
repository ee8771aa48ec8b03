"""`sfumato frontier`: a table of releases, the choice, and files."""

import csv
import os
from pathlib import Path

import pytest

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


@pytest.fixture
def swept(study):
    with study.open("a", encoding="utf-8") as file:
        file.write("sweeps:\n  sizes: [{method: mondrian, k: [5, 40]}, {method: mondrian, k: 1000}]\n")
        file.write("  large: {method: mondrian, k: [5, 400]}\n")
        file.write("  noise: {method: diffgen, epsilon: [1, 2], h: 1}\n")
    return study


def test_it_prints_points_failures_the_choice_and_where_the_files_are(swept, run):
    found = run("frontier", swept, "--sweep", "sizes", "--workers", "1")
    assert found.code == 0, found.err
    assert "mondrian, k = 5" in found.out and "everything published" in found.out
    assert "failed: mondrian, k = 1000: this table cannot satisfy k-anonymity (k = 1000)" in found.out
    assert "is chosen" in found.out
    assert '"chosen": "chosen on the raw table"' in found.out
    folder = swept.parent / "frontier" / "sizes"
    assert "frontier/sizes/frontier.html" in found.out
    assert {file.name for file in folder.iterdir()} == {
        "frontier.html", "frontier.png", "frontier.svg", "frontier.csv", "points",
    }  # fmt: skip


def test_candidates_that_are_no_better_than_no_quasi_identifiers_are_marked(swept, run):
    found = run("frontier", swept, "--sweep", "large", "--workers", "1").out
    assert "mondrian, k = 400 ‡" in found and "mondrian, k = 5 ‡" not in found
    assert "‡ no better than “nothing published”: publishing no quasi-identifier at all does at least as well" in found


def test_json(swept, run):
    found = run("frontier", swept, "--sweep", "sizes", "--choose", "privacy=0.5", "--out", "here", "--json").json
    assert set(found) == {"study", "purpose", "x", "y", "beside", "points", "baselines", "failures", "chosen", "files"}
    assert [point["label"] for point in found["points"]] == ["mondrian, k = 5", "mondrian, k = 40"]
    assert found["failures"][0]["label"] == "mondrian, k = 1000"
    assert found["chosen"]["settings"]["method"] == "mondrian"
    assert found["chosen"]["rule"] == "ploss at most 0.5"
    [table] = [file for file in found["files"] if file.endswith(".csv")]
    assert len(list(csv.DictReader(Path(table).read_text(encoding="utf-8").splitlines()))) == 5


@pytest.mark.error_rate(
    1e-60, reason="one of ten draws without records, of 400 and with noise of scale 2: Chernoff, 1e-73"
)
def test_other_axes_a_purpose_and_what_was_chosen_can_be_released(swept, run):
    found = run(
        "frontier", swept, "--sweep", "noise", "--purpose", "jobs", "--x", "mean-ploss", "--measure", "ploss", "--json"
    )
    assert found.code == 0, found.err
    assert set(found.json["points"][0]["numbers"]) == {"mean-ploss", "uloss", "ploss"}
    settings = found.json["chosen"]["settings"]
    assert settings["purpose"] == "jobs"
    text = swept.read_text(encoding="utf-8").replace(
        "releases:\n", f"releases:\n  best: {found.json['chosen']['settings']}\n"
    )
    swept.write_text(text, encoding="utf-8")
    assert run("release", swept, "best").code == 0


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--choose", "best"], 2, "'best' is not a rule for choosing a release"),
        (["--sweep", "size"], 3, "declares no sweep 'size'"),
        ([], 3, "declares 3 sweeps"),
        (["--sweep", "sizes", "--x", "plos"], 2, "no measure called 'plos'"),
        (["--sweep", "sizes", "--choose", "privacy=0"], 6, "no release of the sweep has ploss of at most 0"),
        (["--sweep", "sizes", "--purpose", "all"], 3, "has no purpose 'all'"),
    ],
)
def test_the_ways_it_can_end(swept, run, args, code, words):
    found = run("frontier", swept, *args)
    assert found.code == code
    assert words in found.err


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_nobody_else_may_read_what_a_frontier_finds(swept, run):
    """The numbers come from raw records: folders and files are as private as `owner/`, whatever the umask."""
    assert run("frontier", swept, "--sweep", "sizes", "--workers", "1").code == 0
    folder = swept.parent / "frontier"
    made = [folder, *folder.rglob("*")]
    assert {mode(path) for path in made if path.is_dir()} == {0o700}
    assert {mode(path) for path in made if path.is_file()} == {0o600}
    page = folder / "sizes" / "frontier.html"
    page.chmod(0o644)  # as an earlier version wrote it
    assert run("frontier", swept, "--sweep", "sizes", "--workers", "1").code == 0
    assert mode(page) == 0o600


@pytest.mark.skipif(os.name != "posix", reason="modes of POSIX")
def test_a_folder_that_was_there_keeps_its_mode(swept, run):
    mine = swept.parent / "mine"
    mine.mkdir(mode=0o755)
    mine.chmod(0o755)
    assert run("frontier", swept, "--sweep", "sizes", "--workers", "1", "--out", "mine").code == 0
    assert mode(mine) == 0o755 and mode(mine / "points") == 0o700
    assert {mode(path) for path in mine.rglob("*") if path.is_file()} == {0o600}


def test_two_candidates_column_by_column(swept, run):
    two = ("evaluate", "compare", swept, "mondrian, k = 5", "mondrian, k = 40", "--sweep", "sizes")
    found = run(*two)
    assert found.code == 0, found.err
    assert "A: mondrian, k = 5" in found.out and "B: mondrian, k = 40" in found.out
    assert "for your eyes only" in found.out
    printed = run(*two, "--json").json
    assert "owner only" in printed["owner_only"] and len(printed["releases"]) == 2
    for column in printed["columns"]:
        assert column["name"] in found.out
        assert all(len(one["shares"] or column["labels"]) == len(column["labels"]) for one in column["releases"])
    unknown = run("evaluate", "compare", swept, "mondrian, k = 5", "mondrian, k = 6", "--sweep", "sizes")
    assert unknown.code == 2 and "mondrian, k = 40" in unknown.err
