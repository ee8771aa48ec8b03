"""A table in parts gives the groups of the whole table, whatever fits at once."""

from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.counts import TableParts
from sfumato.errors import InfeasibleError, InternalError
from sfumato.methods import METHODS, Mondrian
from sfumato.methods.mondrian import algorithm, choices
from sfumato.release.forms.records import record_store
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.tables import ManyCellsError
from tests.contracts.test_wrong_types import LEAST
from tests.examples import examples
from tests.methods.partition_tables import cells_of, partition_tables, partition_view
from tests.methods.plain_counter import PlainCounter, partition_of_draft, published
from tests.raising import raises_code
from tests.small_domains import JOB, grid
from tests.tables.engines import loader
from tests.workflow.test_engines_agree import study, table

MODELS = [
    {"k": 2},
    {"k": 3, "privacy": {"distinct-l-diversity": 2}},
    {"k": 2, "privacy": {"t-closeness": {"t": "0.4", "distance": "equal"}}},
]


@settings(max_examples=examples(quick=60, slow=600), deadline=None)
@given(
    given_table=partition_tables(),
    models=st.sampled_from(MODELS),
    ranges=st.sampled_from(["tight", "partition"]),
    ordered=st.sampled_from([(), "all"]),
    most=st.integers(1, 20),
)
def test_parts_give_the_groups_of_the_whole_table(given_table, models, ranges, ordered, most):
    view, records = given_table
    method = Mondrian(**models, ranges=ranges, ordered=ordered)
    counter = PlainCounter([a.name for a in view.attributes], records)
    parts = TableParts(counter, len(records), most, len(set(records)))
    try:
        whole = published(method.draft(view, cells_of(view, records)))
    except InfeasibleError as error:
        whole = error.code
    if isinstance(whole, str):
        with raises_code(InfeasibleError, whole):
            method.draft(view, parts)
        return
    assert published(method.draft(view, parts)) == whole
    width = len(view.attributes)
    assert all(cells <= most for attributes, cells in counter.brought if attributes == width)


@settings(max_examples=examples(quick=25, slow=300), deadline=None)
@given(data=st.data(), models=st.sampled_from(MODELS[1:]), most=st.integers(1, 12))
def test_several_sensitive_attributes_are_counted_one_by_one(data, models, most):
    view = partition_view(sensitive=("ill", "worse", "worst"), age=grid(0, 9), job=JOB)
    record = st.tuples(*(st.integers(0, view.domain(a.name).size - 1) for a in view.attributes))
    records = data.draw(st.lists(record, min_size=20, max_size=40))
    method, counter = Mondrian(**models), PlainCounter([a.name for a in view.attributes], records)
    try:
        whole = published(method.draft(view, cells_of(view, records)))
    except InfeasibleError:
        return
    assert published(method.draft(view, TableParts(counter, len(records), most, len(set(records))))) == whole
    few = len(view.attributes) - len(view.quasi)
    assert all(attributes <= 2 or attributes >= few for attributes, _ in counter.brought)


@settings(max_examples=examples(quick=40, slow=400), deadline=None)
@given(
    given_table=partition_tables(least=8),
    models=st.sampled_from(MODELS),
    near=st.integers(1, 5),
    ordered=st.sampled_from([(), "all"]),
    most=st.integers(1, 12),
)
def test_cuts_by_loss_are_those_of_the_whole_table(given_table, models, near, ordered, most):
    """Large groups are cut at medians; those in which it looks at the loss of every cut are brought whole."""
    view, records = given_table
    method = Mondrian(**models, choose="loss", ordered=ordered)
    counter = PlainCounter([a.name for a in view.attributes], records)
    parts = TableParts(counter, len(records), most, len(set(records)))
    with patch.object(choices, "NEAR", near), patch.object(algorithm, "NEAR", near):
        try:
            whole = published(method.draft(view, cells_of(view, records)))
        except InfeasibleError:
            return
        assert published(method.draft(view, parts)) == whole
    width = len(view.attributes)
    assert all(cells <= max(most, near * method.k) for attributes, cells in counter.brought if attributes == width)


def test_a_group_that_cannot_be_cut_is_published_however_many_cells_it_has():
    view = partition_view(age=grid(0, 99), job=JOB)
    records = [(age, age % 3, age % 4, age % 2) for age in range(7)]
    counter = PlainCounter([a.name for a in view.attributes], records)
    draft = Mondrian(k=4).draft(view, TableParts(counter, 7, 2, 7))
    assert published(draft) == published(Mondrian(k=4).draft(view, cells_of(view, records)))
    assert len(partition_of_draft(draft).boxes) == 1


@pytest.mark.parametrize("given", [{"strict": False}, {"choose": "info_gain"}, {"suppress": "0.1"}], ids=str)
def test_cuts_that_an_engine_cannot_make_are_not_tried(given):
    method = Mondrian(k=2, **given)
    assert not method.in_parts
    view = partition_view(age=grid(0, 9))
    with pytest.raises(InternalError):
        method.draft(view, TableParts(PlainCounter([], []), 1, 1, 1))


