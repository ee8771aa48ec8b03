"""A low limit publishes what a table that fits publishes, or is refused in words: every method on every engine."""

import pytest

import sfumato as sf
from sfumato.errors import SourceError
from sfumato.evaluate.measures import MEASURES
from sfumato.methods import METHODS
from sfumato.tables import CodedTable
from tests.contracts.test_wrong_types import LEAST
from tests.raising import raises_code
from tests.tables.engines import TESTED, loader
from tests.workflow.test_engines_agree import study, table

CLOSE = {"t-closeness": {"t": "0.4", "distance": "equal"}}
RECIPES = {
    "full-domain": [{"k": 4}, {"k": 4, "suppress": "0.1", "privacy": CLOSE}],
    "tds": [{"k": 10}, {"k": 10, "privacy": {"distinct-l-diversity": 2}}],
    "mondrian": [{"k": 4, "choose": "loss"}],
}


def few(_, attributes):
    """How many combinations fit: 30 of all five attributes, and those of one attribute with the class."""
    return 30 if attributes > 2 else 200


@pytest.fixture(scope="module")
def engine(request):
    return loader(request)


def cases(names):
    """On Spark a query takes its time."""
    for engine in TESTED:
        marks = [pytest.mark.slow] if engine == "spark+local" else []
        for name in names:
            for given in RECIPES.get(name, [LEAST.get(name)]):
                yield pytest.param(engine, name, given, marks=marks)


@pytest.mark.parametrize(("engine", "name", "given"), list(cases(RECIPES)), ids=str, indirect=["engine"])
def test_a_low_limit_publishes_the_same_table(engine, monkeypatch, tmp_path, name, given):
    source = table() if engine.name == "duckdb" else engine.store(table())

    def released(place):
        done = study(source, "record").release(
            METHODS[name](**given), out=tmp_path / place, memory_limit="1GB", report=False
        )
        return (done.bundle / "data.csv").read_bytes()

    if engine.name != "spark+local":  # executors have a constant of their own
        monkeypatch.setattr("sfumato.methods.mondrian.choices.NEAR", 10)
        monkeypatch.setattr("sfumato.methods.mondrian.algorithm.NEAR", 10)
    at_once = released("at once")
    monkeypatch.setattr("sfumato.tables.coded.most_cells", few)
    monkeypatch.setattr(CodedTable, "full_cells", refuse_or_fail(CodedTable.full_cells))
    assert released("in parts") == at_once


def refuse_or_fail(full_cells):
    """All combinations, which nobody may get."""

    def refused(*given, **more):
        full_cells(*given, **more)
        pytest.fail("all combinations of values were brought here")

    return refused


def whole_cells():
    """Methods that hold all combinations of values."""
    given = {name: {"epsilon": "1"} if METHODS[name].needs.private else LEAST[name] for name in METHODS}
    return [n for n in METHODS if not METHODS[n].needs.private and not METHODS[n](**given[n]).in_parts]


@pytest.mark.parametrize(
    ("engine", "name", "given"), [one for one in cases(whole_cells()) if one.values[0] != "duckdb"], ids=str,
    indirect=["engine"],
)  # fmt: skip
def test_what_needs_all_combinations_is_refused_in_words(engine, monkeypatch, tmp_path, name, given):
    monkeypatch.setattr("sfumato.tables.coded.most_cells", few)
    with raises_code(SourceError, "SF-SOURCE-397") as caught:
        study(engine.store(table()), "record").release(METHODS[name](**given), out=tmp_path / "out", report=False)
    assert f"do not fit the memory limit: for `{name}`, " in caught.value.problem
    assert not (tmp_path / "out").exists()


RECIPE = sf.Mondrian(k=4)


def release_of(engine, folder):
    """A study on this engine, and a release of it, which was made in parts."""
    here = study(engine.store(table()), "record")
    return here, here.release(RECIPE, out=folder / "out", report=False)


LOOKS = {  # everything but a release that looks at the raw table
    "link": lambda here, done, _: here.attack_link(done),
    "attributes": lambda here, done, _: here.attack_attributes(done),
    "intersect": lambda here, done, _: here.attack_intersect(done, done),
    "accuracy": lambda here, *_: here.accuracy(RECIPE),
    "max-k": lambda here, *_: here.max_k(),
    "report": lambda here, done, _: here.report(done),
    "frontier": lambda here, _, folder: sf.frontier(here, sf.sweep(sf.Mondrian, k=[4]), folder=folder / "points"),
}
REMOTE = [pytest.param("postgresql"), pytest.param("spark+local", marks=pytest.mark.slow)]


@pytest.mark.parametrize("engine", REMOTE, indirect=True)
def test_every_measure_and_attack_says_what_it_would_have_to_collect(engine, monkeypatch, tmp_path):
    monkeypatch.setattr("sfumato.tables.coded.most_cells", few)
    here, done = release_of(engine, tmp_path)
    looks = LOOKS | {"measures": lambda here, done, _: here.measure(done, only=[*MEASURES])}
    for name, look in looks.items():
        with raises_code(SourceError, "SF-SOURCE-397") as caught:
            look(here, done, tmp_path)
        problem, _, why = caught.value.problem.partition("do not fit the memory limit: ")
        assert "30 distinct combinations of the 5 requested attributes" in problem, name
        assert why.startswith("for "), name
