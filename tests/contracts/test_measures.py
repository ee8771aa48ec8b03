"""What every registered measure must do, whichever it is; there is no list to forget."""

import pickle
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from math import isnan
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES, Reading
from sfumato.evaluate.measures.measure import Better, Kind, Measure, Speed
from sfumato.release.partition import SUPPRESSED, Boxes, Partition
from sfumato.release.shown import shown_records
from sfumato.workflow.reading.report_evidence import affordable_measures
from tests.evaluate.releases import releases, shown_of, small_tables
from tests.examples import examples
from tests.made_drafts import records_draft
from tests.methods.partition_tables import cells_of

EVERY = pytest.mark.parametrize("measure", MEASURES.values(), ids=list(MEASURES))
FEW = settings(
    max_examples=examples(quick=6, slow=30), suppress_health_check=[HealthCheck.too_slow]
)  # some run attacks or learn


def beside(table, draft, view):
    return Evidence(view=view, raw=table, shown=shown_records(draft))


def trivial(view, cells, *, suppressed=False):
    """All quasi-identifiers removed, or all records suppressed."""
    sizes = np.array([[view.domain(a.name).size for a in view.quasi]])
    boxes = Boxes(tuple(a.name for a in view.quasi), np.zeros_like(sizes), sizes)
    group = np.full(len(cells), SUPPRESSED if suppressed else 0)
    return records_draft(view, Partition(cells, group, boxes))


def original(view, cells):
    """Every record as it is, alike ones together."""
    exact, group = np.unique(cells.codes[:, : len(view.quasi)], axis=0, return_inverse=True)
    boxes = Boxes(tuple(a.name for a in view.quasi), exact, exact + 1)
    return records_draft(view, Partition(cells, group.ravel(), boxes))


@st.composite
def grouped(draw):
    """A table and its records in any groups, each with the region around it; some may be suppressed."""
    view, records = draw(small_tables())
    cells = cells_of(view, records)
    few = draw(st.integers(1, 4))
    group = np.array(draw(st.lists(st.integers(-1, few - 1), min_size=len(cells), max_size=len(cells))), np.int64)
    used = np.unique(group[group != SUPPRESSED])
    exact = cells.codes[:, : len(view.quasi)]
    low = [exact[group == one].min(axis=0) for one in used]
    high = [exact[group == one].max(axis=0) + 1 for one in used]
    width = len(view.quasi)
    boxes = Boxes(
        tuple(a.name for a in view.quasi),
        np.array(low, np.int64).reshape(-1, width),
        np.array(high, np.int64).reshape(-1, width),
    )
    place = np.where(group == SUPPRESSED, SUPPRESSED, np.searchsorted(used, group))
    form = draw(st.sampled_from(["generalised", "bucketized", "anatomy"]))
    return view, cells, records_draft(view, Partition(cells, place, boxes), form=form)


def sound(measure, evidence):
    """The reading, if it applies, after looking at everything that it promises of itself."""
    reason = measure.refuses(evidence)
    if reason is not None:
        assert isinstance(reason, str) and len(reason.split()) >= 2, "in words"
        assert reason[0] == reason[0].lower() or not reason[0].isalpha(), "as a part of a sentence"
        assert not reason.endswith(".")
        return None
    reading = measure.read(evidence)
    assert isinstance(reading, Reading) and isinstance(reading.value, float)
    assert not isnan(reading.value)
    low, high = measure.bounds
    assert low is None or reading.value >= low - 1e-9
    assert high is None or reading.value <= high + 1e-9
    assert all(isinstance(name, str) for name in reading.details)
    return reading.value


@EVERY
def test_it_says_what_it_is(measure):
    assert measure.name == measure.name.lower() and " " not in measure.name
    assert measure.title and measure.summary and measure.__doc__
    assert not measure.summary.endswith("."), "it follows the title"
    assert measure.kind in get_args(Kind) and measure.better in get_args(Better)
    assert measure.unit and measure.unit == measure.unit.strip()
    low, high = measure.bounds
    assert low is None or high is None or low < high
    if measure.kind in {"privacy loss", "utility loss", "risk"}:
        assert measure.better == "lower"


@EVERY
def test_it_declares_what_the_report_needs_on_its_class(measure):
    assert issubclass(measure, Measure)
    assert measure.speed in get_args(Speed)
    assert isinstance(measure.wide, bool) and isinstance(measure.attack, bool)
    for value in (0.0, 0.25, 0.5):
        said = measure().means(value)
        assert said.endswith(".") and not said[0].islower() and len(said.split()) > 4


