"""The noise-aware belief: against sums over every true count, and what must hold of it whatever the table."""

import math

import numpy as np
import pytest
from scipy.stats import dlaplace, nbinom

from sfumato.evaluate.beliefs.count_likelihood import Components, count_likelihood, nodes_for
from sfumato.evaluate.beliefs.group_posterior import GroupPosterior
from sfumato.evaluate.beliefs.noisy_beliefs import group_losses
from sfumato.evaluate.beliefs.noisy_cells import CellTable
from sfumato.evaluate.beliefs.own_noisy import NoiseIntervals, largest_loss, own_losses
from tests.evaluate.beliefs.plain_posterior import Plain, js


def table_of(n, y, scale, threshold, regions=None, possible=None):
    """Counts n of groups × cells, and what is published of them; -1 where nothing is."""
    groups, cells = n.shape
    (group, cell), (there, held) = np.nonzero(y >= threshold), np.nonzero(n)
    noisy = y[group, cell].astype(float)
    return CellTable(
        shares=n.sum(axis=0) / n.sum(),
        thresholds=np.full(cells, threshold),
        regions={"ill": np.arange(cells) if regions is None else np.array(regions)},
        groups=groups,
        possible=float(possible or groups),
        scale=scale,
        records=int(n.sum()),
        group=group,
        cell=cell,
        low=noisy,
        high=noisy,
        table_group=there,
        table_cell=held,
        table_count=n[there, held],
    )


def noisy(n, scale, rng):
    """The counts with discrete Laplace noise."""
    stop = -math.expm1(-1 / scale)
    return n + rng.geometric(stop, n.shape) - rng.geometric(stop, n.shape)


def two_sorts(groups=40, size=60, seed=0):
    """Groups of two sorts with very different values."""
    rng = np.random.default_rng(seed)
    some = [rng.multinomial(size, p, groups) for p in ([0.7, 0.2, 0.1], [0.2, 0.2, 0.6])]
    return np.concatenate(some), rng


def exact(n):
    """JS of every group's shares from the table's."""
    prior = (n.sum(axis=0) / n.sum()).tolist()
    return [js((row / row.sum()).tolist(), prior) for row in n if row.sum()]


@pytest.mark.parametrize(("scale", "threshold"), [(0.5, 1), (2.0, 1), (2.0, 4)])
def test_it_agrees_with_sums_over_every_true_count(scale, threshold):
    n = np.array([[6, 1, 0], [0, 3, 9], [2, 0, 0]])
    y = noisy(n, scale, np.random.default_rng(3))
    listed = [[int(one) if one >= threshold else None for one in row] for row in y]
    shares, regions = (n.sum(axis=0) / n.sum()).tolist(), [0, 1, 1]
    plain = Plain(listed, shares, scale, threshold, int(n.sum()))
    posterior = GroupPosterior(table_of(n, y, scale, threshold, regions))
    prior = [shares[0], shares[1] + shares[2]]
    slow = [js(plain.belief(row, regions), prior) for row in listed]
    assert group_losses(posterior, "ill") == pytest.approx(slow, rel=1e-4, abs=1e-9)
    if scale < 1:
        own = [
            plain.own(listed[g], j, int(n[g, j]), regions)
            for g, j in zip(posterior.table.table_group, posterior.table.table_cell, strict=True)
        ]
        assert own_losses(posterior, "ill") == pytest.approx(own, rel=1e-3, abs=1e-9)


def test_a_likelihood_far_from_zero_is_that_of_every_whole_number():
    share, scale, threshold = 0.4, 30.0, 700
    parts = Components(np.array([1.0, 30.0]), np.array([100.0, 4000.0]))
    asked = np.array([700, 1313, 2000])
    found = count_likelihood(share, threshold, scale, parts, nodes_for([asked, asked - 1], scale))
    logs, means = found.at(asked)
    every = np.arange(6000)
    for part, (a, lam) in enumerate(zip(parts.alpha, parts.size, strict=True)):
        f = nbinom.pmf(every, a * share, a / (a + lam))
        for place, y in enumerate(asked):
            seen = f * dlaplace.pmf(y - every, 1 / scale)
            assert logs[place, part] == pytest.approx(math.log(seen.sum()), abs=2e-3)
            assert means[place, part] == pytest.approx((seen * every).sum() / seen.sum(), rel=2e-3)


