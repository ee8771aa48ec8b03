"""What every registered model must do, whichever it is: a new one needs a line in `EXAMPLES` and is then tested."""

import pickle
from dataclasses import MISSING, fields, replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.boxes import Boxes
from sfumato.errors import InfeasibleError, StudyError
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import (
    MODELS,
    DeltaPresence,
    all_hold,
    all_monotone,
    parse_models,
    refuse_infeasible,
    title,
    written_models,
)
from sfumato.privacy.models.example import PATIENTS
from tests.privacy.models.records import UNEVEN, table_of, tables, totals, view
from tests.raising import raises_code
from tests.small_domains import flat

# Parameters as a study gives them, from mild to strict.
EXAMPLES = {
    "k-anonymity": [1, "2", 5, {"k": "7"}],
    "distinct-l-diversity": ["1", 2, 3, {"l": 4}],
    "entropy-l-diversity": ["1.1", 2, "2.5", "3"],
    "recursive-l-diversity": [{"c": "3", "l": 2}, {"c": 1, "l": "2"}, {"c": "0.5", "l": 3}, {"c": "1/3", "l": 1}],
    "probabilistic-l-diversity": ["1.2", "3/2", 2, 3.5],
    "alpha-k-anonymity": [{"alpha": 1, "k": 2}, {"alpha": "0.5", "k": 1}, {"alpha": "1/3", "k": 3, "values": ["a"]}],
    "t-closeness": ["0.4", "0.2", {"t": "0.3", "distance": "ordered"}, {"t": "0.1", "distance": "js"}],
    "delta-disclosure": [3, "1.5", "0.7", 0],
    "capped-confidence": [
        "0.9",
        {"rate": "1/2"},
        {"rate": 1, "shares": {"q": {"x": "0.25"}}},
        {"rate": "0.8", "rules": [{"where": {"q": "x"}, "value": "a", "confidence": "0.01"}]},
    ],
    "basic-beta-likeness": [2, "1", "0.5", "0.1"],
    "enhanced-beta-likeness": [2, "1", "0.5", "0.1"],
    "delta-presence": ["0.9", {"minimum": "0.1", "maximum": "0.5"}],
    "template": [{"bounds": {"a": "0.5"}}, {"bounds": {"a": "1/3", "b": 1}}, {"bounds": {"b": 0}}],
}
CHECKABLE = [name for name in MODELS if MODELS[name].checkable]
ABOUT_VALUES = [name for name in CHECKABLE if name not in {"k-anonymity", "delta-presence"}]
EACH = [parse_models({name: given})[0] for name, some in EXAMPLES.items() for given in some]
ALONE = [model for model in EACH if not getattr(model, "regional", False)]  # those look at all groups at once
EVERY = pytest.mark.parametrize("model", EACH, ids=title)


def with_people(found):
    people = found.sizes * 2 + 1
    return Statistics(found.sizes, found.sensitive, found.domains, found.table, people)


def part(found, table, groups):
    """Some groups of a table as one, compared with the same table."""
    columns = {name: [code for group in groups for code in table.values(name, group)] for name in table.columns}
    size = len(columns["s0"])
    return Statistics.of(
        np.zeros(size, np.int64),
        np.ones(size, np.int64),
        {name: np.array(codes, dtype=np.int64) for name, codes in columns.items()},
        table.domains,
        groups=1,
        table=found.table,
        population=np.array([found.population[list(groups)].sum()]),
    )


def test_every_model_is_here():
    assert sorted(EXAMPLES) == CHECKABLE


@EVERY
def test_a_model_says_what_it_is(model):
    kind = type(model)
    assert kind.name == model.name and "\n" not in kind.summary and not kind.summary.endswith(".")
    assert ">>> " in (kind.__doc__ or ""), "an example that runs"
    assert kind.monotone in {True, False} and kind.relative in {True, False}
    assert model.sentence().endswith(".")
    assert model.needs() in {None, ()}
    for field in fields(kind):
        assert field.default is not MISSING or field.name in model.parameters()


@EVERY
def test_a_model_survives_the_way_to_a_study_and_to_a_worker(model):
    assert parse_models(written_models([model])) == (model,)
    assert pickle.loads(pickle.dumps(model)) == model
    assert len({model, *parse_models({model.name: model.parameters()})}) == 1


@given(table=tables(attributes=2))
def test_groups_are_judged_one_by_one_and_an_empty_one_keeps_everything(table):
    found = with_people(table.statistics)
    alone = [part(found, table, [group]) for group in range(table.groups)]
    for model in ALONE:
        kept = model.holds(found)
        assert kept.dtype == np.bool_
        assert kept[found.sizes == 0].all(), title(model)
        assert kept.tolist() == [bool(model.holds(one)[0]) for one in alone], title(model)


