"""`sfumato evaluate link`: people looked up in one release, and in two."""

import shutil

import pytest

import sfumato as sf
from tests.cli.test_partition import clinic

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


@pytest.fixture(scope="module")
def made_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clinic")
    study = sf.Study.load(clinic(folder))
    for name in ("k5", "cut", "buckets", "tables"):
        study.release(name, out=folder / name, report=False)
    return folder


@pytest.fixture
def released(made_once, tmp_path, monkeypatch):
    """A copy of one's own: the study, its table, and four releases of it."""
    shutil.copytree(made_once, tmp_path / "own")
    monkeypatch.chdir(tmp_path / "own")
    return tmp_path / "own" / "study.yaml"


def test_people_are_looked_up(released, run):
    found = run("evaluate", "link", "k5", "--against", released)
    assert found.code == 0
    assert "120 people were looked up" in found.out and "exactly one candidate record" in found.out
    assert "0 of 120 (0 %) have exactly one candidate record" in found.out
    assert "never publish" in found.err
    assert "p17" not in found.out
    told = run("evaluate", "link", "k5", "--against", released, "--json").json
    assert told["unique"] == told["unique_people"] == 0 and told["quantiles"]["0.0"] >= 5
    assert [guess["attribute"] for guess in told["guesses"]] == ["ill"]
    assert "owner_only" in told


@pytest.mark.parametrize("name", ["buckets", "tables"])
def test_exact_quasi_identifiers_link_people_to_records(released, run, name):
    assert run("evaluate", "link", name, "--against", released, "--json").json["found"] == 1.0


def test_people_known_from_elsewhere_are_looked_up(released, run):
    (released.parent / "known.csv").write_text("age,job,name\n27,Lawyer,Ada\n99,Dancer,Ben\n", encoding="utf-8")
    told = run("evaluate", "link", "k5", "--against", released, "--with", "known.csv", "--json").json
    assert told["people"] == 2 and told["guesses"] == []
    (released.parent / "known.csv").write_text("age,name\n27,Ada\n", encoding="utf-8")
    refused = run("evaluate", "link", "k5", "--against", released, "--with", "known.csv")
    assert refused.code == 4
    assert "lacks quasi-identifiers of the release: job" in refused.err and "Ada" not in refused.err


def test_two_releases_are_put_together(released, run):
    found = run("evaluate", "intersect", "k5", "cut", "--against", released, "--k", "4")
    assert found.code == 0
    assert "exposed only by the combination of both" in found.out and "fewer than 4" in found.out
    assert " of 120 (" in found.out
    told = run("evaluate", "intersect", "k5", "buckets", "--against", released, "--attribute", "ill", "--json").json
    assert told["in_both"] == told["people"] == 120 and told["contradicted"] == 0
    assert told["newly_exposed"] <= told["one_value"]


def test_what_cannot_be_put_together_is_refused(released, run):
    refused = run("evaluate", "intersect", "k5", "cut", "--against", released, "--attribute", "town")
    assert refused.code == 2 and "'town' is not sensitive in both" in refused.err
    text = released.read_text(encoding="utf-8").replace(
        "source: clinic.csv", "source: clinic.csv\nprivacy: {budget: 2}"
    )
    released.write_text(text, encoding="utf-8")
    assert run("release", released, "dp", "--out", "dp", "--no-report").code == 0, "noisy counts"
    refused = run("evaluate", "intersect", "k5", "dp", "--against", released)
    assert refused.code == 2
    assert "noisy counts" in refused.err
