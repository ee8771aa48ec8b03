"""The optimum, by trying every node with sets and fractions; and what ARX finds on its own table."""

import csv
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.text import from_csv
from sfumato.errors import InfeasibleError, StudyError
from sfumato.methods import FullDomain, build, recipe_of
from sfumato.release.partition import SUPPRESSED
from sfumato.release.region_loss import general_loss
from sfumato.study.recipe import Recipe
from tests.examples import examples
from tests.methods.full_domain.test_lattice import padded
from tests.methods.small_views import BANDS, UNEVEN, cells_of, tables, view_of
from tests.raising import raises_code
from tests.small_domains import JOB, flat, grid


def distinct(least):
    return lambda group, table: len(set(group)) >= least


def probabilistic(least):
    return lambda group, table: max(Counter(group).values()) * least <= len(group)


def entropy(least):
    def holds(group, table):
        shares = [n / len(group) for n in Counter(group).values()]
        return -sum(p * log(p) for p in shares) >= log(least) - 1e-12

    return holds


def close(t):
    """Total variation, the EMD of equal distances."""

    def holds(group, table):
        here, there = Counter(group), Counter(table)
        apart = sum(abs(Fraction(here[v], len(group)) - Fraction(there[v], len(table))) for v in there)
        return apart / 2 <= t

    return holds


PROMISES = [
    ({}, []),
    ({"distinct-l-diversity": 2}, [distinct(2)]),
    ({"probabilistic-l-diversity": "3/2"}, [probabilistic(Fraction(3, 2))]),
    ({"entropy-l-diversity": 2}, [entropy(2)]),
    ({"t-closeness": "0.3"}, [close(Fraction(3, 10))]),
    ({"distinct-l-diversity": 2, "t-closeness": "1/4"}, [distinct(2), close(Fraction(1, 4))]),
]


def every_node(view, records, k, promises, allowed):
    """(loss, −groups, levels, suppressed) of every node that can be published."""
    width = len(view.quasi)
    tables = [padded(a.domain.taxonomy) for a in view.quasi]
    sizes = [len(table) for table in tables]
    for levels in product(*(range(len(table[0])) for table in tables)):
        cover = [Counter(row[level] for row in table) for table, level in zip(tables, levels, strict=True)]
        groups = defaultdict(list)
        for record in records:
            groups[tuple(t[c][level] for t, c, level in zip(tables, record, levels, strict=False))].append(
                record[width]
            )
        while True:
            table = [value for group in groups.values() for value in group]
            broken = [
                key
                for key, group in groups.items()
                if len(group) < k or not all(holds(group, table) for holds in promises)
            ]
            if not broken:
                break
            for key in broken:
                del groups[key]
        lost = len(records) - sum(map(len, groups.values()))
        if groups and lost <= allowed:
            blur = sum(
                len(group) * Fraction(cover[a][key[a]] - 1, max(1, sizes[a] - 1))
                for key, group in groups.items()
                for a in range(width)
            )
            yield (blur + lost * width) / (len(records) * width), -len(groups), levels, lost


@settings(max_examples=examples(quick=120, slow=300))
@given(
    table=tables(),
    k=st.integers(1, 5),
    promise=st.sampled_from(PROMISES),
    suppress=st.sampled_from(["0", "0.1", "1/4", "0.5", "1"]),
)
def test_it_is_the_best_of_all_nodes(table, k, promise, suppress):
    view, records = table
    asked, promises = promise
    allowed = int(Fraction(suppress) * len(records))
    method = FullDomain(k=k, privacy=asked, suppress=suppress)
    nodes = sorted(every_node(view, records, k, promises, allowed))
    if not nodes:
        with pytest.raises(InfeasibleError):
            method.draft(view, cells_of(view, records))
        return
    draft = method.draft(view, cells_of(view, records))
    loss, groups, levels, lost = nodes[0]
    assert draft.facts["loss"] == pytest.approx(float(loss), abs=1e-9)
    assert tuple(draft.facts["levels"].values()) == levels
    assert (draft.facts["groups"], draft.facts["suppressed"]) == (-groups, lost)
    assert draft.facts["optimal"] and draft.facts["within"] == 0
    assert general_loss(draft.partition, view) == pytest.approx(float(loss))


@settings(max_examples=examples(quick=16, slow=40))
@given(table=tables(most=40), k=st.integers(2, 4), suppress=st.sampled_from(["0", "0.3", "1"]))
def test_groups_are_all_the_cells_of_a_region_and_keep_k(table, k, suppress):
    view, records = table
    try:
        partition = FullDomain(k=k, suppress=suppress).draft(view, cells_of(view, records)).partition
    except InfeasibleError:
        assert len(records) < k or suppress != "1"
        return
    boxes, width = partition.boxes, len(view.quasi)
    inside = np.all(
        (partition.cells.codes[:, None, :width] >= boxes.starts)
        & (partition.cells.codes[:, None, :width] < boxes.stops),
        axis=2,
    )
    for cell, group in enumerate(partition.group):
        assert np.flatnonzero(inside[cell]).tolist() == ([] if group == SUPPRESSED else [group])
    kept = partition.group != SUPPRESSED
    assert np.bincount(partition.group[kept], weights=partition.cells.counts[kept]).min() >= k
    assert partition.suppressed <= Fraction(suppress) * len(records)


