"""The start page: a slip in a path writes nothing, and what is listed are studies."""

import os
import signal

import pytest

from tests.web.conftest import serving
from tests.web.http_client import Client
from tests.web.stopped_process import stopping


@pytest.fixture
def workbench(tmp_path):
    with serving(tmp_path) as found:
        yield found


@pytest.mark.parametrize("path", ["bnak.csv", "bnak*.csv", "folder", "folder/*.parquet"])
def test_a_path_with_a_slip_is_refused_before_a_study_is_written(workbench, path):
    (workbench.folder / "bank.csv").write_text("a\n1\n")
    (workbench.folder / "folder").mkdir()
    client = Client(workbench)
    status, text = client.post("/open/table", {"path": path})
    assert status == 422 and "SF-SOURCE-03" in text
    assert not list(workbench.folder.glob("*.yaml"))
    assert client.post("/open/table", {"path": "b*k.csv"})[0] == 204
    assert len(list(workbench.folder.glob("*.yaml"))) == 1


def test_files_of_taxonomies_are_not_listed_as_studies(workbench):
    for n in range(30):
        (workbench.folder / f"a{n}.taxonomy.yaml").write_text("Any: [a]\n")
    (workbench.folder / "visits.yaml").write_text("name: visits\n")
    text = Client(workbench).get("/")[1]
    assert "visits.yaml" in text and "taxonomy.yaml" not in text


def test_the_ninth_job_at_a_time_is_refused_and_a_sweep_is_not_taken_for_started(workbench):
    """The jobs are stopped as they begin, so that they stay."""
    client = Client(workbench)
    held = []
    try:
        for n in range(8):
            (workbench.folder / f"t{n}.csv").write_text("a,b\n1,2\n")
            with stopping(workbench, "describe") as stopped:
                answer = client.ask("POST", "/open/table", f"path=t{n}.csv", client.ours)
                assert answer.status == 204
                held.append(stopped())
        (workbench.folder / "t7.yaml").write_text(
            "name: t7\nsource: t7.csv\nattributes: {a: {role: quasi_identifier, values: ['1']}}\n"
            "sweeps: {one: {method: mondrian, k: [2]}}\n"
        )
        frontier = answer.getheader("hx-redirect").replace("/columns", "/frontier")
        for path, form in (("/open/table", {"path": "t0.csv"}), (f"{frontier}/start", {"sweep": "one", "repeats": 7})):
            status, text = client.post(path, form)
            assert status == 422 and "SF-USAGE-410" in text
        assert 'name="repeats" inputmode="numeric" value="5"' in client.get(frontier)[1]
    finally:
        for child in held:
            os.kill(child, signal.SIGCONT)
