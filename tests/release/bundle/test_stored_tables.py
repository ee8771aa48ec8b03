"""Releases whose records an engine writes: to a table of PostgreSQL, or to files or a table of Spark."""

import itertools
import json
import os
from html import unescape
from urllib.parse import quote

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import PublishError, SourceError, UsageError
from sfumato.ledger import open_ledger
from sfumato.release.forms.records import record_store
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.verify import verify_bundle
from tests.contracts.test_wrong_types import LEAST
from tests.raising import raises_code
from tests.workflow.test_engines_agree import study, table

_NUMBERS = itertools.count(1)
RECORDS = ["mondrian", "full-domain", "bucketization", "anatomy"]


class Postgres:
    def __init__(self, address):
        self.address = f"{address}/postgres"

    def new(self):
        return f"{self.address}?schema=public&table=released_{next(_NUMBERS)}"

    def run(self, sql):
        import psycopg

        with psycopg.connect(self.address, autocommit=True) as connection:
            found = connection.execute(sql)
            return found.fetchall() if found.description else None

    def change(self, to):
        name = to.rpartition("=")[2]
        self.run(f"UPDATE {name} SET dead = 'yes' WHERE ctid = (SELECT min(ctid) FROM {name} WHERE dead = 'no')")

    def left(self, to):
        return [row for row in self.run("SELECT relname FROM pg_class WHERE relkind = 'r'") if "sfumato" in row[0]] + [
            row for row in self.run("SELECT relname FROM pg_class") if row[0].startswith(to.rpartition("=")[2])
        ]


class SparkFiles:
    def __init__(self, folder, spark):
        self.folder, self.spark = folder, spark

    def new(self):
        return f"spark+local://?path={quote(str(self.folder / f'released {next(_NUMBERS)}'), safe='')}"

    def place(self, to):
        from urllib.parse import unquote

        return unquote(to.rpartition("=")[2])

    def change(self, to):
        frame = self.spark.read.parquet(self.place(to)).toPandas()
        frame.loc[frame.index[frame["dead"] == "no"][0], "dead"] = "yes"
        self.spark.createDataFrame(frame).write.mode("overwrite").parquet(self.place(to))

    def left(self, to):
        name = self.place(to).rpartition("/")[2]
        return [path for path in self.folder.iterdir() if path.name.startswith(name)]


class SparkTables(SparkFiles):
    def new(self):
        return f"spark+local://?table=default.released_{next(_NUMBERS)}"

    def change(self, to):
        frame = self.spark.table(to.rpartition("=")[2]).toPandas()
        frame.loc[frame.index[frame["dead"] == "no"][0], "dead"] = "yes"
        self.spark.createDataFrame(frame).write.insertInto(to.rpartition("=")[2], overwrite=True)

    def left(self, to):
        return [t for t in self.spark.catalog.listTables("default") if t.name.startswith(to.rpartition(".")[2])]


SLOW = pytest.mark.slow  # a query on Spark takes most of a second
ENGINES = ["postgresql", "spark files", pytest.param("spark tables", marks=SLOW)]
EACH = [("postgresql", name) for name in RECORDS] + [
    pytest.param(engine, name, marks=[] if (engine, name) == ("spark files", "anatomy") else SLOW)
    for engine in ("spark files", "spark tables")
    for name in RECORDS
]


@pytest.fixture(scope="module", params=ENGINES)
def engine(request, tmp_path_factory):
    if request.param == "postgresql":
        return Postgres(request.getfixturevalue("postgres"))
    kind = SparkFiles if request.param == "spark files" else SparkTables
    return kind(tmp_path_factory.mktemp("lake"), request.getfixturevalue("spark"))


def released(place, name="mondrian", to=None, **more):
    method = sf.methods.METHODS[name](**LEAST[name])
    return study(table(), "record").release(method, out=place, insecure_seed=7, report=False, to=to, **more)


