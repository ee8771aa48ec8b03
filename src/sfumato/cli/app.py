"""The program: its name, its version, and where each command lives."""

from typing import Annotated

import typer

from sfumato.cli import account, comparing, learning, measuring, owner, receiver, running
from sfumato.cli.attack import attack_app
from sfumato.cli.options import Json, NewFolder
from sfumato.cli.taxonomy import taxonomy_app

app = typer.Typer(
    name="sfumato",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("sfumato")
        except PackageNotFoundError:  # run from a checkout
            number = "(not installed)"
        typer.echo(f"sfumato {number}")
        raise typer.Exit


@app.callback()
def sfumato(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Publish tables about people under a stated privacy model, with what a release costs in privacy and utility."""


@app.command()
def demo(out: NewFolder = None, json: Json = False) -> None:
    """The main job on the packaged census table, start to end: publish it at ε = 1 and show what that is worth."""
    from sfumato.cli.demo import run_demo

    run_demo(out, json=json)


for _command in (
    owner.describe,
    owner.check,
    owner.plan,
    owner.release,
    owner.report,
    running.run,
    learning.learn,
    owner.worth,
    account.ledger,
    account.ask,
    owner.audit,
    owner.max_k,
    measuring.measure,
    comparing.frontier,
    receiver.verify,
    receiver.query,
):
    app.command()(_command)
app.add_typer(attack_app, name="attack")
app.add_typer(taxonomy_app, name="taxonomy")
