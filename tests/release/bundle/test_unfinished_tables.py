"""Tables that an engine was to keep and that were not finished: what is ours goes, what is not stays, and is named."""

import os
import signal
import threading

import pytest

import sfumato as sf
from sfumato.errors import PublishError, SourceError
from sfumato.ledger import open_ledger
from sfumato.release.bundle import stored_tables
from sfumato.release.verify import verify_bundle
from sfumato.tables.publishing.open_destination import table_address
from tests.contracts.test_wrong_types import LEAST
from tests.raising import raises_code
from tests.release.bundle.test_stored_tables import SLOW, Postgres, SparkFiles, SparkTables, released
from tests.workflow.test_engines_agree import study, table

pytestmark = pytest.mark.error_rate(0, reason="seeded")

FAILS = "IF(id < 5, 'a', raise_error('on purpose'))"
LASTS = "java_method('java.util.UUID', 'randomUUID')"  # of so many rows it takes half a minute


@pytest.fixture(params=["spark files", pytest.param("spark tables", marks=SLOW)])
def engine(request, tmp_path):
    kind = SparkFiles if request.param == "spark files" else SparkTables
    (tmp_path / "lake").mkdir()
    return kind(tmp_path / "lake", request.getfixturevalue("spark"))


def patch_save(monkeypatch, changed):
    """Let the destination save what is made of its rows."""
    from sfumato.tables.spark.destination import SparkDestination

    save = SparkDestination._save
    monkeypatch.setattr(SparkDestination, "_save", lambda self, frame, suffix: save(self, changed(frame), suffix))


def test_what_fails_half_way_is_removed_and_says_why(engine, tmp_path, monkeypatch):
    """The folder that Spark leaves was taken for somebody else's: the error said so, and so did every retry."""
    to = engine.new()
    with monkeypatch.context() as patch:
        patch_save(patch, lambda frame: frame.sparkSession.range(10).selectExpr("id", f"{FAILS} AS more"))
        with pytest.raises(SourceError):
            released(tmp_path / "out", to=to)
    assert not (tmp_path / "out").exists() and not engine.left(to)
    assert verify_bundle(released(tmp_path / "out", to=to).bundle, data=to).ok


def test_what_is_interrupted_is_removed(engine, tmp_path, monkeypatch):
    """Spark is told to stop, and has stopped before what it has written is removed."""

    def lasting(frame):
        threading.Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
        return frame.sparkSession.range(20_000_000).selectExpr("id", f"{LASTS} AS more")

    to, book = engine.new(), open_ledger(tmp_path / "ledger.sqlite")
    own = sf.Study(study(table(), "record").declared, ledger=book)
    with monkeypatch.context() as patch:
        patch_save(patch, lasting)
        with pytest.raises(KeyboardInterrupt) as stopped:
            own.release(sf.Mondrian(k=5), out=tmp_path / "out", to=to, insecure_seed=7, report=False)
    assert not getattr(stopped.value, "__notes__", ())
    assert not (tmp_path / "out").exists() and not engine.left(to)
    assert book.verify() == () and [entry.state for entry in book.entries(own.name)] == ["failed"]
    assert verify_bundle(released(tmp_path / "out", to=to).bundle, data=to).ok


def test_what_cannot_be_removed_is_said(engine, tmp_path, monkeypatch):
    """As through Spark Connect, which reaches no folder."""
    from sfumato.tables.spark.destination import SparkDestination

    to = engine.new()
    if isinstance(engine, SparkTables):
        monkeypatch.setattr(SparkDestination, "_removed", lambda *_: False)
    monkeypatch.setattr(SparkDestination, "_remove", lambda *_: None)
    monkeypatch.setattr("sfumato.tables.spark.destination._PAUSE", 0.0)
    monkeypatch.setattr(stored_tables, "_text_facts", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError) as failed:
        released(tmp_path / "out", to=to)
    name = to.rpartition("=")[2].rpartition("%2F")[2].replace("%20", " ")
    [note] = failed.value.__notes__
    assert note.startswith(f"'{name}' could not be removed, and may hold records")


def test_what_was_committed_and_cannot_be_removed_is_said(engine, tmp_path, monkeypatch):
    from sfumato.tables.spark.destination import SparkDestination

    to = engine.new()
    monkeypatch.setattr(SparkDestination, "_removed", lambda *_: False)
    monkeypatch.setattr("pathlib.Path.rename", lambda *_: (_ for _ in ()).throw(OSError(5, "broken")))
    with pytest.raises(PublishError) as failed:
        released(tmp_path / "out", to=to)
    [note] = failed.value.__notes__
    assert "may be visible" in note and engine.left(to)


