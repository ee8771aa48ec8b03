"""Python runs this at the start of every child process of a test: it tells when the child draws, and may stop it."""

import importlib.util
import os
from pathlib import Path

_FILE = "SFUMATO_TESTS_DRAWS"

if os.environ.get(_FILE):
    _spec = importlib.util.spec_from_file_location("_sfumato_tests_draws", Path(__file__).parents[1] / "draws.py")
    _draws = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(_draws)
    _draws.write_notes(os.environ[_FILE])


if os.environ.get("SFUMATO_TESTS_STOP"):  # a process of a workbench, see `tests/web/stopped_process.py`
    import json
    import signal
    import sys

    def _stop():
        os.kill(os.getpid(), signal.SIGSTOP)

    def _stop_once_reserved():
        from sfumato.ledger.sqlite import SqliteLedger

        reserve = SqliteLedger.reserve

        def reserved(*given, **more):
            entry = reserve(*given, **more)
            _stop()
            return entry

        SqliteLedger.reserve = reserved

    try:
        _asked = json.loads(Path(os.environ["SFUMATO_TESTS_STOP"]).read_text(encoding="utf-8"))
    except FileNotFoundError:
        _asked = None
    if _asked and all(word in sys.orig_argv for word in _asked["words"]):
        (_stop_once_reserved if _asked["reserved"] else _stop)()
