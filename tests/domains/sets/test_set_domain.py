"""Sets against a slow implementation that works on Python's own sets."""

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.json_form import cut_from_json, cut_to_json, domain_from_json, domain_to_json
from sfumato.domains.sets.set_cut import NONE, SetCut, Sets
from sfumato.domains.sets.set_domain import SetCodes, SetDomain
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import InternalError, StudyError, VerifyError

DEEP = Taxonomy.of(
    Node(
        "Any",
        (
            Node("A", (Node("a1"), Node("a2", (Node("a21"), Node("a22"))))),
            Node("B"),
            Node("C", (Node("c1"), Node("c2"), Node("c3"))),
        ),
    )
)
WIDE = Taxonomy.of(
    Node("Any", tuple(Node(f"{n:02}*", tuple(Node(f"{n:02}{k:02}") for k in range(20))) for n in range(40)))
)


def cuts_of(draw, domain):
    """A cut by random specializations."""
    cut = domain.root("x")
    for _ in range(draw(st.integers(0, 8))):
        wide = [node for node in cut.ranges if domain.children(*node)]
        if not wide:
            break
        node = draw(st.sampled_from(wide))
        cut = cut.specialize(node, domain.children(*node))
    return cut


@st.composite
def cases(draw):
    tree = draw(st.sampled_from([DEEP, WIDE]))
    most = draw(st.sampled_from([None, 1, 3, 9]))
    domain = SetDomain(taxonomy=tree, separator=";", most=most)
    sets = draw(st.lists(st.frozensets(st.integers(0, tree.size - 1), max_size=most or 12), max_size=12))
    return domain, cuts_of(draw, domain), sets


def nodes_of(cut, leaves):
    """The cut nodes that a set of leaves falls under, one by one."""
    return {place for place, (start, stop) in enumerate(cut.ranges) for leaf in leaves if start <= leaf < stop}


@given(cases())
def test_regions_are_the_sets_of_cut_nodes_and_no_others(case):
    domain, cut, sets = case
    numbers = cut.numbers(Sets.of([sorted(one) for one in sets], domain.size))
    slow = [frozenset() if cut.whole else frozenset(nodes_of(cut, one)) for one in sets]
    assert all(0 <= number < cut.total for number in numbers.tolist())  # every record in exactly one region
    for one, number in zip(slow, numbers.tolist(), strict=True):
        for other, second in zip(slow, numbers.tolist(), strict=True):
            assert (one == other) == (number == second)
    rows, nodes = cut.members(numbers)
    found = [set() for _ in sets]
    for row, node in zip(rows.tolist(), nodes.tolist(), strict=True):
        found[row].add(node)
    assert found == [set(one) for one in slow]


@given(cases())
def test_labels_read_back(case):
    domain, cut, sets = case
    numbers = cut.numbers(Sets.of([sorted(one) for one in sets], domain.size))
    texts = cut.labels(domain.taxonomy, numbers)
    assert cut.read(domain.taxonomy, texts).tolist() == numbers.tolist()


@given(cases())
def test_domains_and_cuts_go_through_json(case):
    domain, cut, _ = case
    assert domain_from_json(domain_to_json(domain)) == domain
    assert cut_from_json(cut_to_json(cut)) == cut


@pytest.mark.parametrize("most", [None, 1, 2, 5])
def test_all_numbers_of_a_small_cut_are_used_once(most):
    cut = SetCut("x", (0, 1, 2, 3, 4), 6, most)
    small = [s for s in range(32) if most is None or s.bit_count() <= most]
    sets = Sets.of([[bit for bit in range(5) if s >> bit & 1] for s in small], 6)
    assert cut.total == len(small) == sum(comb(5, k) for k in range((most or 5) + 1))
    assert sorted(cut.numbers(sets).tolist()) == list(range(cut.total))


def test_hundreds_of_nodes_have_numbers_beyond_machine_integers():
    domain = SetDomain(taxonomy=WIDE, separator=";")
    cut = domain.finest("x")
    assert cut.total == 2**800
    codes = domain.encode(["0000;3919", "1500", ""])
    regions = cut.regions(codes)
    assert regions.tolist() == [1 + 2**799, 2**300, 0]
    assert cut.labels(WIDE, regions) == ["0000, 3919", "1500", NONE]


@pytest.mark.parametrize("text", ["c1, a1", "a1, a1", "a1, ", "", "A", "(none), a1", "a1,c1"])
def test_texts_that_are_no_region_are_not_read(text):
    cut = SetDomain(taxonomy=DEEP).finest("x")
    assert cut.read(DEEP, [text]).tolist() == [-1]