def test_only_tables_that_the_form_has_are_in_the_way(postgres, tmp_path):
    """A table of another release, whose name ends as that of a second table would, is not."""
    engine = Postgres(postgres)
    to = engine.new()
    for suffix in ("_qit", "_st", "_st_1"):
        engine.run(f"CREATE TABLE {to.rpartition('=')[2]}{suffix} (one integer)")
    assert verify_bundle(released(tmp_path / "out", to=to).bundle, data=to).ok


@pytest.mark.parametrize("place", ["postgresql", "spark files"])
def test_the_second_table_is_looked_for_before_anything_is_entered_into_the_ledger(request, tmp_path, place):
    book = open_ledger(tmp_path / "ledger.sqlite")
    own = sf.Study(study(table(), "record").declared, ledger=book)
    if place == "postgresql":
        engine = Postgres(request.getfixturevalue("postgres"))
        to, code = engine.new(), "SF-PUBLISH-023"
        engine.run(f"CREATE TABLE {to.rpartition('=')[2]}_st (one integer)")
    else:
        request.getfixturevalue("spark")
        to, code = f"spark+local://?path={tmp_path}/lake", "SF-PUBLISH-024"
        (tmp_path / "lake_st").mkdir()
    with raises_code(PublishError, code):
        own.release(sf.methods.METHODS["anatomy"](**LEAST["anatomy"]), out=tmp_path / "out", to=to)
    assert not book.entries(own.name) and not (tmp_path / "out").exists()


def test_a_role_that_may_not_create_tables_is_refused_before_anything_is_entered_into_the_ledger(postgres, tmp_path):
    engine = Postgres(postgres)
    engine.run("CREATE ROLE onlooker LOGIN")
    engine.run("CREATE SCHEMA closed")
    engine.run("GRANT USAGE ON SCHEMA closed TO onlooker")
    book = open_ledger(tmp_path / "ledger.sqlite")
    own = sf.Study(study(table(), "record").declared, ledger=book)
    address = engine.address.replace("owner@", "onlooker@")
    for schema in ("closed", "nowhere"):
        with raises_code(PublishError, "SF-PUBLISH-027"):
            own.release(sf.Mondrian(k=5), out=tmp_path / "out", to=f"{address}?schema={schema}&table=t")
    assert not book.entries(own.name)


def test_a_database_that_is_not_there_is_said_before_anything_is_entered_into_the_ledger(spark, tmp_path):
    book = open_ledger(tmp_path / "ledger.sqlite")
    own = sf.Study(study(table(), "record").declared, ledger=book)
    with raises_code(PublishError, "SF-PUBLISH-761"):
        own.release(sf.Mondrian(k=5), out=tmp_path / "out", to="spark+local://?table=nowhere.t")
    assert not book.entries(own.name)


@pytest.mark.parametrize(
    ("where", "query"),
    [
        ({"path": "hdfs://lake/visits/", "table": None}, "path=hdfs://lake/visits/"),
        ({"path": "hdfs://lake/visits", "table": None}, "path=hdfs://lake/visits"),
        ({"path": None, "table": "`clinic`.`my-t`"}, "table=clinic.`my-t`"),
        ({"path": None, "table": "`clinic`.`visits`"}, "table=clinic.visits"),
    ],
)
def test_writing_and_verifying_make_the_same_name_of_the_second_table(where, query):
    pytest.importorskip("pyspark")
    from sfumato.tables.spark.address import Address
    from sfumato.tables.spark.destination import SparkDestination
    from sfumato.tables.spark.spark_engine import _qualified

    place = SparkDestination(None, named="visits", **where)
    found = Address.of(table_address(f"spark://host:7077?{query}", "_st"))
    if where["table"] is None:
        assert place._folder("_st") == found.path == "hdfs://lake/visits_st"
    else:
        assert place._place("_st") == _qualified(found.table)


@pytest.mark.parametrize("kind", ["a path with a slash at its end", "a name in backticks"])
def test_two_tables_are_found_where_they_were_written(spark, tmp_path, kind):
    """Writing and verifying make the names of the two tables from one address, and must agree."""
    to = f"spark+local://?path={tmp_path}/lake/" if "slash" in kind else "spark+local://?table=default.`my_t`"
    try:
        done = released(tmp_path / "out", "anatomy", to=to)
        assert verify_bundle(done.bundle, data=to).ok
        if "slash" in kind:
            assert {"lake_qit", "lake_st"} <= {path.name for path in tmp_path.iterdir()}
            assert verify_bundle(done.bundle, data=f"{tmp_path}/lake/").ok
        else:
            assert {"my_t_qit", "my_t_st"} <= {found.name for found in spark.catalog.listTables("default")}
    finally:
        for suffix in ("_qit", "_st"):
            spark.sql(f"DROP TABLE IF EXISTS default.`my_t{suffix}`")


def test_a_name_that_the_catalog_does_not_take_is_said(spark, tmp_path):
    with raises_code(SourceError, "SF-SOURCE-762"):
        released(tmp_path / "out", to="spark+local://?table=default.`my-t`")
