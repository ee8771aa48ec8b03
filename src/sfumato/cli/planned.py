"""How a plan and an audit are said, of a release and of a model that is learnt."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from sfumato.cli import show
from sfumato.errors import VerifyError

if TYPE_CHECKING:  # what `sfumato --help` need not import
    from sfumato.evaluate.audit import Finding
    from sfumato.workflow import Plan


def say_plan(found: "Plan", what: str, *, json: bool) -> None:
    """What would be done, as sentences or as JSON."""
    if json:
        show.as_json(found.as_json())
        return
    show.say(f"{what} of the study '{found.study}' would do this:")
    show.bullets(found.sentences)


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
