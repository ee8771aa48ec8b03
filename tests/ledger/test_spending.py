"""How entries add up, against brute force over days."""

import datetime as dt
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import BudgetError, StudyError
from sfumato.ledger import open_ledger, stretches, total_spent
from sfumato.study.span import Span, atoms
from tests.ledger.drafts import draft
from tests.raising import raises_code

DAY = dt.date(2013, 1, 1)
DAYS = 12
HALF, ONE = Fraction(1, 2), Fraction(1)


def span(start, stop, of="day"):
    return Span(of, DAY + dt.timedelta(start), DAY + dt.timedelta(stop))


@dataclass(frozen=True)
class Cost:
    epsilon: Fraction | None
    span: Span | None
    unit: str = "record"


@st.composite
def spans(draw, of=("day",)):
    start = draw(st.integers(0, DAYS - 1))
    return span(start, draw(st.integers(start + 1, DAYS)), draw(st.sampled_from(of)))


def costs(of=("day",), unit="record"):
    epsilon = st.one_of(st.none(), st.fractions(Fraction(1, 60), 2, max_denominator=60))
    return st.lists(st.builds(Cost, epsilon, st.one_of(st.none(), spans(of)), st.just(unit)), max_size=12)


def on_day(entries, number):
    """Brute force: the ε of the entries that read a record of this day; None stands for a record without a day."""
    return sum(
        (
            entry.epsilon
            for entry in entries
            if entry.epsilon is not None
            and (
                entry.span is None
                or (number is not None and entry.span.start <= DAY + dt.timedelta(number) < entry.span.stop)
            )
        ),
        Fraction(0),
    )


@given(entries=costs())
def test_spent_is_the_most_of_any_day(entries):
    assert total_spent(entries) == max(on_day(entries, number) for number in [*range(DAYS), None])


@given(entries=costs(), over=spans())
def test_spent_over_a_span_is_the_most_of_its_days(entries, over):
    days = [number for number in range(DAYS) if over.start <= DAY + dt.timedelta(number) < over.stop]
    assert total_spent(entries, over) == max(on_day(entries, number) for number in days)


@given(entries=costs())
def test_the_atoms_tell_every_day(entries):
    told = stretches(entries)
    assert told[-1].span is None
    for number in range(DAYS):
        day = DAY + dt.timedelta(number)
        spent = [s.spent for s in told[:-1] if s.span.start <= day < s.span.stop] or [told[-1].spent]
        assert spent == [on_day(entries, number)]


@given(entries=costs(of=("day", "other")))
def test_two_times_of_a_record_add_up(entries):
    """A record has a day by each time attribute, and nothing ties them: the worst pair of days."""

    def part(of):
        return [e for e in entries if e.span is not None and e.span.of == of]

    whole = on_day([e for e in entries if e.span is None], None)
    assert total_spent(entries) == whole + sum(max(on_day(part(of), n) for n in range(DAYS)) for of in ("day", "other"))


@given(entries=costs(unit="person by who, at most 2"), over=st.one_of(st.none(), spans()))
def test_persons_get_no_discount(entries, over):
    assert total_spent(entries, over) == sum((e.epsilon for e in entries if e.epsilon is not None), Fraction(0))
    assert [s.span for s in stretches(entries)] == [None]


