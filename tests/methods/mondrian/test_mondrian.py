"""Mondrian against a slow second implementation, record by record, and against all cuts there are."""

import csv
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.text import from_csv
from sfumato.errors import InfeasibleError, StudyError
from sfumato.methods import METHODS, Mondrian, build, recipe_of
from sfumato.methods.mondrian.axes import Axes
from sfumato.methods.mondrian.cuts import Level, sort
from sfumato.privacy.models import DistinctLDiversity, KAnonymity, TCloseness
from sfumato.release.region_loss import general_loss
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.examples import examples
from tests.methods.partition_tables import (
    cells_of,
    groups_of,
    lost,
    partition_tables,
    partition_view,
    slow_closeness,
)
from tests.raising import raises_code
from tests.small_domains import JOB, flat, grid

KS = st.integers(1, 6)
PARAMETERS = st.fixed_dictionaries(
    {
        "strict": st.booleans(),
        "choose": st.sampled_from(["widest", "info_gain", "loss"]),
        "ranges": st.sampled_from(["tight", "partition"]),
        "ordered": st.sampled_from([(), "all"]),
        "suppress": st.sampled_from(["0", "0.1", "0.5"]),
    }
)


def span(domain, codes, *, ordered):
    """The tight region over some codes."""
    if domain.taxonomy is None or ordered:
        return min(codes), max(codes) + 1
    return domain.taxonomy.lowest_common(codes)


def parts(domain, records, place, *, ordered):
    """What Mondrian's cut of a group on one attribute gives, or None where there is nothing to cut."""
    codes = [record[place] for record in records]
    start, stop = span(domain, codes, ordered=ordered)
    if domain.taxonomy is None or ordered:
        places = sorted(set(codes))[:-1]
        if not places:
            return None
        sides = [([r for r in records if r[place] <= p], [r for r in records if r[place] > p]) for p in places]
        return list(max(sides, key=lambda side: (min(map(len, side)), len(side[0]))))
    children = domain.children(start, stop)
    found = [[r for r in records if a <= r[place] < b] for a, b in children]
    return [part for part in found if part] or None


def slow_mondrian(view, records, keeps, *, ordered=False):
    """Strict Mondrian, widest first, by recursion."""
    widths = []
    for place, attribute in enumerate(view.quasi):
        start, stop = span(attribute.domain, [r[place] for r in records], ordered=ordered)
        widths.append((stop - start - 1) / max(1, attribute.domain.size - 1))
    for place in sorted(range(len(widths)), key=lambda p: (-widths[p], p)):
        cut = parts(view.quasi[place].domain, records, place, ordered=ordered)
        if cut is not None and all(keeps(part) for part in cut):
            return [leaf for part in cut for leaf in slow_mondrian(view, part, keeps, ordered=ordered)]
    return [records]


def as_sets(groups):
    return sorted(sorted(members) for members in groups)


@pytest.mark.parametrize("ordered", [(), "all"])
@settings(max_examples=examples(quick=40, slow=100))
@given(table=partition_tables(), k=KS)
def test_it_is_the_slow_one(ordered, table, k):
    view, records = table
    if len(records) < k:
        return
    draft = Mondrian(k=k, ordered=ordered).draft(view, cells_of(view, records))
    wanted = slow_mondrian(view, records, lambda part: len(part) >= k, ordered=bool(ordered))
    assert as_sets(groups_of(draft.partition).values()) == as_sets(wanted)


@settings(max_examples=examples(quick=40, slow=100))
@given(table=partition_tables(), k=KS, l=st.integers(1, 3), t=st.sampled_from(["0.2", "0.4", "1"]))
def test_it_is_the_slow_one_for_any_promise(table, k, l, t):  # noqa: E741
    view, records = table
    ill = len(view.quasi)
    if len(records) < k or len({r[ill] for r in records}) < l:
        return

    def keeps(part):
        near = slow_closeness(part, records, ill) <= float(t) + 1e-9
        return len(part) >= k and len({r[ill] for r in part}) >= l and near

    promise = (DistinctLDiversity(l=l), TCloseness(t=t, distance="equal"))
    draft = Mondrian(k=k, privacy=promise).draft(view, cells_of(view, records))
    assert as_sets(groups_of(draft.partition).values()) == as_sets(slow_mondrian(view, records, keeps))
    assert draft.models == (KAnonymity(k=k), *promise)


