"""One handler turns our errors into an exit code and a message, or the one JSON shape."""

import json
import sys

from sfumato.errors import SfumatoError


def main() -> None:
    """Run the command line."""
    from sfumato.cli.app import app  # noqa: PLC0415 - an import error of ours should not hide behind this module's

    try:
        app()
    except SfumatoError as error:
        if "--json" in sys.argv:
            sys.stderr.write(json.dumps(error.as_json(), ensure_ascii=False) + "\n")
        else:
            sys.stderr.write(f"error: {error.problem}.\n  To fix: {error.fix}.\n")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.stderr.write("stopped. What the ledger has reserved counts as spent; no bundle was left behind.\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
