"""Spark on a cluster and behind Spark Connect: the same counts, and nothing left in the scratch folder."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.errors import SourceError
from sfumato.tables import open_source
from tests import spark_session
from tests.raising import raises_code

# In a process of its own: a process has one Spark, and that of the tests has one already.
PROGRAM = """
import sys
from pathlib import Path
from sfumato.errors import SourceError
from sfumato.tables import CodedTable, open_source
from tests.tables.spark.test_spark_engine import AGE, MANY, SECRET, counted

address, folder = sys.argv[1], Path(sys.argv[2])
for scratch in (folder / "desk", "default"):
    with open_source(f"{address}?path={folder}/t.parquet&scratch={scratch}") as source:
        assert counted(source, AGE, MANY) == {(1, 0): 1, (2, 1): 2}
        marginal = CodedTable(source, [AGE, MANY]).marginals(["age"], by="job")["age"]
        assert marginal.counts[:, :2].tolist() == [[1, 0], [0, 2]]
        if scratch != "default":
            assert list((folder / "desk").rglob("*.parquet"))
        source.session.run("CREATE OR REPLACE TEMPORARY VIEW bad AS SELECT raise_error(job) AS age FROM (SELECT "
                           f"'{SECRET}' AS job)", doing="x")
        try:
            source.session.fetch("SELECT * FROM bad", doing="reading")
            raise AssertionError
        except SourceError as error:
            assert error.code == "SF-SOURCE-029" and SECRET not in str(error)

assert not list((folder / "desk").iterdir())
"""

PUBLISHING = """
import sys
from pathlib import Path
import sfumato as sf
from sfumato.ledger import open_ledger
from sfumato.release.bundle import stored_tables
from sfumato.release.verify import verify_bundle
from tests.contracts.test_wrong_types import LEAST
from tests.workflow.test_engines_agree import study, table

address, folder = sys.argv[1], Path(sys.argv[2])
own = sf.Study(study(table(), "record").declared, ledger=open_ledger(folder / "ledger.sqlite"))
to = f"{address}?path={folder}/lake/&scratch={folder}/desk"
done = own.release(sf.methods.METHODS["anatomy"](**LEAST["anatomy"]), out=folder / "out", report=False, to=to)
assert verify_bundle(done.bundle, data=to).ok
assert {"lake_qit", "lake_st"} <= {path.name for path in folder.iterdir()}
stored_tables._text_facts = lambda *_: 1 / 0
try:
    half = f"{address}?path={folder}/half&scratch={folder}/desk"
    own.release(sf.Mondrian(k=5), out=folder / "broken", report=False, to=half)
    raise AssertionError
except ZeroDivisionError as failed:
    notes = getattr(failed, "__notes__", [])
if address.startswith("sc:"):
    assert (folder / "half").exists()
    assert len(notes) == 1 and notes[0].startswith("'half' could not be removed")
else:
    assert not (folder / "half").exists() and not notes
assert not list((folder / "desk").iterdir())
"""


def count_there(address, folder):
    pq.write_table(pa.table({"age": [1, 2, 2], "job": ["a", "b", "b"]}), folder / "t.parquet")
    run_there(PROGRAM, address, folder)


def run_there(program, address, folder):
    (folder / "desk").mkdir()
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", program, address, str(folder)],
        check=False, capture_output=True, text=True, cwd=Path(__file__).parents[3], timeout=600,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Mrs Dalloway" not in done.stdout + done.stderr


@pytest.mark.slow
def test_a_cluster_counts_and_keeps_nothing(tmp_path):
    if why := spark_session.missing():
        pytest.skip(why)
    with spark_session.cluster(tmp_path) as cluster:
        count_there(cluster.address, tmp_path)


@pytest.mark.slow
def test_a_spark_connect_server_counts_and_keeps_nothing(tmp_path):
    if why := spark_session.missing():
        pytest.skip(why)
    pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio: pip install 'pyspark[connect]'")
    with spark_session.connect_server(tmp_path) as address:
        count_there(address, tmp_path)


@pytest.mark.slow
@pytest.mark.error_rate(0, reason="seeded")
@pytest.mark.parametrize("kind", ["cluster", "connect"])
def test_a_release_is_published_there_and_what_stays_after_a_failure_is_named(tmp_path, kind):
    """A client of Spark Connect reaches no folder; the owner must know that there are records in it."""
    if why := spark_session.missing():
        pytest.skip(why)
    if kind == "connect":
        pytest.importorskip("grpc_status", reason="Spark Connect needs grpcio: pip install 'pyspark[connect]'")
        with spark_session.connect_server(tmp_path) as address:
            run_there(PUBLISHING, address, tmp_path)
        return
    with spark_session.cluster(tmp_path) as cluster:
        run_there(PUBLISHING, cluster.address, tmp_path)


@pytest.mark.parametrize("scheme", ["spark", "sc"])
def test_where_nobody_listens_it_is_said_at_once(scheme, monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setattr("sfumato.tables.spark.starting._running", lambda: None)
    with raises_code(SourceError, "SF-SOURCE-380") as caught:
        open_source(f"{scheme}://127.0.0.1:{spark_session.free_port()}?table=secret&scratch=desk")
    assert "secret" not in str(caught.value)
