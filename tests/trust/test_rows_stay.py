"""No record of a table in PostgreSQL or Spark is brought to this process: a spy sees every answer."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SourceError
from sfumato.methods import METHODS
from sfumato.tables import open_source
from tests.contracts.test_wrong_types import LEAST
from tests.raising import raises_code
from tests.tables.engines import loader
from tests.workflow.test_engines_agree import cases

RECORDS = 1_500
CELLS = 4 * 3 * 3 * 2  # combinations of what the study declares
SECRETS = [f"secret-{n}" for n in range(RECORDS)]


def table():
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "who": SECRETS,
            "age": rng.integers(0, 4, RECORDS),
            "town": rng.choice(["Ulm", "Bonn", "Jena"], RECORDS),
            "ill": rng.choice(["a", "b", "c"], RECORDS),
            "dead": rng.choice(["no", "yes"], RECORDS),
        }
    )


def declared(address, unit):
    quasi = {"role": "quasi_identifier"}
    return {
        "name": "watched",
        "source": address,
        "privacy": {"budget": 100, "unit": unit},
        "attributes": {
            "age": {**quasi, "type": "integer", "bounds": [0, 3], "step": 1, "taxonomy": {"intervals": {"width": 2}}},
            "town": {**quasi, "values": ["Ulm", "Bonn", "Jena"]},
            "ill": {"role": "sensitive", "values": ["a", "b", "c"]},
            "dead": {"role": "class", "values": ["no", "yes"]},
        },
    }


@pytest.fixture(scope="module")
def engine(request):
    return loader(request)


@pytest.fixture(scope="module")
def address(engine):
    return engine.store(table())


@pytest.fixture
def spy(engine, monkeypatch):
    """Everything that a server answers: what sessions fetch, and whatever a library hands over beside that."""
    seen, within = [], []
    if engine.name == "postgresql":
        from sfumato.tables.postgres.session import PostgresSession as Session

        watch_postgres(monkeypatch, within)
    else:
        from sfumato.tables.spark.session import SparkQueries as Session

        watch_spark(monkeypatch, seen, within)
    fetch = Session.fetch

    def watched(self, sql, *, doing):
        within.append(1)
        try:
            found = fetch(self, sql, doing=doing)
        finally:
            within.pop()
        seen.append(found)
        return found

    pieces = Session.fetch_pieces

    def watched_pieces(self, sql, **more):
        rest = pieces(self, sql, **more)
        while True:
            within.append(1)
            try:
                found = next(rest, None)
            finally:
                within.pop()
            if found is None:
                return
            seen.append(found)
            yield found

    monkeypatch.setattr(Session, "fetch", watched)
    monkeypatch.setattr(Session, "fetch_pieces", watched_pieces)
    return seen


def watch_postgres(monkeypatch, within):
    """Nothing is read from a cursor but by the sessions' own ways."""
    import psycopg

    for kind in (psycopg.Cursor, psycopg.ServerCursor):
        for name in ("fetchone", "fetchmany", "fetchall", "stream", "__iter__"):
            real = getattr(kind, name)

            def watched(self, *given, real=real, **more):
                assert within, "an answer is read past the spy"
                return real(self, *given, **more)

            monkeypatch.setattr(kind, name, watched)
    monkeypatch.setattr(psycopg.Copy, "read", lambda *_: pytest.fail("an answer is copied past the spy"))


def watch_spark(monkeypatch, seen, within):
    """What a table of Spark hands over is seen, whoever asks for it."""
    from pyspark.sql.classic.dataframe import DataFrame

    real = DataFrame.toArrow

    def watched(self):
        found = real(self)
        if not within:
            seen.append(found)
        return found

    monkeypatch.setattr(DataFrame, "toArrow", watched)
    for name in ("collect", "toPandas", "toLocalIterator", "take", "head", "first", "tail", "show", "foreach"):
        monkeypatch.setattr(DataFrame, name, lambda *_, name=name, **__: pytest.fail(f"{name} is past the spy"))


EACH = pytest.mark.parametrize("engine", ["postgresql", "spark+local"], indirect=True)


def refuse_records(seen):
    """Fail where an answer has more rows than there are combinations of declared values, or a value of a name."""
    assert seen
    for found in seen:
        assert found.num_rows <= CELLS + 20, f"{found.num_rows} rows of {found.column_names}"
        assert "secret" not in str(found.to_pydict())


@EACH
def test_the_spy_sees_records_that_are_brought(address, spy):
    with open_source(address) as source:
        source.fetch(source.table.select("age"))
        with pytest.raises(AssertionError):
            refuse_records(spy)


@pytest.mark.error_rate(0, reason="whatever is drawn, an answer has no more rows than there are combinations")
@pytest.mark.parametrize(("engine", "name", "unit"), list(cases()), ids=str, indirect=["engine"])
def test_releases_reports_measures_and_attacks_bring_counts_alone(address, spy, tmp_path, name, unit):
    method = METHODS[name]
    study = sf.Study.from_mapping(declared(address, unit))
    recipe = method(**({"epsilon": "2"} if method.needs.private else LEAST[name]))
    study.plan(recipe)
    study.check()
    done = study.release(recipe, out=tmp_path / "out", insecure_seed=5)
    study.measure(done)
    study.accuracy(recipe, runs=1)
    if not method.needs.private:
        study.attack_link(done)
    refuse_records(spy)


