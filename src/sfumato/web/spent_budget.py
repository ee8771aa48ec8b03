"""What is spent of a study's privacy budget and what is left, for the bar on every page; or why that is unknown."""

import time
from fractions import Fraction
from typing import Any, Final

from sfumato.errors import SfumatoError
from sfumato.ledger import LedgerSummary
from sfumato.study.budget import show
from sfumato.study.study import Study
from sfumato.web.open_points import budget_shares, planned_releases
from sfumato.web.workspace import OpenStudy

NO_ATTRIBUTES: Final = "SF-STUDY-142"  # a study that was just begun: nothing is wrong with it
_FRESH: Final = 2.0  # seconds that bundles are not looked for again, while the ledger stays as it is


def ledger_summary(opened: OpenStudy, declared: Study) -> LedgerSummary:
    """The entries of the study, and those that its bundles and head file name and the ledger lacks."""
    from sfumato.api import Study as Studied  # noqa: PLC0415 - it imports the engines
    from sfumato.workflow import lost_entries  # noqa: PLC0415 - it imports the engines

    ledger = Studied(declared).ledger
    entries = tuple(ledger.entries(declared.name))
    state = (declared.name, declared.ledger, [(entry.hash, entry.state) for entry in entries])
    before, looked, lost = opened.cache.get("lost entries", (None, 0.0, ()))
    if before != state or time.monotonic() - looked > _FRESH:  # every manifest is read, and every page asks
        lost = lost_entries(declared, ledger)
        opened.cache["lost entries"] = (state, time.monotonic(), lost)
    return LedgerSummary(study=declared.name, entries=entries, budget=declared.budget, lost=lost)


def budget_of(opened: OpenStudy, declared: Study | None, problem: SfumatoError | None) -> dict[str, Any]:
    """The bar, or ``why`` there is none: nothing is called left that the ledger may have lost."""
    if declared is None:
        return {"why": _without_study(opened, problem), "wrong": problem is None or problem.code != NO_ATTRIBUTES}
    if declared.budget is None:
        return {"why": "no privacy budget set", "wrong": False}
    try:
        summary = ledger_summary(opened, declared)
    except SfumatoError:
        return {"why": "what is left of ε is unknown: the ledger cannot be read", "wrong": True}
    spent, left = summary.spent, summary.left
    if spent is None or left is None:
        return {"why": "what is left of ε is unknown: the ledger has lost entries", "wrong": True}
    planned = sum(planned_releases(declared, summary.entries).values(), Fraction(0))
    return {
        "why": "",
        "total": show(declared.budget),
        "left": show(left),
        "spent": show(spent),
        "planned": show(planned) if planned else "",
        "fits": spent + planned <= declared.budget,
        **budget_shares(declared.budget, spent, planned),
    }


def _without_study(opened: OpenStudy, problem: SfumatoError | None) -> str:
    if problem is None or problem.code != NO_ATTRIBUTES:
        return "what is left of ε is unknown: the study file has an error"
    budget = opened.document().get("privacy", "budget")
    return "no privacy budget set" if budget is None else f"privacy budget of ε = {budget}"
