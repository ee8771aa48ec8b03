"""What a page says about a release before it is made. The table is not opened here, and nothing is spent.

The plan that also looks at the table (how many records are left out) is a job: the command `sfumato plan`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from math import log10
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup

from sfumato.errors import SfumatoError, UsageError
from sfumato.methods import METHODS
from sfumato.privacy.models.differential_privacy import membership_advantage, odds_factor
from sfumato.study.budget import parse_epsilon, show
from sfumato.study.purpose import tailor
from sfumato.study.study import Study
from sfumato.web.code_words import CODE, with_code
from sfumato.web.column_rows import PAGE, columns_of
from sfumato.web.editing.method_forms import PRIVACY, ReleaseForm
from sfumato.web.editing.study_document import StudyDocument
from sfumato.web.workspace import OpenStudy
from sfumato.workflow import EpsilonChoice, Plan

GRID: Final = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10")
"""The ε that expected errors are shown at."""

_DRAFT: Final = "release"  # what a release without a name yet is called while it is planned


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What is known of a release from its declarations alone, or why it cannot be planned."""

    plan: Plan | None = None
    error: SfumatoError | None = None
    released: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    expected: EpsilonChoice | None = None
    unexpected: SfumatoError | None = None  # why there is no expected error
    unsolved: SfumatoError | None = None  # why there is no ε for the wanted error

    @property
    def blocked(self) -> bool:
        """Whether a release would be refused."""
        return self.plan is None or not self.plan.fits


def outcome_of(
    document: StudyDocument, draft: ReleaseForm, *, within: str = "", records: str = "", models: Any = None
) -> Outcome:
    """Plan a release that is on the page and perhaps not in the study file yet.

    ``models`` are the privacy models as the study file has them, where the form cannot show them all.
    """
    name = draft.name or _DRAFT
    try:
        settings = draft.settings() if models is None else {**draft.settings(), PRIVACY: models}
        declared = document.set("releases", name, value=settings).study()
    except SfumatoError as error:
        return Outcome(error=error)
    found = declared_outcome(declared, name)
    return _with_expected(found, declared, name, within, records) if found.plan is not None and draft.private else found


def declared_outcome(declared: Study, name: str) -> Outcome:
    """Plan a release that the study declares, as it is declared."""
    from sfumato.api import Study as Studied  # noqa: PLC0415 - it imports the engines

    try:
        plan = Studied(declared).plan(name, check=False)
        view = tailor(declared, plan.recipe.purpose, METHODS[plan.recipe.method].needs)
    except SfumatoError as error:
        return Outcome(error=error)
    released = tuple(a.name for a in view.attributes)
    return Outcome(plan=plan, released=released, withheld=tuple(n for n in declared.attributes if n not in released))


def _with_expected(found: Outcome, declared: Study, name: str, within: str, records: str) -> Outcome:
    from sfumato.api import Study as Studied  # noqa: PLC0415 - it imports the engines

    assert found.plan is not None and found.plan.epsilon is not None, "it spends ε"
    studied = Studied(declared)
    asked = sorted({*map(parse_epsilon, GRID), found.plan.epsilon})
    unsolved = None
    try:
        count = _whole(records)
        wanted = _error(within)
        try:
            expected = studied.choose_epsilon(name, epsilons=asked, within=wanted, records=count)
        except UsageError as error:  # no ε reaches the wanted error
            if wanted is None:
                raise
            unsolved = error
            expected = studied.choose_epsilon(name, epsilons=asked, records=count)
    except SfumatoError as error:
        return Outcome(plan=found.plan, released=found.released, withheld=found.withheld, unexpected=error)
    return Outcome(
        plan=found.plan, released=found.released, withheld=found.withheld, expected=expected, unsolved=unsolved
    )


def _whole(text: str) -> int | None:
    plain = text.replace(",", "").replace(" ", "")
    if not plain:
        return None
    if not plain.isdecimal() or len(plain) > 15:  # noqa: PLR2004 - more records than there are
        raise UsageError("the number of records is not a whole number", "type digits alone", code="SF-USAGE-441")
    return int(plain)


def _error(text: str) -> float | None:
    if not text:
        return None
    try:
        found = float(text.replace(",", ""))
    except ValueError:
        raise UsageError("the wanted error is not a number", "type a number above 0", code="SF-USAGE-442") from None
    return found


def epsilon_words(epsilon: Fraction) -> dict[str, Any]:
    """What ε means: the factor that odds change by, and how often an adversary at even odds is right."""
    factor, advantage = odds_factor(epsilon), membership_advantage(epsilon)
    right = (1 + advantage) / 2
    return {
        "epsilon": show(epsilon),
        "factor": _up(factor),
        "right": _up(100 * right),
        "share": float(right),
        "slider": _slider(epsilon),
    }


def _up(value: Decimal) -> str:
    """Three digits, rounded up: these are bounds."""
    return f"{Context(prec=3, rounding=ROUND_CEILING).create_decimal(value):f}"


def _slider(epsilon: Fraction) -> float:
    return round(min(max(log10(epsilon), -2.0), 1.0), 3)


