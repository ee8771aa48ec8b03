from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from sfumato.domains.cut import Cut
from sfumato.domains.taxonomy.by_rule import equal_width
from sfumato.errors import InfeasibleError
from sfumato.evaluate.learning.accuracy import Accuracy, classification
from sfumato.methods import DiffGen
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.release.draft import Groups
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.made_drafts import counts_draft
from tests.raising import raises_code
from tests.small_domains import JOB, flat, grid, view

pytestmark = pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e9")

SURE = DiffGen(epsilon=10**9, h=2)


def by_diffgen(of, counter):
    return SURE.draft(of, counter, Context(accountant=Accountant(SURE.spends), source=SecureSource()))


def nothing(of, counter):
    """A release with no group at all."""
    cuts = tuple(Cut(a.name, (0,), a.domain.size) for a in of.predictors)
    empty = np.empty(0, dtype=np.int64)
    return counts_draft(of, Groups(cuts, np.empty((0, len(cuts)), dtype=np.int64), empty, empty))


def people(size=300, seed=1):
    """The class is told by the age alone: yes from 50 on; two thirds are younger."""
    rng = np.random.default_rng(seed)
    age = np.where(np.arange(size) % 3 == 0, rng.integers(50, 100, size), rng.integers(0, 50, size))
    return {"age": age, "job": rng.integers(0, 4, size), "class": (age >= 50).astype(np.int64)}


OF = view(age=grid(0, 99), job=JOB)


def test_what_can_be_learnt_is_learnt():
    """Without noise the first split is the one that tells the class apart, on train and test alike."""
    found = classification(OF, people(), by_diffgen, runs=3)
    assert found.ca.mean > 0.97, "the split lies where the train part puts it, so a record or two may be beside it"
    assert found.ba.mean > 0.97
    assert 0.55 < found.la.mean < 0.75


def test_where_there_is_nothing_to_learn_nothing_is_gained():
    codes = people() | {"class": np.random.default_rng(2).integers(0, 2, 300)}
    found = classification(OF, codes, by_diffgen, runs=5)
    assert abs(found.ca.mean - 0.5) < 0.12


def test_a_release_sees_two_thirds_of_the_records_and_is_tested_on_the_others():
    codes = people(90)
    codes["age"] = np.arange(90)  # every record can be told
    of = view(age=grid(0, 89), job=JOB)
    seen = []

    def make(part, counter):
        assert isinstance(counter, ArrayCounter)
        seen.append(set(counter.marginals(["age"], "class")["age"].codes.tolist()))
        return nothing(part, counter)

    asked = []

    class Model:
        def fit(self, features, classes, sample_weight):
            asked.append(("fit", len(classes), sample_weight.sum()))

        def predict(self, features):
            asked.append(("predict", len(features), 0))
            return np.zeros(len(features), dtype=np.int64)

    classification(of, codes, make, runs=4, classifier=Model)
    assert [len(part) for part in seen] == [60] * 4
    assert len({frozenset(part) for part in seen}) == 4, "another split a run"
    assert asked == [("fit", 60, 60.0), ("predict", 30, 0)] * 4, "the baseline learns on the same two thirds"


def test_the_seed_fixes_the_splits():
    def most_frequent(seed):
        return classification(OF, people(), nothing, runs=4, seed=seed, baseline=False).la.runs

    assert most_frequent(1) == most_frequent(1) != most_frequent(2)


def test_la_is_the_share_of_the_most_frequent_class():
    codes = people() | {"class": np.zeros(300, dtype=np.int64)}
    found = classification(OF, codes, nothing, runs=2, baseline=False)
    assert found.la.runs == (1.0, 1.0)
    assert found.ba is None


def test_an_empty_release_predicts_the_first_class():
    codes = people()
    found = classification(OF, codes, nothing, runs=1, baseline=False)
    share = found.ca.mean
    assert 0 < share < 1, "and it is compared with the truth: about two thirds are of the first class"
    assert abs(share - 2 / 3) < 0.2


def test_a_release_of_roots_alone_predicts_its_weightiest_class():
    def make(of, counter):
        cuts = tuple(Cut(a.name, (0,), a.domain.size) for a in of.predictors)
        regions = np.zeros((2, len(cuts)), dtype=np.int64)
        return counts_draft(of, Groups(cuts, regions, np.array([0, 1]), np.array([1, 9])))

    codes = people() | {"class": np.ones(300, dtype=np.int64)}
    assert classification(OF, codes, make, runs=1, baseline=False).ca.mean == 1.0


def test_too_few_records_cannot_be_split():
    codes = {name: column[:2] for name, column in people().items()}
    with raises_code(
        InfeasibleError, "SF-INFEASIBLE-001", match=r"2 records cannot be split .* To fix: use a larger table"
    ):
        classification(OF, codes, nothing)
    assert classification(OF, {n: c[:3] for n, c in people().items()}, nothing, runs=1, baseline=False)


def test_numbers_with_a_taxonomy_and_a_fine_grid_stay_one_feature():
    """A raw number is one column whatever its taxonomy: an indicator a point would be millions of columns."""
    fine = grid(0, 2_000_000)
    of = view(pay=replace(fine, taxonomy=equal_width(fine, Fraction(500_000))), job=flat("a", "b"))
    codes = {"pay": people()["age"] * 20_000, "job": people()["job"] % 2, "class": people()["class"]}
    assert classification(of, codes, by_diffgen, runs=1).ba.mean > 0.97


def test_mean_and_deviation():
    assert Accuracy((0.5, 0.7)).mean == pytest.approx(0.6)
    assert Accuracy((0.5, 0.7)).deviation == pytest.approx(0.1 * 2**0.5)
    assert Accuracy((0.5,)).deviation == 0