@settings(max_examples=examples(quick=60, slow=150))
@given(table=partition_tables(), k=KS, l=st.integers(1, 3), parameters=PARAMETERS)
def test_every_record_is_in_its_region_and_every_group_keeps_the_promise(table, k, l, parameters):  # noqa: E741
    view, records = table
    ill = len(view.quasi)
    if len(records) < k or len({r[ill] for r in records}) < l:
        return
    draft = Mondrian(k=k, privacy={"distinct-l-diversity": l}, **parameters).draft(view, cells_of(view, records))
    groups, boxes = groups_of(draft.partition), draft.partition.boxes
    assert sorted([r for members in groups.values() for r in members] + lost(draft.partition)) == sorted(records)
    assert sorted(groups) == list(range(len(boxes))) and draft.facts["groups"] == len(boxes)
    assert draft.facts["suppressed"] == len(lost(draft.partition)) <= Fraction(parameters["suppress"]) * len(records)
    for number, members in groups.items():
        assert len(members) >= k
        assert len({r[ill] for r in members}) >= l
        for record in members:
            assert np.all(boxes.starts[number] <= record[:ill]) and np.all(record[:ill] < boxes.stops[number])
    regions = [tuple(row) for row in np.hstack([boxes.starts, boxes.stops]).tolist()]
    assert len(set(regions)) == len(regions), "nobody could tell two groups with one region apart"


@given(table=partition_tables(), k=KS, parameters=PARAMETERS)
def test_strict_regions_do_not_overlap(table, k, parameters):
    view, records = table
    if len(records) < k:
        return
    boxes = Mondrian(k=k, **{**parameters, "strict": True}).draft(view, cells_of(view, records)).partition.boxes
    for one in range(len(boxes)):
        for two in range(one):
            apart = (boxes.stops[one] <= boxes.starts[two]) | (boxes.stops[two] <= boxes.starts[one])
            assert apart.any(), (one, two)


@pytest.mark.parametrize("choose", ["widest", "info_gain", "loss"])
@given(table=partition_tables(), k=KS)
def test_no_allowable_cut_is_left(choose, table, k):
    """Not at the median and not anywhere: every cut of every group on every attribute leaves fewer than k somewhere."""
    view, records = table
    if len(records) < k:
        return
    draft = Mondrian(k=k, choose=choose).draft(view, cells_of(view, records))
    for members in groups_of(draft.partition).values():
        for place, attribute in enumerate(view.quasi):
            cut = parts(attribute.domain, members, place, ordered=False)
            assert cut is None or min(map(len, cut)) < k or len(cut) == 1


@given(table=partition_tables(), k=KS, parameters=PARAMETERS, seed=st.integers(0, 9))
def test_the_order_of_the_table_does_not_matter(table, k, parameters, seed):
    view, records = table
    if len(records) < k:
        return
    cells = cells_of(view, records)
    mixed = np.random.default_rng(seed).permutation(len(cells))
    method = Mondrian(k=k, **parameters)
    one = method.draft(view, cells).partition
    two = method.draft(view, Cells(cells.attributes, cells.codes[mixed], cells.counts[mixed])).partition
    assert one.group.tolist() == two.group.tolist()
    assert one.cells.codes.tolist() == two.cells.codes.tolist()
    assert one.boxes.starts.tolist() == two.boxes.starts.tolist()


