"""Marginals against distributions added up value by value."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Grid
from sfumato.errors import UsageError
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import OneWayDistance, TwoWayDistance, marginals
from sfumato.methods import Mondrian
from sfumato.release.shown import Shown
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.evaluate.evidences import adult, as_it_is, evidence_of, evidences, records_of, rows_of


def spread(ranges, pools, name):
    """One row's records over the values of an attribute."""
    if name in ranges:
        return {code: 1 / len(ranges[name]) for code in ranges[name]}
    return {code: n / sum(pools[name].values()) for code, n in pools[name].items()}


def slow(evidence, names):
    true = Counter(tuple(r[evidence.raw.attributes.index(n)] for n in names) for r in records_of(evidence))
    found = Counter()
    for weight, ranges, pools in rows_of(evidence.shown):
        first = spread(ranges, pools, names[0])
        second = spread(ranges, pools, names[1]) if len(names) > 1 else {None: 1.0}
        for code, share in first.items():
            for other, part in second.items():
                found[(code, other)[: len(names)]] += weight * share * part
    published = sum(found.values())
    return sum(abs(true[c] / evidence.records - found[c] / published) for c in {*true, *found}) / 2


@given(evidences())
def test_distances_agree_with_slow_ones(evidence):
    if any(evidence.view.domain(a.name).size > 20 for a in evidence.view.quasi):
        return  # looked at in parts; see below
    names = [a.name for a in evidence.view.attributes]
    quasi = {a.name for a in evidence.view.quasi}
    one, two = OneWayDistance(), TwoWayDistance()
    if one.refuses(evidence):
        return
    each = {name: slow(evidence, (name,)) for name in names}
    assert one.read(evidence).value == pytest.approx(sum(each.values()) / len(each), abs=1e-9)
    pairs = [slow(evidence, pair) for pair in combinations(names, 2) if quasi & set(pair)]
    found = two.read(evidence)
    assert found.value == pytest.approx(sum(pairs) / len(pairs), abs=1e-9)
    assert found.details["distance of the worst"] == pytest.approx(max(pairs), abs=1e-9)


@given(evidences())
def test_the_table_itself_has_its_own_marginals(evidence):
    raw = as_it_is(evidence.view, evidence.raw)
    for measure in (OneWayDistance(), TwoWayDistance(), TwoWayDistance(bins=2)):
        assert measure.read(raw).value == pytest.approx(0.0, abs=1e-12)


@given(evidences())
def test_distances_are_shares(evidence):
    for measure in (OneWayDistance(), TwoWayDistance(bins=3)):
        assert measure.refuses(evidence) or 0 <= measure.read(evidence).value <= 1


def test_distances_grow_with_k_and_parts_are_of_alike_many_records():
    view, cells = adult()
    few, many = (evidence_of(view, cells, Mondrian(k=k)) for k in (10, 1000))
    for kind in (OneWayDistance, TwoWayDistance):
        assert kind().read(few).value < kind().read(many).value
    edges = OneWayDistance()._edges(few)["age"]
    ages = few.column("age")
    shares = [cells.counts[(ages >= a) & (ages < b)].sum() / few.records for a, b in pairwise(edges)]
    assert len(edges) == 21
    assert max(shares) < 0.1


def test_parts_must_be_some():
    with pytest.raises(UsageError):
        OneWayDistance(bins=0)


def test_too_many_pairs_are_refused(monkeypatch):
    evidence = as_it_is(*adult())
    assert TwoWayDistance().refuses(evidence) is None
    monkeypatch.setattr(marginals, "_MOST_PAIRS", 2)
    assert "pairs of attributes; use a purpose with fewer" in TwoWayDistance().refuses(evidence)


def numbers(true, shown, upper=60):
    """A table of one number, records by value, beside a release of others as they are."""
    number = Attribute(
        name="n", role=Role.QUASI_IDENTIFIER, domain=Grid(lower=Fraction(0), upper=Fraction(upper), step=Fraction(1))
    )
    view = View(quasi=(number,), sensitive=(), others=(), unit=RecordUnit())
    codes = np.array([list(true)]).T
    released = np.array([list(shown)]).T
    weights = np.array(list(shown.values()), float)
    return Evidence(
        view=view,
        raw=Cells(("n",), codes, np.array(list(true.values()))),
        shown=Shown(("n",), released, released + 1, weights, {}, "generalised"),
    )


def test_a_value_that_holds_most_records_does_not_hide_the_others():
    true = {0: 960, 1: 20, 2: 12, 3: 8}
    shown = {0: 914, 1: 40, 2: 26, 3: 20}
    assert OneWayDistance().read(numbers(true, shown)).value == pytest.approx(0.046)
    many = {0: 960} | dict.fromkeys(range(1, 41), 1)  # more values than bins
    for bins in (2, 3, 20):
        found = OneWayDistance(bins=bins).read(numbers(many, {0: 900} | dict.fromkeys(range(1, 41), 2.5)))
        assert found.value == pytest.approx(0.06)


def test_heavy_values_get_bins_of_their_own_and_edges_are_distinct():
    true = {0: 500, 7: 300, 8: 100} | dict.fromkeys(range(10, 60), 2)
    edges = OneWayDistance()._edges(numbers(true, {0: 1}))["n"].tolist()
    assert edges == sorted(set(edges)) and edges[0] == 0 and edges[-1] == 61
    assert {(0, 1), (7, 8), (8, 9)} <= set(pairwise(edges))
    assert 17 <= sum(start >= 9 for start in edges[:-1]) <= 18, "the others share the bins that are left"


def test_a_table_of_few_values_among_many_is_compared_value_by_value():
    assert OneWayDistance().read(numbers({5: 10}, {5: 5, 6: 5})).value == pytest.approx(0.5)
