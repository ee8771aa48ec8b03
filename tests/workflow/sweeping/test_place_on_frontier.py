"""The owner's report of a release shows where it sits among what sweeps of its study found."""

import html
import json
import re

import pyarrow.parquet
import pytest

import sfumato as sf
from sfumato.errors import SourceError
from sfumato.workflow import report as owner_report
from sfumato.workflow.sweeping import place_on_frontier as placing
from tests.workflow.test_sweep import table

STUDY = """\
name: clinic
source: clinic.parquet
privacy: {budget: 9}
attributes:
  age: {role: quasi_identifier, type: integer, bounds: [0, 120]}
  job: {role: quasi_identifier, values: [Engineer, Lawyer, Dancer, Writer]}
  ill: {role: sensitive, values: [flu, cold, gout, none]}
  pays: {role: class, values: ['no', 'yes']}
purposes:
  few: {attributes: [age, ill]}
releases:
  groups: {method: mondrian, k: 50}
  poor: {method: full-domain, k: 600}
  noise: {method: diffgen, epsilon: 1, h: 2}
"""
SIZES = sf.sweep("mondrian", k=[5, 50, 200])


@pytest.fixture
def clinic(tmp_path):
    pyarrow.parquet.write_table(table(), tmp_path / "clinic.parquet")
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    return sf.Study.load(tmp_path / "study.yaml")


def section(published):
    """The section of the report as text, and its marks with their names."""
    page = (published.folder / "owner" / "report.html").read_text(encoding="utf-8")
    [part] = re.findall(r'<section id="frontier".*?</section>', page, re.DOTALL)
    figure = "".join(re.findall(r"<figure.*?</figure>", part, re.DOTALL))
    marks = re.findall(r'class="(this|efficient|other|baseline)"[^>]*><title>(.*?)</title>', figure)
    return html.unescape(re.sub(r"<[^>]+>", " ", part)), [(kind, html.unescape(name)) for kind, name in marks]


def test_a_release_is_drawn_among_the_candidates(clinic):
    before, _ = section(clinic.release("groups"))
    assert "There is no frontier of this study" in before
    found = sf.frontier(clinic, SIZES, workers=1)
    made = clinic.release("groups")
    words, marks = section(made)
    assert sorted(marks) == sorted(
        [
            ("this", "this release"), ("baseline", "nothing published"), ("baseline", "everything published"),
            *(("efficient" if p in found.efficient else "other", p.label) for p in found.points),
        ]
    )  # fmt: skip
    measured = clinic.measure(made, only=["ploss", "uloss"])
    told = f"a privacy loss of {measured['ploss'].value:.3g} and a utility loss of {measured['uloss'].value:.3g} nats"
    assert f"This release has {told}, beside 3 candidates." in words
    assert "It is on the frontier" in words and "this release" in words


@pytest.mark.usefixtures("seeded")
def test_noise_and_a_run_are_drawn_too(clinic):
    sf.frontier(clinic, SIZES + sf.sweep("diffgen", epsilon="1", h=2), workers=1, repeats=2)
    [ran] = clinic.run(["noise"], runs=1)
    words, marks = section(ran.published)
    assert ("this", "this release") in marks and len(marks) == 2 * (4 + 1 + 2), "over both privacy axes"
    assert "because their record is in" in words
    assert "beside 4 candidates" in words
    assert "another would lie elsewhere" in words


def test_what_is_better_is_named(clinic):
    sf.frontier(clinic, sf.sweep("mondrian", privacy={"t-closeness": {"t": ["0.001"], "distance": "js"}}), workers=1)
    sf.frontier(clinic, SIZES, workers=1, folder=clinic.declared.base / "frontier" / "other")
    for file in (clinic.declared.base / "frontier").glob("*/points/*.json"):
        one = json.loads(file.read_text(encoding="utf-8"))
        if one["label"] == "mondrian, k = 200":  # as if it were better than anything
            file.write_text(json.dumps(one | {"numbers": {"ploss": 0.0, "uloss": 0.0}}), encoding="utf-8")
    words, marks = section(clinic.release("groups"))
    assert "It is not on the frontier." in words
    assert "mondrian, k = 200, with a privacy loss of 0 and a utility loss of 0 nats" in words
    assert [name for kind, name in marks if kind == "efficient"] == ["mondrian, k = 200"]


def test_points_of_another_table_study_or_purpose_are_not_drawn(clinic):
    folder = clinic.declared.base
    sf.frontier(clinic, SIZES, workers=1, purpose="few")
    words, marks = section(clinic.release("groups"))
    assert "There is no frontier of this study" in words and not marks
    sf.frontier(clinic, SIZES, workers=1)
    pyarrow.parquet.write_table(table(seed=2), folder / "clinic.parquet")
    words, marks = section(clinic.release("groups"))
    assert "from another state of the table or the study" in words and not marks
    sf.frontier(clinic, SIZES, workers=1)
    assert len(section(clinic.release("groups"))[1]) == 6, "the old points are left out"
    (folder / "study.yaml").write_text(STUDY.replace("[0, 120]", "[0, 119]"), encoding="utf-8")
    words, marks = section(sf.Study.load(folder / "study.yaml").release("groups"))
    assert "from another state of the table or the study" in words and not marks


def test_nothing_that_fails_here_takes_the_release_back(clinic, monkeypatch):
    sf.frontier(clinic, SIZES, workers=1)
    next((clinic.declared.base / "frontier").glob("*/points/*.json")).write_text("[", encoding="utf-8")
    assert section(clinic.release("groups"))[1], "a spoilt file is passed over"

    def broken(*_, **__):
        raise ValueError("the record of Ada, 36")

    monkeypatch.setattr(placing, "fingerprint", broken)
    made = clinic.release("groups")
    words, marks = section(made)
    assert "could not be read (ValueError)" in words and "Ada" not in words and not marks
    assert sf.verify_bundle(made.bundle).ok


def test_nothing_of_it_is_in_the_bundle(clinic):
    sf.frontier(clinic, SIZES, workers=1)
    made = clinic.release("groups")
    text = "".join(file.read_text(encoding="utf-8") for file in made.bundle.rglob("*.*") if file.suffix != ".parquet")
    assert "frontier" not in text and "privacy loss" not in text


@pytest.mark.parametrize("name", ["groups", "noise"])
@pytest.mark.parametrize(
    ("failure", "told"),
    [(ValueError("the record of Ada, 36"), "ValueError"), (SourceError("the table is gone", "find it"), "is gone")],
)
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_a_release_that_cannot_be_measured_keeps_its_owner_folder(clinic, monkeypatch, name, failure, told):
    """The bundle is out by then: whatever fails, the owner has the notes, and a warning says how to try again."""

    def broken(*_, **__):
        raise failure

    monkeypatch.setattr(owner_report, "read_manifest", broken)
    made = clinic.release(name)
    (warning,) = made.warnings
    assert told in warning and "sfumato report" in warning and "Ada" not in warning
    assert list((made.folder / "owner").glob("*.json")), "the notes are there"
    assert sf.verify_bundle(made.bundle).ok
