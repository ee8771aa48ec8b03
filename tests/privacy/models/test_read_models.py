import numpy as np
import pytest

from sfumato.errors import InfeasibleError, StudyError
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import (
    AlphaKAnonymity,
    DeltaPresence,
    DifferentialPrivacy,
    KAnonymity,
    ProbabilisticLDiversity,
    TCloseness,
    Template,
    any_relative,
    parse_models,
    refuse_infeasible,
    title,
)
from tests.privacy.models.records import table_of, view
from tests.raising import raises_code
from tests.small_domains import flat, grid


def test_a_promise_is_a_mapping_or_a_list_in_which_a_model_may_stand_twice():
    both = {"k-anonymity": "10", "t-closeness": {"t": "0.2", "distance": "js", "attribute": "occupation"}}
    models = parse_models(both)
    assert models == (KAnonymity(k=10), TCloseness(t="0.2", distance="js", attribute="occupation"))
    assert parse_models([{name: given} for name, given in both.items()]) == models
    twice = parse_models([{"t-closeness": {"t": 0.2, "attribute": "a"}}, {"t-closeness": {"t": 0.3, "attribute": "b"}}])
    assert [title(model) for model in twice] == [
        "t-closeness (t = 0.2, distance = equal, attribute = a)",
        "t-closeness (t = 0.3, distance = equal, attribute = b)",
    ]
    assert parse_models(models) == models
    assert parse_models(None) == parse_models([]) == ()
    assert any_relative(models) and not any_relative(models[:1])


def test_numbers_are_the_text_that_was_typed():
    assert TCloseness(t=0.1) == TCloseness(t="0.1") == TCloseness(t="1/10")
    assert parse_models({"probabilistic-l-diversity": 3.5}) == (ProbabilisticLDiversity(l="7/2"),)


@pytest.mark.parametrize(
    ("promise", "says"),
    [
        ({"k-anonimity": 2}, "write 'k-anonymity'"),
        ({"soup": 2}, "choose one of: alpha-k-anonymity, basic-beta-likeness"),
        ({"ε-differential privacy": 1}, "choose a differentially private method"),
        ({"k-anonymity": {"k": 2, "attribute": "x"}}, "no parameter 'attribute'.*use one of: k"),
        ({"t-closeness": {"t": 1, "distanse": "js"}}, "write 'distance'"),
        ({"t-closeness": {"distance": "js"}}, "has no t.*add `t: …`"),
        ({"recursive-l-diversity": 3}, r"needs `c` and `l`.*write `recursive-l-diversity: \{c: …, l: …\}`"),
        ({"k-anonymity": None}, "needs `k`"),
        ("k-anonymity", "neither a mapping nor a list"),
        (["k-anonymity"], "neither a mapping nor a list"),
        ([3], "neither a mapping nor a list"),
        ([DifferentialPrivacy(epsilon=1, unit="one record")], "neither a mapping nor a list"),
        ({"k-anonymity": 0}, "k is 0.*whole number from 1 on"),
        ({"k-anonymity": "2.5"}, "k is 2.5"),
        ({"k-anonymity": True}, "no number"),
        ({"k-anonymity": "1e999999999"}, "no number"),
        ({"distinct-l-diversity": "1.5"}, "l is 1.5"),
        ({"entropy-l-diversity": "0.5"}, "l is 0.5.*from 1 on"),
        ({"probabilistic-l-diversity": "0.99"}, "l is 0.99"),
        ({"recursive-l-diversity": {"c": 0, "l": 2}}, "c is 0.*above 0"),
        ({"recursive-l-diversity": {"c": 1, "l": 0}}, "l is 0"),
        ({"alpha-k-anonymity": {"alpha": 0, "k": 2}}, "α is 0.*above 0 and up to 1"),
        ({"alpha-k-anonymity": {"alpha": "1.01", "k": 2}}, "α is 1.01"),
        ({"alpha-k-anonymity": {"alpha": "0.5", "k": 2, "values": []}}, "empty list of values"),
        ({"t-closeness": "-0.1"}, "t is -0.1.*from 0 up to 1"),
        ({"t-closeness": 2}, "t is 2"),
        ({"t-closeness": {"t": 1, "distance": "crow"}}, "choose one of: equal, ordered, hierarchical, js"),
        ({"delta-disclosure": -1}, "δ is -1.*from 0 on"),
        ({"delta-disclosure": "inf"}, "no number"),
        ({"basic-beta-likeness": 0}, "β is 0.*above 0"),
        ({"enhanced-beta-likeness": -2}, "β is -2"),
        ({"delta-presence": 2}, "δmax is 2"),
        ({"delta-presence": {"minimum": "0.6", "maximum": "0.5"}}, "δmin is above δmax"),
        ({"template": {"bounds": {}}}, "bounds no value"),
        ({"template": 0.5}, "bounds no value"),
        ({"template": {"bounds": {"flu": 2}}}, "the bound of 'flu' is 2"),
    ],
)  # fmt: skip
def test_senseless_promises_are_refused_with_a_way_out(promise, says):
    with pytest.raises(StudyError, match=says):
        parse_models(promise)


