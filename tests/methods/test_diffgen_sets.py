"""DiffGen and the contingency table on sets: scores, neighbours, huge products."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.cut import Cut
from sfumato.domains.sets.set_cut import Sets
from sfumato.domains.sets.set_domain import SetCodes, SetDomain
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import StudyError
from sfumato.methods import ContingencyTable, DiffGen
from sfumato.methods.method import Context
from sfumato.methods.specialization.scores import SCORES
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from tests.domains.sets.test_set_domain import DEEP, WIDE
from tests.raising import raises_code
from tests.small_domains import JOB, counter, view

CODES = SetDomain(taxonomy=DEEP, separator=";")


@st.composite
def tables(draw, most=15):
    """Records of a set of codes, a job and a class."""
    size = draw(st.integers(0, most))
    return [
        (draw(st.frozensets(st.integers(0, 6), max_size=5)), draw(st.integers(0, 3)), draw(st.integers(0, 1)))
        for _ in range(size)
    ]


def coded(records, of=CODES):
    order = sorted({tuple(sorted(codes)) for codes, _, _ in records})
    place = {one: number for number, one in enumerate(order)}
    codes = np.array([place[tuple(sorted(one))] for one, _, _ in records], dtype=np.int64)
    return {
        "codes": SetCodes.of(codes, Sets.of(order, of.size)),
        "job": np.array([job for _, job, _ in records], dtype=np.int64),
        "class": np.array([target for _, _, target in records], dtype=np.int64),
    }


VIEW = view(codes=CODES, job=JOB)
NODES = [
    (start, stop)
    for start, stop in sorted(set(zip(DEEP.starts, DEEP.stops, strict=True)))
    if DEEP.children(start, stop)
]


def parts_by_hand(records, region):
    """Class counts by which children of a node records contain, those that contain it alone (the root: all)."""
    children = DEEP.children(*region)
    found = {}
    for codes, _, target in records:
        held = frozenset(n for n, (start, stop) in enumerate(children) for c in codes if start <= c < stop)
        if held or region == (0, DEEP.size):
            found.setdefault(held, [0, 0])[target] += 1
    return sorted(map(tuple, found.values()))


@given(tables(), st.sampled_from(NODES))
def test_parts_are_the_subsets_of_children_among_those_that_contain_the_node(records, region):
    marginal = counter(VIEW, coded(records)).marginals(["codes"], "class")["codes"]
    assert sorted(map(tuple, marginal.parts(region, DEEP.children(*region)).tolist())) == parts_by_hand(records, region)


@pytest.mark.parametrize("name", ["max", "info_gain", "gini"])
@given(tables(), st.tuples(st.frozensets(st.integers(0, 6), max_size=5), st.integers(0, 3), st.integers(0, 1)))
def test_one_record_more_changes_every_score_by_at_most_its_sensitivity(name, records, more):
    """Also where the record contains several nodes of a cut at once, and so takes part in several scores."""
    score = SCORES[name]
    few, many = (
        counter(VIEW, coded(rows)).marginals(["codes"], "class")["codes"] for rows in (records, [*records, more])
    )
    for region in NODES:
        before, after = (int(score.ticks(m.parts(region, DEEP.children(*region)))) for m in (few, many))
        assert abs(after - before) <= score.sensitivity(2)
        assert not score.monotone or after >= before


@given(tables(), st.integers(1, 6))
@pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e7")
def test_with_epsilon_without_end_a_release_is_the_exact_counts_of_its_cuts(records, h):
    count = counter(VIEW, coded(records))
    draft = DiffGen(epsilon=10**7, h=h).draft(
        VIEW, count, Context(accountant=Accountant(Fraction(10**7)), source=SecureSource())
    )
    exact = count.cells([*draft.groups.cuts, Cut.finest("class", 2)])
    assert np.column_stack([draft.groups.regions, draft.groups.classes]).tolist() == exact.codes.tolist()
    assert draft.groups.counts.tolist() == exact.counts.tolist()


@given(tables(), st.integers(1, 6))
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_every_record_is_in_exactly_one_group(records, h):
    count = counter(VIEW, coded(records))
    draft = DiffGen(epsilon=1, h=h).draft(
        VIEW, count, Context(accountant=Accountant(Fraction(1)), source=SecureSource())
    )
    cells = count.cells([*draft.groups.cuts, Cut.finest("class", 2)])
    assert int(cells.counts.sum()) == len(records)
    for column, cut in enumerate(draft.groups.cuts):
        assert all(0 <= region < cut.total for region in draft.groups.regions[:, column].tolist())


@pytest.mark.parametrize("most", [None, 2])
@pytest.mark.error_rate(1e-99, reason="so many rows of noise only if the noisy size is 1,000 scales off")
def test_hundreds_of_codes_make_products_that_are_drawn_sparsely(most):
    domain = SetDomain(taxonomy=WIDE, separator=";", most=most)
    rng = np.random.default_rng(3)
    codes = domain.encode([";".join(WIDE.leaves[c] for c in rng.integers(0, 800, 2)) for _ in range(500)])
    of = view(codes=domain)
    count = counter(of, {"codes": codes, "class": rng.integers(0, 2, 500)})
    for method in (DiffGen(epsilon=1, h=12), ContingencyTable(epsilon=1)):
        draft = method.draft(of, count, Context(accountant=Accountant(Fraction(1)), source=SecureSource()))
        assert len(draft.groups) < 20_000
        assert draft.groups.regions.dtype == (object if most is None else np.int64)
        assert method.forecast(of).sentences


def test_plans_count_the_groups_that_sets_can_make():
    told = DiffGen(epsilon=1, h=1).forecast(view(codes=CODES)).numbers
    assert (told["groups_least"], told["groups_most"]) == (16, 16)  # subsets of three children, and two classes
    small = DiffGen(epsilon=1, h=1).forecast(view(codes=SetDomain(taxonomy=DEEP, most=1))).numbers
    assert small["groups_most"] == 8
    assert "10^" in " ".join(ContingencyTable(epsilon=1).forecast(view(codes=SetDomain(taxonomy=WIDE))).sentences)


def test_a_contingency_table_of_too_many_codes_is_refused():
    tree = Taxonomy.of(
        Node("Any", tuple(Node(f"{a}", tuple(Node(f"{a}.{b}", tuple(Node(f"{a}.{b}.{c}") for c in range(20)))
                                             for b in range(20))) for a in range(20)))
    )  # fmt: skip
    with raises_code(StudyError, "SF-STUDY-045", match="8,000 codes"):
        ContingencyTable(epsilon=1).check(view(codes=SetDomain(taxonomy=tree)))
    ContingencyTable(epsilon=1).check(view(codes=SetDomain(taxonomy=tree, level=2)))
    ContingencyTable(epsilon=1).check(view(codes=SetDomain(taxonomy=tree, most=5)))
