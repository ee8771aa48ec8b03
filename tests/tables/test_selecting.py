"""Selecting in the engine picks the records that the same rule picks in Python."""

import datetime as dt
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import SourceError
from sfumato.study.attribute import Role
from sfumato.study.selection import Selection, may_overlap, parse_selection
from sfumato.study.span import Span
from sfumato.study.unit import PersonUnit
from sfumato.tables import CodedTable, open_source
from tests.examples import examples
from tests.raising import raises_code
from tests.tables.attributes import attribute, categories, grid

pytestmark = pytest.mark.usefixtures("each_engine")

AGE = attribute("age", grid(0, 99, unit="integer"))
SEX = attribute("sex", categories("f", "m", other=True))
DAY = attribute(
    "day",
    replace(
        grid(dt.date(2010, 1, 1).toordinal(), dt.date(2019, 12, 31).toordinal(), unit="day"), formats=("%d/%m/%Y",)
    ),
    role=Role.TIME,
)
ALL = {a.name: a for a in (AGE, SEX, DAY)}
SPAN = Span("day", dt.date(2013, 1, 1), dt.date(2014, 1, 1))
DAYS = st.one_of(
    st.none(),
    st.sampled_from(
        ["01/01/2013", "31/12/2013", "01/01/2014", "31/12/2012", "31/6/2013", "", "2013-05-05", "1/1/2030"]
    ),
    st.text("0123/", max_size=10),
)
ROWS = st.lists(st.tuples(st.one_of(st.none(), st.integers(-5, 120)), st.sampled_from(["f", "m", "x", None, ""]), DAYS))


def table(rows, **more):
    ages, sexes, days = zip(*rows, strict=True) if rows else ((), (), ())
    columns = {
        "age": pa.array(ages, pa.int64()),
        "sex": pa.array(sexes, pa.string()),
        "day": pa.array(days, pa.string()),
    }
    return pa.table(columns | more)


def rows_of(rows, selection, **more):
    with open_source(table(rows)) as source:
        return CodedTable(source, [SEX], selection=selection, **more).rows()


def in_span(day):
    code = int(DAY.domain.encode([day])[0])
    return code >= 0 and "2013" in DAY.domain.label(code, code + 1)


@settings(max_examples=examples(quick=4, slow=10), deadline=None)
@given(rows=ROWS)
def test_a_span_and_a_condition_pick_the_same_records_as_in_python(rows):
    check_selection([*rows, (30, "f", "05/05/2013")])


def test_a_span_and_a_condition_pick_the_same_records_of_one_table():
    """With all values, for engines on which searching for examples is slow."""
    ages = [None, -(2**63), -1, 0, 17, 18, 64, 65, 99, 120, 2**63 - 1]
    sexes = ["f", "m", "x", None, "", " ", "F", "f ", "ſ", "f\x0b", "\u2028"]
    days = [
        "01/01/2013", "31/12/2013", "01/01/2014", "31/12/2012", "31/6/2013", "29/2/2013", "28/2/2013", "1/2/2013",
        "", None, "2013-05-05", "1/1/2030", "0/1/2013", "1/13/2013", "01/01/0000", "01/01/9999", "1/1/13",
        " 5/5/2013\n", "5/5/2013 x", "٠١/٠١/٢٠١٣", "5/5/2013/", "\x1f5/5/2013", "05/05/20133", "/" * 300, "-5/5/2013",
    ]  # fmt: skip
    check_selection([(ages[n % 11], sexes[n // 2 % 11], days[n % 25]) for n in range(11 * 25 * 2)])


def check_selection(rows):
    selection = replace(parse_selection("age >= 18 and age < 65 and sex != m", ALL), span=SPAN, time=DAY)
    either = parse_selection("age in (0, 99) or sex = f", ALL)
    wanted = wanted_too = 0
    for age, sex, day in rows:
        code, sex_code = int(AGE.domain.encode([age])[0]), int(SEX.domain.encode([sex])[0])
        taking_part = sex_code >= 0
        wanted += 18 <= code < 65 and sex_code in (0, 2) and in_span(day)
        wanted_too += taking_part and (code in (0, 99) or sex_code == 0)
    assert (rows_of(rows, selection), rows_of(rows, either)) == (wanted, wanted_too)


def test_a_day_beyond_the_bounds_is_not_moved_into_a_span():
    late = Span("day", dt.date(2019, 1, 1), dt.date(2021, 1, 1))
    rows = [(1, "f", "01/06/2020"), (1, "f", "01/06/2019"), (1, "f", "01/06/2031"), (1, "f", None)]
    assert rows_of(rows, Selection(span=late, time=DAY)) == 2
    assert rows_of(rows, Selection()) == 4


def test_of_a_persons_records_those_selected_are_bounded():
    rows = [(1, "f", "01/06/2013")] * 3 + [(1, "f", "01/06/2012")] * 2
    with open_source(table(rows, who=["a"] * 5)) as source:
        coded = CodedTable(source, [SEX], unit=PersonUnit("who", 2), selection=Selection(span=SPAN, time=DAY))
        assert coded.rows() == 2


def test_what_is_not_selected_is_not_looked_at():
    rows = [(1, "f", "01/06/2013"), (1, None, "01/06/2012"), (1, "", "01/06/2013")]
    with open_source(table(rows)) as source:
        coded = CodedTable(source, [SEX], selection=Selection(span=SPAN, time=DAY))
        assert (coded.all_rows(), coded.domain_violations()[0].missing) == (2, 1)


def test_the_columns_of_a_selection_must_be_there():
    with open_source(pa.table({"sex": ["f"]})) as source:
        with raises_code(SourceError, "SF-SOURCE-003", match="has no column 'day'"):
            CodedTable(source, [SEX], selection=Selection(span=SPAN, time=DAY))
        with raises_code(SourceError, "SF-SOURCE-003", match="has no column 'age'"):
            CodedTable(source, [SEX], selection=parse_selection("age > 3", ALL))


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [
        ((SPAN, ""), (None, ""), True),
        ((SPAN, ""), (replace(SPAN, start=SPAN.stop, stop=dt.date(2015, 1, 1)), ""), False),
        ((SPAN, ""), (replace(SPAN, of="other", start=SPAN.stop, stop=dt.date(2015, 1, 1)), ""), True),
        ((SPAN, "sex = f"), (SPAN, "sex = m"), False),
        ((SPAN, "sex = f"), (SPAN, "colour = red"), True),
    ],
)
def test_overlaps_of_selections(first, second, overlap):
    assert may_overlap(first, second, ALL) == overlap
