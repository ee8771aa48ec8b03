"""The process ends while an engine writes the records of a release: no half bundle, and nothing that is called one."""

import os
import signal
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.release.verify import verify_bundle
from tests import spark_session
from tests.trust.studies import on_disk, records
from tests.trust.test_kill_spark import ROOT, Run

pytestmark = [pytest.mark.slow, pytest.mark.error_rate(0, reason="holds for every draw")]

RECORDS = 800_000


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """So many records that an engine writes them for seconds."""
    path = tmp_path_factory.mktemp("clinic") / "clinic.parquet"
    once = pa.Table.from_pylist(records(1_000))
    pq.write_table(pa.concat_tables([once] * (RECORDS // 1_000)), path)
    return path


class Publishing(Run):
    """A release in a process of its own, whose records go elsewhere."""

    def __init__(self, folder, clinic, to, out="out"):
        self.folder, self.out = folder, folder / out
        if not (folder / "study.yaml").exists():
            on_disk(folder, source=f'"{clinic}"')
            (folder / "temporary").mkdir()
        command = ["release", str(folder / "study.yaml"), "groups", "--out", str(self.out), "--to", to, "--no-report"]
        with (folder / "told.txt").open("a") as told:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "sfumato", *command], stdout=told, stderr=told, cwd=folder,
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)]),
                     "TMPDIR": str(folder / "temporary"), "SPARK_LOCAL_IP": "127.0.0.1"},
            )  # fmt: skip


class Folder:
    """Spark on this machine writes a folder of Parquet files."""

    def __init__(self, folder):
        self.place = folder / "lake" / "visits"
        self.place.parent.mkdir()
        self.address = f"spark+local://?path={self.place}"

    def is_written(self, _):
        return any(self.place.rglob("*.parquet")) and not (self.place / "_SUCCESS").exists()

    def exists(self):
        return self.place.exists()

    left_by_a_kill = True


class Table:
    """PostgreSQL writes a table."""

    def __init__(self, server):
        self.server = f"{server}/postgres"
        self.run("DROP TABLE IF EXISTS killed_visits")
        self.address = f"{self.server}?schema=public&table=killed_visits"

    def run(self, sql):
        import psycopg

        with psycopg.connect(self.server, autocommit=True) as connection:
            found = connection.execute(sql)
            return found.fetchall() if found.description else []

    def is_written(self, _):
        return self.run("SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'INSERT INTO%killed_v%'")

    def exists(self):
        return self.run("SELECT 1 FROM pg_class WHERE relname LIKE 'killed_visits%' OR relname LIKE 'sfumato%'") != []

    left_by_a_kill = False


@pytest.fixture(params=["spark", "postgresql"])
def engine(request, tmp_path):
    if request.param == "postgresql":
        return Table(request.getfixturevalue("postgres"))
    if why := spark_session.missing():
        pytest.skip(why)
    return Folder(tmp_path)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


def test_the_process_is_asked_to_end(folder, clinic, engine):
    """SIGTERM: everything is removed, and the release can be made again at the same place."""
    run = Publishing(folder, clinic, engine.address)
    run.wait_until(engine.is_written)
    run.process.send_signal(signal.SIGTERM)
    assert run.process.wait(120) == 128 + signal.SIGTERM, run.told()
    assert not engine.exists() and not run.out.exists(), run.told()
    assert [entry.state for entry in run.entries()] == ["failed"]
    assert run.left("temporary") == [] and "Traceback" not in run.told()
    again = Publishing(folder, clinic, engine.address)
    assert again.process.wait(300) == 0, again.told()
    assert verify_bundle(again.out, data=engine.address).ok
    assert [entry.state for entry in again.entries()] == ["failed", "done"]


def test_the_process_is_killed(folder, clinic, engine):
    """SIGKILL: what docs/reference/scale.md says is left, and it is not overwritten."""
    run = Publishing(folder, clinic, engine.address)
    run.wait_until(engine.is_written)
    run.process.send_signal(signal.SIGKILL)
    run.process.wait(60)
    assert not (run.out / "bundle").exists()
    assert [entry.state for entry in run.entries()] == ["opened"]
    if engine.left_by_a_kill:
        assert engine.exists()
        refused = Publishing(folder, clinic, engine.address, out="refused")
        assert refused.process.wait(300) == 7 and "SF-PUBLISH-024" in refused.told()
        to = f"{engine.address}-again"
    else:
        to = engine.address
    again = Publishing(folder, clinic, to, out="again")
    assert again.process.wait(300) == 0, again.told()
    assert verify_bundle(again.out, data=to).ok
    assert [entry.state for entry in again.entries()] == ["opened", "done"]
