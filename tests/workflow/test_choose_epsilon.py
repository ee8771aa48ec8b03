"""Choosing ε: noise from declarations alone, the ε for a wanted error, and what a stand-in tells."""

from fractions import Fraction
from math import exp

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import StudyError, UsageError
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance, scale_for
from sfumato.workflow.choose_epsilon import within_of
from tests.raising import raises_code

STUDY = """\
name: clinic
source: nowhere.parquet
privacy: {budget: 4}
attributes:
  age: {role: quasi_identifier, type: integer, bounds: [0, 99], step: 1}
  job: {role: quasi_identifier, values: [cook, clerk, judge]}
  ill: {role: class, values: ["no", "yes"]}
releases:
  table: {method: contingency, epsilon: 1}
  staged: {method: staged, epsilon: 1}
  groups: {method: mondrian, k: 3}
"""


@pytest.fixture
def clinic(tmp_path):
    """A study whose table does not exist: whoever reads it fails."""
    (tmp_path / "study.yaml").write_text(STUDY, encoding="utf-8")
    return sf.Study.load(tmp_path / "study.yaml")


def shares(scale, most=4_000):
    """P(noise = x) of discrete Laplace noise by its definition."""
    x = np.arange(-most, most + 1)
    weights = np.exp(-np.abs(x) / scale)
    return x, weights / weights.sum()


@pytest.mark.parametrize("scale", [0.1, 0.5, 1.0, 3.7, 20.0, 100.0])
def test_within_and_deviation_are_those_of_the_distribution(scale):
    x, p = shares(scale)
    within = within_of(scale)
    assert p[np.abs(x) <= within].sum() >= 0.95 - 1e-12
    assert within == 0 or p[np.abs(x) <= within - 1].sum() < 0.95
    assert np.sqrt(laplace_variance(scale)) == pytest.approx(np.sqrt((p * x**2).sum()), rel=1e-9)


def test_points_have_the_noise_that_a_release_draws_and_nothing_is_read(clinic):
    found = clinic.choose_epsilon("table", epsilons=["1", "0.1", Fraction(1, 10)])
    assert [point.epsilon for point in found.points] == [Fraction(1, 10), 1]
    for point in found.points:
        spent = point.epsilon  # of 300 counts a class the sum is a better total than one that is bought
        assert point.deviation == pytest.approx(np.sqrt(laplace_variance(scale_for(spent, sensitivity=1))))
        assert point.odds_factor == pytest.approx(exp(point.epsilon))
        # A job adds up 600 / 3 counts, an age 600 / 100.
        assert point.marginal_deviation == pytest.approx(np.sqrt(2 * 200) * scale_for(spent, sensitivity=1))
    assert found.solved is None and found.stand_in is None


@pytest.mark.parametrize("within", [2, 10, 300])
@pytest.mark.parametrize("release", ["table", "staged"])
def test_the_solved_epsilon_reaches_the_error_and_hardly_more_would_not(clinic, release, within):
    solved = clinic.choose_epsilon(release, within=within, records=2_000).solved
    assert solved.within <= within
    less = clinic.choose_epsilon(release, epsilons=[solved.epsilon * Fraction(98, 100)], records=2_000).points[0]
    assert less.within > within or less.deviation > solved.deviation
    assert release == "staged" or less.within >= within


def test_more_records_make_more_stages_with_more_noise_each(clinic):
    few, many = (clinic.choose_epsilon("staged", epsilons=[1], records=n).points[0] for n in (100, 10**6))
    assert few.deviation < many.deviation


def test_what_cannot_be_chosen_is_refused(clinic):
    with raises_code(StudyError, "SF-STUDY-390"):
        clinic.choose_epsilon("groups")
    with raises_code(UsageError, "SF-USAGE-390"):
        clinic.choose_epsilon("table", records=-1)
    with raises_code(UsageError, "SF-USAGE-391"):
        clinic.choose_epsilon("table", within=0)


def test_an_error_that_no_epsilon_reaches_is_refused(tmp_path):
    """Of persons with very many records each."""
    unit = "privacy: {unit: {person: id, at_most: 100000}, budget: 4}"
    text = STUDY.replace("privacy: {budget: 4}", unit).replace("attributes:", "attributes:\n  id: {role: identifier}")
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    with raises_code(UsageError, "SF-USAGE-392"):
        sf.Study.load(tmp_path / "study.yaml").choose_epsilon("table", within=10)


@pytest.mark.error_rate(0, reason="what is asserted holds for every draw")
def test_a_stand_in_is_measured_in_place_of_the_table(clinic, tmp_path):
    rng = np.random.default_rng(5)
    age = rng.integers(0, 100, 600)
    table = pa.table(
        {"age": age, "job": rng.choice(["cook", "clerk", "judge"], 600), "ill": np.where(age > 50, "yes", "no")}
    )
    pq.write_table(table, tmp_path / "public.parquet")
    found = clinic.choose_epsilon("staged", epsilons=[2], stand_in=tmp_path / "public.parquet")
    (point,) = found.points
    assert found.stand_in == "public.parquet"
    assert 0 <= point.accuracy <= 1 and 0 <= point.auc <= 1
    assert 0 <= point.marginals_1 <= 1 and 0 <= point.marginals_2 <= 1
    assert found.raw > 0.95  # the class is a function of age
    assert sorted(path.name for path in tmp_path.iterdir()) == ["public.parquet", "study.yaml"]


@pytest.mark.parametrize("named", ["nowhere.parquet", "./nowhere.parquet"])
def test_the_table_of_the_study_is_no_stand_in(clinic, tmp_path, monkeypatch, named):
    """By a path from where the caller stands, or by an address; it is refused before it is looked for."""
    monkeypatch.chdir(tmp_path)
    with raises_code(UsageError, "SF-USAGE-452"):
        clinic.choose_epsilon("staged", stand_in=named)
    address = "postgresql://host/clinic?table=visits"
    (tmp_path / "study.yaml").write_text(STUDY.replace("nowhere.parquet", address), encoding="utf-8")
    for same in (address, "postgres://host:5432/clinic?schema=public&table=visits"):
        with raises_code(UsageError, "SF-USAGE-452"):
            sf.Study.load(tmp_path / "study.yaml").choose_epsilon("staged", stand_in=same)