@pytest.mark.error_rate(0, reason="seeded")
@pytest.mark.parametrize(("engine", "name"), EACH, indirect=["engine"])
def test_a_table_of_an_engine_holds_what_the_files_would_hold(engine, tmp_path, name):
    to = engine.new()
    files, stored = released(tmp_path / "files", name), released(tmp_path / "stored", name, to=to)
    assert sorted(path.name for path in stored.bundle.iterdir()) == [
        "README.md", "croissant.json", "datapackage.json", "index.html", "manifest.json",
    ]  # fmt: skip
    there = json.loads((stored.bundle / "manifest.json").read_text())["stored"]["tables"]
    hashes = json.loads((files.bundle / "manifest.json").read_text())["files"]
    assert {f"{table}.csv": {"size": t["size"], "sha256": t["sha256"]} for table, t in there.items()} == {
        name: facts for name, facts in hashes.items() if name.endswith(".csv")
    }
    assert verify_bundle(stored.bundle, data=to).ok
    page = unescape((stored.bundle / "index.html").read_text(encoding="utf-8"))
    assert to not in page, "no bundle tells where its tables are"
    assert "sfumato verify . --data ADDRESS" in page
    assert '"elsewhere":" --data ADDRESS"' in page
    same = unescape((files.bundle / "index.html").read_text(encoding="utf-8"))
    block = '<table class="bars"'
    assert page.split(block)[1:-1] == same.split(block)[1:-1], "the marginals are those of the files"
    expected, found = files.open(), stored.open()
    assert found.to_tables().keys() == expected.to_tables().keys()
    for which, whole in expected.to_tables().items():
        assert found.to_tables()[which].to_pydict() == whole.to_pydict()


@pytest.mark.error_rate(0, reason="seeded")
def test_a_changed_table_does_not_verify(engine, tmp_path):
    to = engine.new()
    done = released(tmp_path / "out", to=to)
    assert verify_bundle(done.bundle, data=to).ok
    engine.change(to)
    found = verify_bundle(done.bundle, data=to)
    assert "data" in [check.name for check in found.checks if not check.ok]
    assert not verify_bundle(done.bundle).ok, "without the table nothing is known"


@pytest.mark.error_rate(0, reason="seeded")
def test_nothing_is_overwritten_and_nothing_is_left_by_a_failure(engine, tmp_path, monkeypatch):
    to = engine.new()
    released(tmp_path / "first", to=to)
    before = len(engine.left(to))
    with pytest.raises(PublishError, match="exists already"):
        released(tmp_path / "second", to=to)
    assert not (tmp_path / "second").exists() and len(engine.left(to)) == before
    fresh = engine.new()
    with monkeypatch.context() as patch:
        patch.setattr("pathlib.Path.rename", lambda *_: (_ for _ in ()).throw(OSError(5, "broken")))
        with pytest.raises(PublishError):
            released(tmp_path / "third", to=fresh)
    assert not (tmp_path / "third").exists() and not engine.left(fresh)


@pytest.mark.error_rate(0, reason="seeded")
@pytest.mark.parametrize("step", ["_create", "_insert", "open", "commit"])
def test_a_server_that_ends_the_connection_is_said_to_have_done_so(postgres, tmp_path, monkeypatch, step):
    """A role that may not create tables is something else; either way nothing is left."""
    from sfumato.tables.postgres.destination import PostgresDestination

    engine, real = Postgres(postgres), getattr(PostgresDestination, step)

    def ended(self, *given, **more):
        engine.run(f"SELECT pg_terminate_backend({self._session._connection.info.backend_pid})")
        return real(self, *given, **more)

    monkeypatch.setattr(PostgresDestination, step, ended)
    to = engine.new()
    with raises_code(SourceError, "SF-SOURCE-400"):
        released(tmp_path / "out", to=to)
    assert not (tmp_path / "out").exists() and not engine.left(to)


@pytest.mark.error_rate(0, reason="seeded")
def test_a_role_without_temporary_tables_publishes_into_the_schema_that_it_may_write(postgres, tmp_path):
    """Only what is published stays there, and a receiver who may only read it can verify it."""
    engine = Postgres(postgres)
    engine.run("CREATE DATABASE strict")
    strict = Postgres(postgres)
    strict.address = f"{postgres}/strict"
    for sql in (
        "REVOKE TEMPORARY ON DATABASE strict FROM PUBLIC",
        "CREATE SCHEMA shown",
        "CREATE ROLE publisher LOGIN",
        "CREATE ROLE receiver LOGIN",
        "GRANT USAGE, CREATE ON SCHEMA shown TO publisher",
    ):
        strict.run(sql)
    to = f"{strict.address}?schema=shown&table=survey"
    done = released(tmp_path / "out", to=to.replace("owner@", "publisher@"))
    assert strict.run("SELECT relname FROM pg_class WHERE relnamespace = 'shown'::regnamespace") == [("survey",)]
    strict.run("GRANT USAGE ON SCHEMA shown TO receiver")
    strict.run("GRANT SELECT ON shown.survey TO receiver")
    assert verify_bundle(done.bundle, data=to.replace("owner@", "receiver@")).ok


