"""The owner's report: one file, safe to open, every section there, and the numbers are those of the table."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from sfumato.evaluate.measures import (
    AverageGroupSize,
    CellDivergence,
    JournalistRisk,
    LinkedPeople,
    QueryError,
    WorstPrivacyLoss,
)
from sfumato.look import symbols
from sfumato.privacy.models import DistinctLDiversity, KAnonymity, TCloseness
from sfumato.release.partition import SUPPRESSED
from sfumato.release.shown import shown_counts, shown_records
from sfumato.report import MeasureResult, Provenance, report_page
from sfumato.report.chart import nice, pairs, percent, plane, powers
from sfumato.report.distributions import distributions
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from sfumato.wording import number_words
from tests.release.conftest import AGE, DAY, INCOME, JOB, PAY
from tests.release.conftest import small_draft as counts_draft
from tests.release.partitions import VIEW, draft_of, drafts, small_draft

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

MADE = Provenance(
    study="clinic", release="k3", method="mondrian", date="2026-11-16", parameters={"k": 3},
    rules=["a missing value is a value of its own"], versions={"sfumato": "0"},
)  # fmt: skip
SECTIONS = {
    "guaranteed": "What is guaranteed", "published": "What was published", "utility": "Utility loss",
    "risk": "Privacy loss and risk", "attacks": "Attacks that were run", "worst": "The worst groups",
    "distributions": "Before and after", "frontier": "Position on the frontier", "made": "How it was made",
}  # fmt: skip
VOID = {"meta", "br", "img", "link"}
MEASURES = (
    MeasureResult(measure=WorstPrivacyLoss(), value=0.3, details={"quantile 0.5": 0.1, "records": 7}),
    MeasureResult(measure=QueryError(), value=0.125),
    MeasureResult(measure=LinkedPeople(), value=0.0),
    MeasureResult(measure=CellDivergence(), reason="nothing is published"),
)


class Balanced(HTMLParser):
    """Every tag is closed; remembers tags, attributes and text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def parsed(page):
    found = Balanced()
    found.feed(page)
    assert not found.open
    return found


def charts(found):
    """The charts of a page; its icons are hidden from those who cannot see them."""
    return [attrs for attrs in found.all("svg") if attrs.get("role") == "img"]


def of_counts(**changes):
    draft = counts_draft()
    view = View(
        quasi=tuple(Attribute(name=n, role=Role.QUASI_IDENTIFIER, domain=d) for n, d in
                    {"age": AGE, "pay": PAY, "day": DAY, "job": JOB}.items()),
        sensitive=(),
        others=(Attribute(name="income", role=Role.CLASS, domain=INCOME),),
        unit=RecordUnit(),
    )  # fmt: skip
    from sfumato.domains.counts import Cells

    cells = Cells(
        tuple(a.name for a in view.attributes), np.array([[3, 4, 5, 1, 0], [60, 20, 7, 2, 1]]), np.array([9, 4])
    )
    given = {"measures": MEASURES, "beside": (view, cells, shown_counts(draft, ("age", "pay", "day", "job")))}
    made = replace(MADE, method="diffgen", stated=("ε = 1 is kept", "Read as odds: 2.72"), left="3")
    return report_page(draft, made, **given | changes)


PAGES = {
    "groups": report_page(small_draft(suppressed=True), MADE, measures=MEASURES),
    "buckets": report_page(small_draft(form="bucketized", models=(DistinctLDiversity(l=1),)), MADE),
    "anatomy": report_page(small_draft(form="anatomy", models=(DistinctLDiversity(l=1),)), MADE),
    "counts": of_counts(),
}
EVERY = pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)


@EVERY
def test_every_section_is_there_and_can_be_gone_to(page):
    found = parsed(page)
    text = " ".join(found.text)
    sections = {attrs["id"]: attrs for attrs in found.all("section")}
    linked = {attrs["href"].removeprefix("#") for attrs in found.all("a")}
    assert set(SECTIONS) <= set(sections) == linked - {"main"}
    for place, heading in SECTIONS.items():
        assert heading in text
        assert sections[place]["aria-labelledby"] == f"h-{place}"
    ids = [attrs["id"] for _, attrs in found.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


@EVERY
def test_it_is_one_file_that_loads_nothing(page):
    found = parsed(page)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in found.tags}
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)|\son\w+=", page)


