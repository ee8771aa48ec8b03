"""Purposes: releases of some records, what they say of it, and what they cost together."""

import json
import re
from fractions import Fraction
from html import unescape

import pytest

import sfumato as sf
from sfumato.errors import BudgetError, StudyError
from sfumato.release.verify import verify_bundle
from sfumato.study.file import dump_study, study_from_text
from sfumato.study.span import Span
from tests.raising import raises_code
from tests.trust.purposes import SPANS, study, table

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

HUGE = "1000000"  # so much ε that the noise is 0: what is published are the true counts


def released(opened, method, out, purpose=None):
    done = opened.release(method, out=out, purpose=purpose, report=False)
    assert verify_bundle(done.bundle).ok
    return done


@pytest.mark.parametrize(("purpose", "records"), [("twelve", 40), ("thirteen", 60), (None, 220)])
@pytest.mark.error_rate(1e-99, reason="any noise at all, at a huge ε")
def test_a_release_is_made_from_the_records_of_its_span_alone(tmp_path, purpose, records):
    opened = study(budget=10**7)
    done = released(opened, sf.ContingencyTable(epsilon=HUGE), tmp_path / "dp", purpose)
    assert done.draft.groups.counts.sum() == records
    done = released(opened, sf.Mondrian(k=5), tmp_path / "k5", purpose)
    assert done.rows == records


@pytest.mark.error_rate(1e-99, reason="any noise at all, at a huge ε")
def test_a_release_is_made_from_the_records_of_its_filter_alone(tmp_path):
    opened = study(budget=10**7)
    rows = [row for row in table().to_pylist() if row["job"] == "Lawyer" and 30 <= row["age"] < 60]
    done = released(opened, sf.ContingencyTable(epsilon=HUGE), tmp_path / "dp", "lawyers")
    assert done.draft.groups.counts.sum() == len(rows) > 0
    as_query = study(budget=10**7, where="job in (Lawyer) and not (age < 30 or age >= 60)")
    done = released(as_query, sf.ContingencyTable(epsilon=HUGE), tmp_path / "again", "lawyers")
    assert done.draft.groups.counts.sum() == len(rows)


@pytest.mark.parametrize("method", [sf.ContingencyTable(epsilon="0.5"), sf.Mondrian(k=5)], ids=["counts", "records"])
def test_plan_manifest_and_readme_say_span_and_filter_in_words(tmp_path, method):
    opened = study()
    span = (
        "only records with 'day' from 2013-01-01 up to, and not including, 2014-01-01 take part; one without a "
        "readable 'day' does not"
    )
    where = "only records that satisfy this take part: job = 'Lawyer' and age >= '30' and age < '60'"
    for purpose, says in (("thirteen", span), ("lawyers", where)):
        plan = opened.plan(method, purpose=purpose)
        assert says in plan.sentences
        done = released(opened, method, tmp_path / purpose, purpose)
        manifest = json.loads((done.bundle / "manifest.json").read_text(encoding="utf-8"))
        assert says in manifest["rules"]
        assert says[1:] in unescape((done.bundle / "README.md").read_text(encoding="utf-8"))
        assert manifest["selection"] == (
            {"time": "day", "span": SPANS["thirteen"], "where": None}
            if purpose == "thirteen"
            else {"time": None, "span": None, "where": "job = 'Lawyer' and age >= '30' and age < '60'"}
        )
    done = released(opened, method, tmp_path / "whole")
    assert "selection" not in json.loads((done.bundle / "manifest.json").read_text(encoding="utf-8"))


def test_disjoint_spans_cost_the_larger_and_the_plan_says_what_is_left_over_the_span(tmp_path):
    opened = study()
    opened.release(sf.ContingencyTable(epsilon="0.5"), out=tmp_path / "a", purpose="twelve", report=False)
    opened.release(sf.ContingencyTable(epsilon="1.5"), out=tmp_path / "b", purpose="thirteen", report=False)
    assert opened.ledger.spent("clinic") == Fraction(3, 2)
    plan = opened.plan(sf.ContingencyTable(epsilon=1), purpose="twelve")
    assert (plan.left, plan.fits) == (Fraction(3, 2), True)
    assert "it costs ε = 1; before it, 1.5 of the budget of 2 remains over [2012-01-01, 2013-01-01)" in plan.sentences
    assert any("it adds up with that of releases over the same days only" in sentence for sentence in plan.sentences)
    plan = opened.plan(sf.ContingencyTable(epsilon=1), purpose="both")
    assert (plan.left, plan.fits) == (Fraction(1, 2), False)
    assert plan.sentences[0] == (
        "OVER BUDGET: it costs ε = 1 and 0.5 of 2 remains over [2012-07-01, 2014-01-01), so `release` will refuse; "
        "at most ε = 0.5 is possible"
    )
    plan = opened.plan(sf.Mondrian(k=5), purpose="twelve")
    assert any("1.5 of 2 remains over [2012-01-01" in sentence for sentence in plan.sentences)
    done = opened.release(sf.ContingencyTable(epsilon="0.25"), out=tmp_path / "c", report=False)
    assert (done.left, opened.ledger.spent("clinic")) == (Fraction(1, 4), Fraction(7, 4))