@pytest.mark.error_rate(0, reason="seeded")
def test_the_owner_reports_and_measures_what_was_written(engine, tmp_path):
    to = engine.new()
    own = study(table(), "record")
    done = own.release(sf.Mondrian(k=5), out=tmp_path / "out", to=to, insecure_seed=7)
    assert done.report.exists() and len(done.warnings) == 1  # on exact columns
    assert own.measure(done)
    assert own.measure(sf.Release.open(done.bundle, data=to))
    with raises_code(UsageError, "SF-USAGE-397"):
        own.measure(done.bundle)


@pytest.mark.error_rate(0, reason="seeded")
def test_a_folder_of_parts_is_verified_without_spark(spark, tmp_path):
    done = released(tmp_path / "out", to=f"spark+local://?path={tmp_path / 'lake'}")
    found = verify_bundle(done.bundle, data=str(tmp_path / "lake"))
    assert found.ok and "data parts" in [check.name for check in found.checks]
    for name in ("more.pq", "MORE.PARQUET", "part-00009"):  # other readers would read it
        (tmp_path / "lake" / name).write_bytes(b"")
        assert not verify_bundle(done.bundle, data=str(tmp_path / "lake")).ok
        (tmp_path / "lake" / name).unlink()
    (tmp_path / "lake" / "sub").mkdir()
    assert not verify_bundle(done.bundle, data=str(tmp_path / "lake")).ok
    (tmp_path / "lake" / "sub").rmdir()
    (tmp_path / "lak[e]").mkdir()
    assert not verify_bundle(done.bundle, data=str(tmp_path / "lak[e]")).ok, "a name is no pattern"
    part = next((tmp_path / "lake").glob("*.parquet"))
    os.mkfifo(tmp_path / "lake" / "z.parquet")
    assert not verify_bundle(done.bundle, data=str(tmp_path / "lake")).ok
    (tmp_path / "lake" / "z.parquet").unlink()
    part.rename(part.with_name("part-other.parquet"))
    assert [c.name for c in verify_bundle(done.bundle, data=str(tmp_path / "lake")).checks if not c.ok] == [
        "data parts"
    ]


@pytest.mark.error_rate(0, reason="seeded")
@pytest.mark.parametrize("kind", ["REAL", "NUMERIC", "TEXT"])
def test_a_column_of_another_type_is_another_table(postgres, tmp_path, kind):
    """A conversion could make tables equal that are not."""
    engine = Postgres(postgres)
    to = engine.new()
    own = sf.Study.from_mapping(
        {
            "name": "weights",
            "source": pa.table({"kg": [50.5, 50.5, 60.0, 60.0], "age": [1, 1, 2, 2]}),
            "attributes": {
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 9], "step": 1},
                "kg": {"role": "insensitive", "type": "number", "bounds": [0, 99], "step": "0.5"},
            },
        }
    )
    done = own.release(sf.Mondrian(k=2), out=tmp_path / "out", to=to, report=False)
    assert verify_bundle(done.bundle, data=to).ok
    engine.run(f"ALTER TABLE {to.rpartition('=')[2]} ALTER COLUMN kg TYPE {kind}")
    assert not verify_bundle(done.bundle, data=to).ok


@pytest.mark.error_rate(0, reason="seeded")
def test_an_address_that_came_with_a_release_is_not_connected_to(tmp_path):
    """A folder from somebody else may name any server, which would be sent a password."""
    done = released(tmp_path / "out")
    notes = done.owner / "draft.json"
    notes.write_text(json.dumps({**json.loads(notes.read_text()), "data": "postgresql://127.0.0.1:1/x?table=t"}))
    assert study(table(), "record").measure(tmp_path / "out")