@EVERY
def test_it_can_be_read_without_seeing_it(page):
    found = parsed(page)
    levels = [int(tag[1]) for tag, _ in found.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in pairwise(levels)), "no level is skipped"
    assert all(attrs.get("aria-label") for attrs in found.all("svg") if attrs.get("aria-hidden") != "true")
    assert all(attrs["aria-label"] for attrs in charts(found)) and charts(found)
    assert all(attrs.get("scope") == "col" for attrs in found.all("th"))
    assert len(found.all("caption")) == len(found.all("table"))
    assert found.all("html") == [{"lang": "en"}]


@EVERY
def test_it_fits_a_phone_and_paper(page):
    style = page.split("<style>")[1].split("</style>")[0]
    assert "width=device-width" in page and "@media print" in style and "break-inside: avoid" in style
    assert not [n for n in map(float, re.findall(r"(?<![-\w])width:\s*([\d.]+)px", style)) if n > 390]
    assert not [n for n in map(float, re.findall(r"(?<![-\w])width:\s*([\d.]+)rem", style)) if n > 24]
    drawn = parsed(page.replace(symbols(), ""))
    for attrs in charts(drawn):
        assert "width" not in attrs and "viewbox" not in attrs, "as wide as the page"
    for tag in ("rect", "line", "text"):
        for attrs in drawn.all(tag):
            for place in ("x", "x1", "x2", "width"):
                assert attrs.get(place, "0") == "0" or attrs[place].endswith("%")
    assert page.count("<table") == page.count('class="wide"'), "a wide table scrolls by itself"


@EVERY
def test_axes_say_what_they_are(page):
    labels = [attrs["aria-label"] for attrs in charts(parsed(page))]
    assert labels
    for label in labels:
        title, _, axis = label.partition("; ")
        assert title and axis
        assert page.count(axis.replace("'", "&#39;")) > 1, "beside the label, on the axis"


def test_it_tells_the_groups_the_loss_and_the_worst():
    draft = small_draft(suppressed=True, models=(KAnonymity(k=3), DistinctLDiversity(l=2)))
    text = " ".join(parsed(report_page(draft, MADE)).text)
    for told in (
        "Every group of records that look alike has at least 3", "3 records (33.3 %) are suppressed", "[20, 30)",
        "not a guarantee", "For the owner only", "Professional", "66.7 %", "asthma", "fixed in advance",
        "A missing value is a value of its own.", "sfumato 0",
    ):  # fmt: skip
        assert told in text, told


def test_every_measure_has_a_sentence():
    text = re.sub(r"\s+", " ", " ".join(parsed(PAGES["groups"]).text))
    assert "A random count query has a relative error of 12.5 % on average." in text
    assert "whether or not they took part, by 43.3 % of the largest possible divergence." in text
    assert "From 0 nats to 0.693 nats; lower is better. Details: quantile 0.5: 0.1; records: 7." in text
    assert "At least 0 %; lower is better." in text
    assert "Not measured: nothing is published." in text


def test_attacks_stand_apart():
    page = PAGES["groups"]
    attacks = page[page.index('<section id="attacks"') : page.index('<section id="worst"')]
    assert LinkedPeople.title in attacks and "Query error" not in attacks
    risk = page[page.index('<section id="risk"') : page.index('<section id="attacks"')]
    assert LinkedPeople.title not in risk and "worst case" in risk
    assert "No attack was run" in PAGES["buckets"]


def test_what_was_not_measured_is_said():
    page = report_page(small_draft(), MADE, unmeasured="The table is too large.")
    assert "The table is too large." in page
    assert "No utility measure was computed" in page


def test_a_choice_on_the_raw_table_is_said():
    assert "no guarantee covers it" not in PAGES["groups"]
    page = report_page(small_draft(), replace(MADE, chosen="chosen on the raw table"))
    assert "That choice used the raw table, and no guarantee covers it." in page


