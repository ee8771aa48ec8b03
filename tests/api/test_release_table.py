"""`sf.release`: a table in memory and declared domains are all it takes, and nothing is inferred from the records."""

import datetime as dt
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.api.declared_columns import column_names, declared_fields, domain_fields
from sfumato.errors import BudgetError, StudyError
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

JOBS = ["Engineer", "Dancer", "Lawyer", "Writer"]
DOMAINS = {"age": (0, 120), "job": JOBS, "income": ["<=50K", ">50K"]}
ROWS = {
    "age": [23, 35, 41, 58, 62, 29] * 50,
    "job": ["Engineer", "Dancer", "Lawyer", "Writer", "Lawyer", "Dancer"] * 50,
    "income": ["<=50K", "<=50K", ">50K", ">50K", ">50K", "<=50K"] * 50,
}
TABLE = pa.table(ROWS)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def release(table=TABLE, **more):
    return sf.release(table, **{"target": "income", "epsilon": 1, "domains": DOMAINS, "report": False, **more})


def test_one_call_publishes_and_the_bundle_verifies():
    published = release()
    assert sf.verify_bundle(published.bundle, sha256=published.sha256).ok
    opened = published.open()
    assert opened.private and opened.manifest["method"]["name"] == "staged"
    assert (published.epsilon, published.left) == (1, 0)


def test_without_a_target_the_marginals_are_published():
    assert release(target=None, epsilon="0.5").open().manifest["method"]["name"] == "marginals"


def test_the_budget_is_what_was_asked_for_unless_more_is_declared():
    release(budget=2)
    assert release(budget=2).left == 0
    with raises_code(BudgetError, "SF-BUDGET-003"):
        release(budget=2)


def test_the_budget_holds_in_another_process_of_the_same_folder(folder):
    code = f"""
import pyarrow as pa, sfumato as sf
try:
    sf.release(pa.table({ROWS!r}), target="income", epsilon=1, domains={DOMAINS!r}, report=False)
    print("published")
except sf.SfumatoError as error:
    print(error.code)
"""
    source = str(Path(sf.__file__).parents[1])
    said = [
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=folder,
            env={"PYTHONPATH": source},
        ).stdout.strip()
        for _ in range(2)
    ]  # fmt: skip
    assert said == ["published", "SF-BUDGET-003"]
    assert (folder / "table.ledger.sqlite").exists(), "where the documentation says"


def test_a_column_without_a_domain_is_named_with_what_to_write():
    with raises_code(StudyError, "SF-STUDY-743") as caught:
        release(domains={"income": DOMAINS["income"]})
    assert "'age', 'job'" in caught.value.problem
    assert "domains={'age': (lowest, highest)}" in caught.value.fix
    assert not any(value in str(caught.value) for value in (*JOBS, "23", "62"))


def test_a_column_may_be_left_out_and_a_misspelt_one_is_noticed():
    opened = release(domains={**DOMAINS, "age": None}).open()
    assert "age" not in opened.domains
    with raises_code(StudyError, "SF-STUDY-741", match="no such column"):
        release(domains={**DOMAINS, "agee": (0, 1)})
    with raises_code(StudyError, "SF-STUDY-744", match="the target 'income'"):
        release(domains={**DOMAINS, "income": None})


def test_an_observed_domain_is_refused():
    with raises_code(StudyError, "SF-STUDY-064", match="read off the data"):
        release(domains={**DOMAINS, "job": {"values": JOBS, "domain": "observed"}})


def test_persons_need_a_public_number_of_records():
    people = TABLE.append_column("person", pa.array([f"p{n // 2}" for n in range(300)]))
    with raises_code(StudyError, "SF-STUDY-745", match="how many records"):
        release(people, person="person")
    opened = release(people, person="person", at_most=2).open()
    assert opened.manifest["privacy"]["unit"] == "one person with at most 2 records"
    assert "person" not in opened.domains


def test_the_column_of_persons_is_never_released_whatever_the_table_declares():
    """An Enum over persons lists everybody in the table: as a domain it would be in the manifest."""
    polars = pytest.importorskip("polars")
    ids = [f"person-{n}" for n in range(300)]
    people = polars.DataFrame({**ROWS, "person": ids}).with_columns(polars.col("person").cast(polars.Enum(ids)))
    published = release(people, person="person", at_most=1)
    assert "person" not in published.open().domains
    assert not [path for path in published.bundle.iterdir() if b"person-17" in path.read_bytes()]
    with raises_code(StudyError, "SF-STUDY-801", match="'person'"):
        release(people, person="person", at_most=1, domains={**DOMAINS, "person": ids}, out="out")
    release(people, person="person", at_most=1, domains={**DOMAINS, "person": None}, out="out", budget=2)


