import pytest

import sfumato as sf
from sfumato.errors import StudyError, UsageError
from sfumato.frontier import default_sweep, families, label, sweep, sweep_from_settings
from sfumato.methods import build
from sfumato.study.file import study_from_mapping
from sfumato.study.recipe import Chosen
from tests.raising import raises_code


def labels(found):
    return [label(recipe) for recipe in found.recipes()]


def test_every_combination_the_last_parameter_fastest():
    found = sf.sweep(sf.Mondrian, k=[5, 10], choose=["widest", "loss"])
    assert labels(found) == [
        "mondrian, k = 5, choose = widest", "mondrian, k = 5, choose = loss",
        "mondrian, k = 10, choose = widest", "mondrian, k = 10, choose = loss",
    ]  # fmt: skip
    assert len(found) == 4
    assert all(recipe.chosen is Chosen.ON_RAW for recipe in found.recipes())
    assert families(found.recipes()) == ("mondrian, choose = widest", "mondrian, choose = loss") * 2


def test_sweeps_add_up_and_each_candidate_is_tried_once():
    both = sweep("mondrian", k=[5, 10]) + sweep("mondrian", k=[10, 20]) + sweep("diffgen", epsilon="1")
    assert labels(both) == ["mondrian, k = 5", "mondrian, k = 10", "mondrian, k = 20", "diffgen, ε = 1"]
    assert {recipe.purpose for recipe in both.recipes("p")} == {"p"}
    with pytest.raises(TypeError):
        _ = both + 1


def test_lists_inside_a_promise_are_tried_too():
    found = sweep("mondrian", privacy={"k-anonymity": 5, "t-closeness": {"t": ["0.1", "0.2"], "distance": "js"}})
    assert labels(found) == [f"mondrian, k-anonymity k = 5, t-closeness t = {t}, distance = js" for t in (0.1, 0.2)]
    assert len(set(families(found.recipes()))) == 1


def test_a_list_of_promises_is_tried_one_by_one():
    found = sweep("mondrian", privacy=[{"t-closeness": "0.1"}, {"distinct-l-diversity": 3}, sf.KAnonymity(k=4)])
    assert [[model.name for model in build(r).models] for r in found.recipes()] == [
        ["t-closeness"], ["distinct-l-diversity"], ["k-anonymity"],
    ]  # fmt: skip
    together = sweep("mondrian", privacy=[(sf.KAnonymity(k=4), sf.TCloseness(t="0.1"))])
    assert [len(build(r).models) for r in together.recipes()] == [2]
    study = sweep("mondrian", privacy=[[{"k-anonymity": 4}, {"t-closeness": "0.1"}]])
    assert [len(build(r).models) for r in study.recipes()] == [2]


def test_a_tuple_is_one_value():
    assert len(sweep("mondrian", k=5, ordered=("age", "zip"))) == 1
    assert len(sweep("mondrian", k=range(2, 6))) == 4


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sweep(3, k=[1]), "a sweep needs a method"),
        (lambda: sweep("mondrian", k=[]), "tries no value of 'k'"),
        (lambda: sweep("mondrian", k=range(10**9)), "1,000,000,000 combinations"),
    ],
)
def test_what_is_no_sweep(make, words):
    with pytest.raises(UsageError, match=words):
        make()


def test_the_settings_of_a_study():
    found = sweep_from_settings([{"method": "mondrian", "k": [2, 3]}, {"method": "diffgen", "epsilon": "0.5", "h": 3}])
    assert labels(found) == ["mondrian, k = 2", "mondrian, k = 3", "diffgen, ε = 0.5, h = 3"]


def study(**attributes):
    return study_from_mapping({"name": "s", "source": "s.csv", "attributes": attributes})


QUASI = {"role": "quasi_identifier", "values": ["a", "b"]}
SENSITIVE = {"role": "sensitive", "values": ["x", "y"]}
CLASS = {"role": "class", "values": ["n", "y"]}


def methods(declared):
    return {(r.method, *r.parameters.get("privacy", ())) for r in default_sweep(declared).recipes()}


def test_the_default_follows_the_roles():
    assert methods(study(q=QUASI)) == {("mondrian",)}
    assert methods(study(q=QUASI, c=CLASS)) == {("mondrian",), ("diffgen",)}
    assert methods(study(q=QUASI | {"domain": "observed"}, c=CLASS)) == {("mondrian",)}
    assert methods(study(q=QUASI, s=SENSITIVE)) == {
        ("mondrian",), ("mondrian", "probabilistic-l-diversity"), ("mondrian", "t-closeness"),
        ("bucketization", "probabilistic-l-diversity"), ("bucketization", "t-closeness"),
    }  # fmt: skip
    with raises_code(StudyError, "SF-STUDY-024"):
        default_sweep(study(s=SENSITIVE))


def test_the_default_follows_the_purpose_and_the_unit():
    fields = {"name": "s", "source": "s.csv", "attributes": {"q": QUASI, "s": SENSITIVE, "c": CLASS}}
    declared = study_from_mapping(fields | {"purposes": {"few": {"attributes": ["q", "c"]}}})
    assert {r.method for r in default_sweep(declared, "few").recipes()} == {"mondrian", "diffgen"}
    people = study_from_mapping(fields | {"privacy": {"unit": {"person": "id", "at_most": 3}}})
    assert {r.method for r in default_sweep(people).recipes()} == {"diffgen"}


def test_a_wrong_promise_still_has_words():
    assert labels(sweep("mondrian", privacy={"k-anonimity": 5})) == ["mondrian, privacy = {k-anonimity: 5}"]


def test_a_sweep_of_version_0_1_tries_the_models_of_its_promise_one_by_one():
    models = {"t-closeness": {"t": ["0.1", "0.2"]}}
    assert sweep("mondrian", promise=models).recipes() == sweep("mondrian", privacy=models).recipes()
