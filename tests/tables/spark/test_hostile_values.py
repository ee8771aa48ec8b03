"""One record must change no other one's code and make no query fail, whatever Spark lets it hold.

A query on Spark takes most of a second, so many values stand in one table.
"""

import datetime as dt
import time
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from sfumato.domains.number_format import NumberFormat
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import SourceError
from sfumato.study.unit import PersonUnit
from sfumato.tables import CodedTable, open_source
from sfumato.tables.guard import classify
from tests.raising import raises_code
from tests.tables.attributes import attribute, categories, grid
from tests.tables.spark.test_spark_engine import SECRET, counted
from tests.tables.test_set_columns import TREE, as_sets, sets

YEAR = grid(dt.date(2024, 1, 1).toordinal(), dt.date(2024, 12, 31).toordinal(), unit="day", missing=True)
EVER = grid(1, dt.date.max.toordinal(), unit="day", missing=True)
DIGITS = grid(0, 9, missing=True)
ILLS = SetDomain(taxonomy=TREE, separator=";", other=7)


def codes(tables, columns, domains):
    """The codes of columns, each by its domain, from one table and one query."""
    size = len(next(iter(columns.values())))
    place = tables.store(pa.table({**columns, "place": range(size)}))
    with open_source(place) as source:
        return codes_of(source, [attribute(name, domain) for name, domain in domains.items()])


def codes_of(source, attributes):
    marked = CodedTable(source, attributes).records.marked(keep=["place"])
    found = source.fetch(marked.order_by("k0"))
    return {a.name: found[f"c{n}"].to_pylist() for n, a in enumerate(attributes)}


def as_text(values):
    """A column of text with any bytes, as files may have."""
    ends = np.cumsum([0, *map(len, values)]).astype(np.int32)
    return pa.Array.from_buffers(pa.string(), len(values), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(values))])


# --- values that are coded as in plain Python ---

WRITTEN = [
    "1e400", "-1e400", "1e-400", "0x1F", "0x1p3", "1d", "1f", "1L", "1_000", "Infinity", "-Infinity", "inf",
    "+inf", "nan", "NaN", "１２", "1２", "٣", " 7 ", "7\xa0", "\xa07", "7\x00", "\x007", "7\n", "7\r", "7\x0b",
    "\x0c7", "7\x85", "7\u2028", "7\t", "+7", "+-7", "--7", "7.", "7.e0", ".5", ".", "e5", "", "  ", "\u2003",
    "\x1f", "\u200b", "\ufeff7", "1e99999999999", "0e99999999999", "1e-99999999999", "-0", "-0.0", "7" * 400,
    "0." + "0" * 400 + "7", "ınf", "İNF", "iNfInItY", "7 7", "7,5", "−7", "7e", "7E+0", None, "\x1d7", "9" * 20,
    "4.9e-324", "2.4e-324", "1.7976931348623158e308", "1.7976931348623159e308", "true", "8.999999999999999",
    "0.30000000000000004",
]  # fmt: skip
WORDS = [
    "a'b", 'a"b', "a\\b", "a\\'b", "\\", "\\\\", "'", "`", "%", "_", "\\u0041", "\\x41", "${env:HOME}",
    "${spark.app.name}", "{a}", "$1", "^a$", "a\nb", "a\rb", "a\tb", "a\x00b", "\x00", "a\x1ab", "a\x08b",
    "a\x0bb", "\u2028x", "\x85y", "é", "é", "ı", "İ", "i", "I", "ß", "ss", "SS", "😀", "a ", "a", "A", " a",
    "--", "/*", ";", "\\N", "NULL", "?", ":x", "a\\nb", "\\0", "\\Q", "x" * 70_000,
]  # fmt: skip
FLOATS = [
    0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), -float("inf"), 5e-324, -5e-324, 1.7976931348623157e308,
    -1.7976931348623157e308, 1e15, 1e16, 999999999999999.0, -1e15, 0.1, 2.5, 3.5, 8.999999999999999, 9.000000000000002,
    2.0**53, 0.30000000000000004, None,
]  # fmt: skip
WHOLE = [2**63 - 1, -(2**63), 0, 1, 2**53 + 1, -1, 9, 10, None]
FINE = [grid(0, 9, "1/10"), grid(0, 90, 10), grid(10**11, 10**11 + 5, "1/10"), grid(-5, 5, "1/3"), DIGITS]
CASES = [
    *((f"text {n}", WRITTEN, pa.string(), domain) for n, domain in enumerate(FINE)),
    *((f"float {n}", FLOATS, pa.float64(), domain) for n, domain in enumerate(FINE)),
    ("wide floats", FLOATS, pa.float64(), grid(-(10**300), 10**300, 10**299)),
    *((f"whole {n}", WHOLE, pa.int64(), domain) for n, domain in enumerate([*FINE, grid(-(2**60), 2**60, 2**50)])),
    ("words", [*WORDS, None, ""], pa.string(), categories(*WORDS, missing=True, other=True)),
    ("few words", WORDS, pa.string(), categories(*WORDS[:14], other=True)),
    ("other words", WORDS, pa.string(), categories(*WORDS[20:34], other=True)),
    ("numbers as words", WRITTEN, pa.string(), categories("7", "+7", "１２", "7\u00a0", missing=True, other=True)),
    ("floats as words", FLOATS, pa.float64(), categories("0", "-0.0", "0.1", "inf", "1e+16", missing=True, other=True)),
    ("whole as words", WHOLE, pa.int64(), categories(str(2**63 - 1), str(-(2**63)), "0", missing=True, other=True)),
]  # fmt: skip