def test_persons_get_no_discount(tmp_path):
    opened = study(unit={"person": "who", "at_most": 2})
    opened.release(sf.ContingencyTable(epsilon="0.5"), out=tmp_path / "a", purpose="twelve", report=False)
    done = opened.release(sf.ContingencyTable(epsilon="1"), out=tmp_path / "b", purpose="thirteen", report=False)
    assert (opened.ledger.spent("clinic"), done.left) == (Fraction(3, 2), Fraction(1, 2))
    plan = opened.plan(sf.ContingencyTable(epsilon=1), purpose="twelve")
    assert (plan.left, plan.fits) == (Fraction(1, 2), False)
    assert any("ε is charged to all records, whatever the span" in sentence for sentence in plan.sentences)


def test_a_request_over_what_is_left_fails_before_anything_is_read(tmp_path):
    opened = study(source="there/is/no/such/table.csv")
    with raises_code(
        BudgetError, "SF-BUDGET-003", match=r"asks for ε = 3 over \[2012-01-01, 2013-01-01\), and 2 is left"
    ):
        opened.release(sf.ContingencyTable(epsilon=3), out=tmp_path / "a", purpose="twelve", report=False)
    with raises_code(BudgetError, "SF-BUDGET-003", match="asks for ε = 3, and 2 is left"):
        opened.ask("age > 30", epsilon=3)
    assert list(tmp_path.iterdir()) == []


def test_a_span_by_another_way_to_read_the_time_gets_no_discount(tmp_path):
    """Were the format changed, a record could be in both spans: the two add up."""
    opened = study()
    opened.release(sf.ContingencyTable(epsilon="0.5"), out=tmp_path / "a", purpose="twelve", report=False)
    entry = opened.ledger.entries("clinic")[0]
    assert entry.span == Span("day as %d/%m/%Y", entry.span.start, entry.span.stop)
    other = Span("day as %m/%d/%Y", *(entry.span.stop.replace(year=year) for year in (2014, 2015)))
    assert opened.ledger.spent("clinic", other) == Fraction(1, 2)


def others(done):
    """The warnings but for that some records have no readable day, and that some are unique."""
    passed_over = ("are left out: 'day' 9.09 %", "make them quasi-identifiers or do not release them")
    return [warning for warning in done.warnings if not warning.endswith(passed_over)]


def test_overlapping_releases_without_epsilon_are_warned_of(tmp_path):
    opened = study()

    def warned(purpose, name):
        plan = opened.plan(sf.Mondrian(k=5), purpose=purpose)
        done = opened.release(sf.Mondrian(k=5), out=tmp_path / name, purpose=purpose, report=False)
        assert set(others(done)) <= set(plan.sentences)
        return "".join(others(done))

    opened.release(sf.ContingencyTable(epsilon="0.5"), out=tmp_path / "dp", report=False)
    assert warned("twelve", "a") == ""
    assert warned("thirteen", "b") == "", "other records"
    day = f"{opened.ledger.entries('clinic')[-1].at:%Y-%m-%d}"
    assert warned("both", "c") == (
        f"it may contain the same records as entry 3 ('twelve' by mondrian, {day}, [2012-01-01, 2013-01-01)); "
        f"entry 5 ('thirteen' by mondrian, {day}, [2013-01-01, 2014-01-01)): anyone with two such releases can "
        "intersect their groups, and the privacy models of neither release cover that"
    )
    assert "entry 3" in warned("lawyers", "d"), "a filter and a span may meet"


def test_people_may_be_in_releases_of_different_days(tmp_path):
    opened = study(unit={"person": "who", "at_most": 1})
    assert others(opened.release(sf.Mondrian(k=3), out=tmp_path / "a", purpose="twelve", report=False)) == []
    (warning,) = others(opened.release(sf.Mondrian(k=3), out=tmp_path / "b", purpose="thirteen", report=False))
    assert warning.startswith("it may contain the same people as entry 1 ('twelve'")


