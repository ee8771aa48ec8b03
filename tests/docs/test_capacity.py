"""The estimate for tables that nobody has measured is what its program prints."""

from pathlib import Path

import pytest

from bench.capacity import HEAD, estimate, line, read_measured

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def measured():
    return read_measured((DOCS / "explanation" / "benchmarks.md").read_text(encoding="utf-8"))


def test_every_release_was_measured_at_two_sizes_on_every_engine(measured):
    assert len(measured) == len({(one.release, one.engine, one.records) for one in measured}) == 6 * 3 * 2
    assert {one.records for one in measured} == {1_000_000, 20_000_000}


def test_the_page_has_the_estimate(measured):
    page = (DOCS / "reference" / "scale.md").read_text(encoding="utf-8")
    assert "\n".join([HEAD, *estimate(measured, 1_000_000_000)]) in page


def test_at_the_measured_sizes_the_line_is_what_was_measured(measured):
    few, many = ([one for one in measured if one.records == records] for records in (1_000_000, 20_000_000))
    for one, two in zip(few, many, strict=True):
        pair = (one.records, one.seconds), (two.records, two.seconds)
        assert line(*pair, 20_000_000) == pytest.approx(max(one.seconds, two.seconds))
    assert line((1, 3.0), (2, 5.0), 4) == 9.0
    assert line((1, 5.0), (2, 3.0), 4) == 5.0, "noise never makes a larger table cheaper"