@given(ages=st.lists(st.integers(0, 8), min_size=1, max_size=60), k=KS)
def test_relaxed_halves_differ_by_one_record_at_most(ages, k):
    """On one attribute relaxed groups are runs of the sorted records, halved and halved again down to k or one age."""
    if len(ages) < k:
        return

    def halves(run):
        half = (len(run) + 1) // 2
        if run[0] == run[-1] or len(run) // 2 < k:
            return [run]
        return [*halves(run[:half]), *halves(run[half:])]

    wanted = {}
    for run in halves(sorted(ages)):
        wanted[run[0], run[-1] + 1] = wanted.get((run[0], run[-1] + 1), 0) + len(run)
    view = partition_view(age=grid(0, 8), sensitive=(), others=False)
    partition = Mondrian(k=k, strict=False).draft(view, cells_of(view, [(age,) for age in ages])).partition
    boxes, groups = partition.boxes, groups_of(partition)
    found = {(int(boxes.starts[g, 0]), int(boxes.stops[g, 0])): len(m) for g, m in groups.items()}
    assert found == wanted


PATIENTS = [(25, "M", 53711), (25, "F", 53712), (26, "M", 53711), (27, "M", 53710), (27, "F", 53712), (28, "M", 53711)]


def test_an_example_by_hand():
    """All three attributes are as wide as their domains, so the first one is cut first; k = 2.

    By age it is 25, 25, 26 against 27, 27, 28, and any further cut leaves somebody alone. By sex it is two women, who
    differ in age alone, against four men, who are cut by age again.
    """
    domains = {"age": grid(25, 28), "sex": flat("F", "M"), "zip": grid(53710, 53712)}
    coded = [(age - 25, int(sex == "M"), place - 53710) for age, sex, place in PATIENTS]

    view = partition_view(**domains, sensitive=(), others=False)
    partition = Mondrian(k=2).draft(view, cells_of(view, coded)).partition
    assert as_sets(groups_of(partition).values()) == as_sets([coded[:3], coded[3:]])
    assert partition.boxes.starts.tolist() == [[0, 0, 1], [2, 0, 0]]
    assert partition.boxes.stops.tolist() == [[2, 2, 3], [4, 2, 3]]
    space = Mondrian(k=2, ranges="partition").draft(view, cells_of(view, coded)).partition.boxes
    assert space.starts.tolist() == [[0, 0, 0], [2, 0, 0]]
    assert space.stops.tolist() == [[2, 2, 3], [4, 2, 3]]

    view = partition_view(**{name: domains[name] for name in ("sex", "age", "zip")}, sensitive=(), others=False)
    turned = [(sex, age, place) for age, sex, place in coded]
    boxes = Mondrian(k=2).draft(view, cells_of(view, turned)).partition.boxes
    assert boxes.starts.tolist() == [[0, 0, 2], [1, 0, 1], [1, 2, 0]]
    assert boxes.stops.tolist() == [[1, 3, 3], [2, 2, 2], [2, 4, 2]]


def test_suppression_lets_a_few_records_go_for_a_cut():
    view = partition_view(job=JOB, sensitive=(), others=False)
    records = [(0,)] * 10 + [(1,)] * 10 + [(2,)]
    assert Mondrian(k=5).draft(view, cells_of(view, records)).facts["groups"] == 1
    draft = Mondrian(k=5, suppress="0.05").draft(view, cells_of(view, records))
    assert (draft.facts["groups"], draft.facts["suppressed"]) == (2, 1)
    assert lost(draft.partition) == [(2,)]
    assert Mondrian(k=5, suppress="0.04").draft(view, cells_of(view, records)).facts["suppressed"] == 0


def test_info_gain_cuts_where_the_class_changes():
    view = partition_view(age=grid(0, 9), height=grid(0, 9), sensitive=())
    records = [(age, height, int(age >= 7)) for age in range(10) for height in range(10)]
    draft = Mondrian(k=25, choose="info_gain", ordered="all").draft(view, cells_of(view, records))
    for members in groups_of(draft.partition).values():
        assert len({r[2] for r in members}) == 1
    plain = groups_of(Mondrian(k=25).draft(view, cells_of(view, records)).partition)
    assert any(len({r[2] for r in members}) == 2 for members in plain.values())