def test_the_frontier_shows_this_release_among_the_others():
    points = [
        ("this", "k = 3", 0.3, 0.02), ("efficient", "k = 9", 0.1, 0.03), ("other", "k = 5", 0.4, 0.04),
        ("baseline", "nothing published", 0.0, 0.05),
    ]  # fmt: skip
    page = report_page(small_draft(), replace(MADE, frontier=points, frontier_words=["It is <good>."]))
    found = parsed(page.replace(symbols(), ""))
    drawn = [attrs["class"] for attrs in found.all("circle") if attrs["cx"].endswith("%")]
    assert drawn == ["other", "efficient", "this"], "drawn last, so on top"
    keys = [attrs["class"] for attrs in found.all("circle") if not attrs["cx"].endswith("%")]
    assert keys == ["this", "efficient", "other"], "the same marks in the key"
    assert [attrs["class"] for attrs in found.all("path")] == ["baseline", "baseline"]
    assert "← better · privacy loss (nats)" in page and "↓ better · utility loss (nats)" in page
    assert "It is &lt;good&gt;." in page
    assert "<td>k = 9</td>" in page and "<td>k = 5</td>" not in page, "printed by name if on the frontier"
    few = report_page(small_draft(), replace(MADE, frontier=points[:2]))
    assert "other candidates" in page and "other candidates" not in few, "the key has what is drawn"
    assert "There is no frontier of this study" in PAGES["groups"]


def test_names_cannot_break_out_of_the_page():
    evil = "<script>alert(\"x\")</script>' onload='y"
    view = replace(VIEW, sensitive=(replace(VIEW.sensitive[0], name=evil),))
    draft = draft_of([(20, 0, 0, 0, 0, 0, 3)], [0], [((20, 21), (0, 1))], view=view, models=(DistinctLDiversity(l=1),))

    class Evil(LinkedPeople):
        name, title, summary, unit = evil, evil, evil, evil

    assert Evil().means(0.0).endswith(f"{evil[1:]}.")
    told = MeasureResult(measure=Evil(), value=0.3, details={evil: evil})
    made = replace(MADE, study=evil, parameters={evil: evil}, rules=[evil], versions={evil: evil})
    page = report_page(draft, replace(made, frontier=[("this", evil, 1.0, 1.0)]), measures=[told], unmeasured=evil)
    assert "<script" not in page
    found = parsed(page)
    assert not [attrs for _, attrs in found.tags if "onload" in attrs]


def test_no_record_is_shown():
    """Of groups regions are told, of attributes shares; an insensitive exact value of one record is nowhere."""
    page = report_page(small_draft(), MADE)
    assert "2004-01" not in page, "the day of a record"


@settings(max_examples=30, deadline=None)
@given(draft=drafts())
def test_any_draft_has_a_report(draft):
    page = report_page(draft, MADE)
    parsed(page)
    kept = draft.partition.group != SUPPRESSED
    assert f"{int(draft.partition.cells.counts.sum()):,}" in page
    assert kept.any()


@settings(max_examples=50, deadline=None)
@given(draft=drafts())
def test_shares_before_and_after_agree_with_a_loop(draft):
    """Every record spread over the codes of its region by hand."""
    shown, cells = shown_records(draft), draft.partition.cells
    for name, _, chart, _ in distributions(draft.view, cells, shown):
        if name != "job" or chart is None:
            continue
        before, after = {}, {}
        leaves = JOB_LEAVES
        for codes, count in zip(cells.codes, cells.counts, strict=True):
            before[leaves[codes[1]]] = before.get(leaves[codes[1]], 0) + count / cells.counts.sum()
        place = shown.attributes.index("job")
        for start, stop, weight in zip(shown.starts[:, place], shown.stops[:, place], shown.weights, strict=True):
            for code in range(start, stop):
                after[leaves[code]] = after.get(leaves[code], 0) + weight / (stop - start) / shown.weights.sum()
        for label, (one, other) in chart.rows:
            assert one.text == percent(before.get(label, 0.0))
            assert abs(float(other.text.strip("< %")) / 100 - after.get(label, 0.0)) < 0.002


JOB_LEAVES = VIEW.quasi[1].domain.taxonomy.leaves


def test_an_attribute_of_which_nothing_is_published_says_so():
    draft = draft_of([(20, 0, 0, 0, 0, 0, 3)], [0], [((0, 101), (0, 5))])
    page = report_page(draft, MADE, beside=(draft.view, draft.partition.cells, shown_records(draft)))
    assert page.count("The release says nothing about this attribute.") == 2


