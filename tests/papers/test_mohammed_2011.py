"""Worked examples of Mohammed, Chen, Fung & Yu, "Differentially private data release for data mining", KDD 2011."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.domains.cut import Cut
from sfumato.methods import DiffGen
from sfumato.methods.method import Context
from sfumato.methods.specialization.candidates import Splits
from sfumato.methods.specialization.scores import SCORES
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.release.features import region_matrix
from tests.small_domains import JOB, counter, grid, view

AGE = grid(18, 65)
RECORDS = [  # Table 1(a)
    ("Engineer", 34, "Y"),
    ("Lawyer", 50, "N"),
    ("Engineer", 38, "N"),
    ("Lawyer", 33, "Y"),
    ("Dancer", 20, "Y"),
    ("Writer", 37, "N"),
    ("Writer", 32, "Y"),
    ("Dancer", 25, "N"),
]
VIEW = view(job=JOB, age=AGE)
CODES = {
    "job": JOB.encode([job for job, _, _ in RECORDS]),
    "age": AGE.encode([age for _, age, _ in RECORDS]),
    "class": np.array([" NY".index(c) - 1 for _, _, c in RECORDS]),
}
COUNTER = counter(VIEW, CODES)
MARGINALS = COUNTER.marginals(["job", "age"], "class")


def parts_of_job():
    return np.stack([MARGINALS["job"].total(*child) for child in JOB.children(0, 4)])


def parts_of_age_at(age):
    split = age - 18
    return np.stack([MARGINALS["age"].total(0, split), MARGINALS["age"].total(split, AGE.size)])


def test_specializing_any_job_scores_four_by_max_and_nothing_by_information_gain():
    assert SCORES["max"].ticks(parts_of_job()) == 4
    assert SCORES["info_gain"].ticks(parts_of_job()) == 0


def test_age_at_40_scores_five_by_max():
    assert SCORES["max"].ticks(parts_of_age_at(40)) == 5


def test_age_at_40_gains_what_the_entropies_say():
    # Seven records under 40 (4 Y, 3 N), one above (N): H(4/8) - 7/8 H(4/7).
    by_hand = 1 - 7 / 8 * -(4 / 7 * np.log2(4 / 7) + 3 / 7 * np.log2(3 / 7))
    assert SCORES["info_gain"].ticks(parts_of_age_at(40)) * 2.0**-20 == pytest.approx(by_hand, abs=2.0**-20)


def test_table_1c_and_1d_are_the_cells_of_their_cuts():
    at_40 = Cut("age", (0, 22), AGE.size)
    finest = COUNTER.cells([Cut.finest("job", 4), at_40])
    assert dict(zip(map(tuple, finest.codes.tolist()), finest.counts.tolist(), strict=True)) == {
        (0, 0): 2, (1, 0): 1, (1, 1): 1, (2, 0): 2, (3, 0): 2,
    }  # fmt: skip
    general = COUNTER.cells([Cut("job", (0, 2), 4), at_40])
    assert dict(zip(map(tuple, general.codes.tolist()), general.counts.tolist(), strict=True)) == {
        (0, 0): 3, (0, 1): 1, (1, 0): 4,
    }  # fmt: skip


def test_all_split_points_between_neighbouring_ages_share_one_run():
    splits = Splits.of(MARGINALS["age"], (0, AGE.size))
    assert len(splits) == 65 - 18  # every age from 19 to 65 can begin the upper half
    scores = np.repeat(SCORES["max"].ticks(splits.parts), splits.widths)
    one_by_one = [SCORES["max"].ticks(parts_of_age_at(age)) for age in range(19, 66)]
    assert scores.tolist() == one_by_one


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_shares_are_those_of_line_3():
    """ε' = ε/(2(|A_num| + 2h)): with one numerical attribute and h = 2, a tenth of ε a step."""
    accountant = Accountant(Fraction(1))
    DiffGen(epsilon=1, h=2).draft(VIEW, COUNTER, Context(accountant=accountant, source=SecureSource()))
    *steps, counts = accountant.breakdown
    assert {step.epsilon for step in steps} == {Fraction(1, 10)}
    assert counts.epsilon == 1 - len(steps) * Fraction(1, 10) >= Fraction(1, 2)


@pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e6")
def test_groups_are_the_cross_product_of_the_cuts():
    """With noise off, the counts of all groups are the true ones (Example 3 goes on to publish them)."""
    draft = DiffGen(epsilon=10**6, h=2).draft(
        VIEW, COUNTER, Context(accountant=Accountant(Fraction(10**6)), source=SecureSource())
    )
    groups = draft.groups
    regions = region_matrix(groups.cuts, [CODES["job"], CODES["age"]])
    for row, place, count in zip(groups.regions, groups.classes, groups.counts, strict=True):
        assert count == np.sum(np.all(regions == row, axis=1) & (CODES["class"] == place))
    assert groups.counts.sum() == 8
