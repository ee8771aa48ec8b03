"""Every look at the table is told the memory limit, and records are not taken apart where they do not fit."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SourceError
from sfumato.tables import open_table as opening
from sfumato.workflow.sweeping import candidate_drafts
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

LIMIT = "321MB"
ROWS = 400


def a_table():
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "age": rng.integers(20, 24, ROWS),
            "sex": rng.choice(["f", "m"], ROWS),
            "ill": rng.choice(list("abcd"), ROWS),
            "dead": rng.choice(["no", "yes"], ROWS),
        }
    )  # 64 combinations of values


def a_study(**more):
    return sf.Study.from_mapping(
        {
            "name": "few values",
            "source": a_table(),
            "privacy": {"budget": 100},
            "attributes": {
                "age": {
                    "role": "quasi_identifier",
                    "type": "integer",
                    "bounds": [20, 23],
                    "step": 1,
                    "outside": "suppress",
                },
                "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
                "ill": {"role": "sensitive", "values": list("abcd")},
                "dead": {"role": "class", "values": ["no", "yes"]},
            },
            "releases": {
                "groups": {"method": "mondrian", "k": 3},
                "noise": {"method": "diffgen", "epsilon": 1, "h": 2},
            },
            **more,
        }
    )


LOOKS = {  # name -> how it is asked, given a release of the study
    "check": lambda study, _, **more: study.check(**more),
    "plan": lambda study, _, **more: study.plan("groups", **more),
    "plan of a tree": lambda study, _, **more: study.plan(sf.DiffPC45("1"), **more),
    "run": lambda study, _, **more: study.run(runs=2, **more),
    "ask": lambda study, _, **more: study.ask("sex = m", epsilon="0.1", **more),
    "learn": lambda study, _, **more: study.learn(sf.DiffPC45("1"), **more),
    "accuracy": lambda study, _, **more: study.accuracy("groups", runs=2, **more),
    "accuracies": lambda study, _, **more: study.accuracies("groups", classifiers=["decision-tree"], runs=2, **more),
    "max-k": lambda study, _, **more: study.max_k(**more),
    "compare": lambda study, _, **more: study.compare_columns("groups", "noise", repeats=1, **more),
    "measure": lambda study, done, **more: study.measure(done, only=["ploss"], **more),
    "link": lambda study, done, **more: study.attack_link(done, **more),
    "read_table": lambda study, _, **more: study.read_table(a_table(), **more),
    "frontier": lambda study, _, **more: sf.frontier(study, sf.sweep(sf.Mondrian, k=[4]), workers=1, **more),
}


@pytest.fixture
def limits(monkeypatch):
    """The memory limits that tables are opened with."""
    found, open_source = [], opening.open_source

    def noted(*given, memory_limit=None, **more):
        found.append(memory_limit)
        return open_source(*given, memory_limit=memory_limit, **more)

    for place in (
        "workflow.steps.study_table", "workflow.steps.background", "tables.population", "evaluate.foreign.read_rows"
    ):  # fmt: skip
        monkeypatch.setattr(f"sfumato.{place}.open_source", noted)
    return found


@pytest.mark.parametrize("name", LOOKS)
def test_every_look_at_the_table_is_told_the_limit(name, limits, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = a_study()
    done = study.release("groups", out=tmp_path / "one", report=False)
    limits.clear()
    LOOKS[name](study, done, memory_limit=LIMIT)
    assert limits and set(limits) == {LIMIT}


@pytest.mark.parametrize(
    ("method", "opened"),
    [
        (sf.Mondrian(k=3, privacy={"delta-presence": {"minimum": "0", "maximum": "1", "population": "people.csv"}}), 1),
        (sf.ConfidenceCap(rate="0.9", population="people.csv"), 1),
    ],
    ids=["people", "shares"],
)
def test_populations_are_told_the_limit_too(method, opened, limits, tmp_path, monkeypatch):
    import pyarrow.csv

    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(pa.concat_tables([a_table()] * 3), tmp_path / "people.csv")
    a_study().release(method, out=tmp_path / "one", report=False, memory_limit=LIMIT)
    assert len(limits) > opened and set(limits) == {LIMIT}


SHUFFLED = [
    sf.Anatomy(l=2),
    sf.Anatomy(l=2, tables=1),
    sf.Bucketization(k=4, privacy={"distinct-l-diversity": 2}),
    sf.Bucketization(k=4, privacy={"distinct-l-diversity": 2}, tables=2),
]


@pytest.fixture
def few_fit(monkeypatch):
    """A limit that all combinations fit, and not all records."""
    monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: ROWS - 1)


@pytest.mark.parametrize("method", SHUFFLED, ids=str)
def test_records_that_do_not_fit_one_by_one_are_not_shuffled(method, few_fit, tmp_path):
    with raises_code(SourceError, "SF-SOURCE-642") as caught:
        a_study().release(method, out=tmp_path / "one", report=False, memory_limit=LIMIT)
    problem, _, why = caught.value.problem.partition(": ")
    assert problem.endswith(
        "399 records, and more of the 4 requested attributes do not fit the memory limit one by one"
    )
    assert why.startswith(f"for `{method.name}`, ")
    assert str(ROWS) not in caught.value.problem, "how many there are is not said"
    assert not (tmp_path / "one").exists()
    assert a_study().release(method, out=tmp_path / "two", report=False).rows == ROWS, "no limit is stated"
    assert a_study().release(sf.Mondrian(k=4), out=tmp_path / "three", memory_limit=LIMIT).report.exists()


def test_records_that_do_not_fit_one_by_one_are_not_learnt_from(few_fit):
    for what in (sf.Mondrian(k=4), sf.DiffGen(epsilon=1, h=2)):
        with raises_code(SourceError, "SF-SOURCE-642") as caught:
            a_study().accuracy(what, runs=2, memory_limit=LIMIT)
        assert "for accuracy" in caught.value.problem
        assert a_study().accuracy(what, runs=2).on_release.mean > 0


def test_a_sweep_takes_no_records_apart_but_for_anatomy_and_tries_that_again(few_fit, tmp_path, monkeypatch):
    sweep = sf.sweep(sf.Anatomy, l=[2]) + sf.sweep(sf.DiffGen, epsilon=[1], h=[2]) + sf.sweep(sf.Mondrian, k=[4])
    given = {"workers": 1, "repeats": 1, "folder": tmp_path / "points"}
    found = sf.frontier(a_study(), sweep, memory_limit=LIMIT, **given)
    ((point, why),) = found.failures
    assert point.recipe.method == "anatomy" and "SF-SOURCE-642" in why
    assert not sf.frontier(a_study(), sweep, **given).failures, "a failure by the limit is not stored"
    rows, counter = [], candidate_drafts.ArrayCounter

    def noted(codes, sizes, **more):
        rows.extend(len(column) for column in codes.values())
        return counter(codes, sizes, **more)

    monkeypatch.setattr(candidate_drafts, "ArrayCounter", noted)
    assert not sf.frontier(a_study(), sf.sweep(sf.DiffGen, epsilon=[1, 2], h=[2]), workers=1, repeats=1).failures
    assert set(rows) == {64}, "a row a combination, not a record"
