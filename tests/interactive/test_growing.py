"""DiffP-C4.5: the budget to the last share, what is counted, and the tree that comes out without noise."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import StudyError
from sfumato.evaluate.audit import audit
from sfumato.interactive import DiffPTree, growing
from sfumato.interactive.stopping import BRANCHES
from sfumato.methods.specialization.scores import SCORES
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms import noisy_counts
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.raising import raises_code
from tests.small_domains import JOB, coded_tables, counter, flat, grid, view

ENOUGH = 10**12  # so much ε that noise is 0 and the best score wins


def grown(method, of, codes, *, accountant=None):
    paid = accountant or Accountant(method.spends / of.unit.stability)
    return method.run(of, counter(of, codes), accountant=paid, source=SecureSource())


def people(size=400, seed=7):
    rng = np.random.default_rng(seed)
    codes = {"age": rng.integers(0, 10, size), "job": rng.integers(0, 4, size), "sex": rng.integers(0, 2, size)}
    chance = 0.15 + 0.4 * (codes["age"] >= 6) + 0.3 * (codes["job"] == 1) * codes["sex"]
    codes["class"] = (rng.random(size) < chance).astype(np.int64)
    return view(age=grid(0, 9), job=JOB, sex=flat("f", "m")), codes


# --- a second way to the tree, from records and by trying everything ---


def splits_of(domain, region, branch):
    start, stop = region
    if domain.free:
        return [((start, point), (point, stop)) for point in range(start + 1, stop)]
    if branch == "values":
        return [tuple((code, code + 1) for code in range(start, stop))] if stop - start > 1 else []
    return [domain.children(start, stop)] if domain.children(start, stop) else []


def class_counts(rows, codes, classes):
    return [sum(int(codes["class"][row]) == value for row in rows) for value in range(classes)]


def score_of(name, rows, codes, attribute, ranges, classes):
    parts = [[row for row in rows if a <= codes[attribute][row] < b] for a, b in ranges]
    return int(SCORES[name].ticks(np.array([class_counts(part, codes, classes) for part in parts])))


def refute_greedy(method, tree, of, codes):
    """Follow the tree from the root with records in hand: every split is a best one, every leaf has to be one."""
    domains, classes = {a.name: a.domain for a in of.predictors}, len(of.classes)
    todo = [(0, list(range(len(codes["class"]))), {name: (0, d.size) for name, d in domains.items()}, 0)]
    while todo:
        number, rows, regions, depth = todo.pop()
        node = tree.nodes[number]
        if list(node.counts) != class_counts(rows, codes, classes):
            return f"node {number} has the wrong counts"
        tried = {
            (name, ranges): score_of(method.score, rows, codes, name, ranges, classes)
            for name, domain in domains.items()
            for ranges in splits_of(domain, regions[name], method.branch)
        }
        if node.attribute is None:
            if tried and rows and depth < method.depth:
                return f"node {number} is a leaf and need not be one"
            continue
        if tried[node.attribute, node.ranges] != max(tried.values()):
            return f"node {number} is not split where it is best"
        for child, (a, b) in zip(node.children, node.ranges, strict=True):
            inside = [row for row in rows if a <= codes[node.attribute][row] < b]
            todo.append((child, inside, {**regions, node.attribute: (a, b)}, depth + 1))
    return None


@pytest.mark.parametrize("branch", BRANCHES)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.error_rate(1e-99, reason="any noise at all: exp(-1e9)")
def test_with_no_noise_it_is_the_greedy_tree(score, branch):
    of, codes = people()
    method = DiffPTree(epsilon=ENOUGH, depth=3, score=score, prune=False, branch=branch)
    assert refute_greedy(method, grown(method, of, codes), of, codes) is None


@given(table=coded_tables(), score=st.sampled_from(["max", "gini"]))
@pytest.mark.error_rate(1e-99, reason="any noise at all: exp(-1e9)")
def test_with_no_noise_it_is_the_greedy_tree_on_any_table(table, score):
    of, codes = table
    method = DiffPTree(epsilon=ENOUGH, depth=2, score=score, prune=False)
    assert refute_greedy(method, grown(method, of, codes), of, codes) is None


@pytest.mark.error_rate(1e-99, reason="any noise at all: exp(-1e9)")
def test_the_second_way_notices_a_worse_split():
    of, codes = people()
    method = DiffPTree(epsilon=ENOUGH, depth=1, prune=False)
    tree = grown(method, of, {**codes, "class": 1 - codes["class"] * (codes["sex"] == 0)})
    assert refute_greedy(method, tree, of, codes) is not None


# --- the budget ---


@given(table=coded_tables(), depth=st.integers(1, 4), epsilon=st.sampled_from(["1", "0.3", "1/7", "50"]))
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_all_of_epsilon_is_spent_and_no_more(table, depth, epsilon):
    of, codes = table
    method = DiffPTree(epsilon=epsilon, depth=depth)
    accountant = Accountant(method.spends)
    grown(method, of, codes, accountant=accountant)
    share = method.spends / ((2 + len(of.numerical)) * depth + 2)
    *steps, last = accountant.breakdown
    assert sum((line.epsilon for line in accountant.breakdown), Fraction(0)) == method.spends
    assert {line.epsilon for line in steps} <= {share}
    assert len(steps) <= (2 + len(of.numerical)) * depth
    assert last.on == "class counts of all leaves"
    assert last.epsilon >= 2 * share


def test_without_numbers_a_share_is_the_papers():
    assert DiffPTree(epsilon=1, depth=5).share(Fraction(1), 0) == Fraction(1, 2 * (5 + 1))


def test_with_numbers_a_share_is_what_the_authors_program_divides_by():
    """For each level one operation on sizes, one on choices and one for each number; two more for the leaves."""
    assert DiffPTree(epsilon=1, depth=5).share(Fraction(1), 6) == Fraction(1, (1 + 1 + 6) * 5 + 1 + 1)


@pytest.mark.error_rate(1e-99, reason="any noise at all: exp(-1e9)")
def test_every_step_of_a_level_stands_on_the_receipt():
    of, codes = people()
    accountant = Accountant(Fraction(ENOUGH))
    grown(DiffPTree(epsilon=ENOUGH, depth=2), of, codes, accountant=accountant)
    lines = [line.on for line in accountant.breakdown]
    assert lines[:3] == [
        "sizes of 1 nodes (level 0)",
        "split point of 'age' at node 0 (level 0)",
        "split of node 0 (level 0)",
    ]
    assert len(lines) == 3 * 2 + 1
    assert accountant.breakdown[5].parts > 1, "the nodes of a level are paid for together"


@pytest.mark.parametrize(
    ("branch", "most"),
    [pytest.param("values", 5, id="all five values at once"), pytest.param("taxonomy", 3, id="three groups of values")],
)
@pytest.mark.parametrize("many", [True, False])
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_a_node_is_split_from_the_size_on_that_friedman_and_schuster_say(monkeypatch, branch, most, many):
    """N / (t·|C|) against √2/ε of a class count: three classes, two shares of ε/6 for a count, no noise on sizes."""
    monkeypatch.setattr(growing, "noisy_counts", lambda counts, **_: np.asarray(counts))
    nested = Node("Any", (Node("x", (Node("a"), Node("b"))), Node("y", (Node("c"), Node("d"))), Node("e")))
    of = view(job=Categories(taxonomy=Taxonomy.of(nested)), sex=flat("f", "m"), target=("1", "2", "3"))
    least = math.ceil(most * 3 * math.sqrt(2) / (2 / 6))
    size = least if many else least - 1
    codes = {"job": np.arange(size) % 5, "sex": np.arange(size) % 2, "class": np.arange(size) % 3}
    tree = grown(DiffPTree(epsilon=1, depth=2, branch=branch, prune=False), of, codes)
    assert (tree.leaves > 1) == many


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_a_tree_that_stops_early_leaves_its_shares_to_the_counts():
    accountant = Accountant(Fraction(1))
    tree = grown(DiffPTree(epsilon=1, depth=5, prune=False), *people(size=0), accountant=accountant)
    if tree.leaves == 1:  # usually: nobody is there. With pruning a tree that grew by noise may become one leaf, too
        assert accountant.breakdown[-1].epsilon == 1 - Fraction(1, 3 * 5 + 2)


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_the_table_is_counted_once():
    of, codes = people()
    asked = []

    class Watched(ArrayCounter):
        def cells(self, cuts):
            asked.append([cut.attribute for cut in cuts])
            return super().cells(cuts)

        def marginals(self, attributes, by):
            raise AssertionError("not needed")

    method = DiffPTree(epsilon=10, depth=4)
    watched = Watched(codes, {"class": 2})
    method.run(of, watched, accountant=Accountant(method.spends), source=SecureSource())
    assert asked == [["age", "job", "sex", "class"]]


# --- refusals ---


def test_observed_domains_are_refused():
    of = view(job=flat("a", "b", declared=False))
    with raises_code(StudyError, "SF-STUDY-064", match="the domain of 'job' was read off the data"):
        grown(DiffPTree(epsilon=1), of, {"job": [0], "class": [0]})


def test_one_class_is_refused():
    with raises_code(StudyError, "SF-STUDY-066"):
        grown(DiffPTree(epsilon=1), view(job=flat("a", "b"), target=("only",)), {"job": [0], "class": [0]})


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"epsilon": 0}, "not positive"),
        ({"epsilon": "inf"}, "not a privacy budget"),
        ({"depth": 0}, "the depth is 0. To fix: use a whole number from 1 to 30"),
        ({"depth": 31}, "the depth is 31"),
        ({"depth": True}, "the depth is True"),
        ({"score": "luck"}, "no score called 'luck'"),
        ({"prune": "yes"}, "prune is 'yes'"),
        ({"branch": "random"}, "branch is 'random'. To fix: use one of: taxonomy, values"),
    ],
)
def test_wrong_parameters_are_refused(wrong, says):
    with pytest.raises(StudyError, match=says):
        DiffPTree(**{"epsilon": 1, **wrong})


# --- the promise, from outside; the records are those of tests/measure/test_audit.py ---

SIX = {"job": [0, 0, 0, 1, 1, 2], "sex": [0, 1, 1, 0, 1, 0], "age": [0, 0, 1, 0, 1, 2], "class": [0, 0, 1, 0, 1, 1]}
CATEGORIES = view(job=flat("a", "b", "c"), sex=flat("f", "m"))
NUMBERS = view(age=grid(0, 2))
BOTH = view(job=flat("a", "b", "c"), age=grid(0, 2))
SURE = 1 - 1e-9  # so that a bound exceeds the true loss once in 10⁹ times
FEW = 800  # runs on each table
STEPS = (-4, -2, 0, 1, 2, 3, 4, 6, 8, 12)


class Remembered:
    """A counter that answers from memory: thousands of runs ask the same."""

    def __init__(self, of, records):
        codes = {a.name: SIX[a.name][:records] for a in of.attributes}
        self._counter, self._cells = counter(of, codes), None

    def cells(self, cuts):
        self._cells = self._cells or self._counter.cells(cuts)
        return self._cells


def seen(tree):
    """What somebody sees of a tree: its shape, and each node's counts by steps, alone and with the shape."""
    shape = tuple((node.attribute, node.ranges) for node in tree.nodes)
    events = {("shape", shape)}
    for number, node in enumerate(tree.nodes):
        for place, count in enumerate(node.counts):
            events.update((shape, number, place, "at least", step) for step in STEPS if count >= step)
    return events


