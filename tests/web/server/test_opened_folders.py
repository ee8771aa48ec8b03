"""Whatever a page names as a table, a command reads nothing outside of the folders that were opened."""

import shutil
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import duckdb
import pytest
from starlette.testclient import TestClient

from sfumato.errors import UsageError
from sfumato.web.app import make_app
from sfumato.web.pages import risk
from sfumato.web.server.opened_folders import OpenedFolders
from sfumato.web.server.settings import Settings
from tests.web.adult_study import make_study

BUNDLE = Path(__file__).parents[2] / "stored" / "manifest-2" / "mondrian"
SECRET = "name,wage\nSmith,1\n"


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """The folder that is open, beside a home folder with a secret table and links that lead there."""
    folder, home = tmp_path / "opened", tmp_path / "home"
    for place in (folder, home, folder / "here", home / "deep"):
        place.mkdir()
    (home / "secret.csv").write_text(SECRET)
    (home / "deep" / "secret.csv").write_text(SECRET)
    (folder / "here" / "t.csv").write_text("a,b\n1,2\n")
    (folder / "link").symlink_to(home)
    (folder / "alias.csv").symlink_to(home / "secret.csv")
    (folder / "round").symlink_to("round")
    (folder / "mixed").mkdir()
    (folder / "mixed" / "a.csv").write_text("a,b\n1,2\n")
    (folder / "mixed" / "b.csv").symlink_to(home / "secret.csv")
    monkeypatch.setenv("HOME", str(home))
    return folder


@pytest.fixture
def ask(opened):
    """Open a table as the page does: the status, and the text of the answer."""
    with client(opened) as page:

        def answer(field, text):
            found = page.post("/open/table", data={field: text})
            return found.status_code, found.text

        yield answer


@contextmanager
def client(folder):
    """Our own page of a workbench in this process."""
    settings = Settings(folders=(folder,), port=8765, token="start", session="session", request_token="page")
    with TestClient(make_app(settings), base_url="http://127.0.0.1:8765", follow_redirects=False) as found:
        found.cookies.set("sfumato-8765", "session")
        found.headers["x-sfumato-token"] = "page"
        yield found


@pytest.mark.parametrize(
    "path",
    [
        "a/../~/secret.csv", "./~/secret.csv", "~", "here/../~nobody/x.csv",  # a home folder, once it is written short
        "~/secret.csv", "~nobody-has-this-name/x.csv",
        "lin?/secret.csv", "[l]ink/secret.csv", "alia?.csv", "**/secret.csv", "*/deep/../secret.csv", "mixed/*.csv",
        "link/secret.csv", "alias.csv", "lin?/../alias.csv", "round/x.csv", "x" * 5_000,
    ],
)  # fmt: skip
def test_no_path_and_no_pattern_leads_out_of_the_folder(ask, opened, path):
    status, text = ask("path", path)
    assert status == 422, text
    assert any(code in text for code in ("SF-USAGE-413", "SF-USAGE-922", "SF-USAGE-923"))
    assert "Smith" not in text and not list(opened.glob("*.yaml"))


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("spark+local://?path=lin?/secret.csv".replace("?/", "%3F/"), "SF-USAGE-921"),
        ("spark+local://?path={link,here}/secret.csv", "SF-USAGE-921"),
        ("spark+local://?path=mixed", "SF-USAGE-413"),  # an engine reads all files of a folder
        ("spark+local://?path=a/../~/secret.csv", "SF-USAGE-922"),
        ("duckdb:///~/x.db?table=t", "SF-USAGE-413"),
        ("duckdb:///link/x.db?table=t", "SF-USAGE-413"),
    ],
)
def test_no_address_leads_out_of_the_folder(ask, opened, address, code):
    status, text = ask("address", address)
    assert status == 422 and code in text
    assert not list(opened.glob("*.yaml"))


def test_what_is_below_the_folder_is_opened_by_name_and_by_pattern(opened):
    folders = OpenedFolders((opened,))
    assert folders.source("here/t.csv") == "here/t.csv"
    assert folders.source("here/*.csv") == "here/*.csv"
    assert folders.source(str(opened / "here" / "t.csv")) == "here/t.csv"
    assert folders.source("spark+local://?path=here") == "spark+local://?path=here"
    (opened / "here" / "a[1]*.csv").write_text("a,b\n1,2\n")  # a file of that very name is no pattern
    assert folders.source("here/a[1]*.csv") == "here/a[1]*.csv"


def test_a_second_folder_may_hold_what_the_first_may_not(opened, tmp_path):
    both = OpenedFolders((opened, tmp_path / "home"))
    assert both.source("alias.csv") == "../home/secret.csv"
    assert both.source("~/secret.csv") == "../home/secret.csv"
    with pytest.raises(UsageError):
        OpenedFolders((opened,)).source("alias.csv")


def test_a_bundle_behind_a_link_is_not_opened(opened, tmp_path):
    """A folder that was received may hold a link in place of the folder `bundle`."""
    shutil.copytree(BUNDLE, tmp_path / "home" / "bundle")
    (opened / "received").mkdir()
    (opened / "received" / "bundle").symlink_to(tmp_path / "home" / "bundle")
    with client(opened) as page:
        answer = page.post("/open/bundle", data={"bundle": "received"})
    assert answer.status_code == 422 and "SF-USAGE-413" in answer.text


def test_a_file_whose_name_is_an_address_is_a_file_to_the_command(tmp_path):
    """The path that was checked lies in the folder; the command would take it for a table of a database elsewhere."""
    folder = tmp_path / "opened"
    folder.mkdir()
    study = make_study(folder, "k5", rows=200)
    secret = tmp_path / "secret.db"
    with duckdb.connect(str(secret)) as database:
        database.execute(f"CREATE TABLE t AS SELECT * FROM '{folder / 'adult.parquet'}'")
    with client(folder) as page:
        workspace = page.app.workspace
        key = workspace.open_study(study).key
        (release,) = risk._bundles(workspace.study(key))
        named = f"duckdb:/{quote(str(secret), safe='')}?table=t"
        assert page.post(f"/s/{key}/risk/known", data={"release": release, "known": named}).status_code == 200
        (job,) = workspace.jobs.of(key)
        job.process.wait(120)
        assert job.state == "failed" and job.error["code"] == "SF-SOURCE-034"
