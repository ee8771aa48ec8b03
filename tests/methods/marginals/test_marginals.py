"""Marginals: what is measured, what it costs, what the model finds, and audits from outside."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from typing import ClassVar

import numpy as np
import pytest

from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import StudyError
from sfumato.evaluate.audit import audit, events_of
from sfumato.methods.marginals import algorithm
from sfumato.methods.marginals.algorithm import Marginals
from sfumato.methods.marginals.plan import PLANS, one_way_shares, plan_for
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms import noisy_counts, noisy_max
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.release.model.graphical.junction_tree import model_cells
from sfumato.release.model.graphical.records import model_of
from sfumato.study.attribute import Role
from sfumato.study.unit import PersonUnit
from sfumato.study.view import View
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.domains.sets.test_set_domain import DEEP
from tests.raising import raises_code
from tests.small_domains import JOB, counter, flat, grid, view

DOMAINS = {"n": grid(0, 39), "job": JOB, "sex": flat("f", "m")}


def drafted(of, codes, source=None, **parameters):
    method = Marginals(**{"epsilon": 1, **parameters})
    accountant = Accountant(method.spends / of.unit.stability)
    table = ArrayCounter({n: np.asarray(c) for n, c in codes.items()}, {of.target.name: len(of.classes)})
    context = Context(accountant=accountant, source=source or InsecureSource(5))
    return method.draft(of, table, context), accountant


def people(size, seed=3):
    """The job depends on the number, the class on the job; nothing depends on the sex."""
    rng = np.random.default_rng(seed)
    n = rng.integers(0, 40, size)
    job = np.where(rng.random(size) < 0.8, n // 10, rng.integers(0, 4, size))
    label = (job % 2) ^ (rng.random(size) < 0.1)
    return {"n": n, "job": job, "sex": rng.integers(0, 2, size), "class": label.astype(np.int64)}


def test_it_measures_what_goes_together_and_learns_it():
    of, codes = view(**DOMAINS), people(20_000)
    draft, _ = drafted(of, codes)
    measured = draft.marginals
    assert [table.attributes for table in measured.tables[:4]] == [(0,), (1,), (2,), (3,)]
    assert any({0, 1} <= {*table.attributes} for table in measured.tables), "n and job"
    assert any({1, 3} <= {*table.attributes} for table in measured.tables), "job and class"
    true = np.bincount(codes["job"] * 2 + codes["class"], minlength=8) / 20_000
    assert np.abs(model_of(measured).marginal((1, 3)).ravel() - true).sum() / 2 < 0.03
    assert measured.total == pytest.approx(20_000, rel=0.02)
    assert draft.groups.counts.sum() == pytest.approx(measured.total, rel=0.01)


def test_every_cell_is_published_with_whole_counts():
    draft, _ = drafted(view(**DOMAINS), people(500), epsilon="0.2")
    for table in draft.marginals.tables:
        assert table.counts.shape == tuple(draft.marginals.sizes[a] for a in table.attributes)
        assert table.counts.dtype == np.int64
    assert min(table.counts.min() for table in draft.marginals.tables) < 0, "noise is not cut off"


@pytest.mark.parametrize("size", [0, 300, 20_000, 60_000])
def test_the_budget_breakdown_adds_up_to_epsilon_and_says_what_was_bought(size):
    _, accountant = drafted(view(**DOMAINS), people(size))
    assert accountant.left == 0
    plan = plan_for(size, Fraction(1))
    spends = accountant.breakdown
    assert spends[0].on == "number of records" and spends[0].epsilon == Fraction(1, 50)
    alone = [spend.epsilon for spend in spends[1:5]]
    assert [spend.on for spend in spends[1:3]] == ["counts of table 1: 'n'", "counts of table 2: 'job'"]
    assert sum(alone) in {Fraction(49, 50) * each.one_way for each in PLANS}
    if size in {300, 60_000}:  # far from where the noisy number of records decides
        assert sum(alone) == Fraction(49, 50) * plan.one_way
    choices, tables = spends[5::2], spends[6::2]
    assert 1 <= len(choices) == len(tables) <= max(each.rounds for each in PLANS)
    assert all(table.epsilon == 9 * choice.epsilon for choice, table in zip(choices, tables, strict=True))
    assert all(later.epsilon >= earlier.epsilon for earlier, later in pairwise(tables))


def test_single_attributes_get_their_share_by_the_root_of_their_cells():
    shares = one_way_shares(Fraction(1, 3), [1, 4, 9])
    assert sum(shares) == Fraction(1, 3)
    assert [float(share / shares[0]) for share in shares] == pytest.approx([1, 2, 3], rel=1e-5)


def test_a_declared_workload_is_all_that_is_chosen_from():
    draft, _ = drafted(view(**DOMAINS), people(20_000), workload=[["sex", "n"], ["job"]])
    assert {table.attributes for table in draft.marginals.tables[4:]} <= {(0, 2), (1,)}


def test_with_one_candidate_nothing_is_spent_on_a_choice():
    _, accountant = drafted(view(**DOMAINS), people(2_000), workload=[["job", "class"]])
    assert not any("attributes of table" in spend.on for spend in accountant.breakdown)
    assert accountant.left == 0


@pytest.mark.parametrize("domains", [{"one": flat("a")}, {"one": flat("a"), "two": grid(0, 0)}])
def test_with_nothing_to_join_all_goes_to_single_attributes(domains):
    codes = {**{name: [0] * 50 for name in domains}, "class": [0] * 20 + [1] * 30}
    draft, accountant = drafted(view(**domains), codes, epsilon=5)
    [table] = draft.marginals.tables
    assert accountant.left == 0
    assert np.abs(table.counts - [20, 30]).max() < 10


@pytest.mark.parametrize("epsilon", ["1e-9", "0.0001", "1000"])
def test_any_epsilon_ends_in_a_release(epsilon):
    """With noise that drowns all, and with none to speak of."""
    draft, accountant = drafted(view(**DOMAINS), people(300), epsilon=epsilon)
    assert accountant.left == 0 and np.isfinite(draft.groups.counts).all() and len(draft.groups)
    if epsilon == "1000":
        assert draft.marginals.total == pytest.approx(300)


def test_without_a_target():
    of = View.of(view(**DOMAINS).quasi, unit=view(**DOMAINS).unit)
    codes = {name: column for name, column in people(5_000).items() if name != "class"}
    draft, accountant = drafted(of, codes)
    assert accountant.left == 0
    assert len(draft.marginals.cuts) == 3 and not draft.groups.classes.any()
    assert draft.groups.counts.sum() == pytest.approx(5_000, rel=0.1)
    with raises_code(StudyError, "SF-STUDY-301"):
        Marginals(epsilon=1, workload="target").check(of)


def test_missing_values_are_counted_like_others():
    of = view(n=replace(grid(0, 39), missing=40), sex=flat("f", "m"))
    codes = people(8_000)
    lost = np.random.default_rng(0).random(8_000) < 0.3
    codes["n"] = np.where(lost, 40, codes["n"])
    draft, _ = drafted(of, {name: codes[name] for name in ("n", "sex", "class")})
    share = model_of(draft.marginals).marginal((0,))
    assert share[-1] == pytest.approx(lost.mean(), abs=0.02)
    assert draft.marginals.cuts[0].ranges[-1] == (40, 41)


def test_persons_get_that_much_more_noise():
    codes = people(3_000)
    alone, _ = drafted(view(**DOMAINS), codes)
    of = view(unit=PersonUnit("id", 5), **DOMAINS)
    together, accountant = drafted(of, codes)
    assert accountant.spent == Fraction(1, 5)
    assert together.facts["noise_scale"] > 3 * alone.facts["noise_scale"]
    first = accountant.breakdown[0]
    assert first.epsilon == Fraction(1, 250)


def test_the_model_never_outgrows_its_limit(monkeypatch):
    """Six attributes that are nearly the same would all be joined; a limit of three tables does not let them."""
    monkeypatch.setattr(algorithm, "MOST_MODEL_CELLS", 200)
    of = view(**{f"a{number}": grid(0, 7) for number in range(6)})
    rng = np.random.default_rng(1)
    base = rng.integers(0, 8, 3_000)
    codes = {f"a{number}": (base + rng.integers(0, 2, 3_000)) % 8 for number in range(6)}
    codes["class"] = base % 2
    draft, accountant = drafted(of, codes, epsilon=20, workload="pairs")
    sizes, tables = draft.marginals.sizes, [table.attributes for table in draft.marginals.tables]
    assert model_cells(sizes, tables) <= 200 + sum(sizes) < model_cells(sizes, combinations(range(6), 2))
    assert accountant.left == 0, "what fits is measured again"


@pytest.mark.parametrize("wrong", [1, 0, -5, 1_001, "x", None, 2.5, True])
def test_a_limit_that_is_none_is_refused(wrong):
    with raises_code(StudyError, "SF-STUDY-304"):
        Marginals(epsilon=1, groups=wrong)


def test_sets_and_many_classes_are_refused():
    with raises_code(StudyError, "SF-STUDY-224", match="holds sets of codes"):
        Marginals(epsilon=1).check(view(codes=SetDomain(taxonomy=DEEP), job=JOB))
    with raises_code(StudyError, "SF-STUDY-305"):
        Marginals(epsilon=1).check(view(job=JOB, target=tuple(f"c{n}" for n in range(101))))
    with raises_code(StudyError, "SF-STUDY-302"):
        Marginals(epsilon=1, workload=[["job", "age"]]).check(view(job=JOB))


def test_a_forecast_says_what_can_be_chosen():
    found = Marginals(epsilon=1).forecast(view(**DOMAINS))
    assert found.numbers["candidates"] == 6 + 3
    assert found.numbers["groups"] == {"n": 40, "job": 4, "sex": 2, "class": 2}
    assert [plan["rounds"] for plan in found.numbers["plans"]] == [plan.rounds_for(9) for plan in PLANS] == [2, 4, 8, 9]
    alone = Marginals(epsilon=1).forecast(view(job=flat("a")))
    assert any("all of ε is spent on single attributes" in sentence for sentence in alone.sentences)
    wide = Marginals(epsilon=1, groups=100, workload=[["n", "m", "o"]])
    assert any("pairs" in s for s in wide.forecast(view(n=grid(0, 99), m=grid(0, 99), o=grid(0, 9))).sentences)


def test_roles_do_not_matter():
    """A sensitive attribute is counted like a quasi-identifier: the guarantee is the same for all."""
    of = view(**DOMAINS)
    hidden = View.of((of.quasi[0], of.quasi[1], replace(of.quasi[2], role=Role.SENSITIVE), of.target), unit=of.unit)
    codes = people(2_000)
    one, two = (drafted(each, codes)[0].marginals for each in (of, hidden))
    assert [t.counts.tolist() for t in one.tables] == [t.counts.tolist() for t in two.tables]


# --- from outside ---

SMALL = view(job=flat("a", "b"), sex=flat("f", "m"))
SIX = {"job": [0, 0, 0, 1, 1, 1], "sex": [0, 1, 0, 1, 0, 1], "class": [0, 0, 1, 1, 1, 1]}
RUNS, SURE = 400, 1 - 1e-9


def audited(codes=SIX, runs=RUNS, source=None, **parameters):
    """Audit on these records and on all but the last."""
    counters = [counter(SMALL, codes), counter(SMALL, {name: column[:-1] for name, column in codes.items()})]
    method, source = Marginals(epsilon=1, **parameters), source or SecureSource()

    def once(table):
        draft = method.draft(SMALL, counters[table], Context(accountant=Accountant(Fraction(1)), source=source))
        return events_of(draft)

    return audit(once, epsilon=Fraction(1), runs=runs, confidence=SURE)


@pytest.mark.error_rate(1e-9, reason="the audit's own error")
def test_it_loses_no_more_than_it_promises():
    found = audited()
    assert not found.violates, found.sentence()


@pytest.mark.slow
@pytest.mark.error_rate(1e-9, reason="the audit's own error")
def test_it_loses_no_more_over_many_runs():
    found = audited(runs=10_000)
    assert not found.violates, found.sentence()


def cheaper(mechanism, times):
    def drawn(*given, grant, **others):
        epsilon = times * grant.redeem()
        return mechanism(*given, grant=Accountant(epsilon).grant(epsilon, on="too much"), **others)

    return drawn


def test_a_fiftieth_of_the_noise_is_caught(monkeypatch):
    monkeypatch.setattr(algorithm, "noisy_counts", cheaper(noisy_counts, 50))
    found = audited(source=InsecureSource(1), workload=[["job"]])
    assert found.violates, found.sentence()


class _Expects:
    """A fit that expects these counts, whatever was measured."""

    counts: ClassVar = {(0,): np.array([5.5, 1.0]), (1,): np.array([5.0, 1.0])}

    def __init__(self, size):
        self.model, self._size = self, size

    def marginal(self, attributes):
        return self.counts[attributes] / self._size


def test_a_choice_without_noise_is_caught(monkeypatch):
    """Six records are half a record from what is expected of the job; the seventh is a whole one away of the sex."""
    monkeypatch.setattr(algorithm, "noisy_max", cheaper(noisy_max, 10**6))
    monkeypatch.setattr(algorithm, "fit", lambda _sizes, _measured, size, **_: _Expects(size))
    seven = {"job": [0, 0, 0, 0, 0, 1, 0], "sex": [0, 0, 0, 0, 0, 1, 1], "class": [0] * 7}
    counters = [counter(SMALL, {name: column[:end] for name, column in seven.items()}) for end in (7, 6)]
    method, source = Marginals(epsilon=1, workload=[["job"], ["sex"]]), InsecureSource(1)

    def once(table):
        draft = method.draft(SMALL, counters[table], Context(accountant=Accountant(Fraction(1)), source=source))
        return {("chosen first", draft.marginals.tables[3].attributes)}

    found = audit(once, epsilon=Fraction(1), runs=RUNS, confidence=SURE)
    assert found.violates, found.sentence()
