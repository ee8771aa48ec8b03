"""Whatever a table holds, what is proposed for it loads, and its domains fit the table that it came from."""

from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.study.attribute import InvalidValuePolicy, Role
from sfumato.study.file import study_from_text

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NASTY = st.sampled_from(
    [
        "Any", "any", " Any", "null", "~", "no", "01", "1", "1.0", "a: b", "# c", "{x", "[y", "- z", "'", '"', "a, b",
        "(missing)", "(other)", "(none)", "*", "1*", "&a", "!b", "<<", "|", ">", "%", "@", "`", "a\nb", "a\tb",
        "\u2028", "-9", "999", "?", "NA", "Male", "male", "MALE ", "1,5", "1.000,5", "1,000", "2004-02-30", "3/4/2004",
        "31.1.2004", "13053", "14850-1", "A01.1", "250.83", "11-1011", "9" * 40, "1e300", "-1e308", "inf", "nan",
    ]
)  # fmt: skip
NUMBERS = st.floats(allow_subnormal=False) | st.integers(-(2**62), 2**62).map(float) | st.integers(0, 5).map(float)
DAYS = st.dates().map(str) | st.dates().map(lambda day: day.strftime("%d/%m/%Y"))
NAMES = (
    TEXT.filter(lambda name: name.strip() and name == name.strip())
    | NASTY.filter(lambda name: name == name.strip())
    | st.sampled_from(["age", "zip", "income", "patient_id", "lat", "diag_1", "weeks_worked", "instance_weight", "id"])
)


@st.composite
def columns(draw, rows):
    """A column of one kind: few values or many, text or typed, some of it missing."""
    of = draw(
        st.sampled_from(
            [
                TEXT,
                NASTY,
                NUMBERS,
                st.integers(-(2**62), 2**62),
                st.integers(0, 9).map(str),
                st.integers(0, 10**9).map(str),
                st.decimals(-999, 10**6, places=2).map(str),
                DAYS,
                st.dates(),
                st.booleans(),
                st.lists(st.sampled_from(["1", "2", "A10", "B7", "30"]), max_size=5).map(";".join),
                st.lists(st.integers(0, 99).map(str), max_size=6).map(" ".join),
            ]
        )
    )
    pool = draw(st.lists(of, min_size=1, max_size=draw(st.sampled_from([1, 3, 12, rows]))))
    picked = [pool[(number * 7 + number // 3) % len(pool)] for number in range(rows)]
    return [None if draw(st.booleans()) and number % 5 == 0 else value for number, value in enumerate(picked)]


@st.composite
def tables(draw):
    rows = draw(st.integers(1, 30))
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=lambda name: name.casefold().strip()))
    return pa.table({name: pa.array(draw(columns(rows))) for name in names})


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(tables())
def test_what_is_proposed_loads_and_fits(table):
    proposal = sf.describe(table, name="t")
    declared = study_from_text(proposal.to_yaml())
    assert list(declared.attributes) == table.column_names, "every column has an entry"
    assert {p.column.name: p.role for p in proposal.columns} == {n: a.role for n, a in declared.attributes.items()}
    study = sf.Study(declared=_on(declared, table))
    for report in study.check():
        attribute = declared.attributes[report.attribute]
        assert not (report.missing and attribute.missing is InvalidValuePolicy.ERROR), "missing values are kept"
        infinite = any(str(value).strip().lstrip("-") == "inf" for value in table[report.attribute].to_pylist())
        assert not report.outside or infinite, "an infinite number is in no bounds"
        assert attribute.role is Role.TIME or not attribute.domain.declared, "read off the records"


@pytest.mark.parametrize("size", [1e15, 9e28, 9e29, 1e30, 1.5e31, 2e98, 9.5e99, 5e299, 9e305, 1.7976931348623157e308])
@pytest.mark.parametrize("sign", [-1, 1])
def test_numbers_of_any_size_are_proposed_with_bounds_that_load_and_fit(size, sign):
    """Also near zero, and where a text without an exponent has more digits than a study takes."""
    for one in (size, 1 / size):
        falling = [sign * one * (1 - place / 50) for place in range(20)]
        for values in (falling, [one] * 20, [*falling, -sign * one]):
            table = pa.table({"x": values})
            declared = study_from_text(sf.describe(table, name="t").to_yaml())
            (report,) = sf.Study(declared=_on(declared, table)).check()
            assert (report.outside, report.missing) == (0, 0)
            grid = declared.attributes["x"].domain
            assert float(grid.lower) <= min(values) <= max(values) <= float(grid.upper)
            assert grid.points <= 2**53


def _on(declared, table):
    """The proposed study of the table in memory."""
    source = declared.source
    return replace(declared, source=table if isinstance(source, str) else replace(source, path=table))


@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.lists(st.tuples(NASTY | TEXT, NASTY | TEXT), min_size=1, max_size=40), st.sampled_from([",", ";", "\t"]))
def test_what_is_proposed_of_a_file_fits_the_file(tmp_path_factory, rows, delimiter):
    folder = tmp_path_factory.mktemp("files")
    frame = pd.DataFrame(rows, columns=["sex", "x: {y"]).map(lambda text: text.replace("\r", " "))
    frame.to_csv(folder / "t.csv", index=False, sep=delimiter)
    (folder / "study.yaml").write_text(sf.describe(folder / "t.csv").to_yaml(), encoding="utf-8")
    study = sf.Study.load(folder / "study.yaml")
    assert set(study.declared.attributes) == {"sex", "x: {y"}
    for report in study.check():
        policy = study.declared.attributes[report.attribute]
        assert not (report.missing and policy.missing is InvalidValuePolicy.ERROR)
        assert not report.outside or "inf" in set(frame[report.attribute].str.strip())