def budget_bar(plan: Plan) -> dict[str, Any] | None:
    """What is spent, what this release would spend, and what would be left, as lengths of a bar from 0 to 320."""
    if plan.budget is None or plan.left is None:
        return None
    spent, this = plan.budget - plan.left, plan.epsilon or Fraction(0)
    after = plan.left - this
    scale = 320 / max(plan.budget, spent + this)
    return {
        "total": show(plan.budget),
        "spent": show(spent),
        "this": show(this),
        "left": show(plan.left),
        "after": show(after),
        "fits": after >= 0,
        "spent_width": round(float(spent * scale), 1),
        "this_width": round(float(this * scale), 1),
    }


def expected_plot(expected: EpsilonChoice, epsilon: Fraction) -> str:
    """The expected errors against ε, as a Vega-Lite specification. The table beside it has the same numbers."""
    rows: list[dict[str, Any]] = []
    for point in expected.points:
        at = {"epsilon": float(point.epsilon)}
        rows.append({**at, "error": max(point.within, 0.5), "what": "one count: 95 % within ±"})
        if point.marginal_deviation is not None:
            rows.append(
                {**at, "error": point.marginal_deviation, "what": "one-way marginal: standard deviation, at most"}
            )
    return json.dumps(_against_epsilon(rows, epsilon, "error", "records (log scale)", log=True))


def measured_plot(found: Mapping[str, Any], epsilon: Fraction) -> str:
    """The accuracy on a stand-in against ε, as a Vega-Lite specification; empty where there is no target."""
    rows = [
        {"epsilon": float(Fraction(p["epsilon"])), "error": p["accuracy"], "what": "trained on the release"}
        for p in found["points"]
        if p["accuracy"] is not None
    ]
    if not rows:
        return ""
    for name, what in (("accuracy_on_raw_data", "raw stand-in"), ("accuracy_of_majority_class", "majority class")):
        if found[name] is not None:
            rows += [
                {"epsilon": r["epsilon"], "error": found[name], "what": what} for r in rows[: len(found["points"])]
            ]
    return json.dumps(_against_epsilon(rows, epsilon, "error", "accuracy", log=False))


def _against_epsilon(
    rows: Sequence[Mapping[str, Any]], epsilon: Fraction, y: str, title: str, *, log: bool
) -> dict[str, Any]:
    x = {"field": "epsilon", "type": "quantitative", "scale": {"type": "log", "domain": [0.01, 10]}, "title": "ε (log scale)"}  # fmt: skip  # noqa: E501
    scale: dict[str, Any] = {"type": "log"} if log else {"zero": False}
    axis = {"format": ",~r"} if log else {"format": ".0%"}
    shape = {
        "field": "what",
        "type": "nominal",
        "title": None,
        "legend": {"orient": "top", "columns": 1, "labelLimit": 400},
    }
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "width": "container",
        "height": 240,
        "data": {"values": list(rows)},
        "layer": [
            {
                "mark": {"type": "line", "point": {"size": 50}},
                "encoding": {
                    "x": {**x, "axis": {"values": [0.01, 0.1, 1, 10], "format": "~r"}},
                    "y": {"field": y, "type": "quantitative", "scale": scale, "title": title, "axis": axis},
                    "color": shape,
                    "strokeDash": shape,
                },
            },
            {
                "data": {"values": [{"epsilon": float(min(max(epsilon, Fraction(1, 100)), Fraction(10)))}]},
                "mark": {"type": "rule", "size": 2},
                "encoding": {"x": x},
            },
        ],
    }


def columns_link(opened: OpenStudy) -> Callable[[str], str]:
    """The address of a column by its name: its row, which on a page of very many columns is found by the filter."""
    found, page = columns_of(opened), f"/s/{opened.key}/columns"

    def address(name: str) -> str:
        row = found.named(name)
        if row is None:
            return page
        return f"{page}#open-{row.number}" if row.number < PAGE else f"{page}?find={quote(name)}#open-{row.number}"

    return address


def linked(sentence: str, study: Study | None, columns: Callable[[str], str]) -> Markup:
    """A sentence in which the names of attributes lead to their columns. Names may hold anything, so all is escaped."""
    names = sorted(study.attributes, key=len, reverse=True) if study is not None else []
    symbol = sentence[1:2] == " " and sentence[:1] != "a"  # `h is chosen …`: a parameter keeps its case
    said = sentence if symbol else sentence[:1].upper() + sentence[1:]
    if not names or said.startswith("Read as odds"):
        return with_code(said)
    pattern = re.compile(r"(?<![\w'`-])(['`]?)(" + "|".join(re.escape(name) for name in names) + r")\1(?![\w'`-])")
    codes = [match.span() for match in CODE.finditer(said)]  # a name within code is part of that
    found, place = Markup(""), 0
    listed = min((at for mark in (": ", ", for ") if (at := said.find(mark)) >= 0), default=len(said))
    for match in pattern.finditer(said):
        if not match[1] and match.start() < listed:  # a word of ours that is also the name of a column
            continue
        if any(start < match.start() and match.end() < end for start, end in codes):
            continue
        found += with_code(said[place : match.start()])
        found += Markup('<a href="{}"><code>{}</code></a>').format(columns(match[2]), match[2])
        place = match.end()
    return found + with_code(said[place:])