@pytest.mark.parametrize("first", range(0, len(CASES), 6))
def test_values_are_coded_as_in_python(tables, first):
    cases = CASES[first : first + 6]
    size = max(len(values) for _, values, _, _ in cases)
    columns = {name: pa.array([*values, *[None] * (size - len(values))], kind) for name, values, kind, _ in cases}
    found = codes(tables, columns, {name: domain for name, _, _, domain in cases})
    for name, values, _, domain in cases:
        wrong = [
            (value, is_code, was)
            for value, is_code, was in zip(values, found[name], domain.encode(values).tolist(), strict=False)
            if is_code != was
        ]
        assert not wrong, f"{name}: (value, here, in Python) {[(repr(v)[:40], *c) for v, *c in wrong]}"


def test_decimals_are_coded_as_in_python(tables):
    values = {
        (38, 0): ["9" * 38, "-" + "9" * 38, "0", "7"],
        (38, 38): ["0." + "9" * 38, "0", "0." + "0" * 37 + "1", "-0.5"],
        (20, 8): ["999999999999.99999999", "0", "7.00000001", "-0.00000001"],
    }
    columns = {str(kind): pa.array([*map(Decimal, of), None], pa.decimal128(*kind)) for kind, of in values.items()}
    found = codes(tables, columns, dict.fromkeys(columns, FINE[-1]))
    assert found == {name: FINE[-1].encode(column.to_pylist()).tolist() for name, column in columns.items()}


# --- days ---


def test_days_at_the_ends_of_time(tables):
    """Before, the difference of days was computed in microseconds, and the query failed."""
    days = pa.array([2**31 - 1, -(2**31), 2**31 - 719_163, 0, 19_800, -719_162, -141_428, 2_932_896, None], pa.int32())
    moments = pa.array(
        [2**63 - 1, -(2**63), 2**62, 0, 1710720000000000, -62135596800000000, -1, 253402300799999999, None]
    )
    columns = {"day": days.cast(pa.date32())}
    columns |= {f"at {zone}": moments.cast(pa.timestamp("us", zone)) for zone in (None, "UTC", "Asia/Tokyo")}
    columns |= {f"ever {name}": column for name, column in columns.items()}
    found = codes(tables, columns, {name: EVER if name.startswith("ever") else YEAR for name in columns})
    last = EVER.points - 1
    assert found["day"] == [365, 0, 365, 0, 77, 0, 0, 365, 366]
    assert found["ever day"] == [last, 0, last, 719_162, 738_962, 0, 577_734, last, last + 1]
    for zone in (None, "UTC", "Asia/Tokyo"):
        assert found[f"at {zone}"] == [365, 0, 365, 0, 77, 0, 0, 365, 366]
        assert found[f"ever at {zone}"] == [last, 0, last, 719_162, 738_962, 0, 719_161, last, last + 1]


