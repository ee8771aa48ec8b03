"""The cap on random groups with random, overlapping regions, against a count of every record in exact fractions."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.boxes import Boxes
from sfumato.errors import InfeasibleError, StudyError
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import CappedConfidence, broken_records, parse_models, refuse_infeasible, title
from sfumato.privacy.models.example import PATIENTS
from tests.methods.slow_cap import slow_own, slow_shown
from tests.raising import raises_code
from tests.small_domains import flat, grid

SIZES = (6, 3)
DOMAINS = {"age": grid(0, 5), "sex": flat("x", "y", "z"), "s": flat("a", "b", "c")}


def ranges(size):
    return st.integers(0, size - 1).flatmap(lambda low: st.tuples(st.just(low), st.integers(low + 1, size)))


@st.composite
def grouped(draw):
    """Groups with different regions, and the values of each."""
    boxes = draw(st.lists(st.tuples(*map(ranges, SIZES)), min_size=1, max_size=6, unique=True))
    values = [draw(st.lists(st.integers(0, 2), min_size=1, max_size=8)) for _ in boxes]
    return boxes, values


def statistics(boxes, values):
    group = np.repeat(np.arange(len(values)), [len(of) for of in values])
    pairs = np.array(boxes, dtype=np.int64)
    return Statistics.of(
        group,
        np.ones(len(group), np.int64),
        {"s": np.concatenate([np.array(of, dtype=np.int64) for of in values])},
        DOMAINS,
        groups=len(values),
        boxes=Boxes(("age", "sex"), pairs[:, :, 0], pairs[:, :, 1]),
    )


def slow(boxes, values, rate, shares, alone, rules=()):
    """How many records of each group break the cap, and how close any comes."""
    n = sum(map(len, values))
    found, close = [], 1.0
    for box, of in zip(boxes, values, strict=True):
        lost = 0
        for value in of:
            told = [c for where, v, c in rules if v == value and all(_inside(box[p], r) for p, r in where.items())]
            chance = min(told) if told else alone[value]
            for (start, stop), known in zip(box, shares, strict=True):
                chance *= sum(known[start:stop])
            room = float(1 - (1 - chance) ** n) - float(rate * Fraction(Counter(of)[value], len(of)))
            close = min(close, abs(room))
            lost += room < 0
        found.append(lost)
    return found, close


def _inside(region, wide):
    return wide[0] <= region[0] and region[1] <= wide[1]


@given(made=grouped(), rate=st.sampled_from(["1", "0.9", "1/3"]))
def test_by_the_shares_that_the_groups_show(made, rate):
    boxes, values = made
    sizes = [len(of) for of in values]
    shown = [
        slow_shown([box[p] for box, n in zip(boxes, sizes, strict=True) for _ in range(n)], size)
        for p, size in enumerate(SIZES)
    ]
    wanted, close = slow(boxes, values, Fraction(rate), shown, slow_own([v for of in values for v in of], 3))
    model = CappedConfidence(rate=rate)
    if close > 1e-9:
        assert broken_records(model, statistics(boxes, values)).tolist() == wanted
        assert model.holds(statistics(boxes, values)).tolist() == [not lost for lost in wanted]


@given(made=grouped(), rate=st.sampled_from(["1", "0.5"]))
def test_by_given_shares_and_rules(made, rate):
    boxes, values = made
    shares = {"age": {"[0, 2)": "0.5", "1": "0.4"}, "sex": {"x": "0.7"}, "s": {"a": "0.5", "b": "1/2"}}
    known = [
        [Fraction(1, 10), Fraction(4, 10), *[Fraction(1, 8)] * 4],
        [Fraction(7, 10), Fraction(15, 100), Fraction(15, 100)],
    ]
    rules = [
        {"where": {"age": "[0, 3)", "sex": "x"}, "value": "a", "confidence": "0.9"},
        {"where": {"sex": "Any"}, "value": "c", "confidence": "0.05"},
        {"where": {"age": "[0, 2)"}, "value": "a", "confidence": "0.01"},
    ]
    plain = [
        ({0: (0, 3), 1: (0, 1)}, 0, Fraction(9, 10)),
        ({1: (0, 3)}, 2, Fraction(1, 20)),
        ({0: (0, 2)}, 0, Fraction(1, 100)),
    ]
    alone = [Fraction(1, 2), Fraction(1, 2), Fraction(0)]
    wanted, close = slow(boxes, values, Fraction(rate), known, alone, plain)
    model = CappedConfidence(rate=rate, shares=shares, rules=rules)
    if close > 1e-9:
        assert broken_records(model, statistics(boxes, values)).tolist() == wanted


def test_groups_without_regions_are_refused_with_words():
    with raises_code(StudyError, "SF-STUDY-088", match=r"is defined on the regions of groups.*buckets"):
        CappedConfidence(rate=1).holds(replace(PATIENTS, boxes=None))


def test_the_way_out_of_a_table_that_cannot_keep_it():
    whole = statistics([((0, 6), (0, 3))], [[0, 0]])
    with raises_code(InfeasibleError, "SF-INFEASIBLE-013", match=r"set the rate to 0\.96 or less"):
        refuse_infeasible([CappedConfidence(rate=1, shares={"s": {"a": "0.8"}})], whole)
    refuse_infeasible([CappedConfidence(rate="0.96", shares={"s": {"a": "0.8"}})], whole)


def test_a_title_does_not_list_all_shares():
    (model,) = parse_models({"capped-confidence": {"rate": 1, "shares": {"s": {"a": "0.5"}, "age": {"1": "0.1"}}}})
    assert title(model) == "capped-confidence (rate = 1, shares = 2 given)"