def test_codes_too_wide_for_one_word_are_sorted_all_the_same():
    wide = 2**60
    view = partition_view(money=grid(0, wide), sensitive=(), others=False)
    records = [((i * 0x9E3779B97F4A7C15) % wide,) for i in range(64)] + [(0,), (wide,)]
    found = Mondrian(k=3).draft(view, cells_of(view, records)).partition
    wanted = slow_mondrian(view, records, lambda part: len(part) >= 3)
    assert as_sets(groups_of(found).values()) == as_sets(wanted)
    columns = np.array([[wide, 0, wide, 5, 5]], np.int64)
    ones = np.ones(5, np.int64)
    level = Level(columns, ones, np.arange(5), np.array([0, 3, 5]), np.array([3, 2]), ones, ones, ones)
    rows = sort(level, Axes.of(view.quasi).spans(columns, level.first[:-1]), np.array([0, 1]), np.array([0, 0]))
    assert rows.places.tolist() == [1, 0, 2, 3, 4]
    assert np.diff(rows.runs).astype(bool).tolist() == [True, False, True, False]


@pytest.mark.parametrize("parameters", [{}, {"strict": False}, {"choose": "info_gain"}, {"choose": "loss"}])
def test_tables_with_little_in_them(parameters):
    view = partition_view(age=grid(3, 3), job=JOB)
    one = Mondrian(k=1, **parameters).draft(view, cells_of(view, [(0, 2, 1, 0)])).partition
    assert one.boxes.starts.tolist() == [[0, 2]] and one.boxes.stops.tolist() == [[1, 3]]
    constant = Mondrian(k=2, **parameters).draft(view, cells_of(view, [(0, 2, 1, 0)] * 50)).partition
    assert len(constant.boxes) == 1 and not constant.suppressed


@pytest.mark.parametrize("wide", [2**53, 2**60])
def test_the_least_loss_is_found_on_the_finest_grids(wide):
    """Codes of a fine grid are moved group by group; they must not leave their words. A coarse grid gives the cuts."""
    view, coarse = (partition_view(money=grid(0, end), age=grid(0, 9)) for end in (wide, 2**10))
    records = [((i * 389) % 1024, i % 10, 0, 0) for i in range(400)]
    shift = wide.bit_length() - 11
    found, wanted = (
        Mondrian(k=3, choose="loss").draft(v, cells_of(v, rows)).partition
        for v, rows in ((view, [(r[0] << shift, *r[1:]) for r in records]), (coarse, records))
    )
    assert len(wanted.boxes) > 60, "many groups"
    assert found.group.tolist() == wanted.group.tolist()


def test_what_cannot_be_is_refused():
    view = partition_view(age=grid(0, 9))
    with raises_code(InfeasibleError, "SF-INFEASIBLE-013", match="set k to 2 or less"):
        Mondrian(k=3).draft(view, cells_of(view, [(1, 0, 0), (2, 0, 0)]))
    with raises_code(InfeasibleError, "SF-INFEASIBLE-011"):
        Mondrian(k=1).draft(view, cells_of(view, []))
    with raises_code(StudyError, "SF-STUDY-076", match="k is 0"):
        Mondrian(k=0)
    with raises_code(StudyError, "SF-STUDY-055"):
        Mondrian()
    with raises_code(StudyError, "SF-STUDY-038"):
        Mondrian(k=2).check(partition_view())
    with raises_code(StudyError, "SF-STUDY-079"):
        Mondrian(privacy={"distinct-l-diversity": 2}).check(partition_view(age=grid(0, 9), sensitive=()))
    with raises_code(StudyError, "SF-STUDY-063", match="needs one class attribute, and the release has none"):
        Mondrian(k=2, choose="info_gain").check(partition_view(age=grid(0, 9), others=False))
    with raises_code(StudyError, "SF-STUDY-068", match="ordered names 'height', which is no quasi-identifier here"):
        Mondrian(k=2, ordered=["height"]).check(view)
    for ordered in (3, None, True, [1], {"age": 1}, [["age"]]):
        with raises_code(StudyError, "SF-STUDY-069"):
            Mondrian(k=2, ordered=ordered)
    for wrong, says in (({"choose": "best"}, "widest, info_gain, loss"), ({"ranges": "wide"}, "tight, partition")):
        with raises_code(StudyError, "SF-STUDY-057", match=f"choose one of: {says}"):
            Mondrian(k=2, **wrong)


