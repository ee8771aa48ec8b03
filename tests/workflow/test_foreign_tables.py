"""Tables of other tools: read as what they show, by their labels alone, and measured as a release of ours is."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InfeasibleError, SourceError, StudyError, UsageError
from sfumato.evaluate.measures import Reading, Refused
from sfumato.workflow import evidence_of_table, measure_table
from tests.examples import examples
from tests.raising import raises_code
from tests.workflow.test_evaluate import FIELDS, JOBS, METHODS, RECORDS, study

ATTRIBUTES = ("age", "job", "ill", "pay", "town")
MISSING = "(missing)"
GENERALISED = {
    "mondrian": sf.Mondrian(k=3),
    "suppressing": sf.Mondrian(k=4, suppress="0.3"),
    "ranges of names": sf.Mondrian(k=3, ordered="all"),
    "full-domain": sf.FullDomain(k=3, suppress="0.2"),
    "tds": sf.Tds(k=3),
}


def frame(**changes):
    """The clinic's table as pandas has it, with some labels in other columns' place."""
    return pd.DataFrame(FIELDS["source"].to_pandas()[list(ATTRIBUTES)]).assign(**changes)


def shown(table, **how):
    return evidence_of_table(study().declared, sf.ForeignTable(source=table, **how))[0].shown


def same(one, two):
    assert list(one) == list(two)
    for name, found in one.items():
        if isinstance(found, Refused):
            assert found == two[name], name
        else:
            assert found.value == pytest.approx(two[name].value, abs=1e-9), name


@pytest.mark.parametrize("name", ["mondrian", "suppressed"])
def test_the_csv_file_of_a_bundle_has_the_numbers_of_the_bundle(name, tmp_path):
    clinic = study()
    made = clinic.release(METHODS[name], out=tmp_path / "out", report=False)
    same(clinic.measure(made), clinic.measure(table=made.bundle / "data.csv"))
    same(clinic.measure(made), clinic.measure(table=made.bundle / "data.parquet"))


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_the_csv_file_of_a_sampled_release_needs_its_rate(tmp_path):
    clinic = study()
    made = clinic.release(sf.ConfidenceCap(rate="0.5"), out=tmp_path / "out", report=False)
    names = ["ploss", "uloss", "query-error", "marginals-2", "journalist-risk", "marketer-risk", "suppressed"]
    table = sf.ForeignTable(source=made.bundle / "data.csv", rate=0.5)
    same(clinic.measure(made, only=names), clinic.measure(table=table, only=names))


@st.composite
def small_studies(draw):
    """A few records of a study with a free grid, one with a tree, a missing value and a category with a tree."""
    many = draw(st.integers(6, 25))
    ages = draw(st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=many, max_size=many))
    pays = draw(st.lists(st.integers(0, 19), min_size=many, max_size=many))
    jobs = draw(st.lists(st.sampled_from(JOBS), min_size=many, max_size=many))
    ills = draw(st.lists(st.sampled_from(["flu", "none"]), min_size=many, max_size=many))
    tree = draw(st.sampled_from([None, {"intervals": {"width": 5, "levels": 2}}]))
    return {
        "name": "small",
        "source": pa.table(
            {
                "age": pa.array(ages, pa.int64()),
                "pay": pays,
                "job": jobs,
                "ill": ills,
                "class": ["a", "b"] * (many // 2) + ["a"] * (many % 2),
            }
        ),
        "privacy": {"budget": 4},
        "attributes": {
            "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 9], "missing": "keep"},
            "pay": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 19]}
            | ({"taxonomy": tree} if tree else {}),
            "job": FIELDS["attributes"]["job"],
            "ill": {"role": "sensitive", "values": ["flu", "none"]},
            "class": {"role": "class", "values": ["a", "b"]},
        },
    }


@given(small_studies(), st.sampled_from(list(GENERALISED)))
@settings(max_examples=examples(quick=10, slow=100), suppress_health_check=list(HealthCheck), deadline=None)
def test_generalised_releases_are_read_back_from_their_csv_alone(tmp_path_factory, fields, name):
    folder = tmp_path_factory.mktemp("small")
    fields["ledger"] = str(folder / "ledger.sqlite")
    if name in {"full-domain", "tds"}:  # they need levels
        for number in ("age", "pay"):
            fields["attributes"][number]["taxonomy"] = {"intervals": {"width": 5, "levels": 2}}
    small = sf.Study.from_mapping(fields)
    try:
        made = small.release(GENERALISED[name], out=folder / "out", report=False)
    except InfeasibleError:
        return
    names = ["ploss", "mean-ploss", "uloss", "general-loss", "discernibility", "suppressed", "linked-people",
             "guessed-values", "query-error", "marginals-1", "marginals-2", "cell-kl", "prosecutor-risk"]  # fmt: skip
    same(small.measure(made, only=names), small.measure(table=made.bundle / "data.csv", only=names))


def test_a_shuffled_table_has_the_same_numbers(tmp_path):
    clinic = study()
    made = clinic.release(METHODS["suppressed"], out=tmp_path / "out", report=False)
    rows = pd.read_csv(made.bundle / "data.csv", dtype=str)
    order = np.random.default_rng(1).permutation(len(rows))
    one, two = (evidence_of_table(clinic.declared, table)[0].shown for table in (rows, rows.iloc[order]))
    for part in ("starts", "stops", "weights"):
        assert np.array_equal(getattr(one, part), getattr(two, part))
    same(clinic.measure(table=rows), clinic.measure(table=rows.iloc[order]))


def test_the_table_itself_loses_nothing():
    found = study().measure(table=frame(), only=["uloss", "query-error", "general-loss", "marginals-2", "suppressed"])
    assert all(isinstance(one, Reading) and one.value == pytest.approx(0, abs=1e-12) for one in found.values())


def test_rows_that_tell_nothing_are_suppressed_records():
    rows = frame(age=frame()["age"].astype(object).where(frame()["age"].notna(), MISSING))
    rows.iloc[:7] = "*"
    rows.iloc[7:9] = None
    found, read = measure_table(study().declared, rows, ["suppressed", "average-group-size"])
    assert read.rows == RECORDS and read.shown.suppressed == 9 and read.shown.records == RECORDS - 9
    assert found["suppressed"].value == pytest.approx(9 / RECORDS)
    assert any("9 rows tell nothing" in said for said in read.sentences())


def test_rows_with_stars_in_quasi_identifiers_alone_are_records_that_can_be_anybodys():
    rows = frame(age="*", job="*")
    read = study().read_table(rows)
    assert read.starred == RECORDS and read.shown.suppressed == 0 and len(read.shown) == 1
    one = study().measure(table=rows, only=["ploss", "uloss"])
    assert one["ploss"].value == pytest.approx(0, abs=1e-12)


def test_missing_columns_are_not_published_and_further_ones_are_ignored():
    rows = frame(hair="red").drop(columns=["job", "ill"])
    found, read = measure_table(study().declared, rows, None)
    assert read.undeclared == ("hair",) and read.unpublished == ("job", "ill")
    assert set(read.shown.stops[:, 1]) == {4} and set(read.shown.starts[:, 1]) == {0}
    for name in ("ploss", "mean-ploss", "uloss", "histogram-kl", "confidence-excess", "guessed-values"):
        assert isinstance(found[name], Refused), name
        assert "'ill'" in found[name].reason or name == "guessed-values"
    for name in (
        "general-loss",
        "query-error",
        "marginals-1",
        "prosecutor-risk",
        "linked-people",
        "classification-loss",
    ):
        assert isinstance(found[name], Reading), name


def test_coarse_values_beside_the_regions_count_for_each_of_their_codes():
    """Nested labels: a sensitive value, and the whole domain; compared with spreading each label one by one."""
    rows = frame(job="*", age="*")
    rows.loc[::3, "ill"] = "*"
    beside = evidence_of_table(study().declared, rows)[0].shown
    over = beside.values["ill"].over_ranges()  # noqa: PD011 - not a table of pandas
    codes = np.zeros(3)
    for start, stop, share in zip(over.starts, over.stops, over.shares.toarray()[0], strict=True):
        codes[start:stop] += share / (stop - start)
    told = [(rows["ill"] == name).sum() for name in ("flu", "asthma", "none")]
    assert codes * RECORDS == pytest.approx(np.array(told) + (rows["ill"] == "*").sum() / 3)


def test_a_generalised_target_is_not_learnt_from():
    found = study().measure(table=frame(pay="*"), only=["classification-loss", "classification-metric"])
    assert all(isinstance(one, Refused) and "generalises" in one.reason for one in found.values())


def test_synthetic_rows_are_nobodys_records():
    drawn = frame().sample(100, random_state=1, replace=True)
    found, read = measure_table(study().declared, sf.ForeignTable(source=drawn, synthetic=True, rate=100 / RECORDS))
    assert read.as_json()["synthetic"] and any("nobody's" in said for said in read.sentences())
    for name in (
        "prosecutor-risk",
        "journalist-risk",
        "marketer-risk",
        "sample-uniques",
        "linked-people",
        "suppressed",
    ):
        assert isinstance(found[name], Refused) and "synthetic" in found[name].reason, name
    for name in ("ploss-li", "uloss", "guessed-values", "query-error", "marginals-2"):
        assert isinstance(found[name], Reading), name
    for name in ("ploss", "own-record-loss"):  # an adversary who knows the noise cannot be imitated without knowing it
        assert isinstance(found[name], Refused) and "noise" in found[name].reason, name
    with raises_code(UsageError, "SF-USAGE-354"):
        study().attack_link(table=sf.ForeignTable(source=drawn, synthetic=True))


def test_counts_are_divided_by_the_rate():
    half = pd.concat([frame().iloc[::2]])
    plain = study().measure(table=half, only=["query-error"])["query-error"].value
    scaled = study().measure(table=sf.ForeignTable(source=half, rate=0.5), only=["query-error"])["query-error"].value
    assert scaled < plain


@pytest.mark.parametrize("how", [{"rate": 0}, {"rate": 2}, {"rate": True}, {"rate": "1"}, {"rate": float("nan")}])
def test_rates_that_cannot_be(how):
    with raises_code(UsageError, "SF-USAGE-350"):
        sf.ForeignTable(source="x.csv", **how)


def test_people_are_linked_to_the_rows_of_a_table(tmp_path):
    clinic = study()
    made = clinic.release(METHODS["mondrian"], out=tmp_path / "out", report=False)
    assert clinic.attack_link(table=made.bundle / "data.csv") == clinic.attack_link(made)


def test_labels_that_do_not_fit_are_named_with_their_rows():
    rows = frame(job=["pilot" if n % 60 == 0 else job for n, job in enumerate(frame()["job"])])
    with raises_code(SourceError, "SF-SOURCE-353", match="'job'.* in 4 rows: 'pilot'"):
        shown(rows)
    with raises_code(SourceError, "SF-SOURCE-353") as caught:
        shown(frame(job="\x1b[2J" + "x" * 10_000))
    assert len(str(caught.value)) < 500 and "\x1b" not in str(caught.value)
    with raises_code(SourceError, "SF-SOURCE-352", match="'job'.* in 240 rows"):
        shown(frame(job="{Engineer, Dancer}"))
    with raises_code(SourceError, "SF-SOURCE-350"):
        shown(pd.DataFrame({"colour": ["red"]}))


def test_a_hierarchy_whose_nodes_are_no_ranges_gives_the_order(tmp_path):
    file = tmp_path / "job.csv"
    file.write_text("Engineer;X;*\nDancer;X;*\nLawyer;Y;*\nWriter;Y;*\n", encoding="utf-8")
    pairs = {"Engineer": "X", "Dancer": "X", "Lawyer": "Y", "Writer": "Y"}
    rows = frame(job=[pairs[job] for job in frame()["job"]], age="*")
    with raises_code(SourceError, "SF-SOURCE-353"):
        shown(rows)
    given = sf.ForeignTable(source=rows, hierarchies={"job": file})
    found, read = measure_table(study().declared, given, ["general-loss", "linked-people", "average-group-size"])
    assert read.reordered == ("job",) and any("hierarchy" in said for said in read.sentences())
    assert sorted(map(tuple, np.hstack([read.shown.starts, read.shown.stops])[:, [1, 3]].tolist())) == [(0, 2), (2, 4)]
    assert found["general-loss"].details["job"] == pytest.approx(1 / 3)
    assert found["average-group-size"].value == RECORDS / 2
    with raises_code(StudyError, "SF-STUDY-352"):
        sf.frontier(study(), sf.sweep(sf.Mondrian, k=[5]), tables={"x": given}, workers=1)
    with raises_code(SourceError, "SF-SOURCE-354"):
        shown(rows, hierarchies={"job": tmp_path / "none.csv"})
    with raises_code(SourceError, "SF-SOURCE-351"):
        shown(rows.drop(columns=["job"]), hierarchies={"job": file})


def test_a_hierarchy_whose_nodes_are_ranges_changes_nothing_else(tmp_path):
    file = tmp_path / "job.csv"
    file.write_text("Lawyer;first;*\nEngineer;first;*\nDancer;second;*\nWriter;second;*\n", encoding="utf-8")
    words = {"Engineer": "first", "Lawyer": "first", "Dancer": "second", "Writer": "second"}
    nodes = {"Engineer": "A", "Lawyer": "A", "Dancer": "B", "Writer": "B"}
    theirs, ours = (frame(job=[of[job] for job in frame()["job"]]) for of in (words, nodes))
    given = sf.ForeignTable(source=theirs, hierarchies={"job": file})
    assert study().read_table(given).reordered == ()
    same(study().measure(table=given), study().measure(table=ours))


def test_a_release_or_a_table_is_measured_and_never_both():
    with raises_code(UsageError, "SF-USAGE-351"):
        study().measure("out", table=frame())
    with raises_code(UsageError, "SF-USAGE-352"):
        study().measure()
    with raises_code(UsageError, "SF-USAGE-353"):
        study().measure("out", purpose="few")


def test_a_purpose_has_its_attributes():
    found = evidence_of_table(study().declared, frame(), purpose="few")[0]
    assert found.shown.attributes == ("job",) and set(found.shown.values) == {"ill", "pay"}


def test_foreign_tables_are_points_that_compete_and_are_not_chosen(tmp_path):
    clinic = study()
    coarse = frame(age="*", job="*")
    tables = {"raw": frame(), "coarse": coarse}
    found = sf.frontier(clinic, sf.sweep(sf.Mondrian, k=[5, 60]), tables=tables, workers=1, measures=["suppressed"])
    points = {point.label: point for point in found.points}
    assert points["raw"].foreign and points["coarse"].foreign and not points["mondrian, k = 5"].foreign
    assert points["coarse"].numbers["ploss"] == 0 and points["raw"].numbers["uloss"] == 0
    assert {"raw", "coarse"} <= {point.label for point in found.efficient}
    chosen = found.choose("knee")
    assert not chosen.point.foreign and chosen.settings["method"] == "mondrian"
    page = found.to_html(chosen)
    assert "another tool, not checked" in page and "Hourglasses" in page and "no guarantee of them was checked" in page
    saved = found.to_pandas(chosen)
    assert set(saved[saved["foreign"]]["release"]) == {"raw", "coarse"}
    assert [point["foreign"] for point in found.as_json(chosen)["points"]] == [False, False, True, True]
    assert "hourglass" not in found.plot(chosen).to_json()
    found.save(tmp_path / "plot.svg", chosen)


def test_sets_are_not_read_and_may_be_left_out():
    codes = {"role": "quasi_identifier", "type": "set", "separator": ";", "taxonomy": {"Any": ["a", "b", "c"]}}
    raw = pa.table({"age": [1, 2, 3, 4] * 5, "codes": ["a;b", "a", "b", ""] * 5, "ill": ["flu", "none"] * 10})
    attributes = {name: FIELDS["attributes"][name] for name in ("age", "ill")} | {"codes": codes}
    sets = sf.Study.from_mapping({"name": "sets", "source": raw, "privacy": {"budget": 1}, "attributes": attributes})
    rows = pa.table({"age": ["0-4"] * 20, "ill": ["flu", "none"] * 10})
    found = sets.measure(table=rows, only=["ploss", "general-loss", "linked-people", "prosecutor-risk"])
    assert found["ploss"].value == pytest.approx(0, abs=1e-12) and found["prosecutor-risk"].value == 1 / 20
    assert found["general-loss"].details["codes"] == 1 and found["linked-people"].details["with candidates"] == 1
    with raises_code(StudyError, "SF-STUDY-350"):
        sets.measure(table=raw)