# --- text that is none ---

BYTES = [
    b"a1",
    b"\xff",
    b"\xfe",
    b"a1\xf0",
    b"\xed\xa0\x80",
    b"7",
    b"7\xff",
    b"\xc0\x80",
    b"a1;\xff",
    b"B",
    b"\xf4\x90\x80\x80",
]


def test_text_that_is_not_valid_is_missing(tables):
    """Before, reading sets failed, with the value in the error."""
    column, spread = as_text(BYTES), pa.array(range(len(BYTES) + 1), pa.int32())
    table = pa.table(
        {
            "text": column,
            "list": pa.ListArray.from_arrays(spread, column),
            "same": ["a"] * len(BYTES),
            "place": range(len(BYTES)),
        }
    )
    words, lists = attribute("text", categories("a1", "B", "7", missing=True, other=True)), sets("list", ILLS)
    with open_source(tables.store(table)) as source:
        assert codes_of(source, [words])["text"] == [0, 3, 3, 3, 3, 2, 3, 3, 3, 1, 3]
        for listed in (sets("text", ILLS), lists):
            coded = CodedTable(source, [listed])
            marked = source.fetch(coded.records.marked(keep=["place"]).order_by("k0"))["c0"].to_pylist()
            valid = [value.decode() if value.isascii() else None for value in BYTES]
            there = ILLS.encode(valid)
            assert as_sets(marked, coded.sets[listed.name]) == as_sets(there.tolist(), there.sets)
        same = attribute("same", categories("a"))
        assert CodedTable(source, [same], unit=PersonUnit("text", 1)).rows() == 3  # a1, 7 and B
        [report] = CodedTable(source, [attribute("text", grid(0, 9))]).domain_violations()
        assert (report.missing, report.values) == (10, ("B", "a1"))


def test_lists_that_differ_in_case_are_not_one(spark):
    """Before, one of them decided about both, where a collation takes them for equal."""
    values = "('a1' COLLATE UTF8_LCASE, 0), ('A1' COLLATE UTF8_LCASE, 1), ('zz' COLLATE UTF8_LCASE, 2)"
    with open_source(spark.sql(f"SELECT ARRAY(col1) AS x, col2 AS place FROM VALUES {values}")) as source:
        coded = CodedTable(source, [sets("x", ILLS)])
        marked = source.fetch(coded.records.marked(keep=["place"]).order_by("k0"))["c0"].to_pylist()
        found = ILLS.encode([["a1"], ["A1"], ["zz"]])
        assert as_sets(marked, coded.sets["x"]) == as_sets(found.tolist(), found.sets)


# --- long text ---


def test_long_text_takes_no_time_and_stops_nothing(tables):
    """Before, 100,000 digits and a letter took minutes; a million would have taken days."""
    forms = (NumberFormat(thousands=",", prefix="EUR", negative="parentheses"), NumberFormat(thousands=","))
    long = [
        "7", "1" * 300_000 + "x", "1" * 300_000 + "." + "1" * 300_000 + "x", "1" * 999_999 + "xy", "1." * 300_000,
        " " * 300_000 + "x", "1" + ",000" * 100_000, "1" + ",000" * 100_000 + "x", "a1;" * 200_000 + "B",
    ]  # fmt: skip
    column = pa.array(long)
    columns = {"plain": column, "formed": column, "word": column, "day": column}
    domains = {"plain": DIGITS, "formed": grid(0, 9, missing=True, form=forms), "day": YEAR}
    start = time.monotonic()
    found = codes(tables, columns, {**domains, "word": categories("7", other=True)})
    assert found["plain"] == [7, *[10] * 8]
    assert found["formed"] == [7, 10, 10, 10, 10, 10, 9, 10, 10]
    assert found["word"] == [0, *[1] * 8] and found["day"] == [366] * 9
    with open_source(tables.store(pa.table({"x": column, "place": range(9)}))) as source:
        coded = CodedTable(source, [sets("x", ILLS)])
        marked = source.fetch(coded.records.marked(keep=["place"]).order_by("k0"))["c0"].to_pylist()
        there = ILLS.encode(long)
        assert as_sets(marked, coded.sets["x"]) == as_sets(there.tolist(), there.sets)
    assert time.monotonic() - start < 60


