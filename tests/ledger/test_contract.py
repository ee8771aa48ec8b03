"""What every ledger must do."""

import threading
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.errors import BudgetError, InternalError
from sfumato.ledger import NewEntry, open_ledger
from sfumato.study.span import Span
from tests.ledger.drafts import WHEN, draft
from tests.raising import raises_code

ONE = Fraction(1)


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def ledger(request, tmp_path):
    if request.param == "postgres":
        return open_ledger(request.getfixturevalue("database"))
    return open_ledger("memory:" if request.param == "memory" else tmp_path / "ledger.db")


def test_an_empty_ledger(ledger):
    assert ledger.entries("adult") == ()
    assert ledger.spent("adult") == 0
    assert ledger.verify() == ()


def test_a_release_is_opened_and_done(ledger):
    entry = ledger.reserve(draft("1/10"), budget=ONE)
    assert entry.state == "opened"
    assert entry.epsilon == Fraction(1, 10)
    assert ledger.entries("adult") == (entry,)
    ledger.complete(entry.id, "sha256:abc", at=WHEN + timedelta(minutes=1))
    (done,) = ledger.entries("adult")
    assert (done.state, done.bundle, done.reason) == ("done", "sha256:abc", None)
    assert (done.study, done.at, done.who, done.purpose, done.method, done.recipe, done.guarantee, done.hash) == (
        "adult",
        WHEN,
        "anna",
        "research",
        "diffgen",
        '{"h": 10}',
        "ε-differential privacy",
        entry.hash,
    )
    assert ledger.verify() == ()


def test_a_failed_release_keeps_its_cost(ledger):
    entry = ledger.reserve(draft("1/2"), budget=ONE)
    ledger.fail(entry.id, "disk full", at=WHEN)
    (failed,) = ledger.entries("adult")
    assert (failed.state, failed.reason, failed.bundle) == ("failed", "disk full", None)
    assert ledger.spent("adult") == Fraction(1, 2)


def test_opened_counts_as_spent(ledger):
    ledger.reserve(draft("0.9"), budget=ONE)
    with pytest.raises(BudgetError):
        ledger.reserve(draft("0.2"), budget=ONE)
    assert ledger.spent("adult") == Fraction(9, 10)
    assert len(ledger.entries("adult")) == 1


def test_the_budget_is_exact(ledger):
    for _ in range(10):
        ledger.reserve(draft("0.1"), budget=ONE)
    assert ledger.spent("adult") == 1
    with pytest.raises(BudgetError):
        ledger.reserve(draft(Fraction(1, 10**9)), budget=ONE)


def test_a_refusal_says_asked_left_who_spent_it_and_what_would_fit(ledger):
    ledger.reserve(draft("0.5", purpose="research", who="anna"), budget=ONE)
    ledger.reserve(draft("0.25", purpose="teaching", who="ben"), budget=ONE)
    with pytest.raises(BudgetError) as refusal:
        ledger.reserve(draft("0.5"), budget=ONE)
    assert f"{refusal.value.problem}. To fix: {refusal.value.fix}." == (
        "the release asks for ε = 0.5, and 0.25 is left of the study's 1; spent by: "
        "entry 1 ('research' by anna, 2026-11-03, ε = 0.5, opened); "
        "entry 2 ('teaching' by ben, 2026-11-03, ε = 0.25, opened). To fix: ask for ε = 0.25 or less."
    )


def test_a_refusal_when_nothing_is_left(ledger):
    for _ in range(10):
        ledger.reserve(draft("0.1"), budget=ONE)
    with raises_code(
        BudgetError,
        "SF-BUDGET-003",
        match=r"0 is left.*2 earlier entries .ε = 0.2.; entry 3 .*To fix: the budget is spent",
    ):
        ledger.reserve(draft("0.1"), budget=ONE)
    with raises_code(BudgetError, "SF-BUDGET-003", match=r"0 is left of the study's 0.5"):  # the owner lowered it since
        ledger.reserve(draft("0.1"), budget=Fraction(1, 2))


def test_without_a_declared_budget_nothing_private_is_spent(ledger):
    with raises_code(BudgetError, "SF-BUDGET-001"):
        ledger.reserve(draft("0.1"), budget=None)
    assert ledger.entries("adult") == ()


def test_a_release_that_is_not_differentially_private_is_entered_and_costs_nothing(ledger):
    ledger.reserve(draft("1"), budget=ONE)
    entry = ledger.reserve(draft(None), budget=None)
    assert entry.epsilon is None
    ledger.complete(entry.id, "sha256:x", at=WHEN)
    assert ledger.spent("adult") == 1
    assert [entry.state for entry in ledger.entries("adult")] == ["opened", "done"]


