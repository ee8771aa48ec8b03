"""What is open in a study, by step, and what its releases would spend: the numbers in the bars of every page."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from sfumato.errors import SfumatoError
from sfumato.ledger import Entry
from sfumato.methods import build
from sfumato.study.recipe import recipe_from_study
from sfumato.study.study import Study
from sfumato.web.column_rows import columns_of
from sfumato.web.workspace import OpenStudy


def open_points(opened: OpenStudy, problem: SfumatoError | None) -> dict[str, int]:
    """How many points are to be resolved in a step: columns without a decision, and what the check calls an error.

    What the check says was found in the records, so the page marks a number with it as the owner's.
    A study file that cannot be read is a point of its columns, wherever the fault stands: their page shows it.
    """
    found = columns_of(opened)
    undecided = sum(row.open for row in found.rows)
    reports = (opened.cache.get("checked") or {}).get("reports", ())
    broken = problem is not None and problem.code != "SF-STUDY-142"  # there are no attributes yet
    errors = sum(bool(one["error"]) for one in reports)
    return {"columns": undecided + errors + int(broken), "columns from records": errors}


def planned_releases(declared: Study, entries: Iterable[Entry]) -> dict[str, Fraction]:
    """The declared releases that are not in the ledger yet, with the ε that each would spend.

    Together they spend at most the sum: spans that do not overlap cost less.
    """
    made = {entry.release for entry in entries}
    found: dict[str, Fraction] = {}
    for name in declared.releases:
        if name in made:
            continue
        try:
            spends = build(recipe_from_study(declared, name)).spends
        except SfumatoError:  # the plan says what is wrong with it
            continue
        if spends is not None:
            found[name] = spends
    return found


def budget_shares(total: Fraction, spent: Fraction, planned: Fraction) -> dict[str, Any]:
    """The bar as widths of 136: dark is spent, hatched is planned, light is left.

    >>> budget_shares(Fraction(4), Fraction(1), Fraction(5))
    {'spent_width': 34.0, 'planned_width': 102.0}
    """
    share = min(max(spent / total, Fraction(0)), Fraction(1)) if total else Fraction(1)
    rest = min(planned / total, 1 - share) if total else Fraction(0)
    return {"spent_width": round(float(136 * share), 1), "planned_width": round(float(136 * rest), 1)}
