"""The start page: a slip in a path writes nothing, and what is listed are studies."""

import os
import re
import shlex
import signal
from contextlib import contextmanager
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from sfumato.web import jobs
from sfumato.web.app import make_app
from sfumato.web.server.settings import Settings
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


@contextmanager
def page_of(folder, begin=None):
    """Our own page of a workbench in this process."""
    settings = Settings(
        folders=(folder,), begin=begin, port=8765, token="start", session="session", request_token="page"
    )
    with TestClient(make_app(settings), base_url="http://127.0.0.1:8765") as found:
        found.cookies.set("sfumato-8765", "session")
        yield found


def test_what_is_refused_while_too_many_jobs_run_leaves_no_file(tmp_path, monkeypatch):
    """Neither a study that nobody opened, nor the copy of a table that was dropped."""
    monkeypatch.setattr(jobs, "_MOST", 0)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with page_of(tmp_path) as client:
        ours = {"x-sfumato-token": "page", "x-file-name": "dropped.csv"}
        for path, more in (
            ("/open/table", {"data": {"path": "t.csv"}}),
            ("/open/upload", {"content": b"a,b\n1,2\n"}),
            ("/tour", {}),
        ):
            answer = client.post(path, headers=ours, **more)
            assert answer.status_code == 422 and "SF-USAGE-410" in answer.text
        workspace = client.app.workspace
        assert workspace.studies == [] and [one.name for one in tmp_path.iterdir()] == ["t.csv"]
        assert not [one for one in workspace.private.rglob("*") if one.is_file() and one.name != ".lock"]


def test_files_whose_names_are_no_text_keep_no_page_from_answering(tmp_path):
    """As an old share has them, with names in Latin-1; the study that is open may be one of them."""
    latin = Path(os.fsdecode(os.fsencode(tmp_path) + b"/Bev\xf6lkerung.yaml"))
    for path in (latin, tmp_path / "visits.yaml", tmp_path / "a\nb: c.yaml"):
        path.write_text("name: visits\nsource: t.csv\nattributes: {}\n")
    with page_of(tmp_path) as client:
        text = client.get("/").text
        assert "visits.yaml" in text and "lkerung" not in text
    for path, named in ((latin, "Bev_lkerung.yaml"), (tmp_path / "a\nb: c.yaml", "a_b_ c.yaml")):
        with page_of(tmp_path, begin=path) as client:
            (study,) = client.app.workspace.studies
            for step in ("", "columns", "plan", "ledger"):
                assert client.get(f"/s/{study.key}/{step}" if step else "/").status_code == 200
            answer = client.get(f"/s/{study.key}/study.yaml")
            assert answer.headers["content-disposition"] == f'attachment; filename="{named}"'


@pytest.mark.parametrize("name", ["my study.yaml", "$(touch it).yaml", "-x;y.yaml"])
def test_commands_to_copy_are_safe_to_paste_whatever_the_file_is_called(tmp_path, name):
    path = tmp_path / name
    path.write_text("name: visits\nsource: t.csv\nattributes: {a b: {role: quasi_identifier, values: [x, y]}}\n")
    given = f"./{name}" if name.startswith("-") else name
    with page_of(tmp_path, begin=path) as client:
        (study,) = client.app.workspace.studies
        for step in ("columns", "taxonomies", "taxonomies/0", "plan", "frontier", "release", "ledger", "risk"):
            text = client.get(f"/s/{study.key}/{step}").text
            command = unescape(re.search(r'<code id="drawer-command">(.*?)</code>', text)[1])
            assert given in shlex.split(command), (step, command)
            assert shlex.join(shlex.split(command)) == command  # nothing in it means anything to a shell
