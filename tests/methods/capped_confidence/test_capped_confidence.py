"""The cap holds for every published record, counted by somebody else; and the way there is the paper's."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.counts import Cells
from sfumato.errors import InfeasibleError, StudyError
from sfumato.methods import Bucketization, ConfidenceCap, FullDomain, Mondrian, Tds
from sfumato.methods.capped_confidence.algorithm import sample_cells
from sfumato.methods.capped_confidence.climb import _mixed, _tables
from sfumato.methods.capped_confidence.steps import Steps
from sfumato.methods.method import Context
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.release.partition import SUPPRESSED
from sfumato.study.attribute import Attribute, Role
from tests.examples import examples
from tests.methods.partition_tables import CHAIN, DEEP, SEX, cells_of, partition_tables, partition_view
from tests.methods.slow_cap import slow_broken, slow_own, slow_shown
from tests.raising import raises_code
from tests.small_domains import JOB, grid


def published(view, partition):
    """Every published record as (regions, sensitive value)."""
    found = []
    place = len(view.quasi)
    for codes, count, group in zip(
        partition.cells.codes.tolist(), partition.cells.counts.tolist(), partition.group.tolist(), strict=True
    ):
        if group != SUPPRESSED:
            box = tuple(zip(partition.boxes.starts[group].tolist(), partition.boxes.stops[group].tolist(), strict=True))
            found += [(box, codes[place])] * count
    return found


@st.composite
def small_tables(draw):
    view, records = draw(partition_tables(least=5, most=60).filter(_small))
    return view, records * draw(st.integers(1, 5))


def _small(made):
    view, _ = made
    return all(view.domain(a.name).size < 100 for a in view.quasi)


@settings(max_examples=examples(quick=60, slow=150), deadline=None)
@given(
    table=small_tables(),
    rate=st.sampled_from(["1", "0.9", "1/2", "0.2"]),
    distortion=st.sampled_from(["1", "0.6", "0.3", "0"]),
    seed=st.integers(0, 5),
)
def test_every_published_record_keeps_the_cap_by_own_and_by_shown_shares(table, rate, distortion, seed):
    view, records = table
    cells = cells_of(view, records)
    try:
        draft = ConfidenceCap(rate=rate, distortion=distortion).draft(view, cells, Context(source=InsecureSource(seed)))
    except InfeasibleError:
        return
    told = published(view, draft.partition)
    assert draft.facts["published"] == len(told) > 0
    sizes = [view.domain(a.name).size for a in view.quasi]
    wide = len(view.quasi)
    own = [slow_own([r[place] for r in records], size) for place, size in enumerate(sizes)]
    values = slow_own([r[wide] for r in records], 4)
    assert slow_broken(told, Fraction(rate), own, values) == []
    shown = [slow_shown([box[place] for box, _ in told], size) for place, size in enumerate(sizes)]
    assert slow_broken(told, Fraction(rate), shown, slow_own([value for _, value in told], 4)) == []


@settings(max_examples=examples(quick=24, slow=60), deadline=None)
@given(table=small_tables(), rate=st.sampled_from(["1", "0.9", "1/2"]), limit=st.sampled_from(["0.6", "0.25", "0"]))
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_distortion_stays_within_its_limit_and_nobody_is_lost_or_invented(table, rate, limit):
    view, records = table
    cells = cells_of(view, records)
    try:
        draft = ConfidenceCap(rate=rate, distortion=limit).draft(view, cells)
    except InfeasibleError:
        return
    drawn = draft.partition.cells
    assert int(drawn.counts.sum()) == int(Fraction(rate) * len(records))
    whole = {tuple(codes): count for codes, count in zip(cells.codes.tolist(), cells.counts.tolist(), strict=True)}
    for codes, count in zip(drawn.codes.tolist(), drawn.counts.tolist(), strict=True):
        assert 0 < count <= whole[tuple(codes)]
    assert all(float(one["distortion"]) <= float(Fraction(limit)) + 1e-3 for one in draft.owner["distortion"])
    assert sum(one["records"] for one in draft.owner["distortion"]) == draft.facts["published"]
    assert sum(draft.owner["suppressed"].values()) == draft.facts["suppressed"]
    kept = draft.partition.group != SUPPRESSED
    group = draft.partition.group[kept]
    codes = drawn.codes[kept][:, : len(view.quasi)]
    assert np.all((draft.partition.boxes.starts[group] <= codes) & (codes < draft.partition.boxes.stops[group]))


@settings(max_examples=examples(quick=16, slow=40), deadline=None)
@given(table=partition_tables(least=20, most=40))
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_two_sensitive_attributes_are_both_capped(table):
    view, records = table
    two = partition_view(("ill", "also"), others=False, **{a.name: a.domain for a in view.quasi})
    wide = len(view.quasi)
    records = [(*r[:wide], r[wide], r[wide + 1]) for r in records] * 3
    try:
        draft = ConfidenceCap(rate="0.8").draft(two, cells_of(two, records))
    except InfeasibleError:
        return
    assert all(model.holds(draft.partition.statistics(two)).all() for model in draft.models)


@pytest.mark.usefixtures("seeded")  # which records are drawn decides
def test_a_population_that_is_given_caps_and_goes_into_the_promise():
    view = partition_view(sex=SEX)
    cells = cells_of(view, [(0, 0, 0)] * 10 + [(1, 1, 0)] * 10 + [(0, 1, 0)] * 10 + [(1, 0, 0)] * 10)
    even = ConfidenceCap(rate="0.9", distortion=1).draft(view, cells)
    assert even.facts["suppressed"] == 0
    rare = ConfidenceCap(rate="0.9", distortion=1, population={"ill": {"flu": "0.0001"}})
    draft = rare.draft(view, cells)
    lost = draft.partition.group == SUPPRESSED
    assert set(draft.partition.column("ill")[lost].tolist()) == {0}, "flu is rarer than the table tells"
    assert [model.shares is None for model in draft.models] == [True, False]


@pytest.mark.usefixtures("seeded")  # which records are drawn decides
def test_a_rule_stands_in_place_of_independence():
    view = partition_view(sex=SEX)
    records = [(0, 0, 0)] * 10 + [(1, 1, 0)] * 10 + [(0, 1, 0)] * 10 + [(1, 0, 0)] * 10
    rule = {"where": {"sex": "f"}, "value": "flu", "confidence": "0.0001"}
    draft = ConfidenceCap(rules=[rule], distortion=0).draft(view, cells_of(view, records))
    lost = draft.partition.cells.codes[draft.partition.group == SUPPRESSED]
    assert {tuple(codes[:2]) for codes in lost.tolist()} == {(0, 0)}, "women with flu, whom the rule is about"
    free = ConfidenceCap(rules=[rule], distortion=1).draft(view, cells_of(view, records))
    assert free.facts["suppressed"] == 0, "as anybody they are outside the rule"


@pytest.mark.usefixtures("seeded")  # which records are drawn decides
def test_levels_and_least_widths_are_where_records_begin():
    age = Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=grid(0, 99), at_least=Fraction(5))
    view = partition_view(job=JOB)
    view = type(view)(quasi=(age, *view.quasi), sensitive=view.sensitive, others=(), unit=view.unit)
    rng = np.random.default_rng(1)
    records = list(zip(rng.integers(0, 100, 4000), rng.integers(0, 4, 4000), rng.integers(0, 4, 4000), strict=True))
    boxes = (
        ConfidenceCap(levels={"job": 1})
        .draft(view, cells_of(view, [tuple(map(int, r)) for r in records]))
        .partition.boxes
    )
    widths = boxes.stops - boxes.starts
    assert widths[:, 0].min() == 5 and np.all(boxes.starts[:, 0] % 5 == 0)
    assert widths[:, 1].min() == 2


def test_uneven_trees_count_a_leaf_as_exact_and_step_to_the_next_different_region():
    attribute = Attribute(name="q", role=Role.QUASI_IDENTIFIER, domain=DEEP)
    steps = Steps.of(attribute, np.arange(DEEP.size))
    for code in range(DEEP.size):
        node, seen = int(steps.first[code]), []
        while True:
            seen.append((int(steps.starts[node]), int(steps.stops[node]), float(steps.distortion[node])))
            if steps.above[node] == node:
                break
            node = int(steps.above[node])
        ranges = [(a, b) for a, b, _ in seen]
        assert len(set(ranges)) == len(ranges) and ranges[0] == (code, code + 1) and ranges[-1] == (0, DEEP.size)
        assert seen[0][2] == 0 and seen[-1][2] == 1 and sorted(d for *_, d in seen) == [d for *_, d in seen]
    assert int(steps.left[steps.first[5]]) == len(DEEP.taxonomy.labels), "e ends early and counts as at the deepest"
    only = Steps.of(Attribute(name="q", role=Role.QUASI_IDENTIFIER, domain=CHAIN), np.zeros(1, np.int64))
    assert only.distortion.tolist() == [0.0] and only.above.tolist() == [0]


def test_many_attributes_need_hashes_and_give_the_same_groups(monkeypatch):
    view = partition_view(a=grid(0, 300), b=JOB, c=SEX)
    rng = np.random.default_rng(2)
    records = [tuple(map(int, r)) for r in rng.integers(0, [301, 4, 2, 4, 2], (3000, 5))]
    cells = cells_of(view, records)
    plain = ConfidenceCap().draft(view, cells, Context(source=InsecureSource(1)))
    monkeypatch.setattr("sfumato.methods.capped_confidence.climb._ROOM", 10)
    hashed = ConfidenceCap().draft(view, cells, Context(source=InsecureSource(1)))
    assert plain.partition.group.tolist() == hashed.partition.group.tolist()
    assert plain.partition.boxes.starts.tolist() == hashed.partition.boxes.starts.tolist()
    assert len(np.unique(np.concatenate([_mixed(place, 10_000) for place in range(5)]))) == 50_000
    assert _tables([])[:1] == []


@pytest.mark.usefixtures("seeded")  # which records are drawn decides
def test_a_hundred_million_points_cost_what_is_occupied():
    view = partition_view(a=grid(0, 10**10))
    rng = np.random.default_rng(3)
    records = [(int(a), int(i), 0) for a, i in zip(rng.integers(0, 10**10, 500), rng.integers(0, 4, 500), strict=True)]
    draft = ConfidenceCap(distortion=1).draft(view, cells_of(view, records))
    assert draft.facts["published"] == 450


def test_a_missing_number_is_a_region_of_its_own_below_the_root():
    age = replace(grid(0, 9), missing=10)
    steps = Steps.of(Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=age), np.array([10, 3]))
    assert (int(steps.starts[steps.first[0]]), int(steps.stops[steps.first[0]])) == (10, 11)
    assert int(steps.starts[steps.above[steps.first[0]]]) == 0 and int(steps.stops[-1]) == 11
    assert steps.distortion[steps.first[0]] == 0 and steps.distortion[-1] == 1
    alone = Steps.of(
        Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=replace(grid(0, 0), missing=1)), np.array([0, 1])
    )
    assert alone.distortion[alone.first].tolist() == [0, 0] and alone.stops.max() == 2


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_what_is_drawn_is_half_to_even_and_all_at_rate_one():
    cells = Cells(("a",), np.array([[0], [1]]), np.array([2, 3]))
    assert int(sample_cells(cells, Fraction(1, 2), SecureSource()).counts.sum()) == 2
    assert sample_cells(cells, Fraction(1), SecureSource()) is cells
    with raises_code(InfeasibleError, "SF-INFEASIBLE-008"):
        sample_cells(cells, Fraction(1, 100), SecureSource())


def test_a_table_of_one_is_refused_with_a_way_out():
    view = partition_view(sex=SEX)
    with raises_code(InfeasibleError, "SF-INFEASIBLE-007"):
        ConfidenceCap(rate=1, distortion=0).draft(view, cells_of(view, [(0, 0, 0), (1, 1, 0)]))


@pytest.mark.parametrize(
    ("given_", "problem"),
    [
        ({"rate": 0}, "the rate is 0"),
        ({"rate": "much"}, "which is no number"),
        ({"distortion": 2}, "the distortion is 2"),
        ({"levels": 3}, "levels is not a mapping"),
        ({"levels": {"q": "0.5"}}, "lowest level of 'q'"),
        ({"population": {"q": 3}}, "population is no mapping"),
        ({"population": {"q": {"f": 3}}}, "share of 'f' of 'q' is 3"),
        ({"rules": {"where": 1}}, "rules is no list"),
        ({"rules": [{"where": {}}]}, "does not have `where`, `value` and `confidence`"),
        ({"rules": [{"where": {}, "value": 1, "confidence": 0}]}, "names no region"),
        ({"rules": [{"where": {"q": "f"}, "value": 1, "confidence": 2}]}, "confidence of a rule is 2"),
    ],
)
def test_nonsense_is_refused_when_it_is_written(given_, problem):
    with pytest.raises(StudyError, match=problem):
        ConfidenceCap(**given_)


@pytest.mark.parametrize(
    ("given_", "problem"),
    [
        ({"levels": {"zip": 1}}, "levels names 'zip'"),
        ({"levels": {"q": 9}}, "level 9 or above.*from 0"),
        ({"attribute": "zip"}, "about 'zip', which is no sensitive attribute"),
        ({"population": {"zip": {"f": "0.5"}}}, "shares names 'zip'"),
        ({"population": {"q": {"x": "0.5"}}}, "'x' is no value, node or interval of 'q'"),
        ({"population": {"q": {"f": "0.5", "m": "0.4"}}}, "add up to 0.9 in place of 1"),
        ({"population": {"q": {"f": "0.7", "m": "0.4"}}}, "add up to 1.1 in place of 1"),
        ({"rules": [{"where": {"zip": "f"}, "value": "flu", "confidence": 0}]}, "a rule names 'zip'"),
        ({"rules": [{"where": {"q": "f"}, "value": "plague", "confidence": 0}]}, "about 'plague'"),
    ],
)
def test_what_does_not_fit_the_view_is_refused_before_any_work(given_, problem):
    with pytest.raises(StudyError, match=problem):
        ConfidenceCap(**given_).check(partition_view(q=SEX))


def test_a_file_of_a_population_is_opened_by_a_release_alone():
    view = partition_view(q=SEX)
    with raises_code(StudyError, "SF-STUDY-040"):
        ConfidenceCap(population="people.csv").draft(view, cells_of(view, [(0, 0, 0)]))


@pytest.mark.parametrize("method", [Bucketization, FullDomain, Mondrian, Tds])
def test_other_methods_cannot_search_for_it(method):
    with raises_code(StudyError, "SF-STUDY-058"):
        method(privacy={"capped-confidence": "0.9"}).check(partition_view(q=SEX))


def test_a_plan_says_what_is_drawn_and_where_statistics_come_from():
    view = partition_view(q=SEX, job=JOB)
    words = " ".join(ConfidenceCap(levels={"job": 1}).forecast(view).sentences)
    assert "90 % of the records are drawn" in words and "job (level 1)" in words
    assert "rare records look expected" in words
    given_ = ConfidenceCap(population={"q": {"f": "0.5"}}, rate=1).forecast(view).sentences
    assert any("given for q" in said for said in given_)
    assert not any("drawn at random, and no others" in said for said in given_)
