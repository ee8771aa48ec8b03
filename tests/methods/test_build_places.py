"""What is wrong with a declared release names the file and the line that it stands in."""

import pytest

import sfumato as sf
from sfumato.errors import StudyError
from sfumato.methods import METHODS, build
from sfumato.study.file import study_from_text
from sfumato.study.recipe import Recipe, recipe_from_study
from tests.raising import raises_code

STUDY = """name: a
source: a.csv
privacy: {budget: 1}
attributes:
  age: {role: quasi_identifier, type: integer, bounds: [0, 99]}
  ill: {role: class, values: ["no", "yes"]}
releases:
  first: {method: mondrian, k: 3}
  mine:
"""


def refused(*lines):
    """What is said of the release `mine`, whose settings begin in line 10."""
    text = STUDY + "".join(f"    {line}\n" for line in lines)
    with pytest.raises(StudyError) as caught:
        build(recipe_from_study(study_from_text(text), "mine"))
    return caught.value.problem


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["method: diffgn", "epsilon: 1"], "line 10: there is no method called 'diffgn'"),
        (["method: diffgen", "epsilon: -1"], "line 11: ε = -1 is not positive"),
        (["method: diffgen", "epsilon: 1", "height: 3"], "line 12: method 'diffgen' has no parameter 'height'"),
        (["method: diffgen", "epsilon: 1", "h: 0"], "line 12: h is 0"),
        (["method: diffgen", "score: luck", "epsilon: 1"], "line 11: there is no score called 'luck'"),
        (
            ["method: diffgen", "epsilon: 1", "threshold: [3]"],
            "line 12: threshold of release 'mine' is no single value",
        ),
        (["method: mondrian", "", "k: 0"], "line 12: k is 0"),
        (["method: mondrian", "k: 3", "choose: best"], "line 12: choose is 'best'"),
        (["method: mondrian", "privacy:", "  t-closeness:", "    t: 7"], "line 13: t is 7"),
        (
            ["method: mondrian", "privacy:", "  k-anonymity: 3", "  tcloseness: 1"],
            "line 13: there is no privacy model called",
        ),
        (["method: diffgen"], "line 9: release 'mine' has no epsilon"),
        (["method: diffgen", "epsilon: 1", "chosen: by luck"], "line 12: release 'mine' says its parameters were"),
    ],
)
def test_the_line_of_what_is_wrong(lines, says):
    assert refused(*lines).startswith(f"study.yaml, {says}")


@pytest.mark.parametrize("method", sorted(METHODS))
def test_an_unknown_parameter_of_any_method_names_its_line(method):
    assert refused(f"method: {method}", "epsilom: 1").startswith("study.yaml, line 11: method")


def test_plan_and_release_say_it_too(tmp_path):
    (tmp_path / "study.yaml").write_text(f"{STUDY}    method: mondrian\n    k: 0\n", encoding="utf-8")
    study = sf.Study.load(tmp_path / "study.yaml")
    for ask in (study.plan, study.release):
        with raises_code(
            StudyError, "SF-STUDY-076", match=r"study\.yaml, line 11: k is 0\. To fix: use a whole number from 1 on"
        ):
            ask("mine")


def test_where_there_is_no_file_there_is_no_line():
    with raises_code(StudyError, "SF-STUDY-076", match=r"^k is 0"):
        build(Recipe(name="x", method="mondrian", parameters={"k": 0}))


def test_places_are_no_part_of_a_recipe():
    one = recipe_from_study(study_from_text(STUDY + "    method: mondrian\n    k: 3\n"), "mine")
    other = Recipe(name="mine", method="mondrian", parameters={"k": 3})
    assert one == other and one.as_json() == other.as_json() and repr(one) == repr(other)