@settings(max_examples=settings.default.max_examples // 3)  # each asks a ledger a dozen times
@given(asked=costs(), budget=st.fractions(Fraction(1, 10), 3, max_denominator=10))
def test_a_ledger_never_lets_a_day_go_over_the_budget_and_refuses_nothing_that_fits(asked, budget):
    ledger = open_ledger("memory:")
    let_in = []
    for cost in asked:
        new = Cost(cost.epsilon, cost.span)
        fits = max(on_day([*let_in, new], number) for number in [*range(DAYS), None]) <= budget
        try:
            ledger.reserve(draft(cost.epsilon, span=cost.span), budget=budget)
        except BudgetError:
            assert not fits
        else:
            assert fits or cost.epsilon is None
            let_in.append(new)
    assert ledger.spent("adult") == max(on_day(let_in, number) for number in [*range(DAYS), None]) <= budget


def test_a_refusal_names_what_is_left_over_the_span_who_spent_it_and_what_would_fit():
    ledger = open_ledger("memory:")
    ledger.reserve(draft("0.75", span=span(0, 4)), budget=ONE)
    ledger.reserve(draft("0.5", span=span(8, 12)), budget=ONE)
    with pytest.raises(BudgetError) as refusal:
        ledger.reserve(draft("0.5", span=span(2, 6)), budget=ONE)
    assert f"{refusal.value.problem}. To fix: {refusal.value.fix}." == (
        "the release asks for ε = 0.5 over [2013-01-03, 2013-01-07), and 0.25 is left of the study's 1 there; "
        "spent by: entry 1 ('research' by anna, 2026-11-03, ε = 0.75 over [2013-01-01, 2013-01-05), opened). "
        "To fix: ask for ε = 0.25 or less; or keep to [2013-01-05, 2013-01-07), where it fits."
    )
    ledger.reserve(draft("0.25", span=span(2, 6)), budget=ONE)
    with raises_code(BudgetError, "SF-BUDGET-003", match=r"To fix: keep to \[2013-01-05, 2013-01-07\), where it fits"):
        ledger.reserve(draft("0.25", span=span(2, 6)), budget=ONE)
    with raises_code(
        BudgetError, "SF-BUDGET-003", match=r"and 0 is left of the study's 1; spent by: entry 1 .*; entry 2 .*; entry 3"
    ):
        ledger.reserve(draft("0.25"), budget=ONE)


def test_disjoint_spans_cost_the_larger_overlapping_ones_the_sum_and_the_whole_table_adds_to_all():
    ledger = open_ledger("memory:")
    ledger.reserve(draft("0.5", span=span(0, 4)), budget=ONE)
    ledger.reserve(draft("0.25", span=span(4, 8)), budget=ONE)
    assert ledger.spent("adult") == HALF
    ledger.reserve(draft("0.25", span=span(2, 6)), budget=ONE)
    assert ledger.spent("adult") == Fraction(3, 4)
    ledger.reserve(draft("0.25"), budget=ONE)
    assert ledger.spent("adult") == 1
    assert [s.spent for s in stretches(ledger.entries("adult"))] == [
        Fraction(3, 4), ONE, Fraction(3, 4), HALF, Fraction(1, 4)
    ]  # fmt: skip


def test_spans_are_read_and_refused_in_words():
    assert Span.read("t", " [2013-01-01,2014-01-01) ") == Span.read("t", "2013-01-01 2014-01-01")
    for text, says in (
        ("2013", "is no span of time"),
        ("2013-01-01..2013-01-01", "holds no day"),
        ("2014-01-01..2013-01-01", "holds no day"),
        ("2013-02-30..2014-01-01", "is not a date"),
        ("[2013-01-01, 2014-01-01]", "is no span of time"),
    ):
        with pytest.raises(StudyError, match=says):
            Span.read("t", text)
    assert span(0, 4).overlaps(span(3, 5)) and not span(0, 4).overlaps(span(4, 5))
    assert span(0, 4).overlaps(span(8, 9, "other")), "nothing is known of another time"
    assert atoms([]) == []


def test_a_question_that_does_not_fit_is_told_the_days_where_it_does():
    ledger = open_ledger("memory:")
    ledger.reserve(draft("1", span=span(0, 4)), budget=ONE)
    ledger.reserve(draft("0.25", span=span(4, 8)), budget=ONE)
    question = replace(draft("0.5"), method="ask")
    told = r"the question asks for ε = 0.5, .*To fix: keep to days with `--span 2013-01-05..2013-01-09`, where it fits"
    with raises_code(BudgetError, "SF-BUDGET-003", match=told):
        ledger.reserve(question, budget=ONE)
    told = r"the question asks for .* with `--span 2013-01-05..2013-01-07`, where it fits"
    with raises_code(BudgetError, "SF-BUDGET-003", match=told):
        ledger.reserve(replace(question, span=span(2, 6)), budget=ONE)
    ledger.reserve(replace(question, span=span(4, 8)), budget=ONE)
    with raises_code(BudgetError, "SF-BUDGET-003", match="the budget is spent"):
        ledger.reserve(question, budget=ONE)
    with raises_code(StudyError, "SF-STUDY-197", match=r"write two days, .*: 2004-01-01..2010-01-01 or"):
        Span.read("t", "2013")
