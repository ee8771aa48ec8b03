"""A release of the study that was confirmed, and of no other."""

import pytest

from sfumato.api import Study
from tests.web.small_study import STUDY, write_adult


@pytest.fixture
def study(tmp_path):
    return write_adult(tmp_path, rows=300)


def test_the_hash_is_of_what_is_declared_files_included(study):
    first = Study.load(study).sha256
    study.write_text("# another comment\n" + STUDY.replace("role: class,", "role:  class,"))
    assert Study.load(study).sha256 == first
    changes = [("bounds: [0, 120]", "bounds: [0, 110]"), ("h: 4", "h: 5"), ("adult.parquet", "other.parquet"),
               ("budget: 2", "budget: 3"), ("[age, sex, income]", "[age, income]"), ("k: 5", "k: 6")]  # fmt: skip
    hashes = {first}
    for old, new in changes:
        study.write_text(STUDY.replace(old, new))
        hashes.add(Study.load(study).sha256)
    assert len(hashes) == len(changes) + 1
    study.write_text(STUDY)
    tree = study.parent / "sex.csv"
    tree.write_text(tree.read_text().replace("Male", "Man"))
    assert Study.load(study).sha256 not in hashes


@pytest.mark.error_rate(0, reason="whether a release is made is looked at, and not what was drawn")
def test_a_study_that_was_changed_since_is_refused_before_anything_is_recorded(study, run):
    plan = run("plan", study, "dp", "--json").json
    assert plan["study_sha256"] == Study.load(study).sha256
    study.write_text(STUDY.replace("h: 4", "h: 5"))
    asked = ("release", study, "dp", "--no-report", "--study-sha256", plan["study_sha256"])
    refused = run(*asked)
    assert refused.code == 3 and "SF-STUDY-641" in refused.err
    assert not list(study.parent.glob("*.sqlite")) and not (study.parent / "releases").exists()
    study.write_text(STUDY)
    assert run(*asked).code == 0
    assert [entry.state for entry in Study.load(study).ledger.entries("adult")] == ["done"]