# Of the measures at hand: at which sizes the owner's report takes each. (Distinct records, attributes, distinct records
# × sensitive values): small; many attributes; some records; many records; many values; many records and values.
SIZES = (
    (5_000, 50, 1),
    (5_000, 51, 1),
    (50_000, 5, 1),
    (50_001, 5, 1),
    (5_000, 5, 20_000_001),
    (50_001, 5, 20_000_001),
)
ALWAYS, MEDIUM, SLOW = (1, 1, 1, 1, 1, 1), (1, 1, 1, 0, 1, 0), (1, 0, 0, 0, 1, 0)
MEDIUM_WIDE, SLOW_WIDE = (1, 1, 1, 0, 0, 0), (1, 0, 0, 0, 0, 0)
TAKEN = {
    "average-group-size": ALWAYS,
    "cell-kl": MEDIUM_WIDE,
    "classification-loss": MEDIUM,
    "classification-metric": MEDIUM,
    "confidence-excess": ALWAYS,
    "discernibility": ALWAYS,
    "distortion": MEDIUM,
    "general-loss": ALWAYS,
    "guessed-values": MEDIUM_WIDE,
    "histogram-city-block": SLOW_WIDE,
    "histogram-kl": SLOW_WIDE,
    "journalist-risk": ALWAYS,
    "linked-people": MEDIUM_WIDE,
    "marginals-1": MEDIUM,
    "marginals-2": SLOW,
    "marketer-risk": ALWAYS,
    "mean-ploss": ALWAYS,
    "mean-ploss-li": ALWAYS,
    "own-record-loss": MEDIUM,
    "ploss": ALWAYS,
    "ploss-li": ALWAYS,
    "population-uniques": MEDIUM,
    "prosecutor-risk": ALWAYS,
    "query-error": MEDIUM,
    "query-error-large": MEDIUM,
    "query-error-small": MEDIUM,
    "records-at-risk": ALWAYS,
    "records-over-confidence": ALWAYS,
    "sample-uniques": ALWAYS,
    "suppressed": ALWAYS,
    "uloss": SLOW,
}


@pytest.mark.parametrize("name", TAKEN)
def test_the_report_takes_a_measure_at_the_sizes_at_which_it_is_affordable(name):
    assert tuple(int(name in affordable_measures(*size)) for size in SIZES) == TAKEN[name]


def test_the_report_takes_every_measure_of_a_small_table_and_quick_ones_of_any():
    assert affordable_measures(*SIZES[0]) == list(MEASURES)
    assert affordable_measures(10**9, 10**3, 1) == [one.name for one in MEASURES.values() if one.speed == "quick"]


def test_the_attacks_are_those_that_look_people_up():
    assert [one.name for one in MEASURES.values() if one.attack] == ["guessed-values", "linked-people"]


@EVERY
def test_it_is_a_value_whose_parameters_all_have_defaults(measure):
    assert is_dataclass(measure)
    one = measure()
    assert one == measure() and hash(one) == hash(measure())
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        one.name = "another"
    for field in fields(measure):
        assert replace(one, **{field.name: getattr(one, field.name)}) == one


@EVERY
@FEW
@given(releases())
def test_any_release_is_measured_within_bounds_or_refused_in_words(measure, evidence):
    sound(measure(), evidence)


@EVERY
@FEW
@given(grouped())
def test_any_records_in_groups_are_measured_within_bounds_or_refused_in_words(measure, made):
    view, cells, draft = made
    sound(measure(), beside(cells, draft, view))


@EVERY
@FEW
@given(grouped())
def test_the_same_evidence_gives_the_same_number_and_is_left_as_it_was(measure, made):
    view, cells, draft = made
    evidence = beside(cells, draft, view)
    before = evidence.shown.weights.copy(), evidence.raw.codes.copy(), evidence.raw.counts.copy()
    first = sound(measure(), evidence)
    assert sound(measure(), evidence) == first, "with what was kept"
    assert sound(measure(), beside(cells, draft, view)) == first, "from the start"
    for old, new in zip(before, (evidence.shown.weights, evidence.raw.codes, evidence.raw.counts), strict=True):
        assert np.array_equal(old, new)


@EVERY
@FEW
@given(small_tables())
def test_a_release_of_nothing_is_refused_or_within_bounds(measure, table):
    view, records = table
    cells = cells_of(view, records)
    sound(measure(), beside(cells, trivial(view, cells, suppressed=True), view))
    bare = replace(view, sensitive=(), others=())
    sound(measure(), Evidence(view=bare, raw=cells, shown=shown_of(bare, [], {})))


@EVERY
@FEW
@given(small_tables())
def test_the_original_loses_no_utility_and_nothing_published_loses_no_privacy(measure, table):
    view, records = table
    cells = cells_of(view, records)
    best = sound(measure(), beside(cells, original(view, cells), view))
    worst = sound(measure(), beside(cells, trivial(view, cells), view))
    if best is None or worst is None:
        return
    if measure.kind == "utility loss":
        assert best <= worst + 1e-9
    elif measure.kind == "privacy loss" and measure.name != "own-record-loss":
        # One's own record changes the whole table's distribution, too, and nothing in a group of one's like.
        assert worst <= best + 1e-9
        assert worst == pytest.approx(0, abs=1e-9), "the table's own distribution tells nothing of a person"
