"""index.html of a bundle in a real browser, from its file: answers, untrusted text, policy, access, width and print."""

import json
import shutil
from contextlib import contextmanager
from fractions import Fraction
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import SfumatoError
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import InsecureSource
from sfumato.release.answer.words import estimate_words
from sfumato.release.bundle.write import write_bundle
from sfumato.release.forms.records import page_answers as of_records
from sfumato.release.release import Release
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.release.conftest import CUTS, draft_of, facts_of, publish
from tests.release.page.pages import MALFORMED, conditions, page
from tests.small_domains import flat, grid, view
from tests.web.adult_study import hostile_bundle
from tests.web.test_accessibility import violations

STORED = Path(__file__).parents[1] / "stored" / "manifest-2"
QUICK = ("anatomy", "bucketization", "capped-confidence", "contingency", "diffgen-sets", "full-domain-suppressed")
QUICK += ("marginals", "mondrian", "staged")
NAMES = sorted(path.name for path in STORED.iterdir())
EACH = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in NAMES]
ASK = """(texts) => texts.map((text) => {
  document.getElementById("qbox").value = text;
  document.getElementById("ask").requestSubmit();
  const answer = document.getElementById("answer"), words = document.getElementById("words");
  return {...answer.dataset, words: words && words.textContent, text: answer.textContent};
})"""


def test_an_empty_question_leaves_no_earlier_answer(chromium, tmp_path):
    (tmp_path / "index.html").write_bytes(page(STORED / "staged"))
    release = Release.open(STORED / "staged")
    first = conditions(release.declared_domains, "staged", 1)[0]
    with shown(chromium, tmp_path / "index.html") as tab:
        before, after = tab.evaluate(ASK, [first, " "])
    assert before["text"] and before["state"]
    assert after == {"words": None, "text": ""}


@contextmanager
def shown(chromium, path, **more):
    """A file in the browser; a request, an error of a script or a refusal by the policy fails the test."""
    context = chromium.new_context(**{"viewport": {"width": 1280, "height": 900}, **more})
    tab = context.new_page()
    requests, broken = [], []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("pageerror", lambda error: broken.append(str(error)))
    tab.on("console", lambda said: broken.append(said.text))
    tab.on("dialog", lambda dialog: broken.append(dialog.message))
    tab.goto(path.as_uri())
    try:
        yield tab
    finally:
        context.close()
    assert requests == [path.as_uri()]
    assert broken == []


def disagreements(chromium, folder, release, texts):
    """Conditions that the page answers in another way than the release, and how many it answers in each way."""
    (folder / "index.html").write_bytes(page(release.path))
    with shown(chromium, folder / "index.html") as tab:
        answers = tab.evaluate(ASK, texts)
    wrong, states = [], {"answered": 0, "problem": 0, "command": 0}
    for text, found in zip(texts, answers, strict=True):
        states[found["state"]] += 1
        try:
            expected = release.query(text)
        except SfumatoError as error:
            if found["state"] != "problem":
                wrong.append((text, str(error), found["text"]))
            continue
        if found["state"] == "command":
            assert "sfumato query . " in found["text"]
        elif found["state"] != "answered" or not same(found, expected):
            wrong.append((text, estimate_words(expected), found["text"]))
    return wrong, states


