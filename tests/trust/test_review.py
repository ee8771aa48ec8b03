"""Holes that a review found, each closed: what one record, one word in a study, or one seed must not do."""

import pandas as pd
import pytest

from sfumato import workflow
from sfumato.errors import BudgetError, SourceError, StudyError
from sfumato.ledger import open_ledger
from sfumato.methods import DiffGen, Mondrian, recipe_of
from sfumato.privacy.dp.sampling import InsecureSource
from sfumato.study.attribute import Attribute, Role
from sfumato.study.file import study_from_mapping, study_from_text
from sfumato.study.unit import PersonUnit
from sfumato.tables import CodedTable, open_source
from tests.raising import raises_code
from tests.small_domains import flat, grid

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

FIELDS = {
    "name": "s",
    "privacy": {"budget": 2},
    "attributes": {
        "town": {"role": "quasi_identifier", "values": ["Zürich", "Bern"]},
        "ill": {"role": "class", "values": ["y", "n"]},
    },
}
RECIPE = recipe_of(DiffGen(epsilon=1, h=1), name="r")


def test_one_stray_byte_does_not_change_how_others_are_read(tmp_path):
    rows = "town,ill\n" + "Zürich,y\nBern,n\n" * 50
    (tmp_path / "t.csv").write_bytes(rows.encode() + b"Bern\xff,n\n")
    study = study_from_mapping({**FIELDS, "source": str(tmp_path / "t.csv")})
    with raises_code(SourceError, "SF-SOURCE-047", match=r"the encoding of .* had to be guessed from its records"):
        workflow.release(study, RECIPE, folder=tmp_path / "out", ledger=open_ledger("memory:"))
    assert not (tmp_path / "out").exists()


def test_one_odd_object_does_not_change_how_others_are_read():
    one = Attribute(name="x", role=Role.QUASI_IDENTIFIER, domain=flat("1", "2", "true"))
    for odd in ([], ["x"], [object()], [True]):
        with open_source(pd.DataFrame({"x": pd.Series([1.0, 2.0, 2, "1", *odd], dtype=object)})) as table:
            found = CodedTable(table, [one]).full_cells()
        counts = dict(zip(found.codes[:, 0].tolist(), found.counts.tolist(), strict=True))
        assert (counts[0], counts[1]) == (2, 2)


def test_records_without_a_person_take_no_part():
    age = Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=grid(0, 9))
    frame = pd.DataFrame({"age": [1, 2, 3, 4], "who": ["a", None, None, "b"]})
    with open_source(frame) as table:
        assert CodedTable(table, [age], unit=PersonUnit("who", 3)).full_cells().codes[:, 0].tolist() == [1, 4]


def test_a_ledger_lies_with_the_study_wherever_the_command_runs(tmp_path, monkeypatch):
    sex = "attributes: {sex: {role: quasi_identifier, values: [f]}}"
    text = f'name: s\nsource: t.csv\nledger: "sqlite:///account.sqlite"\n{sex}'
    study = study_from_text(text, base=tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert str(workflow.ledger_of(study).path) == str(tmp_path / "account.sqlite")


def test_a_study_file_cannot_keep_its_account_in_memory(tmp_path):
    text = 'name: s\nsource: t.csv\nledger: "memory:"\nattributes: {sex: {role: quasi_identifier, values: [f]}}'
    with raises_code(StudyError, "SF-STUDY-220"):
        workflow.ledger_of(study_from_text(text, base=tmp_path))


def test_a_study_in_memory_without_a_ledger_is_not_released(tmp_path):
    study = study_from_mapping({**FIELDS, "source": pd.DataFrame({"town": ["Bern"], "ill": ["y"]})})
    with raises_code(StudyError, "SF-STUDY-209"):
        workflow.release(study, RECIPE, folder=tmp_path / "out")


def test_units_are_not_mixed_in_one_account(tmp_path):
    frame = pd.DataFrame({"town": ["Bern", "Bern"], "ill": ["y", "n"], "who": ["a", "b"]})
    book = open_ledger("memory:")
    by_record = study_from_mapping({**FIELDS, "source": frame})
    persons = {**FIELDS["privacy"], "unit": {"person": "who", "at_most": 2}}
    by_person = study_from_mapping({**FIELDS, "source": frame, "privacy": persons})
    workflow.release(by_person, RECIPE, folder=tmp_path / "one", ledger=book)
    with raises_code(
        BudgetError, "SF-BUDGET-002", match=r"'person by who, at most 2', and this release has the unit 'record'"
    ):
        workflow.release(by_record, RECIPE, folder=tmp_path / "two", ledger=book)


def test_a_seeded_release_is_no_promise_in_the_ledger_either(tmp_path):
    study = study_from_mapping({**FIELDS, "source": pd.DataFrame({"town": ["Bern"], "ill": ["y"]})})
    book = open_ledger("memory:")
    workflow.release(study, RECIPE, folder=tmp_path / "out", ledger=book, source=InsecureSource(1))
    assert [entry.guarantee for entry in book.entries("s")] == ["none (seeded for testing)"]


def test_an_owners_least_width_is_not_dropped_in_silence(tmp_path):
    fields = {
        "name": "s",
        "source": pd.DataFrame({"age": [1, 2, 3, 4]}),
        "attributes": {"age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 9], "at_least": 5}},
    }
    with raises_code(StudyError, "SF-STUDY-062", match="'mondrian' cannot guarantee the `at_least` of 'age'"):
        workflow.release(
            study_from_mapping(fields),
            recipe_of(Mondrian(k=2), name="k"),
            folder=tmp_path / "out",
            ledger=open_ledger("memory:"),
        )
