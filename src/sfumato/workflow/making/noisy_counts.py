"""Differentially private releases: groups with noisy counts.

The order of a release is the order of trust. Everything that can fail without looking at a record fails first; then the
owner's guard looks at the table (see `left_out`, which argues what that decides); then the folder is claimed; then the
ledger entry is committed; only then is the table counted and noise drawn; and the bundle appears under its name in one
step, after it was read back and checked. Killed between any two of these, the process leaves at most spent budget and
an empty folder: never half a bundle, never a spend that is not in the ledger.
"""

import datetime as dt
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sfumato.domains.domain import Grid
from sfumato.errors import StudyError
from sfumato.ledger import RECORD, Ledger, NewEntry, check_budget
from sfumato.methods import Method, method_needs_class
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.privacy.models import DifferentialPrivacy, attack_odds
from sfumato.release.bundle.write import write_bundle
from sfumato.release.draft import Draft
from sfumato.release.forms.noisy_counts.manifest import ManifestFacts
from sfumato.release.guarantee import NO_GUARANTEE
from sfumato.study.attribute import InvalidValuePolicy
from sfumato.study.budget import show
from sfumato.study.formulas import formula_words
from sfumato.study.purpose import tailor
from sfumato.study.recipe import Recipe
from sfumato.study.span import Span
from sfumato.study.study import Study
from sfumato.study.unit import Unit
from sfumato.study.view import View
from sfumato.tables import CodedTable, open_source
from sfumato.workflow.making.left_out_guard import guard, with_left_out
from sfumato.workflow.making.lost_entries import budget_words, ledger_words, left_unless_lost, refuse_lost_entries
from sfumato.workflow.making.outcome import (
    Plan,
    Published,
    Run,
    leaving,
    ledger_of,
    left_over,
    left_words,
    named,
    person_rules,
    unit_words,
    versions,
)
from sfumato.workflow.making.public_reading import refuse_guesses
from sfumato.workflow.making.reservation import Reservation, claim_until_published
from sfumato.workflow.making.sweep_notice import swept
from sfumato.workflow.sets.level_views import set_rules


def plan_counts(
    study: Study, recipe: Recipe, method: Method, *, ledger: Ledger | None = None, check: bool = False
) -> Plan:
    """Say in words what a release would do, what it costs and what is left; with ``check`` it looks at the table."""
    view = tailor(study, recipe.purpose, needs_class=method_needs_class(method))
    forecast = method.forecast(view)
    epsilon = method.spends
    book = ledger or ledger_of(study)
    left = left_unless_lost(study, book, view.selection.span)
    sentences = [
        *ledger_words(study, book),
        (
            f"method '{recipe.method}' on {len(view.predictors)} attributes"
            + (
                f" and the class '{view.target.name}' ({', '.join(view.classes)})"
                if view.targeted
                else ", without a class"
            )
        ),
        *view.selection.sentences(),
        *person_rules(view.unit),
        *unfit_sentences(view),
        *formula_words(view.attributes),
        *forecast.sentences,
    ]
    if epsilon is not None:
        sentences = [*refusal_words(study, epsilon, left, view, "release"), *sentences]
        sentences += cost_words(study, epsilon, left, view)
    sentences += [leaving(study, view.attributes), *swept(study, recipe)]
    plan = Plan(
        study=study.name,
        recipe=recipe,
        epsilon=epsilon,
        budget=study.budget,
        left=left,
        sentences=tuple(sentences),
        numbers=forecast.numbers,
    )
    if not check:
        return plan
    return with_left_out(plan, study, view.attributes, unit=view.unit, selection=view.selection, command="release")


def refusal_words(study: Study, epsilon: Fraction, left: Fraction | None, view: View, command: str) -> list[str]:
    """That the command will refuse, and what would fit: said first, since nothing else matters then."""
    if study.budget is None:
        return [f"the study declares no budget, so `{command}` will refuse: add `privacy: {{budget: …}}`"]
    if left is None:  # entries are lost, which `ledger_words` says
        return []
    if epsilon <= left:
        return []
    over = "" if view.selection.span is None else f" over {view.selection.span}"
    some = f"{show(max(left, Fraction(0)))} of {show(study.budget)} is left{over}"
    fits = f"at most ε = {show(left)} would fit" if left > 0 else "nothing more fits"
    return [f"IT DOES NOT FIT: it costs ε = {show(epsilon)} and {some}, so `{command}` will refuse; {fits}"]


def cost_words(study: Study, epsilon: Fraction, left: Fraction | None, view: View) -> list[str]:
    """What it costs and leaves, for whom, and what that means to an attacker."""
    return [
        f"it costs ε = {show(epsilon)}{left_words(study, left, view.selection.span)}",
        *([] if view.selection.span is None else [spanned(view)]),
        view.unit.sentence(),
        attack_odds(epsilon).removesuffix("."),
    ]


