"""The cost of a release, question or model and the remaining budget, in words, and refusal over budget."""

from fractions import Fraction

from sfumato.ledger import RECORD
from sfumato.privacy.models import attack_odds
from sfumato.study.budget import show
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.workflow.steps.outcome import remaining_words


def refusal_words(study: Study, epsilon: Fraction, left: Fraction | None, view: View, command: str) -> list[str]:
    """That the command will refuse, and what the budget allows: stated first, since nothing else matters then."""
    if study.budget is None:
        return [f"the study declares no budget, so `{command}` will refuse: add `privacy: {{budget: …}}`"]
    if left is None:  # entries are lost, which `ledger_words` says
        return []
    if epsilon <= left:
        return []
    over = "" if view.selection.span is None else f" over {view.selection.span}"
    some = f"{show(max(left, Fraction(0)))} of {show(study.budget)} remains{over}"
    fits = f"at most ε = {show(left)} is possible" if left > 0 else "nothing more can be spent"
    return [f"OVER BUDGET: it costs ε = {show(epsilon)} and {some}, so `{command}` will refuse; {fits}"]


def cost_words(study: Study, epsilon: Fraction, left: Fraction | None, view: View) -> list[str]:
    """The cost and the remaining budget, the unit, and what ε means against an adversary."""
    return [
        f"it costs ε = {show(epsilon)}{remaining_words(study, left, view.selection.span, spends=True)}",
        *([] if view.selection.span is None else [span_words(view)]),
        view.unit.sentence(),
        attack_odds(epsilon).removesuffix("."),
    ]


def span_words(view: View) -> str:
    """How the ε of a span adds up with that of others."""
    if view.unit.key == RECORD:
        return "ε is charged to the records of the span: it adds up with that of releases over the same days only"
    return "a person may have records in several spans, so ε is charged to all records, whatever the span"