def test_more_nodes_than_a_set_may_hold_are_not_read():
    cut = SetDomain(taxonomy=DEEP, most=1).finest("x")
    assert cut.read(DEEP, ["a1", "a1, c1"]).tolist()[1] == -1


@given(st.lists(st.lists(st.sampled_from(["a1", "a21", "a22", "B", "c1", "c2", "c3", "zz", " "]), max_size=5)))
def test_reading_is_local_to_a_record(values):
    """Whatever else is in the table, a value has the same set, and two values stand in the same order."""
    domain = SetDomain(taxonomy=DEEP.with_leaf("(other)"), separator=";", other=7, most=3)
    together = domain.encode(["; ".join(value) for value in values])
    for place, value in enumerate(values):
        alone = domain.encode([value])
        own = together.sets.leaves[slice(*together.sets.first[[together[place], together[place] + 1]])]
        assert own.tolist() == alone.sets.leaves.tolist()
    rows = [tuple(together.sets.leaves[slice(*together.sets.first[[n, n + 1]])]) for n in range(len(together.sets))]
    assert rows == sorted(set(rows))


def test_unfit_values_follow_the_rules():
    domain = SetDomain(taxonomy=DEEP, separator=",")
    found = domain.read(["a1, zz, yy", None, float("nan"), ["B", None], 5, np.array(["c1", "c1"]), " , "])
    assert found.codes.tolist() == [-1, 0, 0, 1, -1, 2, 0]
    assert found.outside.tolist() == [2, 0, 0, 0, 1, 0, 0]
    assert found.empty.tolist() == [False, True, True, False, False, False, True]
    assert found.strangers == ("5", "yy", "zz")
    strict = SetDomain(taxonomy=DEEP, empty=False)
    assert strict.encode(["", "B"]).tolist() == [-1, 0]
    first = SetDomain(taxonomy=DEEP, separator=",", most=2).encode(["c3, a1, B"])
    assert first.sets.leaves.tolist() == [0, 6]  # as written, the third is too many


def test_a_level_is_the_finest_there_is():
    domain = SetDomain(taxonomy=DEEP, level=1)
    assert [domain.label(*node) for node in domain.finest("x").ranges] == ["A", "B", "C"]
    assert domain.children(0, 7) and not any(domain.children(*node) for node in domain.finest("x").ranges)
    two = SetDomain(taxonomy=DEEP, level=2)
    assert [two.label(*node) for node in two.finest("x").ranges] == ["a1", "a2", "B", "c1", "c2", "c3"]
    assert two.children(0, 3) and not two.children(1, 3)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"taxonomy": Taxonomy.of(Node("Any", tuple(Node(str(n)) for n in range(61))))}, "61 children"),
        ({"taxonomy": Taxonomy.of(Node("Any", (Node("a, b"), Node("c"))))}, "between the nodes"),
        ({"taxonomy": Taxonomy.of(Node("Any", (Node("(none)"), Node("c"))))}, "empty set"),
        ({"taxonomy": DEEP, "level": 4}, "levels 1 to 3"),
        ({"taxonomy": DEEP, "most": 0}, "at most 0"),
    ],
)
def test_what_cannot_be_a_domain_is_refused(fields, words):
    with pytest.raises(StudyError, match=words):
        SetDomain(**fields)


def test_codes_without_their_dictionary_are_our_bug():
    cut = SetDomain(taxonomy=DEEP).finest("x")
    with pytest.raises(InternalError, match="dictionary"):
        cut.regions(np.array([0, 1]))
    with pytest.raises(InternalError, match="taken for a range"):
        cut.range_at(0)
    with pytest.raises(InternalError, match="more than 1"):
        SetCut("x", (0, 1), 2, 1).numbers(Sets.of([(0, 1)], 2))
    codes = SetCodes.of(np.array([0]), Sets.of([(1,)], 7))
    assert cut.regions(codes[[0, 0]]).tolist() == [2, 2]


@pytest.mark.parametrize(
    "change",
    [{"most": 0}, {"most": "3"}, {"separator": ""}, {"columns": [1]}, {"other": 99}, {"empty": 1}, {"level": 9},
     {"more": 1}, {"taxonomy": {"labels": ["Any", "a, b", "c"], "parents": [-1, 0, 0]}}],
)  # fmt: skip
def test_json_that_is_no_domain_of_sets_is_refused(change):
    with pytest.raises(VerifyError):
        domain_from_json({**domain_to_json(SetDomain(taxonomy=DEEP)), **change})