@settings(max_examples=examples(quick=24, slow=60))
@given(table=tables(sensitive=False, most=60), k=st.integers(2, 5), ticks=st.integers(0, 6))
def test_when_time_is_over_the_best_so_far_is_taken_and_the_bound_is_true(table, k, ticks):
    view, records = table
    cells = cells_of(view, records)
    clock = iter(range(10**6))
    full = FullDomain(k=k, suppress="1")
    try:
        best = full.draft(view, cells).facts["loss"]
    except InfeasibleError:
        return
    hurried = FullDomain(k=k, suppress="1", time_limit=str(ticks + 1)).draft(view, cells, clock=lambda: next(clock))
    facts = hurried.facts
    assert facts["nodes_counted"] <= ticks + 2
    assert facts["loss"] >= best - 1e-9
    assert facts["loss"] - facts["within"] <= best + 1e-8
    assert not facts["optimal"] or facts["loss"] == best
    assert general_loss(hurried.partition, view) == pytest.approx(facts["loss"], abs=1e-8)


def people(n=40):
    view = view_of({"job": JOB, "age": BANDS}, {"ill": flat("flu", "cold")})
    return view, cells_of(view, [(i % 4, i % 10, int(i % 8 == 0)) for i in range(n)])


def test_an_infeasible_k_names_the_largest():
    view, cells = people()
    with raises_code(
        InfeasibleError,
        "SF-INFEASIBLE-010",
        match=r"\(k = 41\) with 0 of 40 records suppressed. To fix: set k to 40 or less",
    ):
        FullDomain(k=41).draft(view, cells)
    assert FullDomain(k=40).draft(view, cells).facts["loss"] == 1
    with raises_code(InfeasibleError, "SF-INFEASIBLE-010", match="set k to 40 or less"):
        FullDomain(k=41, suppress="1").draft(view, cells)


def test_with_bounds_on_levels_the_largest_k_is_that_of_the_highest_ones():
    view, cells = people()
    bounds = {"job": [0, 1], "age": 1}
    with raises_code(
        InfeasibleError, "SF-INFEASIBLE-010", match=r"set k to 4 or less, or raise `suppress`, or allow higher `levels`"
    ):
        FullDomain(k=10, levels=bounds).draft(view, cells)
    assert FullDomain(k=4, levels=bounds).draft(view, cells).facts["levels"] == {"job": 1, "age": 1}
    with raises_code(InfeasibleError, "SF-INFEASIBLE-010", match="set k to 8 or less"):
        FullDomain(k=10, levels=bounds, suppress="0.2").draft(view, cells)
    assert FullDomain(k=8, levels=bounds, suppress="0.2").draft(view, cells).facts["suppressed"] == 8


def test_an_impossible_l_names_the_largest():
    view, cells = people()
    with raises_code(InfeasibleError, "SF-INFEASIBLE-013", match="set l to 2 or less"):
        FullDomain(privacy={"distinct-l-diversity": 3}).draft(view, cells)


def test_a_share_that_only_suppression_can_mend_is_found():
    """One ill person of eight is too many for the whole table, and there are nodes without any."""
    view, cells = people()
    promise = {"probabilistic-l-diversity": 2}
    with raises_code(InfeasibleError, "SF-INFEASIBLE-013", match="set l to 8/7 or less"):
        FullDomain(privacy=promise).draft(view, cells)
    draft = FullDomain(privacy=promise, suppress="0.95").draft(view, cells)
    assert 0 < draft.facts["suppressed"] <= 38


def test_no_records_and_no_time_are_refused():
    view, cells = people(0)
    with raises_code(InfeasibleError, "SF-INFEASIBLE-011"):
        FullDomain(k=2).draft(view, cells)
    view, cells = people()
    with raises_code(InfeasibleError, "SF-INFEASIBLE-009"):
        FullDomain(privacy={"probabilistic-l-diversity": 2}, suppress="0.9", time_limit=1).draft(
            view, cells, clock=iter([0.0, 5.0, 5.0]).__next__
        )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "no privacy model is specified"),
        ({"k": 2, "suppress": "1.5"}, "suppress is 1.5"),
        ({"k": 2, "time_limit": 0}, "time_limit is 0"),
        ({"k": 2, "levels": {"age": [0, 1, 2]}}, r"neither a level nor two.*write `age: 1` or `age: \[0, 2\]`"),
        ({"k": 2, "levels": {"age": "-1"}}, "neither a level nor two"),
        ({"k": 2, "levels": [1]}, "levels is not a mapping"),
    ],
)
def test_senseless_parameters_are_refused_at_birth(wrong, said):
    with pytest.raises(StudyError, match=said):
        FullDomain(**wrong)


