import datetime as dt
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Grid
from sfumato.domains.json_form import cut_from_json, cut_to_json, domain_from_json, domain_to_json
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import InternalError, VerifyError


def through_text(value):
    return json.loads(json.dumps(value, ensure_ascii=False))


@st.composite
def taxonomies(draw, size=None):
    """Trees of any shape and depth; with ``size``, leaves that together cover so many codes."""
    parents = [-1]
    path = [0]
    for node in range(1, draw(st.integers(1, 12))):
        del path[draw(st.integers(1, len(path))) :]
        parents.append(path[-1])
        path.append(node)
    leaves = len(parents) - len(set(parents) - {-1})
    labels = tuple(draw(st.lists(st.text(), min_size=len(parents), max_size=len(parents), unique=True)))
    if size is None:
        return Taxonomy(labels, tuple(parents), (1,) * leaves)
    if leaves > size:
        return Taxonomy(labels[:1], (-1,), (size,))
    return Taxonomy(labels, tuple(parents), (*(1,) * (leaves - 1), size - leaves + 1))


@st.composite
def categories(draw):
    taxonomy = draw(taxonomies())
    code = st.none() | st.integers(0, taxonomy.size - 1)
    return Categories(taxonomy=taxonomy, declared=draw(st.booleans()), missing=draw(code), other=draw(code))


@st.composite
def grids(draw):
    lower, step = draw(st.fractions()), draw(st.fractions(min_value=Fraction(1, 10**6), max_value=10**6))
    upper = lower + step * draw(st.integers(0, 10**6)) + draw(st.sampled_from([0, step / 2, step / 3]))
    plain = Grid(lower=lower, upper=upper, step=step)
    missing = draw(st.sampled_from([None, plain.points]))
    size = plain.points + (missing is not None)
    days = ["day"] if lower >= 1 and upper <= dt.date.max.toordinal() else []
    return Grid(
        lower=lower, upper=upper, step=step, unit=draw(st.sampled_from(["number", "integer", *days])),
        taxonomy=draw(st.none() | taxonomies(size)), declared=draw(st.booleans()), missing=missing,
        missing_label=draw(st.text()),
    )  # fmt: skip


@given(categories() | grids())
def test_a_domain_comes_back_as_it_went(domain):
    assert domain_from_json(through_text(domain_to_json(domain))) == domain


@given(st.text(), st.integers(1, 2**70), st.sets(st.integers(1, 10**6)))
def test_a_cut_comes_back_as_it_went(name, size, inner):
    cut = Cut(name, (0, *sorted(start for start in inner if start < size)), size)
    assert cut_from_json(through_text(cut_to_json(cut))) == cut
    finest = Cut.finest(name, size)
    assert cut_from_json(through_text(cut_to_json(finest))) == finest


def test_the_finest_cut_of_a_huge_grid_is_one_word():
    assert len(json.dumps(cut_to_json(Cut.finest("x", 10**15)))) < 100


AGE = domain_to_json(Grid(lower=Fraction(0), upper=Fraction(9), step=Fraction(1), missing=10))
JOB = domain_to_json(Categories(taxonomy=Taxonomy.of(Node("Any", (Node("a"), Node("b"), Node("c"))))))


@pytest.mark.parametrize(
    ("domain", "change", "problem"),
    [
        (AGE, {"kind": "sphere"}, "of kind 'sphere'"),
        (AGE, {"step": "0"}, "must be above 0"),
        (AGE, {"step": 1}, "'step' of a domain or cut is not of type str"),
        (AGE, {"step": "1e9"}, "not an exact number"),
        (AGE, {"step": "1/0"}, "not an exact number"),
        (AGE, {"upper": "-1"}, "above the upper one"),
        (AGE, {"unit": "furlong"}, "counts in 'furlong'"),
        (AGE, {"missing": 3}, "behind the last point"),
        (AGE, {"colour": "red"}, "a field 'colour'"),
        (AGE, {"declared": 1}, "not of type bool"),
        (AGE, {"taxonomy": {"labels": ["x"], "parents": [-1], "widths": [3]}}, "covers 3 codes"),
        (JOB, {"missing": 3}, "outside its domain"),
        (JOB, {"missing": -1}, "is the code -1"),
        (JOB, {"other": True}, "'other'"),
        (JOB, {"taxonomy": None}, "'taxonomy'"),
        (JOB, {"taxonomy": {"labels": [], "parents": []}}, "one label and one parent"),
        (JOB, {"taxonomy": {"labels": ["a", 1], "parents": [-1, 0]}}, "one label and one parent"),
        (JOB, {"taxonomy": {"labels": ["a", "b"], "parents": [-1, -1]}}, "depth first"),
        (JOB, {"taxonomy": {"labels": ["a", "b"], "parents": [-1, 1]}}, "depth first"),
        (JOB, {"taxonomy": {"labels": list("abcde"), "parents": [-1, 0, 0, 1, 2]}}, "depth first"),
        (JOB, {"taxonomy": {"labels": ["a", "b"], "parents": [-1, 0], "widths": [1, 1]}}, "2 widths"),
        (JOB, {"taxonomy": {"labels": ["a", "b"], "parents": [-1, 0], "widths": [0]}}, "below 1"),
        (JOB, {"taxonomy": {"labels": ["a", "b"], "parents": [-1, True]}}, "whole numbers"),
    ],
)
def test_a_broken_domain_is_refused(domain, change, problem):
    with pytest.raises(VerifyError) as caught:
        domain_from_json(domain | change)
    assert problem in caught.value.problem


@pytest.mark.parametrize(
    "cut",
    [
        {"attribute": "a", "size": 3, "starts": [0, 3]},
        {"attribute": "a", "size": 3, "starts": [1, 2]},
        {"attribute": "a", "size": 3, "starts": [0, 2, 1]},
        {"attribute": "a", "size": 3, "starts": []},
        {"attribute": "a", "size": 3, "starts": "coarse"},
        {"attribute": "a", "size": 0, "starts": "finest"},
        {"attribute": "a", "size": "3", "starts": "finest"},
        {"attribute": "a", "size": 3, "starts": "finest", "more": 1},
    ],
)
def test_a_broken_cut_is_refused(cut):
    with pytest.raises(VerifyError):
        cut_from_json(cut)


def test_a_kind_of_domain_without_a_form_is_our_bug():
    with pytest.raises(InternalError, match="no JSON form"):
        domain_to_json(object())
