"""`init`: one command from a table to a folder that is ready for a first release, and nothing overwritten."""

import json
import subprocess

import pytest

from sfumato.study.attribute import Role
from sfumato.study.file import load_study
from sfumato.workflow.steps.outcome import report_words

ROWS = "person_id,age,job,shoes\n" + "".join(f"p{n},{20 + n % 40},{'abc'[n % 3]},{n % 7}.5\n" for n in range(60))


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people [1].csv").write_text(ROWS, encoding="utf-8")
    return "people [1].csv"


def test_a_folder_is_ready_to_check(tmp_path, table, run):
    done = run("init", table)
    assert done.code == 0
    study = load_study(tmp_path / "study.yaml")
    assert set(study.attributes) == {"person_id", "age", "job", "shoes"}
    assert study.attributes["shoes"].role is Role.UNDECIDED
    assert "decide the role of: shoes" in done.out and "`sfumato check study.yaml`" in done.out
    assert run("check", "study.yaml").code == 0
    early = run("plan", "study.yaml", "--json")
    assert early.code == 3 and json.loads(early.err)["code"].startswith("SF-STUDY")


def test_git_takes_nothing_of_the_owner_s(tmp_path, table, run):
    run("init", table)
    for path in ("people.ledger.sqlite", "people.ledger.head", "releases/dp-1/owner/report.html", "frontier/x.json"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / "releases" / "dp-1" / "bundle").mkdir()
    (tmp_path / "releases" / "dp-1" / "bundle" / "README.md").touch()
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    seen = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    assert set(seen.split()) - {"??"} == {".gitignore", "releases/dp-1/bundle/README.md"}


def test_nothing_is_overwritten(tmp_path, table, run):
    (tmp_path / ".gitignore").write_text("mine\n", encoding="utf-8")
    done = run("init", table, "--json")
    assert done.json == {
        "study": "study.yaml",
        "ignored": None,
        "columns": 4,
        "undecided": ["shoes"],
        "next": ["sfumato check study.yaml", "sfumato plan study.yaml", "sfumato release study.yaml"],
    }
    assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == "mine\n"
    before = (tmp_path / "study.yaml").read_bytes()
    again = run("init", "no-such-table.csv", "--json")
    assert again.code == 7 and json.loads(again.err)["code"] == "SF-PUBLISH-721"
    assert (tmp_path / "study.yaml").read_bytes() == before


def test_another_folder_names_the_table_from_there(tmp_path, table, run):
    assert run("init", table, "--out", "a/b", "--class", "job").code == 0
    study = load_study(tmp_path / "a" / "b" / "study.yaml")
    assert study.source == "../../people [1].csv" and study.target.name == "job"
    assert "people" not in (tmp_path / "a" / "b" / ".gitignore").read_text(encoding="utf-8")
    assert run("check", "a/b/study.yaml").code == 0


def test_a_table_that_cannot_be_read_leaves_nothing(tmp_path, table, run):
    assert run("init", "no.csv", "--out", "new").code == 4
    assert not (tmp_path / "new").exists()


def test_commands_that_are_printed_can_be_pasted_where_a_folder_has_a_blank(tmp_path, table, run):
    done = run("init", table, "--out", "my clinic", "--json")
    assert done.json["next"][0] == "sfumato check 'my clinic/study.yaml'"
    assert "`sfumato plan 'my clinic/other.yaml'`" in run("describe", table, "--out", "my clinic/other.yaml").out
    assert report_words(tmp_path / "a b", "my study.yaml").endswith("a b' --against 'my study.yaml'`")
