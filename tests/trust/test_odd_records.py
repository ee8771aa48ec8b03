"""No record of a CSV file makes a private release fail, or changes how another record is read."""

import pytest

import sfumato as sf
from sfumato.errors import SourceError
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(1e-12, reason="noise at ε = 10⁶ is 0 but with a chance below e^(-10⁵)")

HEADER = "age,ill\n"
RECORDS = "30,y\n40,n\n" * 20
FIELDS = {
    "name": "odd",
    "privacy": {"budget": "9000000"},
    "attributes": {
        "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99], "step": 1, "missing": "suppress"},
        "ill": {"role": "class", "values": ["y", "n"]},
    },
}
ODD = {
    "nothing": "",
    "too few fields": "30\n",
    "too many fields": "30,y,secret\n",
    "a bare CR": "30,y\ry\n",
    "another line end": "30,w\r\n",
    "a quote that is never closed": '30,"y\n',
    "text after a quote": '30,"y"y\n',
    "a field of 5 MB in quotes": '30,"' + "y\n" * 2_500_000 + '"\n',
    "a field of 5 MB": "30," + "y" * 5_000_000 + "\n",
    "a zero byte": "30,\x00\n",
    "words in a column of numbers": "secret,y\n",
}


def study_of(folder, content, **source):
    (folder / "t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    return sf.Study.from_mapping({**FIELDS, "source": {"path": str(folder / "t.csv"), **source}})


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_record_neither_fails_nor_changes_the_others(tmp_path, odd):
    """None of them is a record of the domain, so that exactly the others are counted; before them and after them."""
    for content in (HEADER + RECORDS + ODD[odd], HEADER + ODD[odd] + RECORDS):
        study = study_of(tmp_path, content)
        # With ε = 10⁶ the discrete Laplace noise is 0 but with a chance of about 2·exp(-10⁶).
        assert study.ask("age <= 99 and ill in (y, n)", epsilon="1000000").count == 40
        assert {entry.state for entry in study.ledger.entries("odd")} == {"done"}


def test_names_that_are_numbers_are_told_by_the_study_and_not_by_the_records(tmp_path):
    """Before, the same file was refused or released by whether one record held a word."""
    age, ill = FIELDS["attributes"].values()
    for last in ("", "word,y\n"):
        (tmp_path / "t.csv").write_text("2020,ill\n" + RECORDS + last, encoding="utf-8")
        fields = {**FIELDS, "source": str(tmp_path / "t.csv"), "attributes": {"2020": age, "ill": ill}}
        assert sf.Study.from_mapping(fields).ask("ill = y", epsilon="1000000").count in {20, 21}


def test_a_file_without_names_is_refused_by_its_first_line_alone(tmp_path):
    for content in (RECORDS, "30,y\n" + "word,n\n" * 9):
        study = study_of(tmp_path, content)
        with raises_code(SourceError, "SF-SOURCE-006", match="looks like a record, not like column names"):
            study.ask(epsilon="1")
        assert not study.ledger.entries("odd"), "nothing is spent"


def test_a_byte_that_is_not_utf_8_is_refused_before_anything_is_spent_unless_utf_8_is_declared(tmp_path):
    content = (HEADER + RECORDS).encode() + b"30,\xff\n"
    study = study_of(tmp_path, content)
    with raises_code(SourceError, "SF-SOURCE-047", match="declare it in the study"):
        study.ask(epsilon="1")
    assert not study.ledger.entries("odd")
    assert study_of(tmp_path, content, encoding="utf-8").ask("ill in (y, n)", epsilon="1000000").count == 40


@pytest.mark.parametrize("odd", ["too few fields", "too many fields", "a quote that is never closed"])
def test_a_private_release_of_odd_records_can_be_measured(tmp_path, odd):
    """Its table is read by the rules that the release was made by; before, the owner's own rules stopped here."""
    fields = {
        **FIELDS,
        "source": str(tmp_path / "t.csv"),
        "releases": {"dp": {"method": "contingency", "epsilon": "1000000"}},
    }
    (tmp_path / "t.csv").write_text(HEADER + RECORDS + ODD[odd], encoding="utf-8")
    study = sf.Study.from_mapping(fields)
    done = study.release("dp", out=tmp_path / "out", report=False, anyway=True)
    found = study.measure(done, only=["marginals-1"])["marginals-1"]
    assert found.value == pytest.approx(0, abs=1e-9), "every record of the domain is in both"