@pytest.mark.parametrize(
    ("promise", "fix"),
    [
        ({"k-anonymity": 9}, "set k to 8 or less"),
        ({"distinct-l-diversity": 4}, "set l to 3 or less"),
        ({"entropy-l-diversity": 3}, "set l to 2.4602 or less"),
        ({"recursive-l-diversity": {"c": 9, "l": 4}}, "set l to 3 or less"),
        ({"recursive-l-diversity": {"c": 1, "l": 2}}, "set c above 5/3, or l to less than 2"),
        ({"probabilistic-l-diversity": 2}, "set l to 1.6 or less"),
        ({"alpha-k-anonymity": {"alpha": "0.5", "k": 9}}, "set k to 8 or less"),
        ({"alpha-k-anonymity": {"alpha": "0.5", "k": 8}}, "set α to 0.625 or more"),
        ({"template": {"bounds": {"a": "0.5", "b": "0.5"}}}, "set the bound of 'a' to 0.625 or more"),
        ({"delta-presence": "0.3"}, "choose bounds around 0.4, the table's share of the population"),
    ],
)
def test_the_largest_feasible_parameter_is_named_and_is_the_largest(promise, fix):
    found = table_of([0, 0, 0, 0, 0, 1, 1, 2]).statistics
    whole = Statistics(found.sizes, found.sensitive, found.domains, found.table, np.array([20]))
    with pytest.raises(InfeasibleError) as caught:
        refuse_infeasible(parse_models(promise), whole)
    assert caught.value.fix == fix


def test_what_is_named_as_feasible_is():
    found = table_of([0, 0, 0, 0, 0, 1, 1, 2]).statistics
    refuse_infeasible(
        parse_models(
            {
                "k-anonymity": 8,
                "distinct-l-diversity": 3,
                "entropy-l-diversity": "2.4602",
                "recursive-l-diversity": {"c": "1.6667", "l": 2},
                "probabilistic-l-diversity": "1.6",
                "alpha-k-anonymity": {"alpha": "0.625", "k": 8},
                "template": {"bounds": {"a": "0.625"}},
                "t-closeness": 0,
                "delta-disclosure": 0,
                "basic-beta-likeness": "0.0001",
                "enhanced-beta-likeness": "0.0001",
            }
        ),
        found,
    )


def test_a_population_smaller_than_the_table_is_the_wrong_one():
    whole = Statistics(np.array([8]), {}, {}, {}, np.array([5]))
    with raises_code(InfeasibleError, "SF-INFEASIBLE-013", match="fewer people than the table has records"):
        refuse_infeasible([DeltaPresence(maximum=1)], whole)


def test_presence_needs_a_population():
    with raises_code(StudyError, "SF-STUDY-099"):
        DeltaPresence(maximum="0.5").holds(table_of([0, 1]).statistics)


class TestValues:
    """Values that a promise names must be in the domain of an attribute it is about."""

    def test_unknown_values_are_refused_and_known_ones_pass(self):
        job = view({"job": flat("cook", "clerk"), "age": grid(0, 9)})
        AlphaKAnonymity(alpha=1, k=1, values=("cook", "7")).check(job)
        Template(bounds={"clerk": "0.3"}).check(job)
        Template(bounds={"7": "0.3"}, attribute="age").check(job)
        for value in ("baker", "10", "-1", "7.5", ""):
            with raises_code(StudyError, "SF-STUDY-081", match="is no value of 'job', 'age'"):
                Template(bounds={value: "0.3"}).check(job)
        with raises_code(StudyError, "SF-STUDY-081", match="'cook' is no value of 'age'"):
            AlphaKAnonymity(alpha=1, k=1, values=["cook"], attribute="age").check(job)

    def test_the_hierarchical_distance_needs_a_taxonomy(self):
        model = TCloseness(t="0.2", distance="hierarchical")
        model.check(view({"job": flat("cook", "clerk")}))
        with raises_code(StudyError, "SF-STUDY-072", match=r"'age' has no taxonomy.*ordered"):
            model.check(view({"age": grid(0, 9)}))
        with raises_code(StudyError, "SF-STUDY-072"):
            model.holds(table_of([0, 1], domain=grid(0, 9)).statistics)