@pytest.mark.error_rate(0, reason="nothing is drawn before it is refused")
def test_what_cannot_be_written_there_is_said_before_anything_is_read(postgres, tmp_path, spark):
    engine, own = Postgres(postgres), study(table(), "record")
    with raises_code(PublishError, "SF-PUBLISH-026"):
        own.release(sf.Mondrian(k=5), out=tmp_path / "out", to=f"{engine.address}?table={'a' * 60}")
    (tmp_path / "keep[1]").mkdir()
    (tmp_path / "keep[1]" / "precious.txt").write_text("mine")
    for name, code in (("keep[1]", "SF-USAGE-399"), ("keep{1,2}", "SF-USAGE-399"), ("t&format=delta", "SF-USAGE-400")):
        with raises_code(UsageError, code):
            own.release(sf.Mondrian(k=5), out=tmp_path / "out", to=f"spark+local://?path={tmp_path}/{name}")
    assert (tmp_path / "keep[1]" / "precious.txt").exists() and not (tmp_path / "out").exists()


@pytest.mark.error_rate(0, reason="seeded")
def test_somebody_who_is_quicker_keeps_what_is_theirs(spark, tmp_path, monkeypatch):
    from sfumato.tables.spark.destination import SparkDestination

    save = SparkDestination._save

    def slow(self, frame, suffix):
        (tmp_path / "lake").mkdir()
        (tmp_path / "lake" / "precious.txt").write_text("mine")
        save(self, frame, suffix)

    monkeypatch.setattr(SparkDestination, "_save", slow)
    with raises_code(PublishError, "SF-PUBLISH-024"):
        released(tmp_path / "out", to=f"spark+local://?path={tmp_path / 'lake'}")
    assert (tmp_path / "lake" / "precious.txt").read_text() == "mine"


@pytest.mark.error_rate(0, reason="seeded")
def test_tables_that_are_no_pieces_are_read_back_within_the_memory_limit(postgres, tmp_path):
    to = Postgres(postgres).new()
    done = released(tmp_path / "large", "bucketization", to=to)
    with raises_code(SourceError, "SF-SOURCE-397"):
        verify_bundle(done.bundle, data=to, memory_limit="10KB")


@pytest.mark.error_rate(0, reason="seeded")
def test_a_table_is_written_and_verified_piece_by_piece(engine, tmp_path, monkeypatch):
    files, to = released(tmp_path / "files"), engine.new()
    monkeypatch.setattr(record_store, "PIECE", 7)
    monkeypatch.setattr("sfumato.tables.publishing.distinct_rows._PIECE", 50)
    monkeypatch.delattr(RecordStore, "join")  # nobody holds all rows
    stored = released(tmp_path / "stored", to=to)
    there = json.loads((stored.bundle / "manifest.json").read_text())["stored"]["tables"]["data"]
    hashes = json.loads((files.bundle / "manifest.json").read_text())["files"]["data.csv"]
    assert {"size": there["size"], "sha256": there["sha256"]} == hashes
    assert verify_bundle(stored.bundle, data=to, memory_limit="10KB").ok


def test_private_releases_and_other_places_are_refused_before_anything_is_read(tmp_path):
    own = study(table(), "record")
    with raises_code(UsageError, "SF-USAGE-398"):
        own.release(sf.DiffGen(epsilon=1), out=tmp_path / "out", to="postgresql://nobody/none?table=t")
    with raises_code(UsageError, "SF-USAGE-394"):
        own.release(sf.Mondrian(k=5), out=tmp_path / "out", to="s3://lake/t")
    with raises_code(SourceError, "SF-SOURCE-375"):
        own.release(sf.Mondrian(k=5), out=tmp_path / "out", to="postgresql://me:secret@host/db?table=t")
    assert not (tmp_path / "out").exists()


@pytest.mark.error_rate(0, reason="seeded")
def test_data_is_named_only_for_bundles_without_it(tmp_path):
    done = released(tmp_path / "out")
    with raises_code(UsageError, "SF-USAGE-396"):
        verify_bundle(done.bundle, data=str(tmp_path))


@pytest.mark.error_rate(0, reason="seeded")
def test_no_address_is_in_the_bundle_or_the_ledger(postgres, tmp_path):
    engine = Postgres(postgres)
    ledger = open_ledger(tmp_path / "ledger.sqlite")
    own = sf.Study(study(table(), "record").declared, ledger=ledger)
    done = own.release(sf.Mondrian(k=5), out=tmp_path / "out", to=engine.new(), insecure_seed=7, report=False)
    for path in (*done.bundle.iterdir(), tmp_path / "ledger.sqlite"):
        assert b"postgresql:" not in path.read_bytes() and b"127.0.0.1" not in path.read_bytes()