@pytest.mark.error_rate(0, reason="whatever is drawn, an answer has no more rows than there are combinations")
@EACH
def test_what_an_owner_asks_brings_counts_alone(address, spy, tmp_path):
    """Sweeps, comparisons, attacks and the models of a raw table: whoever looks at all records gets their counts."""
    study = sf.Study.from_mapping(declared(address, "record"))
    few, more = (study.release(sf.Mondrian(k=k), out=tmp_path / f"k{k}", report=False) for k in (2, 5))
    swept = sf.frontier(study, sf.sweep(sf.Mondrian, k=[2, 5]), workers=1, folder=tmp_path / "sweep")
    assert len(swept.points) == 2
    study.max_k(between=(2, 5))
    study.compare_columns(sf.Mondrian(k=2), sf.DiffGen(epsilon="1", h=1), repeats=1)
    study.attack_attributes(few)
    study.attack_intersect(few, more)
    study.attack_link(few, known=address)
    study.accuracies(sf.Mondrian(k=5), runs=1, classifiers=["decision-tree"], workers=1)
    study.report(few)
    sf.verify_table(address, privacy={"k-anonymity": 2}, quasi=["age", "town"], sensitive=["ill"])
    refuse_records(spy)


@pytest.fixture
def stored(engine, spy, monkeypatch):
    """What is kept in the engine: in a scratch folder of Spark, or in a table of the server."""
    if engine.name == "postgresql":
        from sfumato.tables.postgres.session import PostgresSession as Session
    else:
        from sfumato.tables.spark.session import SparkQueries as Session
    kept, keep, fetch = [], Session.keep, Session.fetch

    def watched(self, sql, **more):
        name = keep(self, sql, **more)
        kept.append(fetch(self, f"SELECT * FROM {name}", doing="looking at what is stored"))
        return name

    monkeypatch.setattr(Session, "keep", watched)
    return kept


@pytest.fixture(scope="module")
def with_sets(engine):
    rng = np.random.default_rng(4)
    codes = [";".join(rng.choice(["a1", "a2", "b1"], 2)) for _ in range(RECORDS)]
    return engine.store(table().append_column("codes", pa.array(codes)))


@pytest.mark.error_rate(0, reason="whatever is drawn, an answer has no more rows than there are combinations")
@EACH
def test_sets_bring_their_distinct_values_and_what_is_stored_names_nobody(with_sets, stored, spy, tmp_path):
    study = declared(with_sets, {"person": "who", "at_most": 1})
    tree = {"any": {"A": ["a1", "a2"], "B": ["b1"]}}
    codes = {"role": "quasi_identifier", "type": "set", "separator": ";", "level": 1, "taxonomy": tree}
    study["attributes"] = {"codes": codes, **study["attributes"]}
    own = sf.Study.from_mapping(study)
    own.plan(sf.DiffGen(epsilon="2", h=1))
    own.release(sf.DiffGen(epsilon="2", h=1), out=tmp_path / "noisy", insecure_seed=5, report=False)
    own.release(sf.Mondrian(k=2), out=tmp_path / "groups", insecure_seed=5, report=False)
    assert stored
    for found in stored:
        assert all(pa.types.is_integer(kind) or pa.types.is_boolean(kind) for kind in found.schema.types)
    sets = [found for found in spy if found.column_names == ["value"]]
    assert sets and all(found.num_rows <= 9 for found in sets)
    assert all("secret" not in str(found.to_pydict()) for found in spy)


@EACH
def test_values_of_a_table_as_it_stands_are_counted_before_they_are_brought(address, spy):
    """A name in every record: all combinations would be the records."""
    with raises_code(SourceError, "SF-SOURCE-397"):
        sf.verify_table(address, privacy={"k-anonymity": 2}, quasi=["who", "town"], memory_limit="10KB")
    refuse_records(spy)


@pytest.mark.error_rate(0, reason="whatever is drawn, an answer has no more rows than there are combinations")
@EACH
def test_questions_and_trees_bring_counts_alone(address, spy, tmp_path):
    study = sf.Study.from_mapping(declared(address, "record"))
    study.ask("age >= 2", epsilon="1/2", insecure_seed=5)
    study.learn(sf.interactive.DiffPC45(epsilon="1", depth=2), out=tmp_path / "tree", insecure_seed=5)
    refuse_records(spy)


@EACH
def test_describing_brings_values_of_columns_that_no_record_can_be_put_together_from(address, spy):
    sf.describe(address)
    for found in spy:
        if found.column_names == ["code", "n"]:  # counts over bins, and of values of columns with few of them
            assert found.num_rows <= CELLS
            assert "secret" not in str(found.to_pydict())
            continue
        assert found.num_rows <= 1  # aggregates alone
        columns = found.to_pylist()[0] if found.num_rows else {}
        lists = [value for value in columns.values() if isinstance(value, list) and len(value) > 1]
        assert all(values == sorted(values) for values in lists if len(values) > CELLS)


@pytest.mark.error_rate(0, reason="an address is in no file, whatever is drawn")
@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
def test_the_address_is_in_no_bundle_and_in_no_ledger(address, tmp_path):
    ledger = tmp_path / "ledger.db"
    study = sf.Study.from_mapping({**declared(address, "record"), "ledger": str(ledger)})
    study.release(sf.DiffGen(epsilon="1", h=2), out=tmp_path / "out")
    host = address.removeprefix("postgresql://").partition("/")[0].rpartition("@")[2]
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert ledger in tmp_path.iterdir() and any(path.name == "manifest.json" for path in files)
    for path in (*files, ledger):
        written = path.read_bytes()
        assert host.encode() not in written and b"postgresql:" not in written, path.name
