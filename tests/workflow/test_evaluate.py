"""Evidence of drafts and of bundles: both show the same, whatever the form, and say why where they do not fit."""

from dataclasses import replace

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError, StudyError, UsageError
from sfumato.evaluate.measures import MEASURES, Reading, Refused, UtilityLoss
from sfumato.study.attribute import Role
from sfumato.workflow import evidence_of_bundle, evidence_of_draft, measure
from sfumato.workflow.evaluate import chosen_measures, measuring_view
from tests.raising import raises_code

JOBS, ILLS = ("Engineer", "Lawyer", "Dancer", "Writer"), ("flu", "asthma", "none")
RECORDS = 240
TABLE = pa.table(
    {
        "id": [f"p{n // 2}" for n in range(RECORDS)],
        "age": [None if n == 50 else 20 + n * 7 % 40 for n in range(RECORDS)],
        "job": [JOBS[n % 4] for n in range(RECORDS)],
        "ill": [ILLS[n // 3 % 3] for n in range(RECORDS)],
        "pay": [("low", "high")[n % 5 > 2] for n in range(RECORDS)],
        "town": [("Ulm", "Bonn")[n % 2] for n in range(RECORDS)],
    }
)
FIELDS = {
    "name": "clinic",
    "source": TABLE,
    "privacy": {"budget": 4},
    "attributes": {
        "id": {"role": "identifier"},
        "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99], "missing": "keep"},
        "job": {"role": "quasi_identifier", "taxonomy": {"Any": {"A": ["Engineer", "Lawyer"], "B": list(JOBS[2:])}}},
        "ill": {"role": "sensitive", "values": list(ILLS)},
        "pay": {"role": "class", "values": ["low", "high"]},
        "town": {"role": "insensitive", "values": ["Ulm", "Bonn"]},
    },
    "purposes": {"few": {"attributes": ["job", "ill", "pay"]}},
}
METHODS = {
    "mondrian": sf.Mondrian(k=7),
    "suppressed": sf.Mondrian(k=9, suppress="0.2"),
    "buckets": sf.Bucketization(privacy={"distinct-l-diversity": 2}),
    "two tables": sf.Bucketization(privacy={"distinct-l-diversity": 2}, tables=2),
    "anatomy": sf.Anatomy(l=2),
    "counts": sf.DiffGen(epsilon=2, h=3),
}


def study(**changes):
    return sf.Study.from_mapping(FIELDS | changes)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A release that many tests look at and none changes."""
    return study().release(METHODS["mondrian"], out=tmp_path_factory.mktemp("made") / "out", report=False)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_a_bundle_shows_what_its_draft_shows(name, tmp_path):
    clinic = study()
    made = clinic.release(METHODS[name], out=tmp_path / "out", report=False)
    read = evidence_of_bundle(clinic.declared, made.bundle)
    drafted = evidence_of_draft(clinic.declared, None, made.draft)
    assert read.records == drafted.records == RECORDS
    assert read.view == drafted.view
    assert read.shown.form == drafted.shown.form
    assert read.shown.records == pytest.approx(drafted.shown.records)
    assert read.shown.suppressed == drafted.shown.suppressed
    one, two = measure(read), measure(drafted)
    assert list(one) == list(two)
    for key in one:
        if isinstance(one[key], Refused):
            assert one[key] == two[key], key
        else:
            assert one[key].value == pytest.approx(two[key].value, abs=1e-9), key


def test_a_purpose_is_measured_on_its_attributes(tmp_path):
    clinic = study()
    made = clinic.release(sf.Mondrian(k=7), purpose="few", out=tmp_path / "out", report=False)
    read = evidence_of_bundle(clinic.declared, made.bundle)
    assert [a.name for a in read.view.attributes] == ["job", "ill", "pay"]
    assert read.view == measuring_view(clinic.declared, "few")
    assert clinic.measure(made)["uloss"] == measure(evidence_of_draft(clinic.declared, "few", made.draft))["uloss"]


@pytest.mark.usefixtures("seeded")
def test_all_records_of_a_person_are_measured(tmp_path):
    people = study(privacy={"unit": {"person": "id", "at_most": 2}, "budget": 4})
    made = people.release(sf.ContingencyTable(epsilon=2), purpose="few", out=tmp_path / "out", report=False)
    assert evidence_of_bundle(people.declared, made.bundle).records == RECORDS
    assert isinstance(people.measure(made.folder)["ploss"], Reading)


def test_measures_are_chosen_by_name_or_with_parameters(made):
    clinic = study()
    assert list(clinic.measure(made, only=["uloss", "ploss"])) == ["uloss", "ploss"]
    assert list(clinic.measure(made, only="ploss")) == ["ploss"]
    few = clinic.measure(str(made.bundle), only=[UtilityLoss(min_sup=0.4)])["uloss"]
    assert few.details["populations"] < clinic.measure(made)["uloss"].details["populations"]
    with raises_code(SfumatoError, "SF-STUDY-109", match=r"no measure called 'glory'.*ploss"):
        clinic.measure("nowhere", only=["glory"])


def test_a_release_is_given_as_a_folder_as_it_was_published_or_opened(made):
    clinic = study()
    opened = sf.Release.open(made.bundle)
    assert clinic.measure(opened, only="ploss") == clinic.measure(made.folder, only="ploss")
    assert clinic.attack_link(opened) == clinic.attack_link(made)
    assert clinic.attack_intersect(opened, made) == clinic.attack_intersect(made, str(made.bundle))
    for asking in (clinic.measure, clinic.attack_link, lambda one: clinic.attack_intersect(made, one)):
        with raises_code(UsageError, "SF-USAGE-085", match=r"the type 'int'.*the folder of its bundle"):
            asking(7)


def test_losses_come_first():
    kinds = [one.kind for one in chosen_measures()]
    assert kinds == sorted(kinds, key=["privacy loss", "utility loss", "risk", "utility"].index)
    assert len(kinds) == len(MEASURES)


@pytest.mark.parametrize(
    ("name", "change", "problem"),
    [
        ("age", {"bounds": [0, 120]}, "domain of 'age'"),
        ("job", {"role": "insensitive"}, "publishes 'job' as quasi identifier"),
        ("town", {"role": "identifier"}, "no such attribute with a domain"),
    ],
)
def test_a_bundle_of_another_study_is_refused(name, change, problem, made):
    fields = {**FIELDS["attributes"], name: {**FIELDS["attributes"][name], **change}}
    if change.get("role") == "identifier":
        fields[name] = change
    with pytest.raises(StudyError, match=problem):
        study(attributes=fields).measure(made)


def test_a_bundle_of_a_study_of_another_name_is_refused_by_name(made):
    ward = study(name="ward")
    for asking in (ward.measure, ward.attack_link, lambda one: ward.attack_intersect(one, made)):
        with raises_code(
            StudyError, "SF-STUDY-215", match=r"the bundle is of the study 'clinic', not of 'ward'; .*--was clinic"
        ):
            asking(made)
    with raises_code(StudyError, "SF-STUDY-215", match="of the study 'clinic', not of 'hospital'"):
        ward.measure(made, was="hospital")


def test_a_study_that_was_renamed_says_what_it_was_called(made, tmp_path):
    clinic, ward = study(), study(name="ward")
    new = ward.release(sf.Mondrian(k=9), out=tmp_path / "new", report=False)
    assert ward.measure(made, was="clinic") == clinic.measure(made)
    assert ward.attack_link(made, was="clinic") == clinic.attack_link(made)
    assert ward.attack_intersect(made, new, was="clinic").people == RECORDS, "one of each name"
    assert ward.measure(new, was="clinic", only="ploss"), "its own name will do"
    wide = {**FIELDS["attributes"], "age": {**FIELDS["attributes"]["age"], "bounds": [0, 120]}}
    with raises_code(StudyError, "SF-STUDY-217", match="domain of 'age'"):
        study(name="ward", attributes=wide).measure(made, was="clinic")


def test_what_an_attribute_is_called_for_does_not_change_its_domain(made):
    clinic = study()
    told = replace(clinic.declared.attributes["age"], description="in years")
    declared = replace(clinic.declared, attributes={**clinic.declared.attributes, "age": told})
    assert evidence_of_bundle(declared, made.bundle).records == RECORDS


def test_nothing_measured_goes_into_the_bundle(made):
    clinic = study()
    before = {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}
    clinic.measure(made)
    assert before == {path: path.read_bytes() for path in made.folder.rglob("*") if path.is_file()}


def test_a_study_without_quasi_identifiers_is_measured_too():
    declared = study().declared
    none = replace(declared, attributes={n: a for n, a in declared.attributes.items() if a.role is Role.CLASS})
    assert measuring_view(none).quasi == ()
