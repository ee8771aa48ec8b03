"""How a plan and an audit are said, of a release and of a model that is learnt."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from sfumato.cli import show
from sfumato.errors import VerifyError
from sfumato.wording import rounded_up

if TYPE_CHECKING:  # what `sfumato --help` need not import
    from sfumato.evaluate.audit import Finding
    from sfumato.workflow import EpsilonChoice, Plan


def say_plan(found: "Plan", what: str, *, json: bool, study_sha256: str | None = None) -> None:
    """What would be done, as sentences or as JSON."""
    if json:
        show.as_json({**found.as_json(), **({} if study_sha256 is None else {"study_sha256": study_sha256})})
        return
    show.say(f"{what} of the study '{found.study}' would do this:")
    show.bullets(found.sentences)


def say_epsilon_choice(found: "EpsilonChoice", *, json: bool) -> None:
    """What is expected at several ε, as a table or as JSON."""
    if json:
        show.as_json(found.as_json())
        return
    names = ["ε", "odds change by at most", "noise on a count", "95 % within", "noise on a marginal"]
    measured = found.stand_in is not None
    names += ["accuracy", "AUC", "one-way marginals", "two-way marginals"] if measured else []
    points = [*found.points, *([] if found.solved is None else [found.solved])]
    rows = []
    for point in points:
        row = [
            str(show.exact(point.epsilon)), rounded_up(point.odds_factor), f"±{_number(point.deviation)}",
            f"±{point.within:,}", "–" if (most := point.marginal_deviation) is None else f"up to ±{_number(most)}",
        ]  # fmt: skip
        if measured:
            row += [
                _known(point.accuracy, "{:.1%}"), _known(point.auc, "{:.3f}"), _known(point.marginals_1, "{:.3f}"),
                _known(point.marginals_2, "{:.3f}"),
            ]  # fmt: skip
        rows.append(row)
    show.say(f"expected errors of method '{found.method}'; the table of the study was not read:")
    show.table(names, rows)
    if found.solved is not None:
        enough = show.exact(found.solved.epsilon)
        show.say(f"ε = {enough} (the last line) is the smallest found that reaches the error asked for")
    show.say("noise is given as a standard deviation, before post-processing; that of a marginal is an upper bound")
    show.say("where tables have different noise, or it depends on the number of records (--records), it is the largest")
    if measured:
        show.say(
            "accuracy and AUC are those of a decision tree, marginals the total variation distance, all measured on "
            f"the public stand-in; its raw records give {_known(found.raw, '{:.1%}')}, its majority class "
            f"{_known(found.majority, '{:.1%}')}. Your table may differ"
        )


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"  # noqa: PLR2004 - three digits are enough


def _known(value: float | None, form: str) -> str:
    return "–" if value is None else form.format(value)


def say_finding(found: "Finding", what: str, facts: Mapping[str, Any], *, json: bool) -> None:
    """Show what an audit found; exits with code 8 if a guarantee is violated."""
    if json:
        show.as_json({**facts, **found.as_json()})
    else:
        show.say(f"{what} {found.sentence()}")
        if found.violates:
            show.say("do not publish it, and please report this bug in Sfumato")
    if found.violates:
        raise typer.Exit(VerifyError.exit_code)
