"""Planning a release: what it would do to each column, its cost and the remaining budget; nothing is spent."""

from sfumato.domains.domain import Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.ledger import Ledger
from sfumato.methods import Method, build
from sfumato.release.guarantee import LIMITS
from sfumato.release.uniqueness import exact_words
from sfumato.study.attribute import Attribute, observed
from sfumato.study.formulas import formula_words
from sfumato.study.purpose import tailor
from sfumato.study.recipe import Recipe
from sfumato.study.set_levels import declared_levels
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.workflow.steps.budget_words import cost_words, refusal_words
from sfumato.workflow.steps.earlier_use import overlap_warnings, sweep_warning
from sfumato.workflow.steps.left_out_guard import with_left_out
from sfumato.workflow.steps.lost_entries import ledger_words, remaining_unless_lost
from sfumato.workflow.steps.outcome import (
    Plan,
    ledger_of,
    list_names,
    person_rules,
    released_attributes_sentence,
    remaining_words,
)
from sfumato.workflow.steps.value_rules import stop_rules, value_rules


def plan(
    study: Study, recipe: Recipe, *, ledger: Ledger | None = None, check: bool = True, memory_limit: str | None = None
) -> Plan:
    """Describe what a release would do, its cost and the remaining budget; nothing is spent.

    With ``check`` the table is read, to tell the owner how many records are left out for missing or invalid values.
    """
    method = build(recipe)
    asked = tailor(study, recipe.purpose, method.needs)
    method.check_declared(asked)
    view = asked if method.needs.private else declared_levels(asked)
    method.check(view)
    forecast = method.forecast(view)
    book = ledger or ledger_of(study)
    left = remaining_unless_lost(study, book, view.selection.span)
    epsilon = method.spends
    sentences = [
        *([] if epsilon is None else refusal_words(study, epsilon, left, view, "release")),
        *ledger_words(study, book),
        f"method '{recipe.method}' on {_subject(view, private=method.needs.private)}",
        *view.selection.sentences(),
        *person_rules(view.unit),
        *([] if method.needs.private else _column_changes(asked, method.form)),
        *(said for said in _model_sentences(method) if said not in forecast.sentences),
        *forecast.sentences,
        *value_rules(asked.attributes, private=method.needs.private),
        *([] if method.needs.private else stop_rules(asked.attributes)),
        *formula_words(asked.attributes),
        *_published_besides(asked, method),
        released_attributes_sentence(study, view.attributes),
    ]
    if epsilon is not None:
        sentences += cost_words(study, epsilon, left, view)
    else:
        sentences.append(
            "it spends no privacy budget (syntactic guarantee) and is recorded in the ledger"
            + remaining_words(study, left, view.selection.span, spends=False)
        )
        sentences += overlap_warnings(study, book, view)
    sentences += sweep_warning(study, recipe)
    if epsilon is None:
        sentences.append(LIMITS[:1].lower() + LIMITS[1:].removesuffix("."))
    found = Plan(
        study=study.name, recipe=recipe, epsilon=epsilon, budget=study.budget, left=left, sentences=tuple(sentences),
        numbers=forecast.numbers,
    )  # fmt: skip
    if not check:
        return found
    return with_left_out(
        found, study, asked.attributes, unit=asked.unit, selection=asked.selection, command="release",
        memory_limit=memory_limit,
    )  # fmt: skip


def _subject(view: View, *, private: bool) -> str:
    """What a method works on."""
    if not private:
        return f"{len(view.quasi)} quasi-identifiers"
    about = f" and the class '{view.target.name}' ({', '.join(view.classes)})" if view.targeted else ", without a class"
    return f"{len(view.predictors)} attributes{about}"


def _column_changes(view: View, form: str) -> list[str]:
    """What is done to each column, in words."""
    quasi = ", ".join(_as_published(a) for a in view.quasi)
    names = ", ".join(a.name for a in view.quasi)
    hidden = ", ".join(a.name for a in view.sensitive)
    if form == "generalised":
        found = [f"these columns are generalised within equivalence classes: {quasi}"]
    elif form == "anatomy":
        found = [
            f"these columns are published exactly, with the bucket of each record: {names}",
            f"these columns are published in a second table, as counts by bucket: {hidden}",
        ]
    else:
        found = [
            f"these columns are published exactly, with the bucket of each record: {names}",
            f"the values of these columns are shuffled within each bucket: {hidden}",
        ]
    return [*found, *exact_words(view, form)]


def _as_published(attribute: Attribute) -> str:
    domain = attribute.domain
    if isinstance(domain, Grid):
        return f"{attribute.name} (to intervals)"
    if isinstance(domain, SetDomain):
        return f"{attribute.name} (to sets of nodes of its taxonomy)"
    return f"{attribute.name} (to nodes of its taxonomy)"


def _published_besides(asked: View, method: Method) -> list[str]:
    """What a syntactic release publishes besides its records."""
    if method.needs.private:
        return []
    found = []
    if names := observed(asked.attributes):
        which = list_names(names, len(asked.attributes))
        found.append(f"domains that were read from the table are published with the release, for {which}")
    if method.may_suppress:
        found.append("records may be suppressed: a suppressed record is published as a row without values")
    return found


def _model_sentences(method: Method) -> list[str]:
    """The privacy models as sentences of a plan."""
    said = [model.sentence() for model in method.models]
    return [f"{sentence[:1].lower()}{sentence[1:].removesuffix('.')}" for sentence in said]
