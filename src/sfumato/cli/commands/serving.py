"""The command that starts the workbench."""

from pathlib import Path
from typing import Annotated

import typer

from sfumato.cli import show
from sfumato.cli.options import Json
from sfumato.errors import UsageError


def serve(  # noqa: PLR0913, PLR0917 - an option each
    study: Annotated[
        Path | None, typer.Argument(help="A study file to begin with.", metavar="STUDY", show_default=False)
    ] = None,
    folder: Annotated[
        list[Path] | None,
        typer.Option("--folder", help="A folder with tables and studies; by default the working folder. Repeatable."),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", help="The port; by default the first free one from 8765.")
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="Another address to listen at; needs --certificate and --key.")
    ] = "127.0.0.1",
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="A name by which browsers open the pages, beside --host. Repeatable."),
    ] = None,
    certificate: Annotated[Path | None, typer.Option("--certificate", help="The certificate for TLS (PEM).")] = None,
    key: Annotated[Path | None, typer.Option("--key", help="The key of the certificate (PEM).")] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            "--memory-limit",
            help="The memory limit of the commands that pages run, such as 2GB; the start page can change it.",
        ),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")] = False,
    json: Json = False,
) -> None:
    """Open the workbench: pages in a browser on this machine, for the whole way from a table to a verified bundle.

    The address contains a token: whoever has it can use the workbench. Ctrl-C ends it; releases that run go on.
    """
    try:
        from sfumato.web.server.serving import is_this_machine
        from sfumato.web.server.serving import serve as start
    except ImportError:
        raise UsageError(
            "the workbench needs libraries that are not installed",
            "install the extra `web`: pip install '.[web]' in a clone of Sfumato",
            code="SF-USAGE-420",
        ) from None
    folders = [*(folder or []), *([study.resolve().parent] if study is not None else [])] or [Path.cwd()]
    if not is_this_machine(host):
        show.warn(f"others on the network can reach {host}: give the address with the token to nobody else")

    def ready(address: str, page: Path) -> None:
        if json:
            show.as_json({"address": address})
        else:
            show.say(f"the workbench is at {address}")
            show.say("Ctrl-C ends it")
        if not (no_browser or json):
            typer.launch(str(page))

    try:
        start(
            tuple(path.resolve() for path in folders),
            host=host,
            port=port,
            names=tuple(name or ()),
            certificate=certificate,
            key=key,
            ready=ready,
            memory_limit=memory_limit,
            begin=None if study is None else study.resolve(),
        )
    except KeyboardInterrupt as stop:
        stop.add_note("the workbench has ended; a release that had begun goes on, and the ledger will say how it ended")
        raise
