"""Staged tables: sensitivity of every choice and table, what is published, and audits from outside."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import StudyError
from sfumato.evaluate.audit import audit, events_of
from sfumato.methods.method import Context, cells_by_class
from sfumato.methods.staged import algorithm
from sfumato.methods.staged.algorithm import Staged
from sfumato.methods.staged.groupings import groupings_of
from sfumato.methods.staged.impurity import TICKS
from sfumato.methods.staged.search import Joint
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms import noisy_counts, noisy_max
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.release.model.plug_in import BANDS, PlugIn, band_of
from sfumato.study.unit import PersonUnit
from tests.domains.sets.test_set_domain import DEEP
from tests.examples import examples
from tests.raising import raises_code
from tests.small_domains import JOB, coded_tables, counter, flat, grid, view

ONE_CLASS = {"n": grid(0, 39), "job": JOB}


def drafted(of, codes, epsilon="1", source=None):
    method = Staged(epsilon=epsilon)
    accountant = Accountant(method.spends / of.unit.stability)
    return method.draft(of, counter(of, codes), Context(accountant=accountant, source=source or SecureSource()))


def joint_of(of, codes):
    found = groupings_of(of)
    cells = cells_by_class(counter(of, codes), [each.atoms for each in found.values()], of)
    return Joint.of(found, cells, len(of.classes))


def without(codes, record):
    return {name: np.delete(column, record) for name, column in codes.items()}


def scored(joint, model, penalty):
    """All candidates of a stage after the tables of a model, with their scores."""
    size = len(joint)
    bands = band_of(model.scores(joint.codes, size)) if model.stages else np.zeros(size, dtype=np.int64)
    names = list(joint.groupings)
    sets = [some for many in range(4) for some in combinations(names, many)]
    count = BANDS * joint.classes if model.stages else 1
    return joint.candidates(sets, bands, count, cells=10_000, penalty=penalty)


@settings(max_examples=examples(quick=20, slow=300))
@given(table=coded_tables(most=25), record=st.integers(0, 24), penalty=st.integers(0, TICKS), seed=st.integers(0, 99))
def test_one_record_less_raises_every_score_by_at_most_a_record(table, record, penalty, seed):
    """In the first stage, and in one after a table that is published: by brute force over all candidates."""
    of, codes = table
    if not len(codes["class"]):
        return
    record %= len(codes["class"])
    published = drafted(of, codes, source=InsecureSource(seed)).measured.stages
    for model in (PlugIn(()), PlugIn(published)):
        whole, less = joint_of(of, codes), joint_of(of, without(codes, record))
        (candidates, before), (same, after) = (scored(each, model, penalty) for each in (whole, less))
        assert candidates == same, "which candidates there are is public"
        change = np.array(after) - np.array(before)
        assert change.min(initial=0) >= 0 and change.max(initial=0) <= TICKS


@settings(max_examples=examples(quick=20, slow=300))
@given(table=coded_tables(most=25), record=st.integers(0, 24), seed=st.integers(0, 99))
def test_one_record_less_changes_one_count_of_each_table_by_one(table, record, seed):
    of, codes = table
    if not len(codes["class"]):
        return
    record %= len(codes["class"])
    model = PlugIn(drafted(of, codes, source=InsecureSource(seed)).measured.stages)
    counted = []
    for some in (codes, without(codes, record)):
        joint = joint_of(of, some)
        tables, bands = [], np.zeros(len(joint), dtype=np.int64)
        for number, stage in enumerate(model.stages):
            tables.append(joint.count(stage.table.rows(bands, joint.codes), len(stage.table.counts)))
            bands = band_of(PlugIn([s.table for s in model.stages[: number + 1]]).scores(joint.codes, len(joint)))
        counted.append(tables)
    for whole, less in zip(*counted, strict=True):
        assert np.abs(whole - less).sum() == 1
        assert whole.sum() == len(codes["class"])


def people(size, classes=2, seed=3):
    """Records whose class depends on a number and a category."""
    rng = np.random.default_rng(seed)
    n, job = rng.integers(0, 40, size), rng.integers(0, 4, size)
    of = view(target=tuple("ABCDE"[:classes]), **ONE_CLASS)
    label = np.where(rng.random(size) < 0.9, (n // 14 + job) % classes, rng.integers(0, classes, size))
    return of, {"n": n, "job": job, "class": label}


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_model_tells_the_classes_apart(classes):
    of, codes = people(20_000, classes)
    draft = drafted(of, codes, epsilon="2", source=InsecureSource(5))
    of, new = people(5_000, classes, seed=4)
    scores = PlugIn(draft.measured.stages).scores({name: new[name] for name in ("n", "job")}, 5_000)
    found = (scores.argmax(axis=1) == new["class"]).mean()
    assert found > 0.85, "9 in 10 can be known"


def test_all_cells_are_published_and_all_attributes_described():
    of, codes = people(3_000)
    draft = drafted(of, codes, epsilon="0.3", source=InsecureSource(2))
    measured = draft.measured
    assert set(measured.cuts) == {"n", "job"}
    for table in measured.stages:
        assert table.counts.shape == (np.prod(table.sizes), 2)
    assert abs(measured.size - 3_000) < 3_000
    assert draft.groups.counts.sum() == pytest.approx(measured.size, rel=0.01)


def test_the_budget_breakdown_says_what_was_bought():
    of, codes = people(3_000)
    accountant = Accountant(Fraction(1))
    Staged(epsilon=1).draft(of, counter(of, codes), Context(accountant=accountant, source=InsecureSource(1)))
    bought = [spend.on for spend in accountant.breakdown]
    assert bought[:3] == ["number of records", "attributes and groups of table 1", "counts of table 1"]
    assert accountant.left == 0


def test_of_many_attributes_one_is_chosen_first():
    domains = {f"a{number}": flat("x", "y") for number in range(algorithm.MOST_AT_ONCE + 1)}
    of = view(**domains)
    rng = np.random.default_rng(8)
    codes = {name: rng.integers(0, 2, 4_000) for name in domains}
    codes["class"] = codes["a5"] ^ (rng.random(4_000) < 0.1)
    accountant = Accountant(Fraction(1))
    draft = Staged(epsilon=1).draft(of, counter(of, codes), Context(accountant=accountant, source=InsecureSource(1)))
    assert accountant.breakdown[1].on == "first attribute of table 1"
    assert "a5" in {cut.attribute for cut in draft.measured.stages[0].cuts}


def test_persons_get_that_much_more_noise():
    of, codes = people(3_000)
    persons = view(unit=PersonUnit("id", 5), **ONE_CLASS)
    alone = drafted(of, codes, source=InsecureSource(1)).facts["noise_scale"]
    assert drafted(persons, codes, source=InsecureSource(1)).facts["noise_scale"] > 2 * alone


def test_nothing_to_tell_apart_still_counts_the_classes():
    of = view(one=flat("a"))
    draft = drafted(of, {"one": [0] * 50, "class": [0] * 20 + [1] * 30}, epsilon="5", source=InsecureSource(1))
    [table] = draft.measured.stages
    assert table.cuts == () and np.abs(table.counts - [20, 30]).max() < 10


def test_sets_are_refused():
    with raises_code(StudyError, "SF-STUDY-224", match="holds sets of codes"):
        Staged(epsilon=1).check(view(codes=SetDomain(taxonomy=DEEP), job=JOB))


# --- from outside ---

SMALL = view(job=flat("a", "b"))
SIX = {"job": [0, 0, 0, 1, 1, 1], "class": [0, 0, 1, 1, 1, 1]}
RUNS, SURE = 600, 1 - 1e-9


def audited(codes=SIX, runs=RUNS, source=None):
    """Audit on these records and on all but the last."""
    counters = [counter(SMALL, codes), counter(SMALL, {name: column[:-1] for name, column in codes.items()})]
    method, source = Staged(epsilon=1), source or SecureSource()

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


def test_a_tenth_of_the_noise_is_caught(monkeypatch):
    monkeypatch.setattr(algorithm, "noisy_counts", cheaper(noisy_counts, 10))
    found = audited(source=InsecureSource(1))
    assert found.violates, found.sentence()


def test_a_choice_without_noise_is_caught(monkeypatch):
    """Of four records two cells with one class each are worth it (impurity 1.4 against a cell more), of three not."""
    monkeypatch.setattr(algorithm, "noisy_max", cheaper(noisy_max, 400))
    found = audited({"job": [0, 0, 1, 1], "class": [0, 0, 1, 1]}, source=InsecureSource(1))
    assert found.violates, found.sentence()
