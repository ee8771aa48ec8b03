"""Backticks in texts become elements of code on pages, and nothing else in a text becomes markup."""

import re
from html.parser import HTMLParser
from importlib.resources import files
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from sfumato.errors import UsageError
from sfumato.web.code_words import CODE, with_code
from sfumato.web.planning import linked
from sfumato.web.rendering import fragment

PIECES = st.sampled_from(
    ["`", "``", "<", ">", "&", '"', "'", "<b>", "</code>", "<script>alert(1)</script>", "&lt;", "a"]
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=12).map("".join))


class Read(HTMLParser):
    """What a browser makes of a text: its elements, and its words."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.open, self.words = [], [], ""
        self.feed(str(text))
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, *attrs))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data

    def handle_comment(self, data):
        raise AssertionError(data)

    handle_decl = handle_pi = unknown_decl = handle_comment


@given(TEXTS)
def test_no_markup_of_a_text_gets_through(text):
    found = Read(with_code(text))
    assert set(found.tags) <= {("code",)}
    assert found.open == []
    assert found.words == CODE.sub(r"\1", text)


@given(TEXTS)
def test_a_text_without_pairs_is_only_escaped(text):
    bare = text.replace("`", "")
    assert with_code(bare) == Markup("{}").format(bare)
    assert with_code(f"`{bare}") == Markup("`{}").format(bare)


def test_what_is_markup_already_stays():
    given = Markup('<a title="`x`">`y`</a>')
    assert with_code(given) == given


ERROR = UsageError("there is no `<img src=x onerror=alert(1)>` in <b>it</b>", "run `sfumato plan`", code="SF-USAGE-1")


@pytest.mark.parametrize("name", ["error_notice.html", "job_ended.html", "taxonomy_rule.html", "column_problem.html"])
def test_notices_show_code_as_code(name):
    job = SimpleNamespace(state="failed", error=ERROR)
    text = fragment(name, error=ERROR, job=job, problem=ERROR, problem_row=None, written=None, levels=[], columns=None)
    found = Read(text)
    assert "<code>sfumato plan</code>" in text
    assert "<img" not in text and "<b>it</b>" not in text
    assert "There is no <img src=x onerror=alert(1)> in <b>it</b>" in found.words and "`" not in found.words


def test_every_template_shows_errors_through_the_filter():
    for template in (files("sfumato.web") / "templates").iterdir():
        shown = re.findall(r"\{\{ [\w.]*\b(?:problem|fix)(?: \|[^}]*)? \}\}", template.read_text(encoding="utf-8"))
        assert [one for one in shown if "| coded" not in one] == [], template.name


NAMES = ("age", "zip code", "`odd`", "<i>x</i>")
STUDY = SimpleNamespace(attributes=dict.fromkeys(NAMES))


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("refused: `age` has no bounds", "Refused: <a><code>age</code></a> has no bounds"),
        ("refused: 'age' has none, see `doctor`", "Refused: <a><code>age</code></a> has none, see <code>doctor</code>"),
        ("h is chosen: `--by age --all`", "h is chosen: <code>--by age --all</code>"),
        ("refused: set `h`, or age, or <b>", "Refused: set <code>h</code>, or <a><code>age</code></a>, or &lt;b&gt;"),
        ("refused: '<i>x</i>'", "Refused: <a><code>&lt;i&gt;x&lt;/i&gt;</code></a>"),
    ],
)
def test_sentences_of_a_plan_have_code_beside_links(said, shown):
    assert re.sub(r' href="[^"]*"', "", linked(said, STUDY, lambda _: "/c")) == shown


@given(TEXTS)
def test_no_markup_of_a_sentence_gets_through_beside_links(text):
    found = Read(linked(f"of: {text}", STUDY, lambda name: f"/c?{len(name)}"))
    assert {tag for tag, *_ in found.tags} <= {"code", "a"} and found.open == []
    assert {name for _, *given in found.tags for name, _ in given} <= {"href"}
