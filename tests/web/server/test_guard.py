"""Nobody but the owner's own pages talks to the workbench."""

import pytest
from starlette.testclient import TestClient

from sfumato.web.app import make_app
from sfumato.web.server.settings import Settings


@pytest.fixture
def settings(tmp_path):
    return Settings(folders=(tmp_path,), port=8765, token="start", session="session", request_token="page")


@pytest.fixture
def client(settings):
    with TestClient(make_app(settings), base_url="http://127.0.0.1:8765", follow_redirects=False) as found:
        yield found


@pytest.fixture
def known(client):
    client.cookies.set("sfumato-8765", "session")
    return client


def test_without_the_token_everything_is_refused(client):
    for path in ("/", "/static/sfumato.css", "/open/table", "/s/x/columns", "/nowhere"):
        assert client.get(path).status_code == 403
    assert client.get("/start?token=wrong").status_code == 403
    assert client.get("/start").status_code == 403
    assert client.post("/start?token=start").status_code == 403


def test_the_start_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_see(client):
    answer = client.get("/start?token=start")
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    said = answer.headers["set-cookie"].lower()
    assert said.startswith("sfumato-8765=session") and "httponly" in said and "samesite=strict" in said
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    "before",
    ['prefs={"a":1}', "a=b c", "a[0]=1", "=", ";;", 'q="', "ä=ö", "sfumato-8765=of-another-program", "sfumato-8765"],
)
def test_cookies_of_other_programs_of_this_machine_lock_nobody_out(client, before):
    """Browsers send the cookies of a host to all its ports, in whatever form they were set."""
    for cookie in (f"{before}; sfumato-8765=session", f"sfumato-8765=session; {before}"):
        assert client.get("/", headers={"cookie": cookie.encode("latin-1")}).status_code == 200
    assert client.get("/", headers={"cookie": before.encode("latin-1")}).status_code == 403
    assert client.get("/", headers={"cookie": "a=sfumato-8765=session; xsfumato-8765=session"}).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example:8765", "127.0.0.1:9999", "127.0.0.1", "", "localhost.evil.example:8765"]
)
def test_another_host_is_refused_even_with_the_cookie(known, host):
    assert known.get("/", headers={"host": host}).status_code == 403
    assert known.get("/start?token=start", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost:8765", "[::1]:8765", "LOCALHOST:8765"])
def test_this_machine_has_several_names(known, host):
    assert known.get("/", headers={"host": host}).status_code == 200


def test_a_change_needs_the_token_of_the_page_and_our_own_origin(known, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    form = {"study": "none.yaml"}
    ours = {"x-sfumato-token": "page", "origin": "http://127.0.0.1:8765"}
    assert known.post("/open/study", data=form).status_code == 403
    assert known.post("/open/study", data=form, headers={**ours, "x-sfumato-token": "guess"}).status_code == 403
    for origin in ("http://evil.example", "http://127.0.0.1:9000", "https://127.0.0.1:8765", "null"):
        assert known.post("/open/study", data=form, headers={**ours, "origin": origin}).status_code == 403
    assert known.post("/open/study", data=form, headers=ours).status_code == 422  # it was looked at: no such file


def test_pages_forbid_scripts_of_others_frames_and_caches(known):
    headers = known.get("/").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy
    assert headers["x-frame-options"] == "DENY" and headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../secret.yaml", "413"),
        ("/etc/passwd", "413"),
        ("a/../../secret.yaml", "413"),
        ("link/secret.yaml", "413"),
        ("~/secret.yaml", "413"),
        ("none.yaml", "414"),  # what is below the folder, and not there, has another code
        ("\0", "412"),
    ],
)
def test_paths_stay_below_the_opened_folder(known, tmp_path, monkeypatch, path, code):
    outside = tmp_path.parent / "secret.yaml"
    outside.write_text("name: secret\nsource: a.csv\nattributes: {}\n")
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    (tmp_path / "link").symlink_to(tmp_path.parent)
    answer = known.post("/open/study", data={"study": path}, headers={"x-sfumato-token": "page"})
    assert answer.status_code == 422
    assert f"SF-USAGE-{code}" in answer.text and "secret.yaml" not in answer.text


def test_only_known_files_are_served(known):
    assert known.get("/static/page.js").status_code == 200
    for name in ("../app.py", "..%2fapp.py", "%2e%2e/app.py", "htmx.LICENSE.txt"):
        assert known.get(f"/static/{name}").status_code == 404


def test_an_upload_that_is_too_large_is_refused_on_the_way_and_leaves_nothing(tmp_path):
    settings = Settings(
        folders=(tmp_path,), port=8765, token="start", session="session", request_token="page", most_uploaded=100
    )
    app = make_app(settings)
    with TestClient(app, base_url="http://127.0.0.1:8765") as client:
        client.cookies.set("sfumato-8765", "session")
        for content in (b"x" * 1000, (b"x" * 60 for _ in range(9))):  # it says how long it is, or it does not
            answer = client.post(
                "/open/upload", content=content, headers={"x-sfumato-token": "page", "x-file-name": "t.csv"}
            )
            assert answer.status_code == 422 and "SF-SOURCE-420" in answer.text
        private = app.workspace.private
        assert not [path for path in (private / "uploads").rglob("*") if path.is_file()]
        assert private.stat().st_mode & 0o077 == 0
    assert not private.exists()
    assert not list(tmp_path.glob("*.yaml"))
