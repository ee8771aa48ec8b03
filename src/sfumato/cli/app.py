"""The program: its name, its version, and where each command lives."""

from typing import Annotated

import typer

from sfumato.cli.commands import account, comparing, doctor, learning, owner, receiver, running, serving, starting
from sfumato.cli.commands.taxonomy import taxonomy_app
from sfumato.cli.evaluate import evaluate_app
from sfumato.cli.options import Json, NewFolder

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


_OWNER, _LEDGER, _RECEIVER = "For the owner of a table", "The ledger", "For whoever has a bundle"
_HELP = "Help"


@app.command(rich_help_panel=_OWNER)
def demo(out: NewFolder = None, json: Json = False) -> None:
    """Run the main workflow on the packaged census table: publish it at ε = 1 and show the accuracy of the release."""
    from sfumato.cli.commands.demo import run_demo

    run_demo(out, json=json)


_COMMANDS = {
    _OWNER: (
        starting.init,
        owner.describe,
        owner.check,
        owner.plan,
        owner.release,
        owner.report,
        running.run,
        learning.learn,
        comparing.frontier,
        serving.serve,
    ),
    _LEDGER: (account.ledger, account.ask),
    _RECEIVER: (receiver.verify, receiver.query, receiver.document),
    _HELP: (doctor.doctor,),
}
for _panel, _commands in _COMMANDS.items():
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
app.add_typer(evaluate_app, name="evaluate", rich_help_panel=_OWNER)
app.add_typer(taxonomy_app, name="taxonomy", rich_help_panel=_OWNER)
