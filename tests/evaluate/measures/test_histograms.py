"""Histogram distances against histograms added up record by record."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import UsageError
from sfumato.evaluate.measures import HistogramCityBlock, HistogramDivergence
from sfumato.methods import Mondrian
from tests.evaluate.evidences import adult, as_it_is, evidence_of, evidences, records_of, rows_of
from tests.evaluate.measures.test_query_error import overlap, selections
from tests.methods.partition_tables import cells_of, partition_view
from tests.small_domains import JOB


def slow_histograms(evidence, chosen, name):
    names = evidence.raw.attributes
    size = evidence.view.domain(name).size
    true, guessed = [0.0] * size, [0.0] * size
    for record in records_of(evidence):
        if all(code in chosen[n] for n, code in zip(names, record, strict=True) if n in chosen):
            true[record[names.index(name)]] += 1
    for weight, ranges, pools in rows_of(evidence.shown):
        part = weight * math.prod(overlap(chosen[n], ranges[n]) / len(ranges[n]) for n in chosen)
        for code, count in pools[name].items():
            guessed[code] += part * count / sum(pools[name].values()) / evidence.shown.rate
    occurring = {record[names.index(name)] for record in records_of(evidence)}
    occurring |= {code for _, _, pools in rows_of(evidence.shown) for code in pools[name]}
    return [true[c] for c in sorted(occurring)], [guessed[c] for c in sorted(occurring)]


def divergence(true, guessed):
    p, q = ([h + 0.5 for h in histogram] for histogram in (true, guessed))
    return sum(a / sum(p) * math.log((a / sum(p)) / (b / sum(q))) for a, b in zip(p, q, strict=True))


@given(evidences(), st.integers(1, 3), st.sampled_from([0.1, 0.5, 1.0]), st.integers(0, 9))
def test_distances_agree_with_slow_ones(evidence, qd, sel, seed):
    parameters = {"qd": qd, "sel": sel, "classes": 4, "least": 1, "seed": seed}
    one, two = HistogramDivergence(**parameters), HistogramCityBlock(**parameters)
    if one.refuses(evidence):
        return
    found = [
        slow_histograms(evidence, selections(asked, query), "ill")
        for asked, enough in one._classes(evidence)
        for query in np.flatnonzero(enough)
    ]
    assert all(sum(true) >= 1 for true, _ in found)
    wanted = [max(0.0, divergence(*pair)) for pair in found]
    assert one.read(evidence).value == pytest.approx(sum(wanted) / len(wanted), abs=1e-9)
    wanted = [sum(abs(a - b) for a, b in zip(*pair, strict=True)) / sum(pair[0]) for pair in found]
    assert two.read(evidence).value == pytest.approx(sum(wanted) / len(wanted), abs=1e-9)


@given(evidences())
def test_the_table_itself_has_no_distance(evidence):
    raw = as_it_is(evidence.view, evidence.raw)
    for kind in (HistogramDivergence, HistogramCityBlock):
        measure = kind(sel=0.5, classes=10, least=1)
        assert measure.refuses(raw) or measure.read(raw).value == pytest.approx(0.0, abs=1e-12)


def test_distances_grow_with_k_and_classes_have_records():
    view, cells = adult()
    kept = {}
    few, many = (evidence_of(view, cells, Mondrian(k=k), kept) for k in (10, 1000))
    for kind in (HistogramDivergence, HistogramCityBlock):
        measure = kind(classes=100)
        assert measure.read(few).value < measure.read(many).value
        assert measure.read(few).details["classes"] == 100


def test_refuses_in_words():
    view = partition_view(sensitive=(), others=False, q=JOB)
    evidence = evidence_of(view, cells_of(view, [(0,), (1,)]), Mondrian(k=1))
    assert "sensitive" in HistogramDivergence().refuses(evidence)
    view = partition_view(q=JOB)
    evidence = evidence_of(view, cells_of(view, [(0, 0, 0), (1, 1, 1)]), Mondrian(k=1))
    assert "20 records" in HistogramCityBlock(classes=5).refuses(evidence)


@pytest.mark.parametrize("wrong", [{"qd": 0}, {"classes": 0}, {"least": 0}, {"sel": 0.0}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(UsageError):
        HistogramDivergence(**wrong)
