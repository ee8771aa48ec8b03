import datetime as dt
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.number_format import NumberFormat
from sfumato.errors import SourceError
from sfumato.study.attribute import InvalidValuePolicy
from sfumato.tables import CodedTable, Limits, open_source
from tests.examples import examples
from tests.raising import raises_code
from tests.tables.attributes import attribute, categories, grid
from tests.tables.engines import TESTED, loader

NUMBER_GRIDS = [
    grid(0, 120, unit="integer", missing=True),
    grid(-5, 5, "1/10", missing=True),
    grid("-7/2", "100000", "1/3", missing=True),
    grid(0, 10**12, missing=True),
]
BLANKS_ = ["", " ", "\t", "\n", "\r\n", "\v", "\f", "v", "f", "\x1c", "\x85", "\xa0", "\u2028", "\u3000"]
NUMBER_TEXT = st.one_of(
    st.text("+-.eE_0123456789 \t", max_size=8),
    st.sampled_from(
        ["inf", "-inf", "+Infinity", "nan", "NaN", "-nan", "", " ", "\xa0", "१", "0x1F", "1e400", "infinit"]
    ),
    st.floats().map(repr),
    st.integers(-(10**30), 10**30).map(str),
    st.text(max_size=3),
)


@pytest.fixture(scope="module", params=TESTED)
def engine(request):
    return loader(request)


def codes(engine, values, domain, kind=None):
    """The codes the engine gives; every code is told, also that of a dropped record."""
    values = [storable(engine, value) for value in values]
    table = pa.table({"x": pa.array(values, kind), "place": range(len(values))})
    with engine.load(table, name="a table", limits=Limits()) as source:
        coded = CodedTable(source, [attribute("x", domain)])
        return source.fetch(coded.records.marked(keep=["place"]).order_by("k0"))["c0"].to_pylist()


def agree(engine, values, domain, kind=None):
    values = [storable(engine, value) for value in values]
    assert codes(engine, values, domain, kind) == domain.encode(values).tolist()


def storable(engine, value):
    """A value that the engine can hold: PostgreSQL has no text with the character 0."""
    return value.replace("\x00", "") if engine.name == "postgresql" and isinstance(value, str) else value


def agree_at_once(engine, values, domains, kind=None):
    """The same with many values and all domains in one query."""
    table = {f"x{n}": pa.array(values, kind) for n in range(len(domains))}
    with engine.load(pa.table({**table, "place": range(len(values))}), name="a table", limits=Limits()) as source:
        coded = CodedTable(source, [attribute(f"x{n}", domain) for n, domain in enumerate(domains)])
        found = source.fetch(coded.records.marked(keep=["place"]).order_by("k0"))
    for n, domain in enumerate(domains):
        differ = zip(values, found[f"c{n}"].to_pylist(), domain.encode(values).tolist(), strict=True)
        assert [(value, *codes_) for value, *codes_ in differ if codes_[0] != codes_[1]] == []


def test_numbers_in_every_notation(engine):
    bare = ["", "0", "7", "007", "1.", ".5", ".", "1.5", "1_000", "1,5", "19.99", "0.3", "inf", "Infinity", "nan",
            "infinit", "0x1F", "0x1p3", "1d", "1f", "1L", "१", "9" * 400, "0" * 400 + "1", "2.4", "1e"]  # fmt: skip
    signed = [sign + text for sign in ("", "-", "+", "+-", "--", "- ") for text in bare]
    texts = [
        text + power for text in signed for power in ("", "e3", "E-3", "e+05", "e400", "e-324", "e 1", "e99999999999")
    ]
    around = [before + text + behind for text in ("5", "-2.5", "inf") for before in BLANKS_ for behind in BLANKS_]
    agree_at_once(engine, [None, *texts, *around], NUMBER_GRIDS, pa.string())
    floats = [s * x for s in (1.0, -1.0) for x in (0.0, 0.1, 0.3, 4.9, 1e-320, 1e15, 2.0**53, 1e300, float("inf"))]
    agree_at_once(engine, [None, float("nan"), *floats], NUMBER_GRIDS, pa.float64())
    whole = [s * x for s in (1, -1) for x in (0, 1, 5, 119, 120, 121, 10**12, 2**53 + 1, 2**63 - 1)]
    agree_at_once(engine, [None, *whole], NUMBER_GRIDS, pa.int64())