# --- persons ---


PERSONS = {
    "float": ([0.0, -0.0, float("nan"), 1.0], 2),
    "nested": ([[["a, b"]], [["a", "b"]], [["a"], ["b"]], [["a], [b"]]], 4),
    "text": (["a", "a ", "A", "a\x00"], 4),
    "bytes": ([b"\xff", b"\xfe", b"", b"a"], 4),
    "moment": (pa.array([2**63 - 1, -(2**63), 0, 0], pa.int64()).cast(pa.timestamp("us")), 3),
    "list": ([["a"], ["a", None], [], None], 3),
    "struct": ([{"a": "x"}, {"a": "y"}, None, {"a": "x"}], 2),
    "truth": ([True, False, None, True], 2),
    "decimal": (pa.array([Decimal("1.00"), Decimal(1), Decimal("1.01"), None], pa.decimal128(5, 2)), 2),
}


@pytest.mark.parametrize("names", [["nested", "text"], pytest.param(list(PERSONS), marks=pytest.mark.slow)])
def test_persons_of_every_type_are_told_apart(tables, names):
    """Before, Spark's text of nested lists made one person of several."""
    place = tables.store(pa.table({**{name: PERSONS[name][0] for name in names}, "same": ["a"] * 4}))
    same = attribute("same", categories("a"))
    with open_source(place) as source:
        found = {name: CodedTable(source, [same], unit=PersonUnit(name, 1)).rows() for name in names}
    assert found == {name: PERSONS[name][1] for name in names}


# --- names, and errors ---

NAMES = [
    "a`b", "a.b", "a'b", 'a"b', "a\\b", "ä", "a\nb", "a b", "a;b", "a,b", "a=b", "a\x00b", "`", "_metadata", "\u2028",
    "%", "{x}", "-- x", "c0", "k0", "fits", "p", "select", "t0",
]  # fmt: skip


def test_columns_of_any_name(tables):
    found = codes(tables, {name: [n % 9, 9] for n, name in enumerate(NAMES)}, dict.fromkeys(NAMES, grid(0, 9)))
    assert found == {name: [n % 9, 9] for n, name in enumerate(NAMES)}


@pytest.mark.slow
def test_a_variable_in_a_column_name_is_refused(tables):
    """Its reader of Parquet found no such column, and all values were missing."""
    place = tables.store(pa.table({"${user.home}": [1, 2]}))
    with raises_code(SourceError, "SF-SOURCE-623"):
        open_source(place)


@pytest.mark.slow
def test_maps_that_name_persons_are_refused(tables):
    maps = pa.array([[("a", 1)], [("a", 2)]], pa.map_(pa.string(), pa.int64()))
    place = tables.store(pa.table({"who": maps, "same": ["a", "a"]}))
    with open_source(place) as source, raises_code(SourceError, "SF-SOURCE-621"):
        CodedTable(source, [attribute("same", categories("a"))], unit=PersonUnit("who", 1))


