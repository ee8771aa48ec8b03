"""The whole way as the README goes it: from a table to a bundle, and the account of it."""

import json
import re

import pytest


@pytest.mark.usefixtures("seeded")
def test_from_a_table_to_a_bundle(folder, run):
    described = run("describe", "people.csv", "--out", "study.yaml")
    assert described.code == 0
    assert "sfumato plan study.yaml" in described.out
    study = folder / "study.yaml"
    text = study.read_text(encoding="utf-8")
    assert "role: class" in text
    assert "domain: observed" in text

    no_release = run("plan", "study.yaml")
    assert no_release.code == 3
    assert "releases: {dp: {method: staged" in no_release.err, "the study has a class"

    with_release = (
        text.replace("# budget: 1 ", "budget: 1 ")
        .replace("# releases:", "releases:")
        .replace("#   dp:", "  dp:")
        .replace("method: staged", "method: diffgen")  # every count below has the same noise
    )
    study.write_text(with_release, encoding="utf-8")
    refused = run("release", "study.yaml")
    assert refused.code == 3
    assert "was read off the data" in refused.err
    assert "domain: declared" in refused.err
    assert not (folder / "releases").exists()

    study.write_text(with_release.replace("domain: observed", "domain: declared"), encoding="utf-8")
    assert run("check", "study.yaml").code == 0

    planned = run("plan", "study.yaml")
    assert planned.code == 0
    assert "It costs ε = 1; before it, 1 of the budget of 1 remains." in planned.out
    assert "not released: person_id" in planned.out

    released = run("release", "study.yaml")
    assert released.code == 0
    assert "spent ε = 1; 0 remains" in released.out
    assert "sfumato verify releases/dp-1/bundle" in released.out

    verified = run("verify", "releases/dp-1/bundle")
    assert verified.code == 0
    assert "the bundle verifies" in verified.out

    asked = run("query", "releases/dp-1/bundle", "job in (Engineer, Lawyer) and income = '>50K'", "--json")
    assert asked.code == 0
    assert 100 < asked.json["count"] < 300  # 200 in truth, and the noise has a scale of 2

    book = run("ledger", "study.yaml", "--verify")
    assert book.code == 0
    assert "ε = 1 is spent, 0 remains" in book.out
    assert "the ledger verifies" in book.out

    again = run("release", "study.yaml")
    assert again.code == 5
    assert "the release asks for ε = 1, and 0 is left of the study's 1; spent by: entry 1" in again.err
    assert not (folder / "releases" / "dp-2").exists()


def test_the_proposal_finds_its_table_from_another_folder(folder, run):
    (folder / "studies").mkdir()
    assert run("describe", "people.csv", "--out", "studies/people.yaml").code == 0
    assert run("check", "studies/people.yaml").code == 0


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_a_release_tells_only_what_the_promise_covers(study, run):
    assert run("release", "study.yaml", "dp").code == 0
    bundle = study.parent / "releases" / "dp-1" / "bundle"
    text = "".join(path.read_text(encoding="utf-8") for path in bundle.iterdir() if path.suffix != ".parquet")
    assert "person_id" not in text
    assert not re.search(r"(?<![0-9a-f])10007(?![0-9a-f])", text), "but for hashes, where any digits may stand"
    assert json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))["privacy"]["epsilon"] == "1"
