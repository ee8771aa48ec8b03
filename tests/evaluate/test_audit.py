"""The audit finds what breaks a promise, and finds nothing where it is kept.

Error rates. An audit's bound exceeds the true loss with probability at most 1 - confidence; the real methods draw real
noise, and are audited with a confidence of 1 - 10⁻⁹. Whether the audit sees what is wrong with a copy that is wrong is
shown with seeds: the verdict is the same in every run, and the docstrings say how clear it is.
"""

from dataclasses import replace
from fractions import Fraction
from math import log

import numpy as np
import pytest

from sfumato.errors import InternalError, UsageError
from sfumato.evaluate.audit import Finding, audit, events_of
from sfumato.methods import ContingencyTable, DiffGen
from sfumato.methods.method import Context
from sfumato.methods.noise import noisy_groups
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms import noisy_counts
from sfumato.privacy.dp.mechanisms.sparse import noisy_sparse
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource, random_below
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.raising import raises_code
from tests.small_domains import flat, grid, view

ONE = Fraction(1)
FEW, QUICK, LONG = 600, 10_000, 100_000
SURE = 1 - 1e-9
JOBS, SEXES = ("a", "b", "c"), ("f", "m")

# Six records; the neighbour has the first five. The last one is the only c, and the only one of its combination.
SIX = {"job": [0, 0, 0, 1, 1, 2], "sex": [0, 1, 1, 0, 1, 0], "age": [0, 0, 1, 0, 1, 2], "class": [0, 0, 1, 0, 1, 1]}

CATEGORIES = view(job=flat(*JOBS), sex=flat(*SEXES))
NUMBERS = view(age=grid(0, 2))
BOTH = view(job=flat(*JOBS), age=grid(0, 2))


class Remembered:
    """A counter that answers the same question from memory: thousands of runs ask the same two."""

    def __init__(self, of, records):
        names = [a.name for a in of.attributes]
        codes = {name: np.array(SIX[name][:records], dtype=np.int64) for name in names}
        self._counter = ArrayCounter(codes, {"class": 2})
        self._known = {}

    def marginals(self, attributes, by):
        return self._answer(("marginals", *attributes), lambda: self._counter.marginals(attributes, by))

    def cells(self, cuts):
        return self._answer(("cells", *cuts), lambda: self._counter.cells(cuts))

    def _answer(self, question, find):
        if question not in self._known:
            self._known[question] = find()
        return self._known[question]


def audited(method, of, *, runs, source=None, **more):
    """Audit a method on the six records and on the first five."""
    counters, source = (Remembered(of, 6), Remembered(of, 5)), source or SecureSource()

    def once(table):
        draft = method.draft(of, counters[table], Context(accountant=Accountant(method.spends), source=source))
        return events_of(draft)

    return audit(once, epsilon=method.spends, runs=runs, **more)


HONEST = [
    pytest.param(DiffGen(epsilon=1, h=1), CATEGORIES, id="diffgen on categories"),
    pytest.param(DiffGen(epsilon=1, h=1), NUMBERS, id="diffgen on a grid"),
    pytest.param(ContingencyTable(epsilon=1), CATEGORIES, id="contingency"),
]
STRATEGIES = [
    pytest.param(ContingencyTable(epsilon=1, strategy=name), BOTH, id=f"contingency, {name}")
    for name in ("hierarchical", "wavelet")
]
MARGINALS = ContingencyTable(epsilon=1, strategy="consistent-marginals")


@pytest.mark.parametrize(("method", "of"), [HONEST[0], HONEST[2], STRATEGIES[0]])
@pytest.mark.error_rate(1e-9, reason="the audit's own error")
def test_the_methods_lose_no_more_than_they_promise(method, of):
    """As few runs as these see a quarter of the noise (below), or a choice without any."""
    found = audited(method, of, runs=FEW, confidence=SURE)
    assert not found.violates, found.sentence()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "of"), [HONEST[0], HONEST[2]])
@pytest.mark.error_rate(2e-9, reason="the audit's own error, 1e-9; a bound of 0.55 ± 0.05 is under 0.1 once in 1e12")
def test_the_methods_lose_about_what_they_promise(method, of):
    found = audited(method, of, runs=QUICK, confidence=SURE)
    assert not found.violates, found.sentence()
    # Not asserted on the grid, in the long test below: the bound is 0.1 to 0.2 there, by which split is drawn.
    assert found.lower_bound > 0.1, "an audit that sees nothing at all would pass anything"


BOTH_TWICE = pytest.param(DiffGen(epsilon=1, h=2), BOTH, id="diffgen on both, two specializations")
OTHERS = [
    pytest.param(DiffGen(epsilon=1, h=2, score="gini"), BOTH, id="diffgen by gini"),
    pytest.param(DiffGen(epsilon=1, h="auto", post="least_squares"), CATEGORIES, id="diffgen with everything auto"),
    pytest.param(ContingencyTable(epsilon=1, post="scale"), BOTH, id="contingency, scaled to a noisy total"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "of"), [*HONEST, BOTH_TWICE])
