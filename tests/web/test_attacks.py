"""Attacks on a workbench that runs: other sites, other users, floods of bytes and of requests, hostile names."""

import http.client
import os
import shutil
import signal
import socket
import subprocess
from contextlib import ExitStack
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.web.conftest import serving
from tests.web.http_client import Client, threads
from tests.web.stopped_process import children, wait_until

BUNDLE = Path(__file__).parents[1] / "stored" / "manifest-2" / "mondrian"
HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 8273 * 9137 }}", "a' onmouseover='alert(1)",
    "</title><svg onload=alert(1)>", "--json", "${HOME}", "ünïcode",
]  # fmt: skip


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("attacked")
    quoted = [f'"{name.replace(chr(34), chr(34) * 2)}"' for name in HOSTILE]
    rows = [",".join(quoted[(n + k) % len(quoted)] for k in range(len(quoted))) for n in range(40)]
    (folder / "--help.csv").write_text("\n".join([",".join(quoted), *rows]) + "\n")
    names = [f"c{n}" for n in range(60)]
    wide = [",".join(names), *(",".join(str(n * k % 7) for n in range(60)) for k in range(30))]
    (folder / "wide.csv").write_text("\n".join(wide) + "\n")
    with serving(folder) as found:
        yield found


@pytest.fixture(scope="module")
def client(bench):
    return Client(bench)


def opened(client, path):
    """The key of a study for a table, once that is described."""
    answer = client.ask("POST", "/open/table", f"path={path}", client.ours)
    key = answer.getheader("hx-redirect").split("/")[2]
    wait_until(lambda: "column-rows" in client.get(f"/s/{key}/columns")[1])
    return key