def release_counts(study: Study, recipe: Recipe, method: Method, run: Run) -> Published:
    """Make, re-check and publish groups with noisy counts, and enter the release into the ledger."""
    progress = run.progress
    view = tailor(study, recipe.purpose, needs_class=method_needs_class(method))
    method.check(view)
    spends = method.spends
    if spends is None or study.budget is None:
        raise StudyError(
            f"the study '{study.name}' declares no privacy budget", "add `budget` under `privacy`: the total ε, ever"
        )
    promise = DifferentialPrivacy(epsilon=spends, unit=unit_words(view.unit)).sentence()
    refuse_over_budget(study, run.ledger, epsilon=spends, unit=view.unit, span=view.selection.span, at=run.clock())
    warnings = [*budget_words(study, run.ledger), *swept(study, recipe), *formula_words(view.attributes)]
    progress("opening the table", 0, 1)
    with open_source(study.source, base=study.base, memory_limit=run.memory_limit, private=True) as table:
        refuse_guesses(table)
        counter = CodedTable(table, view.attributes, unit=view.unit, selection=view.selection)
        progress("comparing the table with the study", 0, 1)
        left_out = guard(study, counter, anyway=run.anyway)
        with claim_until_published(run.folder):
            entered = Reservation.reserve(
                study,
                recipe,
                run,
                promise=promise if run.source.secure else NO_GUARANTEE,
                epsilon=spends,
                unit=view.unit.key,
                selection=view.selection,
            )
        accountant = Accountant(spends / view.unit.stability)
        with entered.fail_on_error():
            draft = method.run(view, counter, accountant=accountant, source=run.source, progress=progress)
            progress("publishing", 0, 1)
            facts = _manifest_facts(study, recipe, method, view, draft, accountant, run.source, run.clock().date())
            written = write_bundle(draft, replace(facts, ledger=entered.entry.hash), run.folder)
        with entered.completing(written):
            left = left_over(study, run.ledger, view.selection.span)
            notes = _owner_notes(recipe, draft, accountant)
            done = entered.hand_over(draft, written, notes=notes, left=left, warnings=warnings, left_out=left_out)
            progress("publishing", 1, 1)
    return done


def refuse_over_budget(
    study: Study, ledger: Ledger, *, epsilon: Fraction, unit: Unit, span: Span | None, at: dt.datetime, method: str = ""
) -> None:
    """Fail before anything is read if the budget does not allow it; the ledger checks again when it is entered."""
    draft = NewEntry(
        study=study.name, at=at, who="", purpose="", method=method, recipe="{}", promise="", epsilon=epsilon,
        unit=unit.key, span=span,
    )  # fmt: skip
    refuse_lost_entries(study, ledger)
    check_budget(draft, ledger.entries(study.name), budget=study.budget)


def _manifest_facts(
    study: Study,
    recipe: Recipe,
    method: Method,
    view: View,
    draft: Draft,
    accountant: Accountant,
    source: RandomSource,
    today: dt.date,
) -> ManifestFacts:
    return ManifestFacts(
        study=study.name,
        release=recipe.name,
        method=recipe.method,
        parameters={key: str(value) for key, value in recipe.parameters.items()},
        model=DifferentialPrivacy.name,
        epsilon=method.spends,
        unit=unit_words(view.unit),
        neighbouring=view.unit.sentence(),
        composition=composition(view),
        receipt=_receipt(accountant),
        secure=source.secure,
        chosen=recipe.chosen.value,
        versions=versions(),
        date=today.isoformat(),
        rules=(
            *view.selection.sentences(),
            *person_rules(view.unit),
            *unfit_sentences(view),
            *formula_words(view.attributes),
        ),
        selection=view.selection.as_json(),
        facts=draft.facts,
    )


def spanned(view: View) -> str:
    """How the ε of a span adds up with that of others."""
    if view.unit.key == RECORD:
        return "ε is charged to the records of the span: releases over other days do not add to it, the others do"
    return "a person may have records in several spans, so ε is charged to everybody, whatever the span"


def _receipt(accountant: Accountant) -> list[dict[str, str]]:
    return [
        {"on": spend.on, "epsilon": show(spend.epsilon), "mechanism": spend.mechanism} for spend in accountant.receipt
    ]


def composition(view: View) -> str:
    """How the steps of a receipt add up to ε: a rule of the declared unit, in words."""
    many = view.unit.stability
    sequence = (
        "sequential composition over the steps of the receipt (their ε add up), parallel composition within a step "
        "that names several disjoint parts"
    )
    return sequence if many == 1 else f"{sequence}; the receipt is per record, and a person has at most {many} of them"


def unfit_sentences(view: View) -> list[str]:
    """What happens to missing values and to values outside the domains: rules, not counts."""
    sentences = []
    for names, rule in (
        (
            [a.name for a in view.attributes if a.missing is not InvalidValuePolicy.KEEP],
            "a record is left out if a value is missing (an error would tell that there is such a record)",
        ),
        (
            [a.name for a in view.attributes if a.outside is not InvalidValuePolicy.KEEP],
            "a record is left out if a value is outside the declared domain",
        ),
        (
            [a.name for a in view.attributes if isinstance(a.domain, Grid) and a.outside is InvalidValuePolicy.KEEP],
            "a number or date outside the declared bounds counts as the nearer bound",
        ),
    ):
        if names:
            sentences.append(f"{rule}, for {named(names, len(view.attributes))}")
    return [*sentences, *set_rules(view.attributes)]


def _owner_notes(recipe: Recipe, draft: Draft, accountant: Accountant) -> dict[str, Any]:
    return {
        "recipe": recipe.as_json(),
        "facts": dict(draft.facts),
        "receipt": _receipt(accountant),
        "published_groups": len(draft.groups),
    }
