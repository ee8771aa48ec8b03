"""Every relative link and anchor in the repository's Markdown leads somewhere, as GitHub and the site read them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SKIPPED = {"node_modules", "stored"}  # of other people; published bundles, kept byte by byte
FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)[ ]*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def pages():
    """All Markdown of the repository but what lies in hidden or built folders."""
    for path in sorted(ROOT.rglob("*.md")):
        parts = path.relative_to(ROOT).parts
        if not SKIPPED.intersection(parts) and not any(part.startswith(".") for part in parts) and parts[0] != "build":
            yield path


def prose(text):
    """A page without its code: neither a comment in a block is a heading, nor an index in an example a link."""
    return re.sub(r"`[^`\n]*`", lambda code: code[0].replace("](", "] ("), FENCE.sub("", text))


def links(text):
    """The targets of a page that are in this repository."""
    return [target for target in LINK.findall(prose(text)) if not re.match(r"[a-z]+:", target)]


def anchors(text):
    """The anchors of a page's headings, made as GitHub makes them: a second heading of a name gets ``-1``."""
    seen, found = {}, set()
    for heading in re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = seen[anchor] = seen.get(anchor, -1) + 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


def faults(page):
    """The links of a page that lead nowhere, each with why."""
    for target in links(page.read_text(encoding="utf-8")):
        path, _, anchor = target.partition("#")
        place = page.parent / path if path else page
        if not place.is_file():
            yield f"{target}: there is no such file"
        elif anchor and anchor not in anchors(place.read_text(encoding="utf-8")):
            yield f"{target}: there is no such heading"


PAGES = {str(path.relative_to(ROOT)): path for path in pages()}


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    assert list(faults(PAGES[name])) == []


PATH = re.compile(r"`((?:[\w.-]+/)+[\w.-]*)`")
"""A file or folder in the text of a page."""
PACKAGE = ROOT / "src" / "sfumato"
OURS = {"bench", "docs", "papers", "src", "tests", "tools", *(path.name for path in PACKAGE.iterdir() if path.is_dir())}
STUDIES = {"frontier", "report"}
"""Folders beside a study have these names too."""


def named_paths(text):
    """The files and folders of the repository that a page names: `tests/trust/` or `privacy/dp/grant.py`."""
    for path in PATH.findall(FENCE.sub("", text)):
        if path.split("/")[0] in OURS - STUDIES:
            yield path


@pytest.mark.parametrize("name", [name for name in PAGES if name != "CHANGELOG.md" and not name.startswith("tests/")])
def test_paths_that_a_page_names_exist(name):
    """The changelog speaks of files as they were called at the time."""
    named = set(named_paths(PAGES[name].read_text(encoding="utf-8")))
    assert [path for path in sorted(named) if not any((root / path).exists() for root in (ROOT, PACKAGE))] == []


def test_a_path_to_nowhere_is_seen():
    text = (
        "The proof is in `privacy/dp/nowhere.py`; `tests/trust/` and `/etc/hosts` exist, `owner/report.html` is yours."
    )
    assert list(named_paths(text)) == ["privacy/dp/nowhere.py", "tests/trust/"]


def test_the_pages_are_found():
    assert {"README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} < set(PAGES)
    assert {name.split("/")[1] for name in PAGES if name.startswith("docs/")} == {
        "index.md", "tutorials", "how-to", "reference", "explanation",
    }  # fmt: skip


def test_a_broken_link_is_seen(tmp_path):
    page = tmp_path / "page.md"
    (tmp_path / "other.md").write_text("# One `x`\n\n# One x\n\n```sh\n# no heading\n```\n", encoding="utf-8")
    good = "[a](other.md) [b](other.md#one-x) [c](other.md#one-x-1) [d](#here) [e](https://x.example) `m[1](2)`\n"
    good += "\n# Here\n"
    page.write_text(good, encoding="utf-8")
    assert list(faults(page)) == []
    page.write_text(good + "[`f[1]`](other.md#no-heading) [g](gone.md) [h](#there)", encoding="utf-8")
    assert [fault.split(":")[0] for fault in faults(page)] == ["other.md#no-heading", "gone.md", "#there"]


@pytest.mark.parametrize("kind", ["tutorials", "how-to", "reference", "explanation"])
def test_every_page_is_on_the_first_page_of_its_kind(kind):
    folder = ROOT / "docs" / kind
    told = {target.partition("#")[0] for target in links((folder / "index.md").read_text(encoding="utf-8"))}
    assert {path.name for path in folder.glob("*.md")} - {"index.md"} <= told
