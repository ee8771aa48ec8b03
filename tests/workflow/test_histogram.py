"""Histograms by strategies: ranges with intervals that hold, what does not fit, and what the answer tells."""

import json
from fractions import Fraction

import numpy as np
import pytest

from sfumato.domains.cut import Cut
from sfumato.errors import StudyError, UsageError
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import InsecureSource
from sfumato.privacy.dp.strategies import Cells, Hierarchical, Wavelet, draw_measurements
from sfumato.workflow.histogram import Axis, Histogram
from tests.raising import raises_code
from tests.small_domains import grid
from tests.trust.purposes import study, table

STRATEGIES = [
    Cells(100),
    Hierarchical(size=100, fan_out=10),
    Hierarchical(size=100, fan_out=5, root=True),
    Wavelet(100),
]


@pytest.mark.parametrize("strategy", STRATEGIES, ids=str)
def test_intervals_of_random_ranges_hold(strategy):
    """100 histograms with 5 random ranges each; 97 % are expected to hold, of a single Laplace variable 96 %."""
    axis = Axis(Cut.finest("age", 100), grid(0, 99))
    rng = np.random.default_rng(17)
    true = rng.integers(0, 200, 100)
    held = 0
    for seed in range(100):
        grant = Accountant(Fraction(1, 2)).grant(Fraction(1, 2), on="ages")
        measured = draw_measurements(strategy, true[None], grant=grant, source=InsecureSource(seed))[0]
        histogram = Histogram.of(axis, strategy, Fraction(1, 2), measured)
        for _ in range(5):
            low, high = sorted(rng.integers(0, 100, 2).tolist())
            found = histogram.over(f"age >= {low} and age <= {high}")
            held += found.low <= true[low : high + 1].sum() <= found.high
            assert found.low <= max(found.count, 0) <= found.high
    assert held >= 0.95 * 500


@pytest.mark.parametrize("strategy", ["cells", "hierarchical", "wavelet", "auto"])
@pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e6")
def test_without_noise_every_strategy_counts_right(strategy):
    opened = study(budget=10**8)
    answer = opened.ask(epsilon=10**6, by="age", strategy=strategy, ranges=["age >= 30 and age < 50"])
    ages = table()["age"].to_pylist()
    assert answer.counts == pytest.approx({str(age): ages.count(age) for age in range(100)}, abs=1e-5)
    wanted = sum(30 <= age < 50 for age in ages)
    assert answer.ranges[0].count == pytest.approx(wanted, abs=1e-5)
    assert answer.ranges[0].low <= wanted <= answer.ranges[0].high
    assert answer.over("age < 10 or age = 77").count == pytest.approx(ages.count(77), abs=1e-5)


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_auto_decides_by_the_declared_ranges_and_says_so():
    opened = study()
    cells = opened.ask(epsilon="0.1", by="age", strategy="auto")
    assert cells.histogram.strategy.name == "cells" and cells.within == 30
    wide = opened.ask(epsilon="0.1", by="age", strategy="auto", ranges=["age < 90", "age >= 20"])
    assert wide.histogram.strategy.name == "hierarchical"
    told = wide.as_json()
    assert json.dumps(told, allow_nan=False)
    numbers = told["comparison"]["expected_squared_error"]
    assert told["comparison"]["best"] == min(numbers, key=numbers.__getitem__) == "hierarchical"
    assert "'hierarchical' has the smallest" in wide.comparison.sentence()


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_a_receiver_can_recompute_all_from_the_answer():
    told = study().ask(epsilon="0.1", by="age", strategy="hierarchical").as_json()
    tree = told["strategy"]
    again = Hierarchical(size=tree["size"], fan_out=tree["fan_out"], root=tree["root"])
    assert again.sensitivity == tree["sensitivity"] and tree["noise_scale"] >= again.sensitivity / 0.1
    measured = np.array([[node["count"] for node in tree["measured"]]], dtype=float)
    assert list(told["counts"].values()) == pytest.approx(again.estimate(measured)[0].tolist(), abs=1e-5)
    assert tree["measured"][0]["values"].startswith("[0, ")


def test_what_does_not_fit_is_refused_before_anything_is_spent():
    opened = study()
    with raises_code(StudyError, "SF-STUDY-372", match="those of 'job' have no order"):
        opened.ask(epsilon=1, by="job", strategy="hierarchical")
    with raises_code(StudyError, "SF-STUDY-371", match="'age' alone has one marginal"):
        opened.ask(epsilon=1, by="age", strategy="consistent-marginals")
    with raises_code(StudyError, "SF-STUDY-370", match="cells, hierarchical, wavelet"):
        opened.ask(epsilon=1, by="age", strategy="pyramid")
    with raises_code(UsageError, "SF-USAGE-373"):
        opened.ask("age > 3", epsilon=1, strategy="wavelet")
    with raises_code(UsageError, "SF-USAGE-373"):
        opened.ask("age > 3", epsilon=1, ranges=["age > 5"])
    with raises_code(UsageError, "SF-USAGE-371"):
        opened.ask(epsilon=1, by="age", ranges=["age > 5"] * 101)
    with raises_code(UsageError, "SF-USAGE-020"):
        opened.ask(epsilon=1, by="age", ranges=["job = Lawyer"])
    assert opened.ledger.entries("clinic") == ()


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_a_single_count_has_no_ranges():
    with raises_code(UsageError, "SF-USAGE-372"):
        study().ask(epsilon="0.1").over("age > 3")


def test_a_range_does_not_divide_a_counted_value():
    axis = Axis(Cut("age", (0, 10, 20), 30), grid(0, 29))
    assert axis.chosen("age >= 10").tolist() == [0, 1, 1]
    with raises_code(UsageError, "SF-USAGE-370", match="divides a value"):
        axis.chosen("age >= 15")
