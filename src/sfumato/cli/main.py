"""One handler turns our errors into an exit code and a message, or the one JSON shape."""

import json
import sys

from sfumato.errors import SfumatoError

_INTERRUPTED = 130  # what shells expect after Ctrl-C


def main() -> None:
    """Run the command line."""
    from sfumato.cli.app import app

    for stream in (sys.stdout, sys.stderr):  # ε on a terminal or pipe that has no ε comes out as \u03b5, not as a crash
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")
    try:
        app(prog_name="sfumato")
    except SfumatoError as error:
        if "--json" in sys.argv:
            sys.stderr.write(json.dumps(error.as_json(), ensure_ascii=False) + "\n")
        else:
            sys.stderr.write(
                f"error: {error.problem}.\n  To fix: {error.fix}.{f' [{error.code}]' if error.code else ''}\n"
            )
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, SystemExit) as stop:
        if isinstance(stop, SystemExit) and stop.code != _INTERRUPTED:
            raise
        said = (
            _notes_of(stop) or "budget that the ledger has reserved counts as spent; no incomplete bundle was written"
        )
        sys.stderr.write(f"stopped: {said}.\n")
        sys.exit(_INTERRUPTED)


def _notes_of(stop: BaseException | None) -> str:
    """What whoever was interrupted had to say; the program's frame may have put another exception around it."""
    while stop is not None:
        if notes := getattr(stop, "__notes__", None):
            return "; ".join(notes)
        stop = stop.__cause__ or stop.__context__
    return ""


if __name__ == "__main__":
    main()