@pytest.mark.parametrize("odd", [None, float("nan"), "?", 7], ids=str)
@pytest.mark.parametrize("values", [[True, False], ["true", "false"]], ids=["truth", "text"])
def test_one_record_does_not_change_how_truth_values_of_others_are_read(values, odd):
    """pandas makes a column of truth values one of objects, as soon as one of them is something else."""
    pandas = pytest.importorskip("pandas")
    for truth in ([True, False] * 50, [*[True, False] * 50, odd]):
        study = sf.study_of(pandas.DataFrame({"x": truth}), domains={"x": values}, budget=1, name="x")
        [found] = study.check()
        assert (found.missing + found.outside, found.records) == (len(truth) - 100, len(truth))


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (lambda pandas: [pandas.Timedelta("1D")] * 9, ["1 days 00:00:00"]),
        (lambda pandas: [pandas.Period("2020-01")] * 9, ["2020-01"]),
        (lambda pandas: [pandas.Timestamp("2020-01-01 10:20:30")] * 9, ["2020-01-01 10:20:30"]),
        (lambda pandas: [pandas.Timestamp("2020-01-01 10:20:30.5")] * 9, ["2020-01-01 10:20:30.5"]),
        (lambda pandas: [pandas.Timestamp("2020-01-01 10:20", tz="UTC")] * 9, ["2020-01-01 10:20:00+00"]),
        (lambda pandas: [0.1, 1.0, 1e16, 1e-7] * 9, [0.1, 1, "1e+16", "1e-07"]),
    ],
    ids=["durations", "months", "moments", "parts of seconds", "zones", "numbers"],
)
def test_one_record_does_not_change_how_values_of_others_are_written(column, values):
    pandas = pytest.importorskip("pandas")
    found = []
    for odd in ([], ["?"]):
        usual = column(pandas)
        frame = pandas.DataFrame({"x": pandas.Series([*usual, *odd], dtype=object if odd else None)})
        [seen] = sf.study_of(frame, domains={"x": values}, budget=1, name="x").check()
        found.append(seen.missing + seen.outside - len(odd))
    assert found[0] == found[1]


def test_no_record_changes_the_day_of_others_or_makes_reading_fail():
    """One odd value makes a column of moments one of objects: those keep the day of UTC, as in a column of moments."""
    pandas, numpy = pytest.importorskip("pandas"), pytest.importorskip("numpy")
    moments = [pandas.Timestamp("2020-01-31 23:30", tz="America/New_York")] * 50
    for odd in ([], ["?"], [pandas.NA], [pandas.NaT], ["\ud800"], [numpy.array([1, 2])], [["a"]]):
        frame = pandas.DataFrame({"x": pandas.Series([*moments, *odd], dtype=object if odd else None)})
        study = sf.study_of(frame, domains={"x": (dt.date(2020, 2, 1), dt.date(2020, 2, 9))}, budget=1, name="x")
        [found] = study.check()
        assert (found.missing, found.outside, found.records) == (len(odd), 0, 50 + len(odd))


def test_what_is_declared_does_not_follow_the_records():
    """Two tables, one with a record that changes every type a library would infer: the same declarations."""
    pandas = pytest.importorskip("pandas")
    usual = pandas.DataFrame(ROWS)
    odd = pandas.concat([usual, pandas.DataFrame({"age": [None], "job": [7], "income": [None]})], ignore_index=True)
    assert [str(t) for t in usual.dtypes] != [str(t) for t in odd.dtypes], "the record changes what is inferred"
    found = [sf.study_of(t, domains=DOMAINS, target="income", budget=1).declared for t in (usual, odd)]
    assert found[0].attributes == found[1].attributes
    opened = [release(t, name=f"t{n}", out=f"out{n}").open() for n, t in enumerate((usual, odd))]
    assert opened[0].domains == opened[1].domains
    assert opened[0].manifest["attributes"] == opened[1].manifest["attributes"]