@pytest.mark.error_rate(1e-9, reason="the audit's own error")
def test_the_methods_lose_no_more_than_they_promise_over_many_runs(method, of):
    found = audited(method, of, runs=LONG, confidence=SURE)
    assert not found.violates, found.sentence()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "of"), OTHERS)
@pytest.mark.error_rate(1e-9, reason="the audit's own error")
def test_other_scores_and_ways_to_finish_lose_no_more_either(method, of):
    found = audited(method, of, runs=QUICK, confidence=SURE)
    assert not found.violates, found.sentence()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "of"), STRATEGIES)
@pytest.mark.error_rate(1e-9, reason="the audit's own error")
def test_strategies_lose_no_more_over_many_runs_and_the_audit_sees_something(method, of):
    found = audited(method, of, runs=QUICK, confidence=SURE)
    assert not found.violates, found.sentence()
    assert found.lower_bound > 0.1, found.sentence()


@pytest.mark.slow
@pytest.mark.error_rate(1e-9, reason="the audit's own error")
def test_marginals_lose_no_more_than_they_promise():
    found = audited(MARGINALS, BOTH, runs=2_000, confidence=SURE)
    assert not found.violates, found.sentence()


# --- the same audit, on copies that are wrong ---


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hierarchical", "wavelet"])
def test_a_strategy_with_the_noise_of_single_cells_is_caught(monkeypatch, name):
    """A sensitivity of 1 where 2 or 3 numbers change with a record: the loss is two or three times ε."""

    def too_little(counts, *, sensitivity, grant, source):
        assert sensitivity > 1
        return noisy_counts(counts, sensitivity=1, grant=grant, source=source)

    monkeypatch.setattr("sfumato.privacy.dp.strategies.strategy.noisy_counts", too_little)
    method = ContingencyTable(epsilon=1, strategy=name)
    found = audited(method, NUMBERS, runs=QUICK, source=InsecureSource(3), confidence=0.999)
    assert found.violates, found.sentence()


def too_little_noise(mechanism, times):
    """Draw at so many times the ε that was paid for."""

    def drawn(*counts, grant, **others):
        epsilon = times * grant.redeem()
        return mechanism(*counts, grant=Accountant(epsilon).grant(epsilon, on="too much"), **others)

    return drawn


def without_empty_groups(occupied, counts, *, total, threshold, **others):
    """Noise for the groups that have records; the others are not looked at."""
    noisy = noisy_counts(counts, **others)
    return occupied[noisy >= threshold], noisy[noisy >= threshold]


def test_a_quarter_of_the_noise_is_caught_by_few_runs(monkeypatch):
    """The table's counts lose 4 ε. With half of the runs tested it lies near 1.9 with a deviation of 0.15."""
    monkeypatch.setattr(noisy_groups, "noisy_sparse", too_little_noise(noisy_sparse, 4))
    monkeypatch.setattr(noisy_groups, "noisy_counts", too_little_noise(noisy_counts, 4))
    found = audited(*HONEST[2].values, runs=FEW, source=InsecureSource(1), confidence=SURE)
    assert found.violates, found.sentence()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "of", "runs"), [(*HONEST[0].values, 5_000), (*HONEST[2].values, 2_000)])
def test_half_the_noise_is_caught(monkeypatch, method, of, runs):
    """DiffGen's counts get 3ε/4, so half their noise loses 1.5 ε, and the choice adds to it; the table's loses 2 ε.

    With half of these runs tested the bounds lie near 1.3 and 1.65, with standard deviations of about 0.05:
    they stay under 1 with fewer than one seed in 10⁶.
    """
    monkeypatch.setattr(noisy_groups, "noisy_sparse", too_little_noise(noisy_sparse, 2))
    monkeypatch.setattr(noisy_groups, "noisy_counts", too_little_noise(noisy_counts, 2))
    found = audited(method, of, runs=runs, source=InsecureSource(1))
    assert found.violates, found.sentence()


@pytest.mark.parametrize(
    ("method", "of"), [pytest.param(*HONEST[0].values, id=HONEST[0].id, marks=pytest.mark.slow), HONEST[2]]
)
def test_leaving_out_empty_groups_is_caught(monkeypatch, method, of):
    """The c's group can be seen on one table alone, in a fifth of its runs at least: a bound of 3 and more.

    With 600 tested runs the bound falls to 1 only if 57 of 120 sightings or more stay away: with one seed in 10⁹.
    """
    monkeypatch.setattr(noisy_groups, "noisy_sparse", without_empty_groups)
    found = audited(replace(method, post="none"), of, runs=1_200, source=InsecureSource(2))
    assert found.violates, found.sentence()