def same(found, expected):
    """Ends and words to the digit; the single number and the share but for the last bits of a sum."""
    exact = (float(found["low"]), float(found["high"]), int(found["total"]), found["words"])
    if exact != (expected.low, expected.high, expected.total, estimate_words(expected)):
        return False
    if expected.count is None:
        return found["count"] == found["share"] == "null"
    return float(found["count"]) == pytest.approx(expected.count, rel=1e-9, abs=1e-9) and float(
        found["share"]
    ) == pytest.approx(expected.share, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", EACH)
def test_the_page_answers_as_the_query_command_does(chromium, tmp_path, name):
    release = Release.open(STORED / name)
    texts = conditions(release.declared_domains, name, 120) + MALFORMED
    wrong, states = disagreements(chromium, tmp_path, release, texts)
    assert wrong == []
    assert states["answered"] > 40, states
    assert states["problem"] >= len(MALFORMED) - 2
    if "sets" not in name:
        assert states["command"] == 0, "small releases are embedded whole"


@pytest.mark.error_rate(0, reason="drawn from a seed")
@pytest.mark.parametrize("strategy", ["hierarchical", "wavelet", "consistent-marginals"])
def test_the_page_knows_how_the_noise_of_estimates_is_correlated(chromium, tmp_path, strategy):
    of = view(sex=flat("f", "m"), age=grid(0, 49))
    rng = np.random.default_rng(3)
    codes = {"sex": rng.integers(0, 2, 900), "age": rng.integers(0, 50, 900), "class": rng.integers(0, 2, 900)}
    method = sf.ContingencyTable(epsilon=1, strategy=strategy)
    context = Context(accountant=Accountant(method.spends), source=InsecureSource(4))
    draft = method.draft(of, ArrayCounter(codes, {"class": 2}), context)
    place = write_bundle(draft, facts_of(method="contingency", secure=False), tmp_path).path
    release = Release.open(place)
    texts = conditions(release.declared_domains, strategy, 80)
    wrong, states = disagreements(chromium, tmp_path, release, texts)
    assert wrong == []
    assert states["command"] == 0
    assert states["answered"] > 60


def test_records_that_do_not_fit_are_answered_by_columns_and_pairs(chromium, tmp_path, monkeypatch):
    monkeypatch.setattr(of_records, "MOST_NUMBERS", 1_600)
    for name in ("mondrian", "anatomy", "capped-confidence"):
        release = Release.open(STORED / name)
        wrong, states = disagreements(chromium, tmp_path, release, conditions(release.declared_domains, name, 80))
        assert wrong == []
        assert states["command"] > 5
        assert states["answered"] > 15


def test_nothing_runs_and_nothing_is_taken_for_markup(chromium, tmp_path):
    place = tmp_path / "b"
    shutil.copytree(hostile_bundle(tmp_path), place)
    with shown(chromium, place / "index.html") as tab:
        assert tab.locator("h1").inner_text() == "mondrian of <img src=x onerror=alert(1)>"
        assert tab.locator("#columns tbody th").first.inner_text() == "<script>alert(1)</script>"
        assert tab.locator("#main img, #main i, #main script").count() == 0
        (found,) = tab.evaluate(ASK, ["'<script>alert(1)</script>' = '<i>old</i>'"])
        assert found["words"].startswith("30 of 60")
        (found,) = tab.evaluate(ASK, ["'</script><img src=x onerror=alert(2)>' = 3"])
        assert "</script><img src=x onerror=alert(2)>" in found["text"]


LONG = "x" * 10_000
ATTACKS = [
    "</script><script>alert(3)</script>",
    "<!--<script>",
    "\u202etxet\u202c",
    "'\"`${alert(4)}",
    "a\u2028b",
    LONG,
]


def hostile_draft():
    """Names, labels and a missing value that try to be more than text."""
    leaves = tuple(Node(label) for label in ATTACKS)
    tree = Categories(taxonomy=Taxonomy.of(Node("]]></style><b>Any", leaves)))
    number = Grid(
        lower=Fraction(0), upper=Fraction(3), step=Fraction(1), unit="integer", missing=4,
        missing_label="<svg onload=alert(5)>",
    )  # fmt: skip
    domains = dict.fromkeys(ATTACKS, tree) | {"<svg onload=alert(6)>": number}
    cuts = [type(CUTS[0]).finest(name, 6) for name in ATTACKS] + [type(CUTS[0])("<svg onload=alert(6)>", (0, 2), 5)]
    rows = [(*([code] * len(ATTACKS)), code % 2, code % 2, 5 + code) for code in range(6)]
    return draft_of(domains, cuts, rows)


def test_hostile_names_and_values_are_shown_as_they_are(chromium, tmp_path):
    place = publish(hostile_draft(), tmp_path / "out", study="</title><script>alert(7)</script>").path
    with shown(chromium, place / "index.html") as tab:
        names = tab.locator("#columns tbody th").all_inner_texts()
        assert names[:2] == ATTACKS[:2]
        assert names[2] == "⟨U+202E⟩txet⟨U+202C⟩", "marks of direction are seen, and turn nothing"
        assert names[5] == f"{'x' * 200}… (10,000 characters)"
        assert tab.title().startswith("all of </title><script>alert(7)</script>")
        assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
        asked = ['"</script><script>alert(3)</script>" = "<!--<script>"', f"'\u202etxet\u202c' = {LONG}"]
        found = tab.evaluate(ASK, asked)
        assert [answer["state"] for answer in found] == ["answered", "answered"]
        release = Release.open(place)
        assert [answer["words"] for answer in found] == [estimate_words(release.query(text)) for text in asked]
        assert tab.locator("script").count() == 2
        assert tab.locator("main b:has-text('Any')").count() == 0


def test_the_policy_lets_nothing_in(chromium, tmp_path):
    """What an attacker might still get into a page is stopped by the policy; the guard of this test sees refusals."""
    text = page(STORED / "diffgen").decode()
    bad = "<script>document.title='run'</script><style>body{color:red}</style><img src='http://127.0.0.1:9/x'>"
    (tmp_path / "index.html").write_text(text.replace("</h1>", f"</h1>{bad}", 1), encoding="utf-8")
    context = chromium.new_context()
    tab = context.new_page()
    refused, requests = [], []
    tab.on("console", lambda said: refused.append(said.text))
    tab.on("requestfinished", lambda request: requests.append(request.url))
    tab.goto((tmp_path / "index.html").as_uri())
    assert tab.title() != "run"
    assert [url for url in requests if not url.startswith("file:")] == []
    assert sum("Content Security Policy" in said for said in refused) >= 3
    context.close()


@pytest.mark.parametrize("name", ["diffgen", "mondrian"])
def test_a_page_is_accessible_fits_a_phone_and_prints(chromium, tmp_path, name):
    (tmp_path / "index.html").write_bytes(page(STORED / name))
    for width, scheme in ((1280, "light"), (390, "dark")):
        with shown(
            chromium, tmp_path / "index.html", viewport={"width": width, "height": 900}, color_scheme=scheme,
            bypass_csp=True,
        ) as tab:  # fmt: skip
            tab.evaluate(ASK, ["age >= 33"])
            assert violations(tab) == []
            assert tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
            tab.emulate_media(media="print")
            assert not tab.locator("#ask").is_visible(), "a form says nothing on paper"
            assert tab.locator("#answer .words").is_visible()


def test_without_scripts_all_but_the_query_box_is_there(chromium, tmp_path):
    (tmp_path / "index.html").write_bytes(page(STORED / "diffgen"))
    with shown(chromium, tmp_path / "index.html", java_script_enabled=False) as tab:
        assert tab.locator("noscript p").is_visible()
        assert not tab.locator("#ask").is_visible()
        assert tab.locator("#marginals figure").count() == 6


def test_the_box_works_with_the_keyboard_and_says_what_is_not_answered(chromium, tmp_path):
    (tmp_path / "index.html").write_bytes(page(STORED / "diffgen-sets"))
    with shown(chromium, tmp_path / "index.html") as tab:
        tab.get_by_label("How many records satisfy").fill("not a query")
        tab.keyboard.press("Enter")
        assert "This is not a query" in tab.locator("#answer").inner_text()
        hint = tab.locator("#q-hint").inner_text()
        (absent,) = {column["name"] for column in data(tmp_path)["columns"] if "absent" in column}
        assert f"Not answered here: conditions on {absent}" in hint


def data(folder):
    """The block of data in a page."""
    text = (folder / "index.html").read_text(encoding="utf-8")
    block = text.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert unescape(block) == block.replace("&", "&"), "not escaped as markup is"
    return json.loads(block)
