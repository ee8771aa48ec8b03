"""Query error: agreement with queries asked one by one, what must be 0, and what the workload promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.domain import Grid
from sfumato.errors import UsageError
from sfumato.evaluate.measures import LargeQueryError, QueryError, SmallQueryError
from sfumato.evaluate.measures.query_error import workload
from sfumato.evaluate.uniform_assumption import Ranges, estimate, exact
from sfumato.methods import Mondrian
from tests.evaluate.evidences import adult, as_it_is, evidence_of, evidences, records_of, rows_of


def selections(asked, query):
    """The codes a query selects, by attribute: a range or a set."""
    found = {}
    for name, predicate in asked.predicates.items():
        for place in np.flatnonzero(predicate.queries == query):
            found[name] = (
                range(int(predicate.starts[place]), int(predicate.stops[place]))
                if isinstance(predicate, Ranges)
                else set(np.flatnonzero(predicate.member[place]).tolist())
            )
    return found


def overlap(selected, region):
    if isinstance(selected, set):
        return sum(code in region for code in selected)
    return len(range(max(selected.start, region.start), min(selected.stop, region.stop)))


def slow_truth(evidence, chosen):
    names = evidence.raw.attributes
    return sum(
        all(code in chosen[name] for name, code in zip(names, record, strict=True) if name in chosen)
        for record in records_of(evidence)
    )


def slow_estimate(shown, chosen):
    found = 0.0
    for weight, ranges, pools in rows_of(shown):
        part = weight
        for name, selected in chosen.items():
            if name in ranges:
                part *= overlap(selected, ranges[name]) / len(ranges[name])
            else:
                pool = pools[name]
                part *= sum(n for code, n in pool.items() if code in selected) / sum(pool.values())
        found += part
    return found / shown.rate


@given(evidences(), st.integers(1, 4), st.sampled_from([0.01, 0.2, 0.7, 1.0]), st.integers(0, 99))
def test_answers_agree_with_queries_asked_one_by_one(evidence, qd, sel, seed):
    asked = workload(evidence, evidence.protected, qd=qd, sel=sel, queries=8, seed=seed)
    true, found = estimate(exact(evidence), asked), estimate(evidence.shown, asked)
    for query in range(8):
        chosen = selections(asked, query)
        assert true[query] == pytest.approx(slow_truth(evidence, chosen), abs=1e-9)
        assert found[query] == pytest.approx(slow_estimate(evidence.shown, chosen), rel=1e-9, abs=1e-9)


@given(evidences(), st.integers(1, 4), st.sampled_from([0.001, 0.05, 0.5, 1.0]))
def test_predicates_select_as_many_values_as_the_selectivity_says(evidence, qd, sel):
    asked = workload(evidence, evidence.protected, qd=qd, sel=sel, queries=20, seed=3)
    used = min(qd, len(evidence.view.quasi))
    for query in range(20):
        chosen = selections(asked, query)
        assert len(chosen) == used + 1
        assert sum(a.name in chosen for a in evidence.protected) == 1
        for name, selected in chosen.items():
            domain = evidence.view.domain(name)
            wanted = domain.size * sel ** (1 / (used + 1))
            assert max(1, wanted - 1e-6) <= len(selected) < wanted + 1
            assert isinstance(selected, range) == isinstance(domain, Grid)
            ends = (selected[0], selected[-1]) if isinstance(selected, range) else (min(selected), max(selected))
            assert 0 <= ends[0] <= ends[1] < domain.size


@given(evidences())
def test_the_table_itself_has_no_error(evidence):
    raw = as_it_is(evidence.view, evidence.raw)
    measure = QueryError(sel=0.5, queries=50)
    assert measure.refuses(raw) is not None or measure.read(raw).value == pytest.approx(0.0, abs=1e-12)


def test_a_sample_is_scaled_up():
    view, cells = adult()
    evidence = as_it_is(view, cells)
    shown = evidence.shown
    half = type(shown)(
        shown.attributes, shown.starts, shown.stops, shown.weights / 2, shown.values, shown.form, rate=0.5
    )
    assert QueryError(queries=20).read(type(evidence)(view=view, raw=cells, shown=half)).value < 1e-12


def test_errors_on_adult_grow_with_k_and_with_smaller_queries():
    view, cells = adult()
    kept = {}
    found = {}
    for k in (5, 500):
        evidence = evidence_of(view, cells, Mondrian(k=k), kept)
        found[k] = [measure().read(evidence) for measure in (LargeQueryError, QueryError, SmallQueryError)]
    for readings in found.values():
        values = [reading.value for reading in readings]
        assert values == sorted(values)
        told = readings[1].details
        assert told["queries"] + told["queries with the answer 0, left out"] == 1_000
    assert all(few.value < many.value for few, many in zip(found[5], found[500], strict=True))
    assert len(kept) == 2, "the table and one workload, shared by all releases and measures"


def test_the_seed_decides_the_queries_and_sel_the_size():
    evidence = evidence_of(*adult(), Mondrian(k=50))
    assert QueryError(queries=50).read(evidence) == QueryError(queries=50).read(evidence)
    assert QueryError(queries=50).read(evidence).value != QueryError(queries=50, seed=1).read(evidence).value
    few, many = (QueryError(queries=50, sel=sel).read(evidence).details["mean true answer"] for sel in (0.01, 0.3))
    assert few < many


def test_refuses_in_words_where_no_query_is_of_the_size():
    evidence = evidence_of(*adult(), Mondrian(k=5000))
    assert "more than 10 %" in LargeQueryError(sel=0.00001, queries=20).refuses(evidence)


@pytest.mark.parametrize("wrong", [{"qd": 0}, {"queries": 0}, {"sel": 0.0}, {"sel": 1.5}])
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(UsageError):
        QueryError(**wrong)