def test_one_region_tells_nothing_at_all():
    n, rng = two_sorts(groups=5)
    posterior = GroupPosterior(table_of(n, noisy(n, 1.0, rng), 1.0, 1, [0, 0, 0]))
    assert group_losses(posterior, "ill").tolist() == [0.0] * 10
    assert own_losses(posterior, "ill").tolist() == [0.0] * np.count_nonzero(n)


@pytest.mark.parametrize("threshold", [1, 20])
def test_pure_noise_tells_hardly_anything(threshold):
    n, rng = two_sorts()
    posterior = GroupPosterior(table_of(n, noisy(n, 100.0, rng), 100.0, threshold))
    assert group_losses(posterior, "ill").max() <= 0.01


def test_values_without_a_pattern_stay_near_the_table():
    rng = np.random.default_rng(1)
    n = rng.multinomial(30, [0.6, 0.3, 0.1], 200)
    found = group_losses(GroupPosterior(table_of(n, noisy(n, 2.0, rng), 2.0, 1)), "ill")
    assert found.max() < max(exact(n)) / 2, "an outlier is noise, and buys no component of its own"


def test_it_rises_to_the_exact_loss_with_epsilon():
    n, rng = two_sorts()
    found = [
        group_losses(GroupPosterior(table_of(n, noisy(n, 1 / epsilon, rng), 1 / epsilon, 1)), "ill").max()
        for epsilon in (0.01, 0.05, 1, 100)
    ]
    assert found == sorted(found)
    assert found[-1] == pytest.approx(max(exact(n)), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("threshold", [1, 5])
def test_the_own_record_moves_belief_by_at_most_what_epsilon_allows(epsilon, threshold):
    rng = np.random.default_rng(4)
    n = np.concatenate([rng.multinomial(size, rng.dirichlet(np.ones(4))) for size in (1, 1, 2, 3, 8, 40)]).reshape(6, 4)
    posterior = GroupPosterior(table_of(n, noisy(n, 1 / epsilon, rng), 1 / epsilon, threshold, [0, 1, 1, 2]))
    found = own_losses(posterior, "ill")
    assert 0 < found.max() <= largest_loss(epsilon)


@pytest.mark.parametrize("scale", [0.1, 1.0, 7.3, 200.0])
def test_intervals_of_the_noise_differ_by_no_more_than_epsilon(scale):
    found = NoiseIntervals.of(scale)
    assert found.with_record.sum() == pytest.approx(1) and found.without_record.sum() == pytest.approx(1)
    ratio = found.with_record / found.without_record
    assert ratio.max() <= math.exp(1 / scale) * (1 + 1e-9) and ratio.min() >= math.exp(-1 / scale) * (1 - 1e-9)


def test_groups_that_nobody_can_count_cost_nothing():
    n, rng = two_sorts(groups=10)
    few, many = (
        GroupPosterior(table_of(n, noisy(n, 1.0, rng), 1.0, 12, possible=possible)) for possible in (None, 1e40)
    )
    for posterior in (few, many):
        found = group_losses(posterior, "ill")
        assert np.isfinite(found).all() and found.max() <= math.log(2)


def test_cells_and_regions_that_look_alike_are_one_kind():
    n = np.tile(np.eye(50, dtype=np.int64) * 2, (1, 1))
    posterior = GroupPosterior(table_of(n, n, 0.5, 1))
    assert len(posterior.kinds.shares) == 1
    assert np.ptp(group_losses(posterior, "ill")) < 1e-9, "everybody is placed alike"