def test_categories_of_pandas_count_only_if_the_caller_says_that_they_were_declared():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS).astype({"job": pandas.CategoricalDtype([*JOBS, "Painter"])})
    rest = {name: domain for name, domain in DOMAINS.items() if name != "job"}
    with raises_code(StudyError, "SF-STUDY-743", match="'job'"):
        release(frame, domains=rest)
    opened = release(frame, domains=rest, categories_declared=True).open()
    assert list(opened.domains["job"].taxonomy.leaves) == [*JOBS, "Painter"]
    found = pandas.DataFrame(ROWS).astype({"job": "category"})
    with raises_code(StudyError, "SF-STUDY-802", match="'job'"):
        declared_fields(found, {**DOMAINS, "job": found["job"].dtype})
    assert declared_fields(found, {**DOMAINS, "job": frame["job"].dtype})["job"] == {"values": [*JOBS, "Painter"]}
    assert domain_fields("job", frame["job"].dtype) == {"values": [*JOBS, "Painter"]}


def test_an_enum_of_polars_was_written_by_somebody_and_a_categorical_may_not_have_been():
    polars = pytest.importorskip("polars")
    rest = {name: domain for name, domain in DOMAINS.items() if name != "job"}
    named = polars.DataFrame(ROWS).with_columns(polars.col("job").cast(polars.Enum([*JOBS, "Painter"])))
    assert declared_fields(named, rest)["job"] == {"values": [*JOBS, "Painter"]}
    found = polars.DataFrame(ROWS).with_columns(polars.col("job").cast(polars.Categorical))
    with raises_code(StudyError, "SF-STUDY-743", match="'job'"):
        declared_fields(found, rest, categories_declared=True)


@pytest.mark.parametrize(
    ("domain", "fields"),
    [
        ((0, 120), {"type": "integer", "bounds": [0, 120]}),
        (range(121), {"type": "integer", "bounds": [0, 120]}),
        (range(0, 121, 5), {"type": "integer", "bounds": [0, 120], "step": 5}),
        ((0.0, 2.5), {"type": "number", "bounds": [0.0, 2.5], "step": "0.001"}),
        ((0, 1e6), {"type": "number", "bounds": [0, 1e6], "step": "1000"}),
        ((Fraction(1, 2), 3), {"type": "number", "bounds": [0.5, 3], "step": "0.001"}),
        ((dt.date(2001, 1, 1), dt.date(2030, 12, 31)), {"type": "date", "bounds": ["2001-01-01", "2030-12-31"]}),
        (("2001-01-01", "2030-12-31"), {"type": "date", "bounds": ["2001-01-01", "2030-12-31"]}),
        (("01.01.2001", "31.12.2030"), {"values": ["01.01.2001", "31.12.2030"]}),
        (["2001-01-01", "2030-12-31"], {"values": ["2001-01-01", "2030-12-31"]}),
        (("yes", "no"), {"values": ["yes", "no"]}),
        ((False, True), {"values": [False, True]}),
        ([0, 1], {"values": [0, 1]}),
        ({"taxonomy": {"Any": ["a", "b"]}}, {"taxonomy": {"Any": ["a", "b"]}}),
    ],
    ids=str,
)
def test_domains_are_written_in_several_ways(domain, fields):
    assert domain_fields("x", domain) == fields


@pytest.mark.parametrize("domain", ["text", 7, {1, 2}, range(0), object()], ids=lambda domain: type(domain).__name__)
def test_what_is_no_domain_is_refused(domain):
    with raises_code(StudyError, "SF-STUDY-742", match="the domain of 'x'"):
        domain_fields("x", domain)


def test_the_names_of_columns_are_found_whatever_they_are():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    import ibis

    odd = {"columns": [1], "column_names": [2], "schema": [3], "collect_schema": [4]}
    for table in (pa.table(odd), pandas.DataFrame(odd), polars.DataFrame(odd), polars.LazyFrame(odd)):
        assert column_names(table) == tuple(odd)
    assert column_names(ibis.memtable({"a": [1]})) == ("a",)
    assert column_names("people.csv") is None


@pytest.mark.parametrize("epsilon", ["one", -1, 0, True])
def test_a_wrong_epsilon_is_said_to_be_that(epsilon):
    """The budget of the study is taken from it, and nobody wrote one."""
    with pytest.raises(StudyError) as caught:
        release(epsilon=epsilon)
    assert "budget" not in caught.value.problem.removesuffix("is not a privacy budget (ε)")


def test_a_target_that_is_no_column_is_a_slip_of_the_pen():
    with raises_code(StudyError, "SF-STUDY-981", match="write 'income'"):
        release(target="incme")
