"""Every parameter of every registered method and model with values of every wrong kind: accepted, or an error of ours.

A study is written by people and a manifest by anybody: what they write must never end in a traceback.
"""

from dataclasses import fields
from functools import partial

import numpy as np
import pytest

from sfumato.errors import InternalError, SfumatoError
from sfumato.frontier.grid import label
from sfumato.methods import METHODS, build, recipe_of
from sfumato.privacy.models import MODELS, parse_models, title, written_models
from sfumato.privacy.models.example import PATIENTS
from sfumato.study.file import study_from_mapping
from sfumato.study.recipe import Recipe, recipe_from_study
from tests.contracts.test_models import EXAMPLES
from tests.contracts.test_partition_methods import PARAMETERS, VIEW
from tests.privacy.models.records import view
from tests.small_domains import flat

LONG = "9" * 400
NESTED = [[["js"]], {"a": [{}]}]
WRONG = [
    [], {}, ["js"], [None], [5], ["x", "x"], 5, -1, 0, 10**400, -(10**400), 10**5000, 1e308, float("nan"), float("inf"),
    "x", "", None, True, False, LONG, f"1/{LONG}", "9" * 5000, "1/0", "1e99", "٣", "\ud800", b"\xff", object(), 1j,
    NESTED, {"a": NESTED}, {1: 2}, {"k-anonymity": LONG}, {"disease": {"flu": LONG}}, np.array([1, 2]),
    [{"where": [], "value": [], "confidence": {}}],
]  # fmt: skip
LEAST = {**PARAMETERS, **{name: {"epsilon": "1"} for name in ("diffgen", "contingency", "staged", "marginals")}}


def accepted(make):
    """What is made, or None where it is refused as it should be."""
    try:
        return make()
    except InternalError:
        raise
    except SfumatoError as error:
        return None if str(error) else error


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_model_takes_a_parameter_or_refuses_it(name):
    plain = parse_models({name: EXAMPLES[name][0]})[0].parameters()
    for field in fields(MODELS[name]):
        for value in WRONG:
            found = accepted(lambda f=field.name, v=value: parse_models({name: {**plain, f: v}}))
            for model in found or ():
                assert model.sentence() and title(model)
                hash(model)
                accepted(lambda m=model: m.check(view({"s": flat("a", "b"), "disease": flat("flu", "cancer")})))
                accepted(lambda m=model: m.holds(PATIENTS))
                assert accepted(lambda m=model: parse_models(written_models([m]))) == (model,)
    for value in WRONG:
        accepted(partial(parse_models, {name: value}))
        accepted(partial(parse_models, [{name: value}]))


def test_a_promise_is_taken_or_refused():
    for value in WRONG:
        accepted(partial(parse_models, value))
        accepted(partial(parse_models, [value]))
        if isinstance(value, (str, int, float)):
            accepted(partial(parse_models, {value: 5}))


@pytest.mark.parametrize("name", METHODS)
def test_a_method_takes_a_parameter_or_refuses_it(name):
    for field in fields(METHODS[name]):
        for value in WRONG:
            recipe = Recipe(name="r", method=name, parameters={**LEAST[name], field.name: value})
            method = accepted(partial(build, recipe))
            if method is None:
                continue
            assert label(recipe) and recipe.as_json()
            back = recipe_of(method, name="r")
            assert repr(build(back)) == repr(method) and back.as_json()  # not ==: nan is not equal to itself
            if getattr(METHODS[name], "partition", False):
                accepted(partial(method.check, VIEW))


def test_every_method_is_tested_here():
    assert {*METHODS} == {*LEAST}


@pytest.mark.parametrize("field", ["path", "encoding", "delimiter", "quote", "missing"])
def test_a_source_is_read_or_refused(field):
    for value in [*WRONG, "\0"]:
        source = {"path": "a.csv", field: value}
        attributes = {"sex": {"role": "quasi_identifier", "values": ["f", "m"]}}
        accepted(partial(study_from_mapping, {"name": "a", "source": source, "attributes": attributes}))


@pytest.mark.parametrize("field", ["method", "purpose", "chosen", "k", "promise"])
def test_a_release_of_a_study_is_read_or_refused(field):
    for value in WRONG:
        release = {"method": "mondrian", "k": 2, field: value}
        fields_of = {
            "name": "a", "source": "a.csv", "attributes": {"sex": {"role": "quasi_identifier", "values": ["f", "m"]}},
        }  # fmt: skip
        study = accepted(lambda: study_from_mapping({**fields_of, "releases": {"r": release}}))  # noqa: B023 - at once
        recipe = None if study is None else accepted(partial(recipe_from_study, study, "r"))
        if recipe is not None:
            accepted(partial(build, recipe))


@pytest.mark.parametrize(
    "path",
    [
        ("name",), ("source",), ("attributes",), ("attributes", "age"), ("attributes", "age", "role"),
        ("attributes", "age", "type"), ("attributes", "age", "bounds"), ("attributes", "age", "step"),
        ("attributes", "age", "at_least"), ("attributes", "age", "missing"), ("attributes", "age", "outside"),
        ("attributes", "age", "format"), ("attributes", "age", "taxonomy"), ("attributes", "sex", "values"),
        ("attributes", "sex", "taxonomy"), ("attributes", "ill", "separator"), ("attributes", "ill", "columns"),
        ("attributes", "ill", "most"), ("attributes", "ill", "level"), ("privacy",), ("privacy", "unit"),
        ("privacy", "budget"), ("purposes",), ("purposes", "p"), ("purposes", "p", "attributes"),
        ("purposes", "p", "where"), ("releases",), ("releases", "r"), ("sweeps",), ("sweeps", "s"), ("ledger",),
    ],
    ids=".".join,
)  # fmt: skip
def test_a_field_of_a_study_is_read_or_refused(path):
    for value in WRONG:
        fields_of = {
            "name": "a", "source": "a.csv",
            "attributes": {
                "age": {"role": "quasi_identifier", "type": "integer", "bounds": [0, 9]},
                "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
                "ill": {"role": "quasi_identifier", "type": "set", "separator": ",", "taxonomy": {"Any": ["a", "b"]}},
            },
            "privacy": {"unit": "record", "budget": 1},
            "purposes": {"p": {"attributes": ["age", "sex"], "where": "age >= 3"}},
            "releases": {"r": {"method": "mondrian", "k": 2}}, "sweeps": {"s": [{"method": "mondrian", "k": [2, 3]}]},
        }  # fmt: skip
        place = fields_of
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value
        accepted(partial(study_from_mapping, fields_of))