def test_who_works_in_parts():
    assert Mondrian(k=2).in_parts
    given = {name: {"epsilon": "1"} if METHODS[name].needs.private else LEAST[name] for name in METHODS}
    assert [name for name in METHODS if METHODS[name](**given[name]).in_parts] == ["full-domain", "mondrian", "tds"]


@pytest.fixture(scope="module")
def engine(request):
    return loader(request)


ON_SPARK = [pytest.param("spark+local", m, marks=[pytest.mark.slow] if m is not MODELS[0] else []) for m in MODELS]
HERE = [(engine, models) for engine in ("duckdb", "postgresql") for models in MODELS]


@pytest.mark.parametrize(("engine", "models"), [*HERE, *ON_SPARK], ids=str, indirect=["engine"])
def test_a_low_limit_publishes_the_same_table(engine, monkeypatch, tmp_path, models):
    source = table() if engine.name == "duckdb" else engine.store(table())
    most, least = (100, 3) if engine.name == "spark+local" else (20, 10)  # a query of Spark takes its time
    said = []

    def released(name):
        given = {"memory_limit": "1GB", "report": False, "progress": lambda doing, *_: said.append(doing)}
        done = study(source, "record").release(Mondrian(**models), out=tmp_path / name, **given)
        return (done.bundle / "data.csv").read_bytes()

    at_once = released("at once")
    assert "finishing parts of the table" not in said
    monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda _, attributes: 5 * most // attributes)
    monkeypatch.setattr(record_store, "PIECE", 7)
    monkeypatch.delattr(RecordStore, "join")  # nobody holds all rows
    mapped = workers_seen(monkeypatch) if engine.name == "spark+local" else []
    assert released("in parts") == at_once
    assert said.count("finishing parts of the table") > least
    if engine.name == "spark+local":
        assert len(mapped) == 1, "the executors did the work"
        monkeypatch.setattr("sfumato.tables.spark.session.workers_are_ready", lambda _: False)
        assert released("without workers") == at_once
        assert len(mapped) == 1


def workers_seen(monkeypatch):
    from sfumato.tables.spark import session, workers

    seen = []

    def mapped(*given, **more):
        seen.append(more["doing"])
        return workers.map_on_workers(*given, **more)

    monkeypatch.setattr(session, "map_on_workers", mapped)
    return seen


@settings(max_examples=examples(quick=40, slow=400), deadline=None)
@given(
    ages=st.lists(st.one_of(st.integers(0, 99_999), st.integers(500, 505)), min_size=8, max_size=60),
    models=st.sampled_from(MODELS[:1]),
    ranges=st.sampled_from(["tight", "partition"]),
    most=st.integers(1, 7),
)
def test_a_median_among_many_values_is_found_in_few_bins(ages, models, ranges, most):
    view = partition_view(age=grid(0, 99_999), job=JOB)
    records = [(age, age % 4, n % 2, n % 2) for n, age in enumerate(ages)]
    method = Mondrian(**models, ranges=ranges)
    counter = PlainCounter([a.name for a in view.attributes], records, room=max(most, JOB.size))
    draft = method.draft(view, TableParts(counter, len(records), most, len(set(records))))
    assert published(draft) == published(method.draft(view, cells_of(view, records)))
    found = [rows for attributes, rows in counter.brought if attributes == 1]
    assert max(found, default=0) <= max(2, most, JOB.size) + 1, "bins, or leaves of the taxonomy"


@pytest.mark.parametrize("most", [3, 40])
def test_sensitive_values_that_do_not_fit_are_refused_in_words(most):
    view = partition_view(sensitive=("ill",), age=grid(0, 999))
    records = [(n * 7 % 1000, n % view.domain("ill").size, 0) for n in range(90)]
    counter = PlainCounter([a.name for a in view.attributes], records, room=1)
    method = Mondrian(k=2, privacy={"distinct-l-diversity": 2})
    with raises_code(ManyCellsError, "SF-SOURCE-397") as caught:
        method.draft(view, TableParts(counter, 90, most, len(set(records))))
    problem, _, why = caught.value.problem.partition(": ")
    assert "distinct values of an attribute" in problem and "sensitive attribute" in why


def test_what_stands_beside_a_group_without_a_cut_comes_in_slices():
    view = partition_view(sensitive=("ill", "worse"), age=grid(0, 99))
    records = [(age, n % view.domain("ill").size, n // 3 % 3, n % 2) for age in range(3) for n in range(30)]
    records = [record[: len(view.attributes)] for record in records]
    counter = PlainCounter([a.name for a in view.attributes], records, room=4)
    draft = Mondrian(k=90).draft(view, TableParts(counter, 90, 4, len(set(records))))
    assert published(draft) == published(Mondrian(k=90).draft(view, cells_of(view, records)))
    assert draft.facts["groups"] == 1
    assert max(rows for _, rows in counter.brought) <= 5