def test_numbers_beyond_those_of_the_table_have_bars_of_their_own():
    draft = draft_of([(40, 0, 0, 0, 0, 0, 3), (60, 0, 0, 0, 0, 0, 3)], [0, 0], [((0, 100), (0, 1))])
    chart = next(
        c for n, _, c, _ in distributions(draft.view, draft.partition.cells, shown_records(draft)) if n == "age"
    )
    first, last = chart.rows[0], chart.rows[-1]
    assert first[0] == "[0, 40)" and first[1][0].text == "0.0 %" and first[1][1].text == "40.0 %"
    assert last[1][0].text == "0.0 %" and last[1][1].length > 0


def test_buckets_have_no_loss():
    assert "none of them loses information" in PAGES["anatomy"] and "buckets" in PAGES["anatomy"]
    assert "none of them loses information" not in PAGES["groups"]


def test_a_private_release_has_its_receipt_and_its_odds():
    found = parsed(PAGES["counts"])
    text = re.sub(r"\s+", " ", " ".join(found.text))
    assert "discrete Laplace" in text and "0.5" in text and "Read as odds: 2.72" in text
    assert "ε = 3 of the study's budget remains" in text
    assert "breakdown" in {attrs["id"] for attrs in found.all("section")}
    assert "For the owner only" in text and "not covered by ε" in text


def test_a_private_release_that_was_not_compared_says_so():
    page = of_counts(beside=None, measures=(), unmeasured="The table is too large.")
    assert "there is nothing to compare" in page and "The table is too large." in page


def test_axes_end_at_round_numbers():
    assert [nice(value) for value in (1, 2, 3, 902, 0.07, 12.6)] == [1, 2, 5, 1000, 0.1, 20]
    assert pairs([], title="", axis="").rows == ()
    assert plane([("this", "a", 0.0, 0.0)], title="", across="", up="").spots[0].x == 0


def test_numbers_read_well():
    assert percent(0.0) == "0.0 %" and percent(0.0001) == "< 0.1 %" and percent(1) == "100.0 %"
    assert number_words(2.0, "records") == "2 records" and number_words(1234.5, "") == "1,234"


def test_templates_are_packaged():
    assert {"report.html", "parts.html"} <= {path.name for path in (files("sfumato.report") / "templates").iterdir()}


def test_the_worst_groups_are_sorted_by_the_number_of_the_promise():
    draft = small_draft(models=(TCloseness(t=1), KAnonymity(k=3)))
    groups = draft.partition.statistics(draft.view)
    name = next(iter(groups.sensitive))
    far = TCloseness(t=1).strain(groups, name).numbers
    text = re.sub(r"\s+", " ", " ".join(parsed(report_page(draft, MADE)).text))
    worst = text[text.index("closest to the bound for") :]
    places = [worst.index(f"{value:.3f}") for value in sorted(set(far.round(3)), reverse=True)]
    assert places == sorted(places)
    assert "Sorted by the distance from the table" in text and "the privacy model allows at most 1." in text
    assert "The smallest groups" in text


def test_numbers_of_measures_are_told_truly():
    size = MeasureResult(measure=AverageGroupSize(), value=2048.3)
    assert size.means == "An equivalence class has 2,048 records on average."
    details = {"average": 1.0, "share above 0.2": 1.0, "records above 0.2": 1.0, "people": 1.0, "median error": 12.0}
    risk = MeasureResult(measure=JournalistRisk(), value=1.0, details=details)
    assert [text for _, text in risk.more] == ["100 %", "100 %", "1", "1", "1,200 %"]
    assert number_words(9.9999, "share") == "1,000 %" and number_words(1e-9, "share") == "< 0.001 %"
    assert number_words(999.7, "records") == "1,000 records"


def test_an_attribute_of_one_region_has_a_bar_that_is_seen():
    chart = powers(
        [("one", 1, "1 of 2,000,001"), ("two", 2, "2 of 9"), ("many", 40_000, "40,000 of 50,000")], title="", axis=""
    )
    lengths = [bar.length for _, [bar] in chart.rows]
    assert lengths[0] > 0.1 and lengths == sorted(lengths) and lengths[-1] <= 1
    assert chart.ticks[0] == (lengths[0], "1"), "the bar ends where the axis says 1"
    assert powers([], title="", axis="").rows == ()
    page = PAGES["counts"].split("Regions by attribute", 1)[1]
    assert all(
        float(width) > 5 for width in re.findall(r'<rect class="after" x="0" y="\d+" width="([\d.]+)%', page)[:4]
    )
    assert re.search(r">\d+ of \d+<", page), "how many regions, of how many values"
