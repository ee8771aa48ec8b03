"""Domains of any size: measures go through values that occur, and say what they say code by code."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from sfumato.domains.counts import Cells
from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES
from sfumato.release.draft import Groups
from sfumato.release.shown import Values, shown_counts
from sfumato.report.distributions import distributions
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.made_drafts import counts_draft


def grid(size):
    return Grid(lower=Fraction(0), upper=Fraction(size - 1), step=Fraction(1), unit="integer")


def flat(*labels):
    return Categories(taxonomy=Taxonomy.of(Node("Any", tuple(map(Node, labels)))))


def evidence_of(size, records=400, seed=0):
    """Noisy counts of an age, with a pay of so many values beside it, next to the table they were made from."""
    rng = np.random.default_rng(seed)
    age = Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=grid(50))
    town = Attribute(name="town", role=Role.QUASI_IDENTIFIER, domain=flat(*"abcdefgh"))
    pay = Attribute(name="pay", role=Role.SENSITIVE, domain=grid(size))
    debt = Attribute(name="debt", role=Role.INSENSITIVE, domain=grid(size))
    ill = Attribute(name="ill", role=Role.CLASS, domain=flat("no", "yes"))
    codes = np.stack(
        [
            rng.integers(0, 50, records), rng.integers(0, 5, records), rng.integers(0, size // 3, records),
            rng.integers(0, size, records), rng.integers(0, 2, records),
        ],
        axis=1,
    )  # fmt: skip
    distinct, counts = np.unique(codes, axis=0, return_counts=True)
    view = View(quasi=(age, town), sensitive=(pay,), others=(debt, ill), unit=RecordUnit())
    cuts = (
        Cut("age", (0, 20, 35), 50), Cut("town", (0,), 8), Cut("pay", (0, size // 5, size // 3, size - 2), size),
        Cut("debt", (0, size // 2), size),
    )  # fmt: skip
    regions = np.stack([rng.integers(0, len(cut), 60) for cut in cuts], axis=1)
    rows = np.unique(np.hstack([regions, rng.integers(0, 2, (60, 1))]), axis=0)
    groups = Groups(cuts, rows[:, :-1], rows[:, -1], rng.integers(1, 20, len(rows)))
    facts = {"noise_scale": 2.0, "threshold": 1}
    draft = counts_draft(View.of((age, town, pay, debt, ill), unit=RecordUnit()), groups, facts)
    return Evidence(
        view=view,
        raw=Cells(("age", "town", "pay", "debt", "ill"), distinct, counts),
        shown=shown_counts(draft, ("age", "town")),
    )


def code_by_code(evidence):
    """The same with every region written out as its codes, each with its part of the count."""
    values = {}
    for name, found in evidence.shown.values.items():
        if found.edges is None:
            values[name] = found
            continue
        widths = np.diff(found.edges)
        out = np.repeat(np.arange(len(widths)), widths)
        table = found.counts.toarray()[:, out] / widths[out]
        values[name] = Values(found.pool, csr_array(table))
    return Evidence(view=evidence.view, raw=evidence.raw, shown=replace(evidence.shown, values=values))


def numbers(reading):
    return {key: one for key, one in reading.details.items() if not isinstance(one, str)}


@pytest.mark.parametrize("name", list(MEASURES))
@pytest.mark.parametrize("size", [20, 300])
def test_regions_measure_as_their_codes_one_by_one(name, size):
    evidence = evidence_of(size)
    plain = code_by_code(evidence)
    measure = MEASURES[name]()
    reason = measure.refuses(evidence)
    assert reason == measure.refuses(plain)
    if reason is None:
        found, expected = measure.read(evidence), measure.read(plain)
        assert found.value == pytest.approx(expected.value, rel=1e-9, abs=1e-12)
        assert {key: one for key, one in found.details.items() if isinstance(one, str)} == {
            key: one for key, one in expected.details.items() if isinstance(one, str)
        }
        assert numbers(found) == pytest.approx(numbers(expected), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", list(MEASURES))
def test_no_measure_takes_memory_for_codes_that_do_not_occur(name):
    """Of a domain of 10¹² codes not even one bit each could be held."""
    evidence = evidence_of(10**12)
    measure = MEASURES[name]()
    if measure.refuses(evidence) is None:
        assert np.isfinite(measure.read(evidence).value)


def test_populations_one_by_one_lose_what_they_lose_together(monkeypatch):
    together = MEASURES["uloss"]().read(evidence_of(300)).value
    monkeypatch.setattr("sfumato.evaluate.measures.utility_loss._FULL", 0)
    assert MEASURES["uloss"]().read(evidence_of(300)).value == pytest.approx(together, rel=1e-12)


def test_pairs_of_many_values_are_as_far_apart_bin_by_bin(monkeypatch):
    together = MEASURES["marginals-2"]().read(evidence_of(300))
    monkeypatch.setattr("sfumato.evaluate.measures.marginals._FULL", 10)
    apart = MEASURES["marginals-2"]().read(evidence_of(300))
    assert numbers(apart) == pytest.approx(numbers(together), rel=1e-9)


def test_a_chart_is_the_same_whatever_the_regions_are_written_as():
    evidence = evidence_of(300)
    plain = code_by_code(evidence)
    one, two = (distributions(each.view, each.raw, each.shown) for each in (evidence, plain))
    assert [(name, role, said) for name, role, _, said in one] == [(name, role, said) for name, role, _, said in two]
    for (_, _, chart, _), (_, _, other, _) in zip(one, two, strict=True):
        assert (chart is None) == (other is None)
        if chart is not None:
            assert [row[0] for row in chart.rows] == [row[0] for row in other.rows]
    wide = evidence_of(10**12)
    assert distributions(wide.view, wide.raw, wide.shown)