TOO_MUCH = (
    "Job aborted due to stage failure: Total size of serialized results of 3 tasks (1025.0 MiB) is bigger than "
    "spark.driver.maxResultSize (1024.0 MiB)"
)
LOST = "Lost task 0.0 in stage 1.0 (TID 2) (10.0.0.1 executor 1): "
FAILED = "Job aborted due to stage failure: Task 0 in stage 1.0 failed 4 times, most recent failure: " + LOST


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (f"java.lang.RuntimeException: {SECRET}: No space left on device", "SF-SOURCE-029"),
        (f"{FAILED}java.lang.RuntimeException: ({SECRET}): java.io.IOException: Permission denied", "SF-SOURCE-029"),
        (f"{SECRET} spark.driver.maxResultSize", "SF-SOURCE-029"),
        (f"{FAILED}java.io.IOException: No space left on device", "SF-SOURCE-017"),
        (f"{FAILED}java.lang.OutOfMemoryError: Java heap space", "SF-SOURCE-028"),
        (TOO_MUCH, "SF-SOURCE-382"),
        ("java.lang.IllegalStateException: Cannot call methods on a stopped SparkContext.", "SF-SOURCE-380"),
    ],
)
def test_the_kind_of_an_error_is_what_spark_wrote(said, code):
    """A record's text stands in some messages, and may not choose between them."""
    errors = pytest.importorskip("pyspark.errors")
    assert classify(errors.PySparkException(said)).code == code


@pytest.mark.slow  # starts a Python of Spark's
def test_a_message_does_not_follow_a_value(spark, capfd):
    """A function of the owner's may fail on a record; which error it is may not depend on the record's text."""
    from pyspark.sql.functions import udf

    @udf("string")
    def fails(name):
        raise ValueError(name)

    frame = spark.createDataFrame([(f"no space left on device for {SECRET}",)], "name string").repartition(1)
    seen = frame.select(fails(frame["name"]).alias("x"))
    with raises_code(SourceError, "SF-SOURCE-029") as caught, open_source(seen) as source:
        counted(source, attribute("x", categories("a")))
    assert SECRET not in repr(caught.value)
    assert SECRET not in "".join(capfd.readouterr())


# --- declared gaps: docs/reference/scale.md, "Where engines differ" ---

LONG = "x" * 1_000_001
GAPS = {  # a column, the texts that stand for its values on DuckDB, and those on Spark
    "float": (pa.array([5e-324, 1e23, 0.1]), ["5e-324", "1e+23", "0.1"], [None, None, "0.1"]),
    "float32": (pa.array([1e16, 0.1, 2.5], pa.float32()), ["1e+16", "0.1", "2.5"], [None, "0.1", "2.5"]),
    "decimal": (
        pa.array([Decimal("0E-8"), Decimal("1E-8"), Decimal("7.5")], pa.decimal128(20, 8)),
        ["0.00000000", "0.00000001", "7.50000000"],
        ["0E-8", "1E-8", "7.50000000"],
    ),
    "nested": (pa.array([[["a"]], [["a", "b"]], None]), ["[[a]]", "[[a, b]]", None], ['[["a"]]', '[["a","b"]]', None]),
    "long": (pa.array([LONG, "x", None]), [LONG, "x", None], [None, "x", None]),
}


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_texts_that_differ_between_engines_are_those_that_the_documentation_names(tables, engine):
    """If this fails because a gap is closed, take it out of docs/reference/scale.md."""
    columns = {name: column for name, (column, _, _) in GAPS.items()}
    known = {name: list(dict.fromkeys(filter(None, [*here, *there]))) for name, (_, here, there) in GAPS.items()}
    table = pa.table({**columns, "place": range(3)})
    with open_source(tables.store(table) if engine == "spark" else table) as source:
        found = codes_of(source, [attribute(name, categories(*texts, other=True)) for name, texts in known.items()])
    for name, (column, here, there) in GAPS.items():
        wanted = here if engine == "duckdb" else there
        other = len(known[name])
        expected = [
            -1 if column[n].as_py() is None else other if text is None else known[name].index(text)
            for n, text in enumerate(wanted)
        ]
        assert found[name] == expected, name


def test_a_time_of_day_and_a_map_are_not_read(tables):
    with raises_code(SourceError, "SF-SOURCE-383"):
        open_source(tables.store(pa.table({"x": pa.array([1], pa.time64("us"))})))
    maps = pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))
    with (
        open_source(tables.store(pa.table({"who": maps, "x": ["a"]}))) as source,
        raises_code(SourceError, "SF-SOURCE-621"),
    ):
        CodedTable(source, [attribute("x", categories("a"))], unit=PersonUnit("who", 1)).rows()
