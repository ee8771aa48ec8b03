"""What every registered method must do, whichever it is: a new one is tested here without a new line."""

import contextlib
import json
from dataclasses import MISSING, fields, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import workflow
from sfumato.errors import BudgetError, StudyError
from sfumato.evaluate.audit import events_of
from sfumato.ledger import open_ledger
from sfumato.methods import METHODS, build, recipe_of
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.release.storage.seal import as_json_value
from sfumato.study.file import study_from_text
from sfumato.study.recipe import Recipe
from sfumato.study.unit import PersonUnit
from tests.examples import examples
from tests.raising import raises_code
from tests.small_domains import JOB, coded_tables, counter, flat, grid, view

PRIVATE = [kind for kind in METHODS.values() if kind.needs.private]
EVERY = pytest.mark.parametrize("kind", PRIVATE, ids=lambda kind: kind.name)
EPSILONS = st.sampled_from(["0.05", "1/3", "1", "7.5"])


class Untouchable:
    """A counter that must not be asked."""

    def marginals(self, attributes, by):
        raise AssertionError("the table was looked at")

    def cells(self, cuts):
        raise AssertionError("the table was looked at")

    def cell_columns(self, cuts):
        raise AssertionError("the table was looked at")


def run(method, of, codes, source=None):
    accountant = Accountant(method.spends / of.unit.stability)
    return method.draft(
        of, counter(of, codes), Context(accountant=accountant, source=source or SecureSource())
    ), accountant


def is_node(domain, region):
    """Whether a range is a node of the domain's tree; on a free grid any range is."""
    if domain.free:
        return True
    todo = [(0, domain.size)]
    while todo:
        here = todo.pop()
        if here == region:
            return True
        todo.extend(domain.children(*here))
    return False


@EVERY
@settings(max_examples=examples(quick=10, slow=25))
@given(table=coded_tables(), epsilon=EPSILONS)
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_it_spends_exactly_its_epsilon(kind, table, epsilon):
    of, codes = table
    _, accountant = run(kind(epsilon=epsilon), of, codes)
    assert accountant.left == 0
    assert sum(spend.epsilon for spend in accountant.breakdown) == Fraction(epsilon)
    assert all(spend.mechanism for spend in accountant.breakdown), "the budget breakdown says by what"


@EVERY
@settings(max_examples=examples(quick=4, slow=10))
@given(table=coded_tables())
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_for_persons_a_record_gets_its_part(kind, table):
    of, codes = table
    persons = replace(of, unit=PersonUnit("id", 4))
    _, accountant = run(kind(epsilon=2), persons, codes)
    assert accountant.spent == Fraction(1, 2)


@EVERY
@settings(max_examples=examples(quick=10, slow=25))
@given(table=coded_tables(), epsilon=EPSILONS)
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_it_publishes_groups_of_its_cuts_and_nothing_else(kind, table, epsilon):
    of, codes = table
    draft, _ = run(kind(epsilon=epsilon), of, codes)
    groups = draft.groups
    assert [cut.attribute for cut in groups.cuts] == [a.name for a in of.predictors]
    for column, (cut, attribute) in enumerate(zip(groups.cuts, of.predictors, strict=True)):
        assert cut.size == attribute.domain.size
        assert all(is_node(attribute.domain, region) for region in cut.ranges)
        assert np.all((groups.regions[:, column] >= 0) & (groups.regions[:, column] < len(cut)))
    assert np.all((groups.classes >= 0) & (groups.classes < len(of.classes)))
    if draft.form == "noisy-counts":
        assert np.all(groups.counts >= draft.facts["threshold"]) and np.all(groups.counts >= 1)
    assert np.all(groups.counts > 0)
    rows = [tuple(row) for row in np.column_stack([groups.regions, groups.classes]).tolist()]
    assert rows == sorted(set(rows)), "each once, in the order of the published values"
    assert json.dumps(as_json_value(draft.facts), allow_nan=False), "the facts can go into a manifest"
    assert events_of(draft), "and it can be audited"


@EVERY
def test_an_observed_domain_is_refused_before_anything_is_looked_at(kind):
    for of in (
        view(job=flat("a", "b", declared=False), age=grid(0, 9)),
        view(job=flat("a", "b"), age=grid(0, 9, declared=False)),
    ):
        accountant, method = Accountant(Fraction(1)), kind(epsilon=1)
        for attempt in (
            lambda m=method, v=of: m.check(v),
            lambda m=method, v=of: m.forecast(v),
            lambda m=method, v=of, a=accountant: m.draft(
                v, Untouchable(), Context(accountant=a, source=SecureSource())
            ),
        ):
            with raises_code(StudyError, "SF-STUDY-064"):
                attempt()
        assert accountant.spent == 0