@pytest.mark.parametrize(
    "method", [pytest.param(DiffGen(epsilon=1, h=1), marks=pytest.mark.slow), ContingencyTable(epsilon=1)], ids=str
)
def test_a_domain_read_off_the_data_is_caught(method):
    """On five records nobody has the job c, so it never stands in the release; on six it can.

    As above: an event of probability a fifth or more against one that never happens.
    """
    source = InsecureSource(3)

    def prepared(records):
        codes = {name: np.array(SIX[name][:records], dtype=np.int64) for name in ("job", "sex", "class")}
        seen, codes["job"] = np.unique(codes["job"], return_inverse=True)
        of = view(job=flat(*(JOBS[code] for code in seen)), sex=flat(*SEXES))  # and it claims to be declared
        return of, ArrayCounter(codes, {"class": 2})

    tables = prepared(6), prepared(5)

    def once(table):
        of, counter = tables[table]
        return events_of(method.draft(of, counter, Context(accountant=Accountant(method.spends), source=source)))

    found = audit(once, epsilon=method.spends, runs=1_200)
    assert found.violates, found.sentence()


def test_a_mechanism_that_would_draw_too_little_noise_refuses_to(monkeypatch):
    """Before any audit: opendp's own bound is compared with the grant, so half the scale raises."""
    from sfumato.privacy.dp.mechanisms import sparse

    monkeypatch.setattr(sparse, "scale_for", lambda epsilon, *, sensitivity: sensitivity / float(epsilon) / 2)
    with pytest.raises(InternalError, match="the noise scale does not satisfy the granted ε"):
        audited(ContingencyTable(epsilon=1, post="none"), CATEGORIES, runs=400)


# --- the audit itself, on a mechanism whose loss is known ---


def randomized_response(source):
    """Tell the truth three times out of four: ε = ln 3, exactly (Warner 1965)."""

    def once(table):
        truth = table == 0
        return {("says", truth if random_below(4, source) < 3 else not truth)}

    return once


def test_randomized_response_is_consistent_with_its_epsilon():
    """Both events have a loss of exactly ln 3: the hardest case, which fails with at most one seed in 10⁴."""
    found = audit(randomized_response(InsecureSource(4)), epsilon=Fraction(log(3)), runs=QUICK)
    assert not found.violates
    assert found.lower_bound > 0.9, "and the bound is close: 5,000 runs tell ln 3 = 1.10 from 0.9 all but surely"
    assert found.sentence().startswith("is consistent with ε = 1.09861: over 10,000 runs on each of two neighbouring")


def test_randomized_response_violates_a_smaller_epsilon():
    """The bound lies near 0.97 with a standard deviation of 0.03; under 0.8 it falls with one seed in 10⁸."""
    found = audit(randomized_response(InsecureSource(5)), epsilon=Fraction(8, 10), runs=QUICK)
    assert found.violates
    assert "violates ε = 0.8" in found.sentence()
    assert "says" in found.event


def test_the_bound_holds_as_often_as_stated():
    """At a confidence of one half the bound may exceed the true loss in half of all audits.

    The error is shared over events, directions and tables, so it does so more rarely; of 40 audits more than 30 would
    mean that the intervals are wrong (probability under 10⁻³ at one half, and far less here).
    """
    once = randomized_response(InsecureSource(6))
    bounds = [audit(once, epsilon=ONE, runs=400, confidence=0.5).lower_bound for _ in range(40)]
    assert sum(bound > log(3) for bound in bounds) <= 30


def test_too_few_runs_are_refused():
    with raises_code(UsageError, "SF-USAGE-025", match=r"399 runs are too few for an audit\. To fix: use at least 400"):
        audit(randomized_response(InsecureSource(7)), epsilon=ONE, runs=399)


def test_an_audit_that_sees_nothing_says_so():
    with pytest.raises(InternalError, match="an audit saw no event at all"):
        audit(lambda _: set(), epsilon=ONE, runs=400)


def test_an_event_that_only_one_table_has_is_named():
    found = audit(lambda table: {"same"} if table else {"same", "canary"}, epsilon=ONE, runs=400)
    assert found.violates
    assert "canary" in found.event


def test_the_absence_of_an_event_counts_too():
    """On one table always, on the other in half of the runs: the loss shows in its absence alone."""
    coin = InsecureSource(8)
    found = audit(lambda table: {"there"} if table or coin.bits(1) else set(), epsilon=ONE, runs=2_000)
    assert found.violates
    assert found.event == "not there"


def test_a_finding_is_judged_by_its_numbers():
    just = Finding(epsilon=ONE, lower_bound=1.0, event="x", runs=1, confidence=0.9)
    assert not just.violates
    assert Finding(epsilon=ONE, lower_bound=1.001, event="x", runs=1, confidence=0.9).violates