def audited(of, *, runs, method=None, source=None, **more):
    method = method or DiffPTree(epsilon=1, depth=1, prune=False)
    counters, source = (Remembered(of, 6), Remembered(of, 5)), source or SecureSource()

    def once(table):
        return seen(method.run(of, counters[table], accountant=Accountant(method.spends), source=source))

    return audit(once, epsilon=method.spends, runs=runs, **more)


@pytest.fixture
def always(monkeypatch):
    """Split every node: where to stop is for accuracy, the promise does not rest on it."""
    monkeypatch.setattr(growing._Growth, "_least", lambda self, number: float("-inf"))


@pytest.mark.error_rate(1e-9, reason="the audit's own error")
def test_it_loses_no_more_than_it_promises():
    """As few runs as these see a quarter of the noise (below)."""
    found = audited(CATEGORIES, runs=FEW, confidence=SURE)
    assert not found.violates, found.sentence()


@pytest.mark.error_rate(1e-9, reason="the audit's own error")
def test_it_loses_no_more_where_it_splits(always):
    found = audited(NUMBERS, runs=500, confidence=SURE)
    assert not found.violates, found.sentence()


@pytest.mark.slow
@pytest.mark.error_rate(2e-9, reason="the audit's own error, 1e-9; a bound of 0.33 ± 0.034 is under 0.1 once in 1e10")
def test_it_loses_about_what_it_promises():
    found = audited(CATEGORIES, runs=2_000, confidence=SURE)
    assert not found.violates, found.sentence()
    assert found.lower_bound > 0.1, "an audit that sees nothing at all would pass anything"