@given(table=tables(attributes=2))
def test_a_monotone_model_survives_merging(table):
    found = with_people(table.statistics)
    merged = {pair: part(found, table, pair) for pair in combinations(range(table.groups), 2)}
    for model in EACH:
        if model.monotone:
            kept = model.holds(found) & (found.sizes > 0)
            for (one, other), together in merged.items():
                assert not (kept[one] and kept[other]) or model.holds(together)[0], (title(model), one, other)


def test_delta_presence_is_not_monotone():
    """Two groups keep it; the smallest region over both also holds people that neither had."""
    model = DeltaPresence(minimum="0.4", maximum="0.6")
    sizes = np.array([5, 5])
    apart = Statistics(sizes, {}, {}, {}, np.array([10, 10]))
    joined = Statistics(np.array([10]), {}, {}, {}, np.array([10 + 10 + 80]))
    assert model.holds(apart).all() and not model.holds(joined)[0]
    assert not model.monotone and not all_monotone([model])
    assert all_monotone(parse_models({"k-anonymity": 2, "t-closeness": 0.2}))


@pytest.mark.parametrize("name", ABOUT_VALUES)
def test_a_model_about_values_refuses_a_view_that_has_none(name):
    (model,) = parse_models({name: EXAMPLES[name][0]})
    with raises_code(StudyError, "SF-STUDY-079"):
        model.check(view({}))
    nothing = Statistics.of(np.zeros(3, np.int64), np.ones(3, np.int64), {}, {}, groups=1)
    with raises_code(StudyError, "SF-STUDY-079"):
        model.holds(nothing)
    given_one = EXAMPLES[name][0] if isinstance(EXAMPLES[name][0], dict) else {_required(name): EXAMPLES[name][0]}
    (about,) = parse_models({name: {**given_one, "attribute": "pay"}})
    assert about.needs() == ("pay",)
    with raises_code(StudyError, "SF-STUDY-080", match=r"'pay', which is no sensitive attribute.*name one of: job"):
        about.check(view({"job": flat("a", "b")}))
    about.check(view({"job": flat("a", "b"), "pay": flat("a", "b")}))


@pytest.mark.parametrize("name", ABOUT_VALUES)
def test_a_model_about_one_attribute_leaves_the_others_alone(name):
    given_one = EXAMPLES[name][0] if isinstance(EXAMPLES[name][0], dict) else {_required(name): EXAMPLES[name][0]}
    (about,) = parse_models({name: {**given_one, "attribute": "s"}})
    (bare,) = parse_models({name: given_one})
    alone = table_of([0, 1, 0, 2], [3, 3, 3])
    beside = Statistics(
        alone.statistics.sizes,
        {**alone.statistics.sensitive, "other": table_of([0, 0, 0, 0], [1, 1, 1]).statistics.sensitive["s"]},
        {**alone.domains, "other": UNEVEN, "q": flat("x", "y")},
        {**alone.statistics.table, "other": totals(4, 3, 0, 0, 0)},
        boxes=Boxes(("q",), np.array([[0], [1]]), np.array([[1], [2]])),
    )
    only = replace(beside, sensitive=alone.statistics.sensitive, table=alone.statistics.table)
    assert about.holds(beside).tolist() == bare.holds(only).tolist()


@given(table=tables(attributes=2))
def test_an_infeasible_promise_is_refused_and_no_partition_keeps_it(table):
    found = with_people(table.statistics)
    whole = part(found, table, range(table.groups))
    for model in ALONE:
        if model.holds(whole)[0]:
            refuse_infeasible([model], whole)
            continue
        with raises_code(InfeasibleError, "SF-INFEASIBLE-013") as caught:
            refuse_infeasible([model], whole)
        assert caught.value.fix
        assert not model.monotone or not all_hold([model], found).all(), title(model)


def _required(name):
    (required,) = [f.name for f in fields(MODELS[name]) if f.default is MISSING]
    return required


@given(data=st.data())
def test_nonsense_never_makes_a_model(data):
    """Whatever stands in a study, what comes back is a model or an error that says what to do."""
    name = data.draw(st.sampled_from(CHECKABLE))
    junk = st.none() | st.booleans() | st.text(max_size=6) | st.integers(-3, 3) | st.floats() | st.lists(st.none())
    junk = junk | st.dictionaries(st.sampled_from([f.name for f in fields(MODELS[name])]) | st.text(max_size=3), junk)
    try:
        (model,) = parse_models({name: data.draw(junk)})
    except StudyError:
        return
    assert model.name == name
    assert getattr(model, "attribute", None) is not None or model.holds(PATIENTS).shape == (2,)
