"""One handler turns every error into an exit code and a message, or the one JSON shape."""

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

from sfumato.errors import InternalError, SfumatoError, StoppedError, UsageError

INTERRUPTED = 130  # what shells expect after Ctrl-C


def main(stop_code: Callable[[], int] = lambda: INTERRUPTED) -> None:
    """Run the command line. If it is interrupted, ``stop_code`` gives the exit code: a signal has its own."""
    from sfumato.cli.app import app

    for stream in (sys.stdout, sys.stderr):  # ε on a terminal or pipe that has no ε comes out as \u03b5, not as a crash
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    in_json = "--json" in sys.argv
    try:
        if in_json:
            _run_without_boxes(app)
        else:
            app(prog_name="sfumato")
    except SfumatoError as error:
        _say(error, in_json=in_json)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as stop:
        if isinstance(stop, SystemExit) and stop.code != INTERRUPTED:
            raise
        said = (
            _notes_of(stop) or "budget that the ledger has reserved counts as spent; no incomplete bundle was written"
        )
        code = stop_code()
        if in_json:
            stopped = StoppedError(f"the command was stopped: {said}", "run the command again", code="SF-STOPPED-741")
            _write_json(stopped.as_json(exit_code=code))
        else:
            sys.stderr.write(f"stopped: {said}.\n")
        sys.exit(code)
    except BrokenPipeError:  # whoever read has enough
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - closed with the program
        sys.exit(1)
    except Exception as bug:  # noqa: BLE001 - the edge of the program: its message may quote a value and is not shown
        sys.stderr.write("".join(traceback.format_tb(bug.__traceback__)) if not in_json else "")
        _say(InternalError(f"an unexpected {type(bug).__name__}"), in_json=in_json)
        sys.exit(InternalError.exit_code)


def _run_without_boxes(app: Any) -> None:
    """Run a command for a program: what typer says in a box becomes an error of ours, so that all have one shape."""
    from typer import Abort, BadParameter, Exit
    from typer.main import get_command

    wrong: type[Exception] = next(kind for kind in BadParameter.__mro__ if kind.__name__ == "ClickException")
    command = get_command(app)
    try:
        with command.make_context("sfumato", sys.argv[1:]) as context:
            command.invoke(context)
    except Exit as ended:
        sys.exit(ended.exit_code)
    except Abort:
        raise KeyboardInterrupt from None
    except wrong as error:
        problem = str(getattr(error, "format_message", error.__str__)()).strip().rstrip(".")
        raise UsageError(
            f"the command line is not valid: {problem}",
            "`--help` lists the arguments and options of the command",
            code="SF-USAGE-743",
        ) from None


def _say(error: SfumatoError, *, in_json: bool) -> None:
    """Problem and fix, with the notes of whoever had to leave something behind; errors of others are not asked."""
    problem = "; ".join([error.problem, *getattr(error, "__notes__", ())])
    if in_json:
        _write_json({**error.as_json(), "problem": problem})
    else:
        sys.stderr.write(f"error: {problem}.\n  To fix: {error.fix}.{f' [{error.code}]' if error.code else ''}\n")


def _write_json(error: dict[str, str | int]) -> None:
    sys.stderr.write(json.dumps(error, ensure_ascii=False) + "\n")


def _notes_of(stop: BaseException | None) -> str:
    """What whoever was interrupted had to say; the program's frame may have put another exception around it."""
    while stop is not None:
        if notes := getattr(stop, "__notes__", None):
            return "; ".join(notes)
        stop = stop.__cause__ or stop.__context__
    return ""


if __name__ == "__main__":
    main()
