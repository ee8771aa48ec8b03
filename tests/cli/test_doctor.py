"""`sfumato doctor`: what is missing of an installation, and whose eyes files are open to."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import sfumato
from sfumato import installation
from sfumato.installation import EXTRAS, examine

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

ROOT = Path(__file__).parents[2]


def by_name(found):
    return {one["name"]: one for one in found.json["findings"]}


def test_a_working_installation_has_no_problem(study, run):
    assert run("release", study, "table", "--no-report").code == 0
    found = run("doctor", study, "--json")
    assert found.code == 0 and found.json["ok"] is True
    told = by_name(found)
    assert {"python", "sfumato", "duckdb", "people.ledger.sqlite", "releases/table-1/owner", "ledger"} <= set(told)
    assert told["ledger"]["said"] == "verifies; 1 entries"
    assert set(EXTRAS) <= set(told)
    said = run("doctor", study)
    assert said.code == 0 and said.out.endswith("no problem found\n")


@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
@pytest.mark.parametrize(
    ("path", "mode", "said"),
    [
        ("people.ledger.sqlite", 0o666, "others may change it"),
        ("people.ledger.head", 0o622, "others may change it"),
        ("releases/table-1/owner", 0o755, "others may look into it"),
    ],
)
def test_files_that_others_may_reach_are_a_problem_with_a_remedy(study, run, path, mode, said):
    assert run("release", study, "table", "--no-report").code == 0
    (study.parent / path).chmod(mode)
    found = run("doctor", "--json")
    assert found.code == 1 and found.json["ok"] is False
    (wrong,) = [one for one in found.json["findings"] if not one["ok"]]
    assert said in wrong["said"] and wrong["fix"].startswith("chmod ")
    subprocess.run(wrong["fix"], shell=True, check=True, cwd=study.parent)
    assert run("doctor").code == 0


def test_a_study_that_cannot_be_read_and_a_ledger_that_does_not_verify_are_problems(study, run):
    assert run("release", study, "table", "--no-report").code == 0
    (study.parent / "people.ledger.sqlite").unlink()
    found = run("doctor", study, "--json")
    assert found.code == 1 and not by_name(found)["ledger"]["ok"]
    study.write_text("name: [", encoding="utf-8")
    told = by_name(run("doctor", study, "--json"))["study.yaml"]
    assert not told["ok"] and told["fix"]


@pytest.mark.skipif(os.name == "nt", reason="permissions are others there")
@pytest.mark.parametrize("name", ["book.ledger.sqlite", "book.db"])
def test_the_ledger_of_a_study_is_looked_at_wherever_it_is(study, run, tmp_path, name):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    study.write_text(f"ledger: {elsewhere / name}\n{study.read_text(encoding='utf-8')}", encoding="utf-8")
    assert run("release", study, "table", "--no-report").code == 0
    (ledger,) = elsewhere.glob(name)
    assert by_name(run("doctor", study, "--json"))[name]["ok"]
    ledger.chmod(0o666)
    assert run("doctor", "--json").code == 0, "the folder itself is in order"
    found = run("doctor", study, "--json")
    assert found.code == 1
    (wrong,) = [one for one in found.json["findings"] if not one["ok"]]
    assert "others may change it" in wrong["said"] and wrong["name"] == name


def test_what_is_missing_or_too_old_is_named(monkeypatch, tmp_path):
    wanted = ["numpy>=1.26", "duckdb>=1.3.2", "altair>=5.4; extra == 'plots'", "psycopg>=3.2; extra == 'postgres'"]
    have = {"sfumato": "1", "numpy": "1.20", "psycopg": "3.2"}
    monkeypatch.setattr(installation, "requires", lambda _: wanted)
    monkeypatch.setattr(installation, "_version", have.get)
    found = {one.name: one for one in examine(tmp_path)}
    assert (found["numpy"].ok, found["numpy"].said) == (False, "1.20, and >=1.26 is needed")
    assert (found["duckdb"].ok, found["duckdb"].fix) == (False, "pip install 'duckdb>=1.3.2'")
    assert (found["plots"].ok, found["plots"].there) == (True, False), "a missing optional part is no problem"
    assert "pip install '.[plots]' in a clone" in found["plots"].said
    assert found["postgres"].there and "psycopg 3.2" in found["postgres"].said


def test_java_matters_where_spark_is_installed(monkeypatch, tmp_path):
    def names(have, java):
        monkeypatch.setattr(installation, "_version", have.get)
        monkeypatch.setattr(installation, "_java", lambda: java)
        return {one.name: one.ok for one in examine(tmp_path)}

    assert "java" not in names({}, None)
    assert names({"pyspark": "4.0"}, None)["java"] is False
    assert names({"pyspark": "4.0"}, "openjdk 17")["java"] is True


def test_it_runs_where_nothing_else_is_installed(tmp_path):
    """What looks for missing libraries needs none: an interpreter without site-packages."""
    code = f"""
import sys
import tomllib
sys.path.insert(0, {str(Path(sfumato.__file__).parents[1])!r})
from pathlib import Path
from sfumato.installation import examine
print(len(examine(Path("."))))
"""
    ran = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 3


def test_every_extra_of_the_package_is_known():

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(declared) - {"dev"} == set(EXTRAS)