def test_days_in_every_notation(engine):
    days = [f"{y}-{m}-{d}" for y in ("0000", "0001", "1900", "2024", "9999") for m in ("00", "02", "2", "12", "13")
            for d in ("00", "01", "29", "30", "31", "3")]  # fmt: skip
    turned = [".".join(reversed(day.split("-"))) for day in days]
    odd = [
        "20240105",
        "2024/01/05",
        "infinity",
        "epoch",
        "today",
        "2024-01-05x",
        "12024-01-05",
        "-2024-01-05",
        "2024-01",
    ]
    timed = [f"2024-01-05{time}" for time in ("T10:00", " 10:00", "\n", "T", " x\ny", "\u2028")]
    written = [*days, *turned, *odd, *timed, *(f"{b}2024-01-05{b}" for b in BLANKS_)]
    agree_at_once(engine, [None, *written], [DAYS], pa.string())
    slashed = [day.replace(".", "/") for day in turned]
    named = ["31 Jan 04", "31 JANUARY 69", "31 ſan 04", "Feb 29, 2024", "May 1, 2024", "(2024)*", "(0000)*", "2024-02"]
    many = [
        *slashed,
        *named,
        "02/29/2024 23:59:59",
        "02/29/2024 24:00:00",
        " 1/2/2004 ",
        "1/2/2004\n",
        "३१/1/2004",
        *days,
    ]
    reach = grid(dt.date(1900, 1, 1).toordinal(), dt.date(2100, 1, 1).toordinal(), unit="day", missing=True)
    agree_at_once(engine, [None, *many], [replace(reach, formats=formats) for formats in FORMATS], pa.string())


def test_values_in_every_notation(engine):
    odd = [
        "a",
        "b'c",
        " a",
        "A",
        "ａ",
        "True",
        "true",
        "01",
        "1",
        "",
        "(missing)",
        "(other)",
        "a\\",
        "\\a",
        "%",
        "_",
        "a%",
    ]
    blank = [chr(n) for n in range(1, 0x3001) if not chr(n).strip() or n in (0x7F, 0x200B, 0x180E, 0x1F, 0x5F, 0x41)]
    agree_at_once(engine, [None, *odd, *blank, *(b + "a" for b in blank)], [FEW_VALUES, MANY_VALUES], pa.string())


def test_numbers_in_every_format(engine):
    plain = [
        "0",
        "5",
        "12",
        "1053",
        "1,053",
        "1,05",
        "1,053.30",
        "1.053,30",
        "1 053,30",
        "1'053.30",
        "1|053^30",
        ",5",
        "1,0530",
    ]
    dressed = ["{}", "-{}", "\u2212{}", "+{}", "({})", "{}-", "{} €", "({}) %", "{}%", "Fr. {}", "-Fr.{}", "Fr.-{}",
               "\\$[{}]*", "{}e2", "{}\n", "\u00a0{}\u202f", "x{}"]  # fmt: skip
    texts = [dress.format(number) for dress in dressed for number in plain]
    domains = [grid(-1000, 10**9, "1/100", missing=True, form=formats) for formats in NUMBER_FORMATS]
    agree_at_once(engine, [None, "inf", "nan", "1e400", "9" * 400, "١,٠٠٠", *texts], domains, pa.string())


@pytest.mark.parametrize("domain", NUMBER_GRIDS, ids=["integer", "tenths", "thirds", "huge"])
@settings(max_examples=examples(quick=7, slow=40), deadline=None)
@given(values=st.lists(st.one_of(st.none(), NUMBER_TEXT), min_size=1, max_size=60))
def test_text_is_coded_as_in_python(engine, domain, values):
    agree(engine, values, domain, pa.string())


@pytest.mark.parametrize("domain", NUMBER_GRIDS, ids=["integer", "tenths", "thirds", "huge"])
@settings(max_examples=examples(quick=6, slow=30), deadline=None)
@given(
    values=st.lists(
        st.one_of(st.none(), st.floats(), st.integers(-60, 60).map(lambda n: n / 10)), min_size=1, max_size=60
    )
)
def test_floats_are_coded_as_in_python(engine, domain, values):
    agree(engine, values, domain, pa.float64())


@pytest.mark.parametrize("domain", NUMBER_GRIDS, ids=["integer", "tenths", "thirds", "huge"])
@settings(max_examples=examples(quick=6, slow=30), deadline=None)
@given(values=st.lists(st.one_of(st.none(), st.integers(-(2**63), 2**63 - 1), st.integers(-9, 130)), min_size=1))
def test_integers_are_coded_as_in_python(engine, domain, values):
    agree(engine, values, domain, pa.int64())


def test_a_decimal_step_holds_its_own_lower_end(engine):
    cents = grid(0, 100, "1/100")
    assert codes(engine, [0.3, 19.99, 0.29], cents) == [30, 1999, 29]
    assert cents.encode(["19.99"]).tolist() == [1999]


def test_letters_that_only_look_like_those_of_a_number(engine):
    agree(engine, ["ınf", "İnfinity", "inſinity", "1ᴇ5", "٣", "7"], grid(0, 10, missing=True), pa.string())