@pytest.mark.slow
@pytest.mark.parametrize("of", [CATEGORIES, NUMBERS, BOTH], ids=["categories", "a grid", "both"])
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.error_rate(1e-9, reason="the audit's own error")
def test_it_loses_no_more_over_many_runs(always, of, depth):
    found = audited(of, runs=20_000, method=DiffPTree(epsilon=1, depth=depth), confidence=SURE)
    assert not found.violates, found.sentence()


def too_little_noise(times):
    """Draw at so many times the ε that was paid for."""

    def drawn(counts, *, grant, **others):
        epsilon = times * grant.redeem()
        return noisy_counts(counts, grant=Accountant(epsilon).grant(epsilon, on="too much"), **others)

    return drawn


def test_a_quarter_of_the_noise_is_caught_by_few_runs(monkeypatch):
    """A loss of 3 ε: the bound lies near 1.76 with a standard deviation of 0.09."""
    monkeypatch.setattr(growing, "noisy_counts", too_little_noise(4))
    found = audited(CATEGORIES, runs=FEW, source=InsecureSource(1), confidence=SURE)
    assert found.violates, found.sentence()


@pytest.mark.slow
def test_half_the_noise_is_caught(monkeypatch):
    """A root that stays a leaf gives its counts 3ε/4, so half their noise loses 1.5 ε.

    With half of 5,000 runs tested the bound lies near 1.28 with a standard deviation of about 0.03: it stays under 1
    with fewer than one seed in 10⁶.
    """
    monkeypatch.setattr(growing, "noisy_counts", too_little_noise(2))
    found = audited(CATEGORIES, runs=5_000, source=InsecureSource(1))
    assert found.violates, found.sentence()


def test_a_choice_without_noise_is_caught(always, monkeypatch):
    """On six records job and sex score alike, and job stands first; on five sex is better: never the same shape."""
    monkeypatch.setattr(growing, "noisy_max", lambda scores, **_: scores.index(max(scores)))
    found = audited(CATEGORIES, runs=400, source=InsecureSource(2))
    assert found.violates, found.sentence()
