"""From recipes to methods: what is wrong with a recipe is said in words."""

from dataclasses import fields

import pytest

from sfumato.errors import StudyError
from sfumato.methods import METHODS, build
from sfumato.study.recipe import Recipe
from tests.raising import raises_code

LEAST = {  # the least that each method needs; a new method without a line here fails
    "anatomy": {"l": 2},
    "bucketization": {"privacy": {"distinct-l-diversity": 2}},
    "capped-confidence": {},
    "contingency": {"epsilon": "1"},
    "diffgen": {"epsilon": "1"},
    "full-domain": {"k": 2},
    "mondrian": {"k": 2},
    "staged": {"epsilon": "1"},
    "marginals": {"epsilon": "1", "workload": [["age", "sex"]], "groups": 12},
    "tds": {"k": 2},
}
EVERY = [(kind.name, field.name) for kind in METHODS.values() for field in fields(kind)]


def recipe(method, **parameters):
    return Recipe(name="mine", method=method, parameters={**LEAST[method], **parameters})


def refused(what):
    try:
        build(what)
    except StudyError as error:
        return error
    return None


@pytest.mark.parametrize(("method", "parameter"), EVERY)
@pytest.mark.parametrize("value", [[1], [[1]], [], {"a": 1}, {}, None, 3, -1, 1.5, True, "x", ""], ids=repr)
def test_any_value_of_any_parameter_is_taken_or_refused_in_words(method, parameter, value):
    said = refused(recipe(method, **{parameter: value}))
    assert said is None or ("release 'mine' has no" not in said.problem and said.problem and len(said.fix) > 5), said


@pytest.mark.parametrize(
    ("method", "given", "says"),
    [
        (
            "mondrian",
            {"choose": ["loss"]},
            "choose of release 'mine' is no single value. To fix: write one value, as in",
        ),
        ("mondrian", {"strict": None}, "strict of release 'mine' is empty. To fix: .* `strict: true`, or leave it out"),
        ("mondrian", {"ordered": 3}, "ordered is '3', which names no attributes"),
        ("diffgen", {"threshold": [3]}, "threshold of release 'mine' is no single value. To fix: .* `threshold: auto`"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(method, given, says):
    with pytest.raises(StudyError, match=says):
        build(recipe(method, **given))


def test_what_is_lacking_is_named():
    with raises_code(StudyError, "SF-STUDY-036", match=r"release 'bare' has no l\. To fix: add `l: …` to it"):
        build(Recipe(name="bare", method="anatomy", parameters={}))


def test_a_study_of_version_0_1_still_says_promise():
    old = build(Recipe(name="r", method="mondrian", parameters={"k": 3, "promise": {"distinct-l-diversity": 2}}))
    assert old == build(
        Recipe(name="r", method="mondrian", parameters={"k": 3, "privacy": {"distinct-l-diversity": 2}})
    )
    with raises_code(StudyError, "SF-STUDY-035", match="no parameter 'promise'"):
        build(Recipe(name="r", method="diffgen", parameters={"epsilon": 1, "promise": {"k-anonymity": 2}}))
