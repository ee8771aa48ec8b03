"""A worker or the process itself is killed while Spark counts: no half bundle, and a ledger that verifies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.ledger import open_ledger
from sfumato.release.verify import verify_bundle
from tests import spark_session
from tests.trust.studies import on_disk, records

pytestmark = [
    pytest.mark.slow,
    pytest.mark.error_rate(0, reason="holds for every draw"),
    pytest.mark.skipif(bool(spark_session.missing()), reason=spark_session.missing() or "Spark is there"),
]

ROOT = Path(__file__).parents[2]
RECORDS = 400_000
SPENT = {"dp": 1, "groups": 0}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    """Many records in several files, so that each worker has something to do."""
    folder = tmp_path_factory.mktemp("clinic")
    once = pa.Table.from_pylist(records(1_000))
    for part in range(4):
        pq.write_table(pa.concat_tables([once] * (RECORDS // 4_000)), folder / f"{part}.parquet")
    return folder


class Run:
    """A release in a process of its own."""

    def __init__(self, folder, cluster, clinic, release, out="out"):
        self.folder, self.release = folder, release
        source = f"{cluster.address}?path={clinic}&scratch={folder}/desk"
        if not (folder / "study.yaml").exists():
            on_disk(folder, source=f'"{source}"')
            for place in ("desk", "temporary", "conf"):
                (folder / place).mkdir()
            settings = "spark.executor.memory 512m\nspark.sql.shuffle.partitions 4\n"
            (folder / "conf" / "spark-defaults.conf").write_text(settings)
        self.out = folder / out
        command = [
            sys.executable,
            "-m",
            "sfumato",
            "release",
            str(folder / "study.yaml"),
            release,
            "--out",
            str(self.out),
        ]
        with (folder / "told.txt").open("a") as told:
            self.process = subprocess.Popen(
                command, stdout=told, stderr=told, cwd=folder,
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)]),
                     "TMPDIR": str(folder / "temporary"), "SPARK_CONF_DIR": str(folder / "conf"),
                     "SPARK_LOCAL_IP": "127.0.0.1"},
            )  # fmt: skip

    def wait_until(self, moment):
        late = time.monotonic() + 240
        while not moment(self):
            assert self.process.poll() is None, f"it ended before: {self.told()}"
            assert time.monotonic() < late, self.told()
            time.sleep(0.02)

    def told(self):
        return (self.folder / "told.txt").read_text(encoding="utf-8")[-3000:]

    def entries(self):
        book = open_ledger(self.folder / "clinic.ledger.sqlite")
        assert book.verify() == ()
        return book.entries("clinic")

    def left(self, place):
        return [path.name for path in (self.folder / place).iterdir() if "sfumato" in path.name]


def coding(run):
    """Records are being coded: a table was begun in the scratch folder."""
    return any((run.folder / "desk").rglob("_temporary"))


def counting(run):
    """The codes of all records are there, and are counted."""
    return any((run.folder / "desk").rglob("_SUCCESS"))


MOMENTS = [coding, counting]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "run").mkdir()
    return tmp_path / "run"


@pytest.mark.parametrize("release", ["dp", "groups"])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_worker_is_lost(tmp_path, folder, clinic, moment, release):
    """The release comes out whole, by the other worker, or fails with nothing left of it."""
    with spark_session.cluster(tmp_path, workers=2) as cluster:
        run = Run(folder, cluster, clinic, release)
        run.wait_until(moment)
        assert cluster.kill(0), "an executor ran there"
        code = run.process.wait(300)
        if code == 0:
            assert verify_bundle(run.out).ok
            assert [entry.state for entry in run.entries()] == ["done"]
        else:
            assert not run.out.exists() or not list(run.out.iterdir()), run.told()
            assert [entry.state for entry in run.entries()] in ([], ["failed"])
            assert "[SF-" in run.told() and "Traceback" not in run.told()
        assert run.left("desk") == [] and run.left("temporary") == []
        assert code == 0, f"one worker was enough until now: {run.told()}"


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_process_is_killed(tmp_path, folder, clinic, moment):
    """What is left is what the documentation says, and the next release comes out."""
    with spark_session.cluster(tmp_path, workers=1) as cluster:
        run = Run(folder, cluster, clinic, "dp")
        run.wait_until(moment)
        run.process.send_signal(signal.SIGKILL)
        run.process.wait(60)
        assert not (run.out / "bundle").exists()
        states = [entry.state for entry in run.entries()]
        assert states in ([], ["opened"])
        assert run.left("desk") and run.left("temporary"), "docs/reference/scale.md says that these stay"
        before = run.left("desk")
        again = Run(folder, cluster, clinic, "dp", out="again")
        assert again.process.wait(300) == 0, again.told()
        assert verify_bundle(again.out).ok
        assert [entry.state for entry in again.entries()] == [*states, "done"]
        assert run.left("desk") == before, "of the second nothing is left"