def test_a_view_that_has_no_levels_is_refused_before_any_work():
    for view, levels, said in (
        (view_of({"age": grid(0, 9)}), {}, "'age' has no levels"),
        (
            view_of({"job": JOB}),
            {"jobs": 1},
            "levels names 'jobs', which is no quasi-identifier here. To fix: name .* job",
        ),
        (view_of({}), {}, "has no quasi-identifier"),
    ):
        with pytest.raises(StudyError, match=said):
            FullDomain(k=2, levels=levels).check(view)
    with pytest.raises(StudyError):
        FullDomain(privacy={"distinct-l-diversity": 2}).check(view_of({"job": JOB}))


def test_a_recipe_says_it_all():
    method = FullDomain(
        k=3, privacy={"t-closeness": "0.2"}, suppress="0.02", time_limit="2.5", levels={"age": ["1", None]}
    )
    again = build(recipe_of(method, name="r"))
    assert again == method
    assert method.bounds == {"age": (1, None)}
    assert build(Recipe(name="r", method="full-domain", parameters={"k": "5"})).models == FullDomain(k=5).models


def test_a_forecast_names_columns_levels_and_limits():
    view = view_of({"job": JOB, "age": BANDS})
    found = FullDomain(k=3, suppress="0.02", time_limit=3, levels={"job": 1}).forecast(view)
    assert "'job' (1), 'age' (3)" in found.sentences[0]
    assert found.numbers["nodes"] == 3
    assert "2 % of the records" in found.sentences[2] and "3 seconds" in found.sentences[3]
    assert FullDomain(k=3).spends is None


def test_many_attributes_do_not_overflow_the_keys():
    """Twelve attributes of a hundred values have 10²⁴ combinations: more than a key can hold."""
    wide = Categories(taxonomy=from_csv("".join(f"v{i};b{i % 10};Any\n" for i in range(100))))
    view = view_of({f"q{i}": wide for i in range(12)}, {"ill": flat("flu", "cold")})
    rng = np.random.default_rng(3)
    kinds = rng.integers(0, 100, (6, 12))
    records = [(*kinds[i % 6], i % 2) for i in range(60)]
    draft = FullDomain(k=5, privacy={"distinct-l-diversity": 1}).draft(view, cells_of(view, records))
    assert (draft.facts["loss"], draft.facts["groups"]) == (0, 6)
    assert draft.facts["nodes"] == 3**12


def test_uneven_trees_publish_nodes():
    view = view_of({"a": UNEVEN})
    draft = FullDomain(k=2).draft(view, cells_of(view, [(0,), (0,), (1,), (2,), (3,), (3,)]))
    assert draft.facts["levels"] == {"a": 1}
    assert list(zip(draft.partition.boxes.starts[:, 0], draft.partition.boxes.stops[:, 0], strict=True)) == [
        (0, 1),
        (1, 3),
        (3, 4),
    ]


NAMES = {
    "sex": "sex", "age": "age", "race": "race", "marital_status": "marital-status", "education": "education",
    "native_country": "native-country", "workclass": "workclass", "occupation": "occupation", "income": "salary-class",
}  # fmt: skip


@pytest.fixture(scope="module")
def adult(shared_data):
    """ARX's Adult: the records without a missing value, its nine attributes and hierarchies."""
    folder = shared_data / "adult" / "hierarchies" / "arx"
    view = view_of(
        {
            name: Categories(taxonomy=from_csv((folder / f"adult_hierarchy_{file}.csv").read_text("utf-8")))
            for name, file in NAMES.items()
        }
    )
    with (shared_data / "adult" / "train.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if "?" not in row.values()]
    assert len(rows) == 30_162
    codes = [view.domain(name).encode([row[name] for row in rows]) for name in NAMES]
    return view, cells_of(view, np.stack(codes, axis=1).tolist())


@pytest.mark.parametrize(("suppress", "loss", "groups"), [("0", 0.636, 24), ("0.02", 0.358, 222), ("1", 0.228, 602)])
def test_on_adult_it_finds_what_arx_finds(adult, suppress, loss, groups):
    view, cells = adult
    draft = FullDomain(k=5, suppress=suppress).draft(view, cells)
    assert draft.facts["nodes"] == 12_960
    assert general_loss(draft.partition, view) <= loss + 1e-3
    assert draft.facts["loss"] == pytest.approx(loss, abs=1e-3)
    assert draft.facts["groups"] == groups
    assert draft.facts["nodes_counted"] < 1_000, "most of the lattice is never counted"


def test_on_adult_several_promises_hold_together(adult):
    """Occupation as the sensitive attribute, the other eight as quasi-identifiers."""
    nine, cells = adult
    view = view_of(
        {a.name: a.domain for a in nine.quasi if a.name != "occupation"}, {"occupation": nine.domain("occupation")}
    )
    alone = FullDomain(k=5, suppress="0.05").draft(view, cells)
    both = FullDomain(k=5, privacy={"distinct-l-diversity": 4}, suppress="0.05").draft(view, cells)
    assert both.facts["loss"] >= alone.facts["loss"]
    groups = defaultdict(Counter)
    for group, code, count in zip(
        both.partition.group, both.partition.column("occupation"), both.partition.cells.counts, strict=True
    ):
        if group != SUPPRESSED:
            groups[group][code] += count
    assert min(map(len, groups.values())) >= 4
    assert min(sum(found.values()) for found in groups.values()) >= 5