def test_the_forecast_is_in_words():
    view = partition_view(age=grid(0, 9), job=JOB)
    said = Mondrian(k=5, privacy={"distinct-l-diversity": 2}, suppress="0.02").forecast(view).sentences
    assert "cut at the median: age" in said and "cut into the children of a taxonomy node: job" in said
    assert "every group of records that look alike has at least 5 of them (k-anonymity)" in said
    assert "up to 2 % of the records may be suppressed where that allows a cut" in said
    assert all(sentence[0].islower() and not sentence.endswith(".") for sentence in said)
    assert "cut at the median, whose records may go to either side: age, job" in (
        Mondrian(k=5, strict=False, ordered="all").forecast(view).sentences
    )


@given(k=KS, parameters=PARAMETERS)
def test_a_recipe_can_be_made_from_it_and_it_from_the_recipe(k, parameters):
    method = Mondrian(k=k, privacy={"t-closeness": "0.2"}, **parameters)
    again = build(recipe_of(method, name="r"))
    assert again == method
    assert METHODS["mondrian"] is Mondrian and method.spends is None


NAMES = {
    "sex": "sex", "age": "age", "race": "race", "marital-status": "marital_status", "education": "education",
    "native-country": "native_country", "workclass": "workclass", "occupation": "occupation", "salary-class": "income",
}  # fmt: skip


@pytest.fixture(scope="module")
def adult(shared_data):
    """The 30,162 records without a missing value, with ARX's nine attributes and hierarchies."""
    with (shared_data / "adult" / "train.csv").open(encoding="utf-8") as file:
        records = [r for r in csv.DictReader(file) if "?" not in r.values()]
    quasi, columns = [], []
    for name, column in NAMES.items():
        text = (shared_data / "adult" / "hierarchies" / "arx" / f"adult_hierarchy_{name}.csv").read_text("utf-8")
        domain = grid(1, 100) if column == "age" else Categories(taxonomy=from_csv(text))
        quasi.append(Attribute(name=column, role=Role.QUASI_IDENTIFIER, domain=domain))
        columns.append(domain.encode(r[column] for r in records))
    assert len(records) == 30_162 and min(map(min, columns)) >= 0
    view = View(quasi=tuple(quasi), sensitive=(), others=(), unit=RecordUnit())
    return view, cells_of(view, np.stack(columns, axis=1).tolist())


def test_adult_loses_three_hundredths_at_most(adult):
    view, cells = adult
    draft = Mondrian(k=5, choose="loss", ordered="all").draft(view, cells)
    assert np.bincount(draft.partition.group, weights=draft.partition.cells.counts).min() >= 5
    assert general_loss(draft.partition, view) <= 0.03
    plain = general_loss(Mondrian(k=5, ordered="all").draft(view, cells).partition, view)
    assert plain == pytest.approx(0.0401, abs=0.0005)
    grown = general_loss(Mondrian(k=5).draft(view, cells).partition, view)
    assert grown == pytest.approx(0.0852, abs=0.0005)


def test_info_gain_leaves_less_doubt_about_the_class_of_adults(adult):
    view, cells = adult
    target = Attribute(name="income", role=Role.CLASS, domain=view.quasi[-1].domain)
    view = View(quasi=view.quasi[:-1], sensitive=(), others=(target,), unit=RecordUnit())

    def doubt(**parameters):
        bits = 0.0
        for members in groups_of(Mondrian(k=50, **parameters).draft(view, cells).partition).values():
            bits -= sum(n * math.log2(n / len(members)) for n in Counter(r[-1] for r in members).values())
        return bits / 30_162

    assert doubt(choose="info_gain") < 0.95 * doubt()
