"""Where the unit is a person, a release says how many records of each person it uses."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.study.unit import PersonUnit, RecordUnit
from sfumato.workflow.steps.outcome import person_rules

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

RULE = "at most 1 record of each person is used; a record without a person is left out"


def a_study(unit):
    table = pa.table(
        {
            "patient": [f"p{number // 2}" for number in range(80)],
            "sex": ["f", "m", "m", "f"] * 20,
            "dead": ["no", "yes"] * 40,
        }
    )
    return sf.Study.from_mapping(
        {
            "name": "clinic",
            "source": table,
            "privacy": {"budget": 10, "unit": unit},
            "attributes": {
                "patient": {"role": "identifier"},
                "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
                "dead": {"role": "class", "values": ["no", "yes"]},
            },
        }
    )


@pytest.mark.parametrize("method", [sf.DiffGen(epsilon=1, h=1), sf.Mondrian(k=5)], ids=["counts", "records"])
def test_plan_readme_and_manifest_say_how_many_records_of_a_person_are_used(tmp_path, method):
    study = a_study({"person": "patient", "at_most": 1})
    assert RULE in study.plan(method).sentences
    done = study.release(method, out=tmp_path / "one", report=False)
    assert RULE in done.open().manifest["rules"]
    assert "At most 1 record of each person is used" in (done.bundle / "README.md").read_text(encoding="utf-8")
    assert "patient" not in RULE


def test_a_unit_of_records_has_no_such_rule():
    assert not any("each person" in said for said in a_study("record").plan(sf.Mondrian(k=5)).sentences)
    assert person_rules(RecordUnit()) == []
    assert person_rules(PersonUnit("patient", 3)) == [
        "at most 3 records of each person are used; a record without a person is left out"
    ]


def test_a_learnt_model_says_so_in_its_plan():
    study = a_study({"person": "patient", "at_most": 1})
    assert RULE in study.plan(sf.DiffPC45(epsilon=1)).sentences