def test_a_filter_on_a_domain_read_off_the_data_is_refused(tmp_path):
    fields = {
        "name": "s", "source": table(), "privacy": {"budget": 1},
        "attributes": {
            "age": {"role": "insensitive", "type": "integer", "bounds": [0, 99], "domain": "observed"},
            "job": {"role": "quasi_identifier", "values": ["Lawyer", "Dancer", "Writer"]},
            "ill": {"role": "class", "values": ["no", "yes"]},
        },
        "purposes": {"old": {"attributes": ["job", "ill"], "where": "age > 50"}},
    }  # fmt: skip
    opened = sf.Study.from_mapping(fields)
    with raises_code(StudyError, "SF-STUDY-064", match="the domain of 'age' was read off the data"):
        opened.release(sf.ContingencyTable(epsilon=1), out=tmp_path / "a", purpose="old", report=False)
    fields["attributes"]["age"] = {"role": "sensitive", "type": "integer", "bounds": [0, 99]}
    opened = sf.Study.from_mapping(fields)
    with raises_code(StudyError, "SF-STUDY-187", match=r"selects records by the sensitive 'age'"):
        opened.release(sf.Mondrian(k=2), out=tmp_path / "a", purpose="old", report=False)
    opened.release(sf.ContingencyTable(epsilon=1), out=tmp_path / "a", purpose="old", report=False)


TEXT = """\
name: s
source: t.csv
attributes:
  day: {{role: time, type: date{day}}}
  age: {{role: quasi_identifier, type: integer, bounds: [0, 99]}}
  job: {{role: quasi_identifier, values: [Lawyer, Dancer]}}
  ssn: {{role: identifier}}
purposes:
  p: {{attributes: [age], {purpose}}}
"""


@pytest.mark.parametrize(
    ("purpose", "says"),
    [
        ("span: [2012-01-01]", "line 9: a span is two days"),
        ("span: 2012", "a list is expected here"),
        ("span: [2012-01-01, 2012-02-30]", "'2012-02-30' is not a date"),
        ("span: [2012-01-01, 2012-01-01]", "holds no day"),
        ("where: {age: [30, 40], jobb: Lawyer}", "the study has no attribute 'jobb'"),
        ("where: job = Cook", "'job' has no value 'Cook'"),
        ("where: {job: Cook}", "'job' has no value 'Cook'"),
        ("where: {job: []}", "gives 'job' no value"),
        ("where: {}", "a filter is a query"),
        ("where: ssn = 5", "the study has no attribute 'ssn'"),
        ("where: age >", "a value was expected"),
        ("filter: age > 5", "there is no field 'filter'"),
    ],
)
def test_what_is_wrong_with_a_purpose_is_told_with_its_line(purpose, says):
    with pytest.raises(StudyError, match=says):
        study_from_text(TEXT.format(day="", purpose=purpose))


@pytest.mark.parametrize(
    ("day", "says"),
    [
        (", format: '%d/%m'", "has no year"),
        (", format: ['%d/%m/%Y', '%q']", "has '%q', which is not known here"),
    ],
)
def test_what_is_wrong_with_a_format_is_told(day, says):
    with pytest.raises(StudyError, match=says):
        study_from_text(TEXT.format(day=day, purpose="span: [2012-01-01, 2013-01-01]"))
    with raises_code(StudyError, "SF-STUDY-119", match="`format` is for dates and numbers, and 'job' has none"):
        study_from_text(TEXT.format(day="", purpose="").replace("[Lawyer, Dancer]", "[Lawyer], format: '%Y'"))


def test_a_span_needs_one_time_with_dates():
    text = TEXT.format(day="", purpose="span: [2012-01-01, 2013-01-01]")
    with raises_code(StudyError, "SF-STUDY-199", match="declares no attribute with the role `time`"):
        study_from_text(text.replace("role: time, type: date", "role: insensitive"))
    two = re.sub(r"(?m)^( *)day:( *)(\{.*)$", r"\1day:\2\3\n\1night: {role: time, type: date}", text)
    with raises_code(
        StudyError, "SF-STUDY-199", match=r"declares 2 attributes with the role `time`.*keep the role on one of: day, n"
    ):
        study_from_text(two)
    with raises_code(StudyError, "SF-STUDY-200", match="the time 'day' has no dates"):
        study_from_text(text.replace(", type: date", ""))


def test_a_study_with_purposes_is_written_and_read_back():
    text = TEXT.format(day=", format: '%d/%m/%Y'", purpose="span: [2012-01-01, 2013-01-01], where: {job: [Lawyer]}")
    once = study_from_text(text)
    again = study_from_text(dump_study(once))
    assert again.purposes == once.purposes
    assert again.attributes == once.attributes
    assert dump_study(once, onto=text) == dump_study(again, onto=text)
