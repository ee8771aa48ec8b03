"""Branch and bound against counting every node, on lattices large enough to leave most of it out."""

from itertools import product

import numpy as np
import pytest

from sfumato.methods.full_domain.box_search import Search
from sfumato.methods.full_domain.lattice import lattice_of
from sfumato.methods.full_domain.rollup import Tables
from sfumato.methods.full_domain.worths import TableWorths
from tests.methods.small_views import CHAIN, UNEVEN, cells_of, view_of
from tests.small_domains import JOB


def search(seed, *, share, least=3, judge=None):
    """A skewed table of five attributes and 432 nodes."""
    rng = np.random.default_rng(seed)
    shapes = [JOB, UNEVEN, CHAIN, JOB, UNEVEN]
    view = view_of({f"q{place}": shape for place, shape in enumerate(shapes)})
    skew = rng.uniform(0.3, 3, len(shapes))
    codes = [np.floor(rng.random(250) ** s * shape.size).astype(int) for s, shape in zip(skew, shapes, strict=True)]
    cells = cells_of(view, np.stack(codes, axis=1).tolist())
    lattice = lattice_of(view.quasi, {})
    tables = Tables(lattice, [cells.codes[:, place] for place in range(len(shapes))], cells.counts)
    allowed = int(share * 250)
    return Search(lattice, TableWorths(tables, least, allowed, judge), allowed, monotone=judge is None)


def every(found):
    nodes = product(*(range(len(ladder)) for ladder in found.lattice.ladders))
    return [found.worths.of(node, node) for node in nodes]


def publishable(found, worths):
    return [worth for worth in worths if worth.suppressed <= found.allowed and worth.groups]


@pytest.mark.parametrize(("share", "least"), [(0, 3), (0.04, 3), (0.2, 3), (0.2, 10), (1, 3), (1, 12), (1, 30)])
@pytest.mark.parametrize("seed", range(8))
def test_it_finds_the_best_and_leaves_most_out(seed, share, least):
    of = search(seed, share=share, least=least)
    worths = every(of)
    best = min(publishable(of, worths), key=lambda worth: (round(worth.loss, 11), -worth.groups, worth.node))
    found = search(seed, share=share, least=least).run()
    assert found.complete and found.best is not None
    assert (found.best.node, found.best.groups) == (best.node, best.groups)
    assert found.bound == pytest.approx(best.loss)
    assert found.counted < len(worths) / 2


@pytest.mark.parametrize("seed", range(6))
def test_any_judge_will_do(seed):
    """Groups whose size is odd are left out: monotone in no way, so only sizes are used to drop boxes."""

    def odd(table, node):
        return (table.totals >= 3) & (table.totals % 2 == 0)

    of = search(seed, share=0.5, judge=odd)
    fitting = publishable(of, every(of))
    found = search(seed, share=0.5, judge=odd).run()
    assert found.complete
    if not fitting:
        assert found.best is None
        return
    best = min(fitting, key=lambda worth: (round(worth.loss, 11), -worth.groups, worth.node))
    assert found.best is not None and found.best.node == best.node


@pytest.mark.parametrize("seed", range(3))
def test_the_bound_of_a_box_holds_for_all_its_nodes(seed):
    of = search(seed, share=1)
    worths = {worth.node: worth for worth in every(of)}
    generalised = {node: worth.loss - worth.extra for node, worth in worths.items()}
    rng = np.random.default_rng(seed)
    nodes = np.array(list(worths))
    for one in rng.integers(0, len(nodes), 200):
        node = tuple(nodes[one])
        low, high = (
            tuple(pick(nodes[one], nodes[other])) for pick, other in ((np.minimum, one // 2), (np.maximum, one // 3))
        )
        assert generalised[low] + worths[high].extra <= worths[node].loss + 1e-12
        assert worths[high].too_small <= worths[node].too_small


def test_when_it_is_stopped_the_bound_is_below_the_optimum():
    whole = search(1, share=0.2).run()
    for after in (0, 5, 20):
        left = iter(range(after))
        part = search(1, share=0.2).run(stop=lambda left=left: next(left, None) is None)
        assert not part.complete
        assert part.counted == after + 1
        assert part.bound <= whole.best.loss <= part.best.loss


def test_progress_is_told():
    told = []
    found = search(2, share=0.2).run(progress=lambda what, done, total: told.append((what, done, total)))
    assert [done for _, done, _ in told] == list(range(2, found.counted + 1))
    assert {total for _, _, total in told} == {432}