@EVERY
def test_an_observed_class_is_refused_too(kind):
    of = view(job=JOB)
    target = type(of.target)(name="class", role=of.target.role, domain=flat("N", "Y", declared=False))
    with raises_code(StudyError, "SF-STUDY-064", match="the domain of 'class' was read off the data"):
        kind(epsilon=1).check(replace(of, others=(target,)))


@EVERY
@settings(max_examples=examples(quick=6, slow=15))
@given(table=coded_tables(), epsilon=EPSILONS)
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_its_forecast_is_in_words_and_its_noise_is_no_less_than_what_is_drawn(kind, table, epsilon):
    of, codes = table
    method = kind(epsilon=epsilon)
    forecast = method.forecast(of)
    assert forecast.sentences and all(sentence[0].islower() and sentence[-1] != "." for sentence in forecast.sentences)
    draft, _ = run(method, of, codes)
    assert draft.facts["noise_scale"] <= forecast.numbers["noise_scale"] * (1 + 1e-9)


@EVERY
def test_a_plan_touches_nothing(kind, tmp_path):
    """Not the table, which is not even there, nor the ledger."""
    study = study_from_text(
        "name: s\nsource: not-there.csv\nprivacy: {budget: 3}\nattributes:\n"
        "  age: {role: quasi_identifier, type: integer, bounds: [0, 9]}\n  ill: {role: class, values: [n, y]}\n",
        base=tmp_path,
    )
    found = workflow.plan(study, recipe_of(kind(epsilon="1.5"), name="dp"))
    assert found.fits and found.left == 3
    assert any("it costs ε = 1.5" in sentence for sentence in found.sentences)
    assert list(tmp_path.iterdir()) == []


@EVERY
@given(epsilon=st.fractions(Fraction(1, 1000), 1000, max_denominator=1000))
def test_a_recipe_can_be_made_from_it_and_it_from_the_recipe(kind, epsilon):
    method = kind(epsilon=epsilon)
    recipe = recipe_of(method, name="dp", purpose="research")
    again = build(recipe)
    assert type(again) is kind
    assert again.spends == method.spends == epsilon
    written = json.loads(recipe.as_json())
    read = build(Recipe(name="dp", method=written["method"], parameters=written["parameters"]))
    assert read.spends == epsilon
    others = [f.name for f in fields(kind) if f.name != "epsilon"]
    assert all(getattr(read, name) == getattr(again, name) == getattr(method, name) for name in others)


@EVERY
def test_only_epsilon_has_to_be_given(kind):
    required = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    assert required == ["epsilon"]
    with raises_code(StudyError, "SF-STUDY-036", match=r"has no epsilon\. To fix: add `epsilon: …` to it"):
        build(Recipe(name="dp", method=kind.name))
    assert kind.summary and kind.summary[0].islower() and not kind.summary.endswith(".")
    assert kind.__doc__


@EVERY
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_it_never_spends_what_it_was_not_given(kind):
    """An accountant with less than ε stops it, or it makes do with less: never more."""
    of = view(job=JOB, age=grid(0, 9))
    accountant = Accountant(Fraction(1, 1000))
    with contextlib.suppress(BudgetError):
        kind(epsilon=1).draft(
            of,
            counter(of, {"job": [1], "age": [2], "class": [0]}),
            Context(accountant=accountant, source=SecureSource()),
        )
    assert accountant.spent <= Fraction(1, 1000)


@EVERY
@settings(max_examples=examples(quick=4, slow=10))
@given(table=coded_tables(), seed=st.integers(0, 2**32))
def test_a_seeded_run_repeats(kind, table, seed):
    of, codes = table
    one, two = (run(kind(epsilon=1), of, codes, InsecureSource(seed))[0] for _ in range(2))
    assert one.facts == two.facts
    assert one.groups.cuts == two.groups.cuts
    assert one.groups.counts.tolist() == two.groups.counts.tolist()


@EVERY
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_its_release_is_in_the_ledger_with_its_recipe(kind, tmp_path):
    (tmp_path / "t.csv").write_text("age,ill\n" + "3,n\n7,y\n" * 20, encoding="utf-8")
    study = study_from_text(
        "name: s\nsource: t.csv\nprivacy: {budget: 3}\nattributes:\n"
        "  age: {role: quasi_identifier, type: integer, bounds: [0, 9]}\n  ill: {role: class, values: [n, y]}\n",
        base=tmp_path,
    )
    recipe = recipe_of(kind(epsilon="1/3"), name="dp")
    done = workflow.release(study, recipe, folder=tmp_path / "out")
    [entry] = open_ledger(tmp_path / "s.ledger.sqlite").entries("s")
    assert (entry.method, entry.epsilon, entry.state) == (kind.name, Fraction(1, 3), "done")
    assert build(Recipe(**{k: v for k, v in json.loads(entry.recipe).items() if k != "chosen"})).spends == Fraction(
        1, 3
    )
    assert done.left == Fraction(8, 3)
