"""The site is built without a warning, asks nobody else for anything, and is searched from files."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato
from sfumato.cli.app import app
from tests.docs.command_words import commands_of

ROOT = Path(__file__).parents[2]
API = (ROOT / "docs" / "reference" / "api.rst").read_text(encoding="utf-8")
HELP = (ROOT / "docs" / "reference" / "help.md").read_text(encoding="utf-8")
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\ssrc=["']?(?P<src>[^"'\s>]+)"""
    r"""|<link\b(?![^>]*rel=["']?(?:canonical|search))[^>]*\shref=["']?(?P<href>[^"'\s>]+)"""
    r"""|(?:@import\s+(?:url\()?|url\()["']?(?P<css>[^"')\s]+)"""
)


def test_every_public_name_is_in_the_api():
    for name in sfumato.__all__:
        assert re.search(rf"^\.\. auto(?:class|function|exception|method):: sfumato\.{name}$", API, re.MULTILINE), name
        assert f"   sfumato.{name}\n" in API, f"{name} is in no summary"


def test_the_help_of_every_command_is_in_the_docs():
    words = [" ".join(words) for words in commands_of(app)]
    assert re.findall(r"^## (.+)$", HELP, re.MULTILINE) == words, "run tools/help_page.py"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-c", "docs", "-d"]
    done = subprocess.run(
        [*command, str(folder / "doctrees"), ".", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


RETURNED = (
    "workflow.Plan", "workflow.Published", "api.proposed_study.Proposal", "ledger.Ledger", "frontier.frontier.Frontier",
    "frontier.point.Point",
)  # fmt: skip


@pytest.mark.parametrize("name", RETURNED)
def test_what_functions_return_is_in_the_api(name):
    assert re.search(rf"^\.\. autoclass:: sfumato\.{name}$", API, re.MULTILINE) and f"   sfumato.{name}\n" in API


@pytest.mark.slow
def test_the_manual_page_is_built_by_the_command_of_the_makefile(tmp_path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    found = re.search(r"^man:.*\n\t\$\(BIN\)/python (-m sphinx .+)$", makefile, re.MULTILINE)
    assert found is not None
    words = [word.replace("build/", f"{tmp_path}/", 1) for word in found[1].split()]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "man" / "sfumato.1").read_text(encoding="utf-8")
    for command in ("release", "verify", "ledger", "evaluate measures"):
        assert command in page


@pytest.mark.slow
def test_nothing_is_loaded_from_elsewhere(site):
    files = [path for path in site.rglob("*") if path.suffix in {".html", ".css"}]
    assert len(files) > 20
    for file in files:
        for found in LOADED.finditer(file.read_text(encoding="utf-8")):
            target = found["src"] or found["href"] or found["css"]
            assert not re.match(r"(?:https?:)?//", target), f"{file.relative_to(site)} loads {target}"


@pytest.mark.slow
def test_every_tutorial_has_its_notebook_beside_it(site):
    for page in (ROOT / "docs" / "tutorials").glob("*.md"):
        if page.stem != "index":
            assert (site / "docs" / "tutorials" / f"{page.stem}.ipynb").is_file()
            assert f'href="{page.stem}.ipynb"' in (site / "docs" / "tutorials" / f"{page.stem}.html").read_text("utf-8")


@pytest.mark.slow
def test_it_is_searched_and_read_from_files(site):
    sync_api = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium here: install it, see tools/chromium.sh")
    asked, wrong = [], []
    with sync_api.sync_playwright() as driver, driver.chromium.launch(executable_path=program) as browser:
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme=scheme)
            page.on("request", lambda request: asked.append(request.url))
            page.on("pageerror", lambda error: wrong.append(str(error)))
            page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
            page.goto(f"file://{site}/search.html?q=anatomy")
            page.wait_for_selector("#search-results li a[href*='methods.html']")
            assert page.get_attribute("html", "data-theme") == scheme
            for path in sorted((site / "docs").rglob("*.html")):
                page.goto(f"file://{path}")
                wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert wide <= 0, f"{path.name} scrolls sideways"
    assert not wrong
    assert asked
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]
