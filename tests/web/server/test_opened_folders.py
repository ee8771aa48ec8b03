"""Whatever a page names as a table, a command reads nothing outside of the folders that were opened."""

import pytest
from starlette.testclient import TestClient

from sfumato.errors import UsageError
from sfumato.web.app import make_app
from sfumato.web.server.opened_folders import OpenedFolders
from sfumato.web.server.settings import Settings

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
    settings = Settings(folders=(opened,), port=8765, token="start", session="session", request_token="page")
    with TestClient(make_app(settings), base_url="http://127.0.0.1:8765", follow_redirects=False) as client:
        client.cookies.set("sfumato-8765", "session")

        def answer(field, text):
            found = client.post("/open/table", data={field: text}, headers={"x-sfumato-token": "page"})
            return found.status_code, found.text

        yield answer


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
