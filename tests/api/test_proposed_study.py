"""A proposal becomes a study over a table: what was described is there, and the owner's decisions stand over it."""

import pyarrow as pa
import pyarrow.csv
import pytest

import sfumato as sf
from sfumato.errors import StudyError, UsageError
from sfumato.study.attribute import Role, observed
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

JOBS = ["Engineer", "Dancer", "Lawyer", "Writer"]
TABLE = pa.table(
    {
        "person_id": [f"p{n}" for n in range(200)],
        "age": [20 + n % 50 for n in range(200)],
        "job": [JOBS[n % 4] for n in range(200)],
        "qzx": [float(n % 37) / 10 for n in range(200)],
        "income": [("<=50K", ">50K")[n % 4 in (0, 2)] for n in range(200)],
    }
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def proposal():
    return sf.describe(TABLE, target="income")


def test_what_was_described_becomes_a_study_over_the_table(proposal):
    study = proposal.to_study(TABLE)
    roles = {name: a.role for name, a in study.declared.attributes.items()}
    assert (roles["person_id"], roles["income"], roles["job"]) == (Role.IDENTIFIER, Role.CLASS, Role.QUASI_IDENTIFIER)
    assert set(observed(study.declared.attributes.values())) >= {"age", "job", "income"}
    assert all(report.fits for report in study.check())


def test_undecided_columns_are_named(proposal):
    assert proposal.undecided == tuple(p.column.name for p in proposal.columns if p.role is Role.UNDECIDED)
    assert "qzx" in proposal.undecided
    assert "to decide" in repr(proposal)


def test_decisions_stand_over_the_proposal(proposal):
    study = proposal.to_study(
        TABLE,
        roles={"qzx": "insensitive", "job": "sensitive"},
        domains={"age": (0, 120), "job": JOBS, "income": ["<=50K", ">50K"], "qzx": (0.0, 4.0)},
        budget=2,
    )
    attributes = study.declared.attributes
    assert (attributes["job"].role, attributes["qzx"].role) == (Role.SENSITIVE, Role.INSENSITIVE)
    assert attributes["age"].role is Role.QUASI_IDENTIFIER
    assert observed(attributes.values()) == []
    assert study.declared.budget == 2
    opened = study.release(sf.Staged(epsilon=1), report=False).open()
    assert set(opened.domains) >= {"age", "income"}


def test_a_private_release_of_what_was_read_off_the_records_is_refused(proposal):
    with raises_code(StudyError, "SF-STUDY-720", match="'qzx' is undecided"):
        proposal.to_study(TABLE, budget=1).release(sf.Staged(epsilon=1), report=False)
    study = proposal.to_study(TABLE, roles={"qzx": "insensitive"}, budget=1)
    with raises_code(StudyError, "SF-STUDY-064", match="read off the data"):
        study.release(sf.Staged(epsilon=1), report=False)


def test_identifiers_keep_no_domain(proposal):
    study = proposal.to_study(TABLE, roles={"age": "identifier"})
    assert study.declared.attributes["age"].domain is None


def test_a_decision_about_no_column_is_refused(proposal):
    with raises_code(UsageError, "SF-USAGE-741", match="no column 'agee'"):
        proposal.to_study(TABLE, roles={"agee": "sensitive"})


def test_a_file_may_be_described_and_a_table_in_memory_used(folder):
    pa.csv.write_csv(TABLE, folder / "people.csv")
    found = sf.describe("people.csv", target="income")
    assert found.to_study(TABLE).declared.attributes.keys() == found.to_study("people.csv").declared.attributes.keys()
    assert all(report.fits for report in found.to_study("people.csv").check())