def test_studies_do_not_share_a_budget(ledger):
    first = ledger.reserve(draft("1", study="adult"), budget=ONE)
    second = ledger.reserve(draft("1", study="bikes"), budget=ONE)
    assert first.id != second.id
    assert ledger.spent("adult") == ledger.spent("bikes") == 1
    assert [entry.id for entry in ledger.entries("bikes")] == [second.id]


@pytest.mark.parametrize("end", ["complete", "fail"])
def test_a_release_ends_once(ledger, end):
    entry = ledger.reserve(draft("0.1"), budget=ONE)
    getattr(ledger, end)(entry.id, "x", at=WHEN)
    before = ledger.entries("adult")
    for again in (ledger.complete, ledger.fail):
        with pytest.raises(InternalError, match="is not open"):
            again(entry.id, "y", at=WHEN)
    with pytest.raises(InternalError, match="ledger entry 99 is not open: it is unknown"):
        ledger.complete(99, "y", at=WHEN)
    assert ledger.entries("adult") == before
    assert ledger.verify() == ()


def test_times_are_kept_in_universal_time(ledger):
    there = datetime(2026, 1, 1, 1, 0, tzinfo=timezone(timedelta(hours=2)))
    ledger.reserve(
        NewEntry(study="s", at=there, who="", purpose="", method="", recipe="{}", guarantee="", epsilon=None),
        budget=None,
    )
    (entry,) = ledger.entries("s")
    assert entry.at == there
    assert entry.at.isoformat() == "2025-12-31T23:00:00+00:00"


def test_a_span_and_a_filter_come_back_and_the_sums_go_by_them(ledger):
    years = [Span("seen as %d/%m/%Y", date(year, 1, 1), date(year + 1, 1, 1)) for year in (2013, 2014)]
    first = ledger.reserve(draft("0.7", span=years[0], where="sex = 'Müller'"), budget=ONE)
    second = ledger.reserve(draft("0.6", span=years[1]), budget=ONE)
    assert ledger.entries("adult") == (first, second)
    assert (first.span, first.where, second.where) == (years[0], "sex = 'Müller'", "")
    assert ledger.spent("adult") == Fraction(7, 10)
    assert ledger.spent("adult", years[1]) == Fraction(6, 10)
    with pytest.raises(BudgetError):
        ledger.reserve(draft("0.4"), budget=ONE)
    assert [row["seq"] for row in ledger.rows()] == [1, 2]
    assert ledger.verify() == ()


def test_threads_that_race_for_the_last_budget(ledger):
    won, lost = [], []
    barrier = threading.Barrier(6)

    def race():
        barrier.wait()
        try:
            won.append(ledger.reserve(draft("0.6"), budget=ONE))
        except BudgetError:
            lost.append(1)

    threads = [threading.Thread(target=race) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(won), len(lost)) == (1, 5)
    assert ledger.verify() == ()


@given(text=st.text(st.characters(exclude_characters="\0")))  # which PostgreSQL has no place for
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
def test_any_text_comes_back_as_it_was(ledger, text):
    try:
        text.encode()
    except UnicodeEncodeError:
        return  # lone surrogates are no text
    entry = ledger.reserve(draft(None, purpose=text, who=text, study=f"s{text}"), budget=None)
    found = ledger.entries(f"s{text}")[-1]
    assert found == entry
    assert (found.purpose, found.who) == (text, text)
    assert ledger.verify() == ()


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(-1), 0.5, 1])
def test_a_draft_has_an_exact_positive_cost_or_none(epsilon):
    with pytest.raises(InternalError, match="positive Fraction"):
        NewEntry(study="s", at=WHEN, who="", purpose="", method="", recipe="{}", guarantee="", epsilon=epsilon)


def test_a_draft_has_a_time_zone(ledger):
    with pytest.raises(InternalError, match="time zone"):
        NewEntry(
            study="s",
            at=datetime(2026, 1, 1),  # noqa: DTZ001 - that is the point
            who="",
            purpose="",
            method="",
            recipe="{}",
            guarantee="",
            epsilon=None,
        )
    entry = ledger.reserve(draft(None), budget=None)
    with pytest.raises(InternalError, match="time zone"):
        ledger.complete(entry.id, "x", at=datetime(2026, 1, 1))  # noqa: DTZ001 - that is the point
