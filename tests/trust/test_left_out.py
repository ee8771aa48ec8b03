"""Nothing is spent on a table most of which is left out, and what the owner is told of it stays with the owner."""

import datetime as dt
import json
from fractions import Fraction

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import workflow
from sfumato.errors import SourceError
from sfumato.interactive import DiffPC45
from sfumato.privacy.dp.sampling import InsecureSource
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

ROWS = 200


def table(readable=2, days=ROWS):
    """Only the first few numbers are written as numbers, only the first few days as days."""
    return pa.table(
        {
            "paid": [f"{100 + n}" if n < readable else f"{1000 + n:,}.00" for n in range(ROWS)],
            "seen": ["2004-01-31" if n < days else "Jan 31st" for n in range(ROWS)],
            "sex": ["f", "m"] * (ROWS // 2),
            "ill": ["no", "no", "no", "yes"] * (ROWS // 4),
        }
    )


def study(source=None, **more):
    paid = {"role": "sensitive", "type": "number", "bounds": [0, 5000], "step": 100, "missing": "suppress"}
    fields = {
        "name": "clinic",
        "source": table() if source is None else source,
        "privacy": {"budget": 10},
        "attributes": {
            "paid": {**paid, **more.pop("paid", {})},
            "seen": {"role": "time", "type": "date"},
            "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
            "ill": {"role": "class", "values": ["no", "yes"]},
        },
        "purposes": {
            "rich": {"attributes": ["sex", "ill"], "where": "paid >= 2000"},
            "then": {"attributes": ["sex", "ill"], "span": ["2004-01-01", "2005-01-01"]},
            "sex": {"attributes": ["sex", "ill"]},
        },
    }
    return sf.Study.from_mapping(fields | more)


VERBS = {
    "release": lambda s, out, **more: s.release(sf.DiffGen(epsilon=1, h=2), out=out, report=False, **more),
    "a release of groups": lambda s, out, **more: s.release(
        sf.Mondrian(k=2, suppress=0), out=out, report=False, **more
    ),
    "ask": lambda s, _, **more: s.ask("paid >= 2000", epsilon=1, **more),
    "ask by": lambda s, _, **more: s.ask(by="paid", epsilon=1, **more),
    "learn": lambda s, out, **more: s.learn(DiffPC45(1, depth=2), out=out, **more),
}


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_is_spent_on_next_to_nothing(tmp_path, verb):
    """The refusal names the attribute and no value, leaves no entry and no file, and is overcome by `anyway`."""
    opened = study()
    with pytest.raises(SourceError, match="To fix: inspect the values with `sfumato check`") as caught:
        VERBS[verb](opened, tmp_path / "out")
    told = "99 % of the records (198 of 200)" in caught.value.problem and "'paid' 99 %" in caught.value.problem
    assert told == (not verb.startswith("ask")), "who asks gets no count: see below"
    assert "1,0" not in str(caught.value)
    assert opened.ledger.entries("clinic") == () and list(tmp_path.iterdir()) == []
    VERBS[verb](opened, tmp_path / "out", anyway=True)
    assert len(opened.ledger.entries("clinic")) == 1


def test_a_run_makes_the_other_releases(tmp_path):
    dp = {"method": "diffgen", "epsilon": "1", "h": 2}
    opened = study(releases={"all": dp, "some": {**dp, "purpose": "sex"}})
    object.__setattr__(opened.declared, "base", tmp_path)
    refused, made = opened.run(runs=1)
    assert isinstance(refused.failure, SourceError) and made.published is not None
    assert [ran.failure for ran in opened.run(["all"], runs=1, anyway=True)] == [None]


@pytest.mark.parametrize(("limit", "refused"), [("0.98", True), ("0.99", False), ("99/100", False), (1, False)])
def test_the_study_sets_the_limit(tmp_path, limit, refused):
    opened = study(most_invalid=limit)
    if refused:
        with raises_code(SourceError, "SF-SOURCE-046", match=r"At most 0\.98 may be left out"):
            opened.release(sf.DiffGen(epsilon=1, h=2), out=tmp_path / "out", report=False)
    else:
        done = opened.release(sf.DiffGen(epsilon=1, h=2), out=tmp_path / "out", report=False)
        assert done.left_out.share == Fraction(99, 100)
        assert "99 % of the records (198 of 200) have a missing or invalid value" in done.warnings[0]


def test_a_purist_decides_nothing_on_raw_records(tmp_path, monkeypatch):
    """With `unchecked` the look is not taken, so whether there is a release does not depend on a record."""
    monkeypatch.setattr("sfumato.tables.coded.count_left_out", None)
    monkeypatch.setattr("sfumato.workflow.steps.left_out_guard.count_left_out", None)
    opened = study(most_invalid="unchecked")
    done = opened.release(sf.DiffGen(epsilon=1, h=2), out=tmp_path / "out", report=False)
    assert done.left_out is None and done.warnings == ()
    plan = opened.plan(sf.DiffGen(epsilon=1, h=2))
    assert plan.left_out is None and "`most_invalid: unchecked`" in plan.sentences[-1]


def test_what_a_filter_or_a_span_cannot_read_counts():
    """Such records are not selected, so nothing is left out of the selected ones; the release is as empty."""
    opened = study(most_invalid=0.5)
    assert opened.plan(sf.DiffGen(epsilon=1, h=2), purpose="rich").left_out.attributes == {"paid": 0.99}
    opened = study(table(days=20))
    plan = opened.plan(sf.DiffGen(epsilon=1, h=2), purpose="then")
    assert plan.left_out.attributes == {"seen": 0.9}
    with raises_code(SourceError, "SF-SOURCE-039"):
        opened.ask("sex = f", epsilon=1, span="[2004-01-01, 2005-01-01)")


def test_records_without_a_person_count():
    who = pa.array([f"p{n // 2}" if n >= 150 else "" for n in range(ROWS)])
    source = table(readable=ROWS).append_column("who", who)
    opened = study(source, privacy={"unit": {"person": "who", "at_most": 1}, "budget": 10}, paid={"missing": "keep"})
    plan = opened.plan(sf.DiffGen(epsilon=1, h=2))
    assert plan.left_out.attributes == {"who": 0.75}, "records beyond the first of a person are not left out"
    with raises_code(SourceError, "SF-SOURCE-039"):
        opened.ask(epsilon=1)


def test_the_plan_says_so_first_and_spends_nothing():
    opened = study()
    plan = opened.plan(sf.DiffGen(epsilon=1, h=2))
    assert plan.sentences[0].startswith("TOO MANY RECORDS ARE LEFT OUT (for your eyes only): 99 %")
    assert plan.left_out.as_json() == {
        "share": 0.99, "records": 198, "of": 200, "attributes": {"paid": 0.99}, "replaced": {},
    }  # fmt: skip
    assert opened.plan(DiffPC45(1), purpose="sex").left_out.left_out == 0
    assert opened.plan(sf.Mondrian(k=2)).left_out.left_out == 198
    unlooked = opened.plan(sf.DiffGen(epsilon=1, h=2), check=False)
    assert unlooked.left_out is None and "left out (" not in " ".join(unlooked.sentences)
    assert opened.ledger.entries("clinic") == ()


def test_a_plan_needs_no_table():
    plan = study("there-is-no-such.csv").plan(sf.DiffGen(epsilon=1, h=2))
    assert plan.left_out is None
    assert "the table could not be compared with the study: there is no file" in plan.sentences[-1]


def test_a_plan_does_not_use_up_a_stream(tmp_path):
    opened = study(table(readable=ROWS).to_reader())
    assert "can be read only once" in opened.plan(sf.DiffGen(epsilon=1, h=2)).sentences[-1]
    opened.release(sf.DiffGen(epsilon=1, h=2), out=tmp_path / "out", report=False)


def test_nothing_of_it_is_published(tmp_path):
    """The same noise on two tables that differ in what is left out alone gives the same bundle to the byte."""
    bundles = []
    for name, source in (("more", table(readable=120)), ("less", table(readable=120).slice(0, 120))):
        opened = study(source, most_invalid=0.5, ledger="memory:")
        done = workflow.release(
            opened.declared, opened.recipe(sf.ContingencyTable(epsilon=1)), folder=tmp_path / name,
            ledger=opened.ledger, source=InsecureSource(1), clock=lambda: dt.datetime(2026, 1, 1, tzinfo=dt.UTC),
        )  # fmt: skip
        assert (done.left_out.left_out == 0) == (name == "less")
        bundles.append({file.name: file.read_bytes() for file in done.bundle.iterdir()})
        [entry] = opened.ledger.entries("clinic")
        assert json.loads(bundles[-1]["manifest.json"])["ledger"] == entry.hash, "what is hashed is the same, too"
    assert bundles[0] == bundles[1]


def test_a_refused_question_tells_nothing_of_the_records_that_it_selects():
    """Neither a count nor a choice of records: the whole table decides, by the attributes that the question names."""
    opened = study(table(readable=120), most_invalid=0.5)
    few = opened.ask("sex = f and ill = yes", by="paid", epsilon=1)
    assert few.counts, "half of the table can be read, whatever the question selects"
    strict = study(table(readable=120), most_invalid=0.01, ledger="memory:")
    with pytest.raises(SourceError) as caught:
        strict.ask("sex = f and ill = yes", by="paid", epsilon=1)
    assert not any(letter.isdigit() for letter in f"{caught.value.problem} {caught.value.fix}")


MISREAD = {
    "moved to the nearer bound": {"type": "number", "bounds": [0, 1], "step": 1, "format": {"thousands": ","}},
    "not readable and kept as missing": {"type": "number", "bounds": [0, 5000], "step": 100, "missing": "keep"},
    "outside the declared values": {"values": ["100", "101"], "outside": "keep"},
}


def misread(words, source=None, **more):
    """A study that takes nearly all values of `paid` for another one, and leaves no record out."""
    attributes = {
        "paid": {"role": "sensitive", **MISREAD[words]},
        "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
        "ill": {"role": "class", "values": ["no", "yes"]},
    }
    return study(source, attributes=attributes, purposes={}, **more)


@pytest.mark.parametrize(
    ("words", "verb"),
    [*((w, "release") for w in MISREAD), *(("moved to the nearer bound", verb) for verb in VERBS)][1:],
)
def test_nothing_is_spent_on_values_that_are_misread(tmp_path, words, verb):
    """No record is left out, and yet next to nothing of the attribute is released; the refusal is the same."""
    opened = misread(words)
    with pytest.raises(SourceError, match="inspect the values with `sfumato check`") as caught:
        VERBS[verb](opened, tmp_path / "out")
    if not verb.startswith("ask"):  # who asks is told no count
        assert words in caught.value.problem and "of the values of 'paid'" in caught.value.problem
        assert "declare how they are written (`format`)" in caught.value.fix
    assert "1,0" not in str(caught.value) and "nothing was spent" in caught.value.problem
    assert opened.ledger.entries("clinic") == () and list(tmp_path.iterdir()) == []
    VERBS[verb](opened, tmp_path / "out", anyway=True)
    assert len(opened.ledger.entries("clinic")) == 1


@pytest.mark.parametrize("words", MISREAD)
def test_a_plan_and_a_release_tell_of_values_that_are_misread(tmp_path, words):
    plan = misread(words).plan(sf.DiffGen(epsilon=1, h=2))
    assert plan.sentences[0].startswith("TOO MANY VALUES ARE REPLACED (for your eyes only): ")
    assert words in plan.sentences[0] and "`release` will refuse without `--anyway`" in plan.sentences[0]
    assert plan.left_out.left_out == 0 and plan.left_out.replaced["paid"].share >= Fraction(99, 100)
    opened = misread(words, most_invalid=1)
    assert any(words in said for said in opened.plan(sf.DiffGen(epsilon=1, h=2)).sentences)
    done = opened.release(sf.DiffGen(epsilon=1, h=2), out=tmp_path / "out", report=False)
    assert any(words in said for said in done.warnings)
    assert not any(b"of the values of" in file.read_bytes() for file in done.bundle.iterdir())


@pytest.mark.parametrize("method", [sf.DiffGen(epsilon=1, h=2), sf.Mondrian(k=2, suppress=0)])
def test_what_really_is_missing_may_be_kept(tmp_path, method):
    """Blanks, nulls and declared marks are no misread values, however many there are."""
    written = [None, "", " ", "5"] * (ROWS // 4)
    source = table().set_column(0, "paid", pa.array(written))
    done = misread("not readable and kept as missing", source).release(method, out=tmp_path / "out", report=False)
    assert done.left_out.replaced == {} and not any("of the values" in said for said in done.warnings)


def test_a_few_replaced_values_are_told_and_fewer_are_not(tmp_path):
    for readable, told in ((ROWS - 2, False), (ROWS - 3, True)):
        opened = misread("not readable and kept as missing", table(readable=readable))
        done = opened.release(sf.DiffGen(epsilon=1, h=2), out=tmp_path / str(readable), report=False)
        assert any("1.5 % of the values of 'paid' (3 of 200)" in said for said in done.warnings) == told
        assert done.left_out.replaced["paid"].unreadable == ROWS - readable


def test_a_release_of_groups_names_the_format_of_numbers_it_cannot_read(tmp_path):
    opened = study(paid={"missing": "error"})
    with raises_code(SourceError, "SF-SOURCE-048", match=r"declare how they are written \(`format`\)"):
        opened.release(sf.Mondrian(k=2, suppress=0), out=tmp_path / "out", report=False)
