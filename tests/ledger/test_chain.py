import json
from dataclasses import replace
from datetime import date
from fractions import Fraction

import pytest

from sfumato.errors import VerifyError
from sfumato.ledger import chain
from sfumato.ledger.memory import MemoryLedger
from sfumato.study.span import Span
from tests.ledger.drafts import WHEN, draft
from tests.raising import raises_code


@pytest.fixture
def ledger():
    ledger = MemoryLedger()
    for share in ("0.1", "0.2", "0.3"):
        entry = ledger.reserve(draft(share), budget=Fraction(1))
        ledger.complete(entry.id, f"bundle {share}", at=WHEN)
    return ledger


def test_a_whole_chain_verifies(ledger):
    assert ledger.verify() == ()
    assert ledger._rows[0].previous == chain.START
    assert all(after.previous == before.hash for before, after in zip(ledger._rows, ledger._rows[1:], strict=False))


@pytest.mark.parametrize(
    ("field", "value"),
    [("epsilon", "1/100"), ("study", "other"), ("at", "2020-01-01T00:00:00+00:00"), ("body", "{}"), ("kind", "failed")],
)
@pytest.mark.parametrize("place", range(6))
def test_a_changed_row_is_found(ledger, field, value, place):
    if getattr(ledger._rows[place], field) == value:
        return
    ledger._rows[place] = replace(ledger._rows[place], **{field: value})
    assert f"row {place + 1} was changed: its hash does not match" in ledger.verify()


def test_a_changed_span_is_found(ledger):
    entry = ledger.reserve(draft("0.1", span=Span("day", date(2013, 1, 1), date(2014, 1, 1))), budget=Fraction(1))
    row = ledger._rows[-1]
    assert (row.seq, '"span":["day","2013-01-01","2014-01-01"]' in row.body) == (entry.id, True)
    ledger._rows[-1] = replace(row, body=row.body.replace("2014-01-01", "2013-01-02"))
    assert ledger.verify() == ("row 7 was changed: its hash does not match",)


OLD = [  # as a ledger wrote them before there were spans
    chain.Row(
        seq=1, kind="opened", entry=1, study="adult", at="2026-11-03T14:30:00+00:00", epsilon="1/10",
        body='{"method":"diffgen","promise":"p","purpose":"research","recipe":"{}","unit":"record","who":"anna"}',
        previous=chain.START, hash="0077c4b0506e837f16f0be4331215e51458a62a52eb4b6df224afef31b73c8de",
    ),
]  # fmt: skip


def test_rows_from_before_there_were_spans_verify_and_are_about_all_records():
    old = MemoryLedger()
    old._rows = list(OLD)
    assert old.verify() == ()
    entry = old.entries("adult")[0]
    assert (entry.span, entry.where, entry.epsilon) == (None, "", Fraction(1, 10))
    old.reserve(draft("0.9"), budget=Fraction(1))
    assert old.verify() == ()
    assert old.spent("adult") == 1


def test_rows_from_before_the_budget_was_in_them_verify_and_count(ledger):
    body = json.loads(ledger._rows[0].body)
    assert body.pop("budget") == "1"
    row = replace(ledger._rows[0], body=json.dumps({**body, "version": 2}, sort_keys=True, separators=(",", ":")))
    ledger._rows[:] = [replace(row, hash=row.digest())]
    assert ledger.verify() == ()
    assert ledger.entries("adult")[0].budget is None
    assert ledger.reserve(draft("0.1"), budget=Fraction(1)).budget == 1
    assert ledger.verify() == ()


def test_rows_of_a_later_version_are_not_added_to(ledger):
    row = replace(ledger._rows[0], body=ledger._rows[0].body.replace('"version":3', '"version":4'))
    ledger._rows[:] = [replace(row, hash=row.digest())]
    assert ledger.verify() == ("row 1 was written by a later version of Sfumato, which this one cannot read",)
    with raises_code(VerifyError, "SF-VERIFY-042", match="a later version"):
        ledger.reserve(draft("0.1"), budget=Fraction(1))


def test_a_changed_row_with_a_new_hash_breaks_the_next_link(ledger):
    forged = replace(ledger._rows[2], epsilon="1/100")
    ledger._rows[2] = replace(forged, hash=forged.digest())
    assert ledger.verify() == ("row 4 does not follow the row before it",)


@pytest.mark.parametrize("place", range(5))
def test_a_missing_row_is_found(ledger, place):
    del ledger._rows[place]
    assert ledger.verify() == (f"row {place + 1} is missing: the next one is {place + 2}",)


def test_rows_that_changed_places_are_found(ledger):
    ledger._rows[0], ledger._rows[2] = ledger._rows[2], ledger._rows[0]
    assert ledger.verify()


def test_the_end_of_a_chain_is_known_by_the_hash_of_an_entry(ledger):
    last = ledger.entries("adult")[-1].hash
    del ledger._rows[4:]
    assert ledger.verify() == ()  # a chain alone cannot tell
    assert last not in {entry.hash for entry in ledger.entries("adult")}


def forge(ledger, **changes):
    """Add a row whose links are right and whose meaning is not."""
    row = replace(ledger._rows[-1], seq=len(ledger._rows) + 1, previous=ledger._rows[-1].hash, **changes)
    ledger._rows.append(replace(row, hash=row.digest()))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"kind": "done", "entry": 1}, "row 7 closes entry 1, which is not open"),
        ({"kind": "opened", "entry": 1}, "row 7 opens an entry under another number"),
        ({"kind": "refunded"}, "row 7 is of a kind that this version does not know: 'refunded'"),
    ],
)
def test_a_row_that_makes_no_sense_is_found(ledger, changes, problem):
    forge(ledger, **changes)
    assert ledger.verify() == (problem,)


def test_nothing_is_added_to_a_broken_ledger(ledger):
    ledger._rows[0] = replace(ledger._rows[0], epsilon="1/100")
    with raises_code(
        VerifyError, "SF-VERIFY-042", match=r"the ledger does not verify: row 1 was changed.*restore it from a backup"
    ):
        ledger.reserve(draft("0.1"), budget=Fraction(1))


@pytest.mark.parametrize(
    "changes",
    [{"epsilon": "x"}, {"epsilon": "1/0"}, {"body": "{}"}, {"body": "["}, {"at": "noon"}, {"body": '{"span":["x"]}'}],
)
def test_a_row_that_cannot_be_read_is_told(ledger, changes):
    ledger._rows[0] = replace(ledger._rows[0], **changes)
    with raises_code(VerifyError, "SF-VERIFY-041", match="a row cannot be read"):
        ledger.spent("adult")
