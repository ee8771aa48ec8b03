"""The owner's report: one file, safe to open, and the numbers are those of the table."""

import re
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given, settings

from sfumato.core.partition import SUPPRESSED
from sfumato.models import DistinctLDiversity, KAnonymity
from sfumato.publish import counts_report, partition_report
from sfumato.publish.report_svg import histogram
from tests.publish.conftest import small_draft as counts_draft
from tests.publish.partitions import VIEW, draft_of, drafts, small_draft

WORDS = {"study": "clinic", "release": "k3", "method": "mondrian", "date": "2026-11-16"}
VOID = {"meta", "br", "img", "link"}


class Balanced(HTMLParser):
    """Every tag is closed; remembers tags and text."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def parsed(page):
    found = Balanced()
    found.feed(page)
    assert not found.open
    return found


def test_it_tells_the_groups_the_loss_and_the_worst():
    page = partition_report(small_draft(suppressed=True, models=(KAnonymity(k=3), DistinctLDiversity(l=2))), **WORDS)
    text = " ".join(parsed(page).text)
    for told in (
        "Every group of records that look alike has at least 3", "suppressed records (33.33%)", "[20, 30)",
        "not a guarantee", "For the owner only", "Professional", "66.7%", "asthma",
    ):  # fmt: skip
        assert told in text, told
    assert page.count("<svg") == 3, "sizes, loss, the sensitive attribute"


def test_it_is_one_file_that_loads_nothing():
    page = partition_report(small_draft(), **WORDS)
    assert not {"script", "link", "img", "iframe"} & set(parsed(page).tags)
    assert not re.search(r"https?:|@import|url\(", page)
    assert "width=device-width" in page and "@media print" in page


def test_names_cannot_break_out_of_the_page():
    evil = '<script>alert("x")</script>'
    view = replace(VIEW, sensitive=(replace(VIEW.sensitive[0], name=evil),))
    draft = draft_of([(20, 0, 0, 0, 0, 0, 3)], [0], [((20, 21), (0, 1))], view=view, models=(DistinctLDiversity(l=1),))
    page = partition_report(draft, **(WORDS | {"study": evil}))
    assert "<script" not in page
    parsed(page)


@settings(max_examples=30, deadline=None)
@given(draft=drafts())
def test_any_draft_has_a_report(draft):
    page = partition_report(draft, **WORDS)
    parsed(page)
    kept = draft.partition.group != SUPPRESSED
    assert f"{int(draft.partition.cells.counts.sum()):,}" in page
    assert kept.any()


def test_buckets_have_no_loss():
    page = partition_report(small_draft(form="anatomy", models=(DistinctLDiversity(l=1),)), **WORDS)
    assert "Loss by attribute" not in page and "buckets" in page


def test_a_private_release_has_a_short_one():
    page = counts_report(
        counts_draft(), study="census", release="dp", method="diffgen", date="2026-11-16", promise=["ε = 1"],
        receipt=[{"on": "counts", "epsilon": "1/2", "mechanism": "discrete Laplace"}], left="3",
    )  # fmt: skip
    text = " ".join(parsed(page).text)
    assert "discrete Laplace" in text and "1/2" in text and "ε left of the study's budget" in text


def test_no_bars_are_no_trouble():
    assert "<rect" not in histogram([], [], title="nothing")
