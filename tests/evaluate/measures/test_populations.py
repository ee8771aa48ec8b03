"""Large populations against all conjunctions of nodes, counted one record after the other."""

from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.domain import Grid
from sfumato.errors import InfeasibleError
from sfumato.evaluate.measures import Populations, large_populations
from sfumato.evaluate.measures import populations as home
from sfumato.study.attribute import Attribute, Role
from tests.evaluate import adult
from tests.evaluate.releases import releases
from tests.raising import raises_code


def slow_nodes(attribute, codes):
    """Every node that some record is in, without the root."""
    domain = attribute.domain
    if domain.taxonomy is not None:
        found = set(zip(domain.taxonomy.starts, domain.taxonomy.stops, strict=True))
    else:
        found, todo = set(), [(0, domain.points)]
        while todo:
            start, stop = todo.pop()
            if any(start <= code < stop for code in codes):
                found.add((start, stop))
                middle = (start + stop) // 2
                if middle > start:
                    todo += [(start, middle), (middle, stop)]
    if domain.missing is not None:
        found.add((domain.missing, domain.missing + 1))
    return found - {(0, domain.size)}


def slow_populations(view, records, min_sup):
    """Each large population with how many records it has."""
    quasi = view.quasi
    nodes = [
        [None, *slow_nodes(attribute, {record[place] for record in records})] for place, attribute in enumerate(quasi)
    ]
    found = {}
    for chosen in product(*nodes):
        inside = [
            record
            for record in records
            if all(node is None or node[0] <= code < node[1] for node, code in zip(chosen, record, strict=False))
        ]
        if any(chosen) and len(inside) >= ceil(Fraction(str(min_sup)) * len(records)):
            asked = {a.name: node for a, node in zip(quasi, chosen, strict=True) if node is not None}
            found[frozenset(asked.items())] = len(inside)
    return found


def expanded(cells):
    return [
        tuple(codes) for codes, n in zip(cells.codes.tolist(), cells.counts.tolist(), strict=True) for _ in range(n)
    ]


@given(releases(), st.sampled_from([0.05, 0.3, 0.5, 1.0]))
def test_populations_are_those_found_one_by_one(evidence, min_sup):
    found = large_populations(evidence, min_sup)
    named = [frozenset(asked.items()) for asked in found.predicates()]
    assert len(set(named)) == len(named) == len(found)
    counted = dict(zip(named, found.support.tolist(), strict=True))
    assert counted == slow_populations(evidence.view, expanded(evidence.raw), min_sup)


@given(releases())
def test_populations_are_found_once_and_survive_a_file(evidence):
    found = large_populations(evidence, 0.2)
    assert large_populations(evidence, 0.2) is found
    again = Populations.of_arrays(found.arrays())
    assert list(again.predicates()) == list(found.predicates())
    assert again.attributes == found.attributes and again.support.tolist() == found.support.tolist()


def number(**more):
    return Attribute(
        name="n", role=Role.QUASI_IDENTIFIER,
        domain=Grid(lower=Fraction(0), upper=Fraction(15), step=Fraction(1), **more),
    )  # fmt: skip


def test_halves_stop_at_the_narrowest_interval_that_the_owner_wants():
    attribute = Attribute(name="n", role=Role.QUASI_IDENTIFIER, domain=number().domain, at_least=Fraction(4))
    nodes = home.large_nodes(attribute, np.arange(16), np.ones(16, np.int64), least=1)
    assert nodes == [(0, 8), (8, 16), (0, 4), (4, 8), (8, 12), (12, 16)]


def test_a_missing_number_is_a_value_and_all_known_ones_are_a_node():
    nodes = home.large_nodes(number(missing=16), np.array([3, 16]), np.array([5, 5]), least=5)
    assert (16, 17) in nodes and (0, 16) in nodes and (3, 4) in nodes
    assert (0, 17) not in nodes


@given(releases(), st.integers(1, 60), st.sampled_from([0, 20]))
def test_of_too_many_those_with_few_predicates_are_taken(evidence, most, wide):
    everything = slow_populations(evidence.view, expanded(evidence.raw), 0.3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(home, "MOST", most)
        patch.setattr(home, "_WIDE", wide)
        fewest = sum(len(one) == 1 for one in everything)
        if fewest > most:
            with raises_code(InfeasibleError, "SF-INFEASIBLE-003", match=rf"more than {most} populations.*min_sup"):
                large_populations(evidence, 0.3)
            return
        found = large_populations(evidence, 0.3)
    assert len(found) <= most
    named = {frozenset(asked.items()) for asked in found.predicates()}
    if len(everything) <= most:
        assert found.deepest is None and named == set(everything)
    else:
        assert named == {one for one in everything if len(one) <= found.deepest}
        assert sum(len(one) <= found.deepest + 1 for one in everything) > most
    assert Populations.of_arrays(found.arrays()).deepest == found.deepest


def test_a_grid_of_billions_is_halved_only_where_records_are():
    wide = Attribute(
        name="n", role=Role.QUASI_IDENTIFIER,
        domain=Grid(lower=Fraction(0), upper=Fraction(2**40), step=Fraction(1), unit="integer"),
    )  # fmt: skip
    nodes = home.large_nodes(wide, np.array([7, 2**39 + 5]), np.array([10, 10]), least=10)
    assert (7, 8) in nodes and len(nodes) <= 2 * 41


def test_the_census_table_has_thousands():
    view, cells = adult.table()
    codes = cells.codes[:, : len(view.quasi)]
    assert len(home.mine(view.quasi, codes, cells.counts, 0.05)) == 5_049