@pytest.mark.parametrize(
    "headers",
    [
        {"cookie": None},
        {"cookie": "sfumato-1=x"},
        {"host": "evil.example"},
        {"host": "evil.example:{port}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},  # a page on another port of this machine
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/", "/static/page.js", "/jobs/x/progress"])
def test_nothing_is_read_without_cookie_and_host_and_for_other_sites(bench, client, headers, path):
    given = {"cookie": client.cookie, **headers}
    given = {name: value.format(port=bench.port) for name, value in given.items() if value is not None}
    answer = client.ask("GET", path, headers=given)
    assert answer.status == 403 and answer.body.startswith("Refused")
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"x-sfumato-token": None},
        {"x-sfumato-token": "guess"},
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "null"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/open/table", "/open/upload", "/tour"])
def test_nothing_is_changed_from_another_origin_or_without_the_token_of_a_page(bench, client, headers, path):
    before = sorted(bench.folder.iterdir())
    given = {name: value for name, value in {**client.ours, **headers}.items() if value is not None}
    assert client.ask("POST", path, "path=wide.csv", given).status == 403
    assert sorted(bench.folder.iterdir()) == before


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/proc/net/tcp").exists(), reason="needs root to be another user")
def test_another_user_of_this_machine_is_turned_away_even_with_the_cookie(bench, client):
    ask = """exec 3<>/dev/tcp/127.0.0.1/$0
        printf "GET / HTTP/1.1\\r\\nHost: 127.0.0.1:$0\\r\\nCookie: $1\\r\\nConnection: close\\r\\n\\r\\n" >&3
        cat <&3"""
    said = subprocess.run(
        ["/bin/bash", "-c", ask, str(bench.port), client.cookie],
        user=65534, cwd="/", capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert said.stdout.startswith("HTTP/1.1 403") and "another user" in said.stdout
    assert client.get("/")[0] == 200


@pytest.mark.parametrize("path", ["duckdb:////etc/x.db?table=t", "spark+local://?path=/etc", "file:///etc/passwd"])
def test_an_address_reaches_no_file_outside_of_the_opened_folders(bench, client, path):
    status, text = client.post("/open/table", {"address": path})
    assert status == 422 and "SF-USAGE-413" in text


def test_an_upload_of_5_gigabytes_is_refused_before_it_is_sent(bench, client):
    pid = bench.process.pid
    before = _memory(pid)
    with socket.create_connection(("127.0.0.1", bench.port), timeout=60) as connection:
        head = [f"POST /open/upload HTTP/1.1\r\nHost: 127.0.0.1:{bench.port}\r\nContent-Length: {5 * 2**30}"]
        head += [f"{name}: {value}" for name, value in client.ours.items()]
        connection.sendall(("\r\n".join(head) + "\r\nx-file-name: t.csv\r\n\r\n").encode())
        connection.settimeout(5)
        sent = 0
        try:
            while sent < 5 * 2**30:
                sent += connection.send(bytes(1 << 20))
        except OSError:  # nobody reads any more
            pass
        assert sent < 64 << 20
        connection.settimeout(60)
        assert b"HTTP/1.1 422" in connection.recv(1 << 16)
    assert _memory(pid) - before < 64 << 10  # KiB
    assert client.get("/")[0] == 200


def test_a_form_of_many_megabytes_is_refused(bench, client):
    before = _memory(bench.process.pid)
    for form in ({"path": "x" * (40 << 20)}, {"path": ["x" * 4_000] * 10_000}, {"path": ["x"] * 30_000}):
        try:
            status, text = client.post("/open/table", form)
            assert status in {400, 422} and ("larger than 32 MiB" in text or "too much" in text)
        except ConnectionError:  # nobody reads any more
            pass
    assert _memory(bench.process.pid) - before < 200 << 10


@pytest.mark.parametrize(
    "said", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Wait: ", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"], ids=str
)
def test_connections_of_a_program_without_the_token_leave_some_for_the_pages(bench, client, said):
    with ExitStack() as held:
        for _ in range(700):
            one = held.enter_context(socket.create_connection(("127.0.0.1", bench.port), timeout=60))
            one.sendall(said)
        assert client.get("/")[0] == 200
        assert len(list(Path(f"/proc/{bench.process.pid}/fd").iterdir())) < 400


def test_a_page_keeps_its_connection_while_strangers_come_and_go(bench, client):
    page = http.client.HTTPConnection("127.0.0.1", bench.port, timeout=60)
    with ExitStack() as held:
        for n in range(300):
            if n % 25 == 0:  # an idle one is closed after five seconds
                page.request("GET", "/static/page.js", headers={"cookie": client.cookie})
                answer = page.getresponse()
                assert answer.status == 200 and answer.read()
                held.callback(page.close)
            held.enter_context(socket.create_connection(("127.0.0.1", bench.port), timeout=60))
        assert page.sock is not None


def _memory(pid):
    """KiB that a process holds."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def test_200_requests_at_once_are_all_answered_and_no_edit_is_lost(bench, client):
    key = opened(client, "wide.csv")
    pages = ("columns", "taxonomies", "plan", "frontier", "release", "ledger", "risk", "study.yaml")
    with threads(200) as pool:
        reads = [pool.submit(client.get, f"/s/{key}/{pages[n % len(pages)]}") for n in range(140)]
        edits = [pool.submit(client.post, f"/s/{key}/columns/{n}/role", {"role": "insensitive"}) for n in range(60)]
        assert {one.result()[0] for one in reads} == {200}
        answered = [one.result()[0] for one in edits]
    assert set(answered) == {200}
    text = (bench.folder / "wide.yaml").read_text()
    assert [n for n in range(60) if f"\n  c{n}: {{role: insensitive" not in text] == []


class _Tags(HTMLParser):
    """What a browser would take for elements that run something."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        if tag == "script" and "src" not in names and dict(attributes).get("type") != "application/json":
            self.found.append((tag, attributes))
        if tag in {"img", "iframe", "object"} or any(name.startswith("on") for name in names):
            self.found.append((tag, attributes))


def test_names_and_values_that_are_markup_are_text_on_every_page(bench, client):
    key = opened(client, "--help.csv")
    assert client.post(f"/s/{key}/columns/bulk", {"all": "1", "role": "quasi_identifier"})[0] == 200
    (file,) = bench.folder.glob("*help*.yaml")
    study = file.read_text()
    assert study.count("role: quasi_identifier") == len(HOSTILE)
    steps = ("columns", "taxonomies", "plan", "frontier", "release", "ledger", "risk", "columns/body")
    paths = ["/", *(f"/s/{key}/{step}" for step in steps)]
    paths += [f"/s/{key}/{kind}/{n}" for kind in ("columns", "taxonomies") for n in range(len(HOSTILE))]
    shown = 0
    for path in paths:
        status, text = client.get(path)
        tags = _Tags()
        tags.feed(text)
        assert (path, status, tags.found) == (path, 200, [])
        assert "75590401" not in text  # an address may have any two digits by chance, hardly these eight
        shown += "&lt;script&gt;alert(1)" in text
    assert shown >= len(steps)


def test_no_module_in_the_folder_of_a_table_is_run(tmp_path):
    """Python looks for modules where it works, which is the folder of a study, or of a bundle that somebody sent."""
    ran = tmp_path / "ran"
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n" * 20)
    shutil.copytree(BUNDLE, tmp_path / "received")
    with serving(tmp_path, program=("-P", "-m", "sfumato")) as found:
        for name in ("sfumato", "polars", "random", "vl_convert"):
            text = f"open({str(ran)!r}, 'a').write({name!r})\nraise SystemExit(1)\n"
            (tmp_path / f"{name}.py").write_text(text)
        client = Client(found)
        table = client.ask("POST", "/open/table", "path=t.csv", client.ours).getheader("hx-redirect")
        bundle = client.ask("POST", "/open/bundle", "bundle=received", client.ours).getheader("hx-redirect")
        assert client.get("/static/vega/vega.js")[0] == 200 and not ran.exists()
        wait_until(lambda: ran.exists() or "column-rows" in client.get(table)[1])
        wait_until(lambda: ran.exists() or "The bundle verifies" in client.get(bundle)[1])
    assert not ran.exists()


def test_what_was_dropped_goes_even_when_the_workbench_is_killed(tmp_path):
    with serving(tmp_path) as found:
        client = Client(found)
        answer = client.ask("POST", "/open/upload", "a,b\n" + "1,2\n" * 20, {**client.ours, "x-file-name": "t.csv"})
        assert answer.status == 201
        (private,) = {path.parent.parent.parent for path in _private(found.process.pid)}
        assert private.stat().st_mode & 0o077 == 0 and list(private.rglob("t.csv"))
        os.kill(found.process.pid, signal.SIGKILL)
        found.process.wait(30)
        wait_until(lambda: not private.exists())


@pytest.mark.parametrize("killed", ["job", "both"])
def test_a_killed_job_leaves_no_copy_of_records(tmp_path, monkeypatch, killed):
    temporary, folder = tmp_path / "temporary", tmp_path / "folder"
    temporary.mkdir()
    folder.mkdir()
    (folder / "t.csv").write_text("a,b\n" + "\n".join(f"{n},{n % 97}" for n in range(300_000)) + "\n")
    monkeypatch.setenv("TMPDIR", str(temporary))

    def copies():
        return [path for path in temporary.rglob("sfumato-*") if not path.name.startswith("sfumato-page-")]

    with serving(folder) as found:
        client = Client(found)
        assert client.post("/open/table", {"path": "t.csv"})[0] == 204
        wait_until(copies)
        (job,) = children(found.process.pid, "describe")
        if killed == "both":
            os.kill(found.process.pid, signal.SIGKILL)
        os.kill(job, signal.SIGKILL)
        wait_until(lambda: not copies())
        assert killed == "both" or client.get("/")[0] == 200
    wait_until(lambda: not list(temporary.iterdir()))


def _private(pid):
    """The folders of jobs and uploads of a workbench, by what its processes have open."""
    study = next(Path(f"/proc/{pid}/cwd").resolve().glob("t.yaml")).read_text()
    return [Path(study.split('source: "')[1].split('"')[0])]