def test_other_number_types(engine):
    domain = grid(0, 10, missing=True)
    agree(engine, [Decimal("1.5"), Decimal("9.99"), None], domain, pa.decimal128(30, 5))
    agree(engine, [0, 5, 2**64 - 1], domain, pa.uint64())
    agree(engine, [True, False, None], domain, pa.bool_())
    agree(engine, [np.float32(0.1), np.float32(9.9)], domain, pa.float32())


DAYS = grid(dt.date(1950, 1, 1).toordinal(), dt.date(2030, 12, 31).toordinal(), unit="day", missing=True)


@settings(max_examples=examples(quick=7, slow=40), deadline=None)
@given(
    values=st.lists(
        st.one_of(
            st.none(),
            st.dates().map(str),
            st.datetimes().map(str),
            st.dates().map(lambda d: f"{d.day}.{d.month}.{d.year:04}"),
            st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", fullmatch=True),
            st.from_regex(r"[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}", fullmatch=True),
            st.sampled_from(["20240105", "2024-1-5", "2024/01/05", "5/1/2024", "infinity", "epoch", "2024-01-05x", ""]),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_dates_in_text_are_coded_as_in_python(engine, values):
    agree(engine, values, DAYS, pa.string())


def test_dates_and_times_are_coded_by_their_day(engine):
    moments = [dt.datetime(2024, 2, 29, 23, 59, 59, 999999), dt.datetime(1901, 1, 1), None]  # noqa: DTZ001
    agree(engine, moments, DAYS, pa.timestamp("us"))
    agree(engine, [dt.date(2024, 2, 29), dt.date(1, 1, 1), dt.date(9999, 12, 31), None], DAYS, pa.date32())
    assert codes(engine, ["29.2.2024"], DAYS) == codes(engine, [dt.date(2024, 2, 29)], DAYS)


FEW_VALUES = categories("a", "b'c", "True", "false", "1", "2.5", "-3", "01", missing=True, other=True)
MANY_VALUES = categories(*"abcdefgh", *map(str, range(40)), "True", "false", "2.5", "b'c", missing=True, other=True)


@pytest.mark.parametrize("domain", [FEW_VALUES, MANY_VALUES], ids=["case", "join"])
@settings(max_examples=examples(quick=7, slow=40), deadline=None)
@given(
    values=st.lists(
        st.one_of(
            st.none(),
            st.sampled_from(
                ["a", "b'c", " a", "A", "True", "01", "1", "", " \t", "\u3000", "\x85", "(missing)", "(other)"]
            ),
            st.text(max_size=3).filter(lambda s: "\x00" not in s),
        ),
        min_size=1,
        max_size=40,
    )
)
def test_categories_are_coded_as_in_python(engine, domain, values):
    agree(engine, values, domain, pa.string())


@pytest.mark.parametrize("domain", [FEW_VALUES, MANY_VALUES, categories("x")], ids=["case", "join", "none fit"])
def test_categories_of_other_types(engine, domain):
    agree(engine, [1, -3, 7, None, 2**40], domain, pa.int64())
    agree(engine, [1.0, 2.5, -3.0, -0.0, float("nan"), None, 1e300, float("inf")], domain, pa.float64())
    agree(engine, [True, False, None], domain, pa.bool_())


def test_a_value_outside_a_grid_can_be_suppressed():
    table = pa.table({"x": ["-1", "0", "5", "10", "10.5", "inf", "junk"]})
    with open_source(table) as source:
        kept = CodedTable(source, [attribute("x", grid(0, 10), outside=InvalidValuePolicy.SUPPRESS)])
        assert kept.full_cells().codes[:, 0].tolist() == [0, 5, 10]
        clamped = CodedTable(source, [attribute("x", grid(0, 10))])
        assert clamped.full_cells().counts.tolist() == [2, 1, 3]


@pytest.mark.parametrize(
    ("column", "domain", "message"),
    [
        (
            pa.array([[1]]),
            grid(0, 1),
            "column 'x' of the Arrow table has the type array<int64>, and the study declares numbers",
        ),
        (pa.array([{"a": 1}]), categories("a"), "the study declares categories"),
        (pa.array([dt.date(2024, 1, 1)]), grid(0, 1), "the study declares numbers"),
        (pa.array([20240101]), DAYS, "the study declares dates"),
    ],
)
def test_a_type_that_can_never_fit_is_refused(column, domain, message):
    with open_source(pa.table({"x": column})) as source, raises_code(SourceError, "SF-SOURCE-004") as caught:
        CodedTable(source, [attribute("x", domain)])
    assert message in caught.value.problem


FORMATS = [("%d/%m/%Y",), ("%d %b %y", "%Y%m%d"), ("%B %d, %Y", "%m/%d/%Y %H:%M:%S"), ("%Y-%m",), ("(%Y)*",)]
WRITTEN = st.one_of(
    st.datetimes().flatmap(
        lambda day: st.sampled_from([f for several in FORMATS for f in several]).map(
            lambda form: day.strftime(form.replace("%Y", f"{day.year:04d}"))
        )
    ),
    st.text("0123456789/- .:,JjanfebMARÄſ()*", max_size=12),
    st.sampled_from(
        ["31/6/2004", "1/1/0000", "0/1/2004", "1/13/2004", " 1/2/2004 ", "1/2/2004\n", "३१/1/2004", "(0000)*"]
    ),
)


@pytest.mark.parametrize("formats", FORMATS, ids=str)
@settings(max_examples=examples(quick=3, slow=12), deadline=None)
@given(values=st.lists(st.one_of(st.none(), WRITTEN), min_size=1, max_size=40))
def test_dates_by_a_format_are_coded_as_in_python(engine, formats, values):
    days = grid(dt.date(1900, 1, 1).toordinal(), dt.date(2100, 1, 1).toordinal(), unit="day", missing=True)
    agree(engine, values, replace(days, formats=formats), pa.string())


NUMBER_FORMATS = [
    (NumberFormat(thousands=","),),
    (NumberFormat(decimal=",", thousands="."),),
    (NumberFormat(decimal=",", thousands="space", suffix="€", negative="trailing"), NumberFormat(suffix="%")),
    (NumberFormat(thousands="'", prefix="Fr.", negative="parentheses"),),
    (NumberFormat(thousands="|", decimal="^", prefix="\\$[", suffix="]*"),),
]
FORMATTED = st.one_of(
    st.builds(
        lambda number, places, form: form.format(number=f"{number:,.{places}f}"),
        st.floats(-(10**9), 10**9),
        st.integers(0, 3),
        st.sampled_from(["{number}", "({number})", "Fr. {number}", "({number}) %", "{number}-", "\\$[{number}]*"]),
    ).flatmap(
        lambda text: st.sampled_from(
            [text, text.replace(",", "x").replace(".", ",").replace("x", "."), text.replace(",", "'"), f"{text} €",
             text.replace(",", "\u202f").replace(".", ",") + "\u00a0€", text.replace(",", "|").replace(".", "^")]
        )
    ),
    st.text("0123456789,.'|^ \u00a0\u202f\u2212+-()eE%€Fr$[]*\\\n", max_size=12),
    st.sampled_from(["inf", "nan", "-Infinity", "1e400", "9" * 400, "1,000e-400", "١,٠٠٠", "", "\u2009"]),
)  # fmt: skip


@pytest.mark.parametrize("formats", NUMBER_FORMATS, ids=range(len(NUMBER_FORMATS)))
@settings(max_examples=examples(quick=5, slow=24), deadline=None)
@given(values=st.lists(st.one_of(st.none(), FORMATTED), min_size=1, max_size=60))
def test_numbers_by_a_format_are_coded_as_in_python(engine, formats, values):
    agree(engine, values, grid(-1000, 10**9, "1/100", missing=True, form=formats), pa.string())


def test_a_format_is_for_text_alone(engine):
    domain = grid(0, 10**6, "1/10", missing=True, form=(NumberFormat(decimal=",", thousands="."),))
    agree(engine, [1053.3, 0.5, None, float("nan")], domain, pa.float64())
    agree(engine, [1053, 7, None], domain, pa.int64())
    assert codes(engine, ["1.053,3", "1053.3"], domain, pa.string()) == [10533, domain.missing]


@pytest.mark.parametrize("wide", [2**64, -(2**63) - 1])
def test_whole_numbers_that_no_column_has_are_refused(wide):
    table = pa.table({"x": [1, 2]})
    with open_source(table) as source, raises_code(SourceError, "SF-SOURCE-622") as caught:
        CodedTable(source, [attribute("x", categories("1", str(wide)))])
    assert str(wide) not in str(caught.value)
    with open_source(table.cast(pa.schema({"x": pa.string()}))) as source:
        assert len(CodedTable(source, [attribute("x", categories("1", str(wide), other=True))]).full_cells()) == 2


@pytest.mark.parametrize("few", [True, False])
def test_the_largest_whole_numbers_are_told_apart(few):
    labels = [str(2**64 - 1), "-7", "0", *(() if few else map(str, range(1, 40)))]
    with open_source(pa.table({"x": pa.array([2**64 - 1, 0, 5], pa.uint64())})) as source:
        cells = CodedTable(source, [attribute("x", categories(*labels, other=True))]).full_cells()
    expected = sorted([0, 2, len(labels) if few else labels.index("5")])
    assert cells.codes[:, 0].tolist() == expected
