"""Vega, Vega-Lite and Vega-Embed with what draws specifications without evaluating text, as one script."""

import subprocess
import sys
import threading
from importlib.metadata import version
from typing import Final

from sfumato.web.server.user_cache import kept

_MAKE: Final = """
import sys, vl_convert
sys.stdout.buffer.write(vl_convert.javascript_bundle(sys.stdin.read()).encode())
"""
_PLOTS: Final = """
window.sfumatoEmbed = (place, spec, options) => vegaEmbed(place, spec, { ast: true, actions: false, ...options });
document.dispatchEvent(new Event("sfumato:plots"));
"""
_PACKAGE: Final = "vl-convert-python"  # which has the libraries inside
_LOCK: Final = threading.Lock()
_MADE: Final[list[bytes]] = []


def plot_script() -> bytes:
    """The script: from memory, or as an earlier start has kept it, or put together, which takes seconds."""
    with _LOCK:
        if not _MADE:
            _MADE.append(kept("plots", "\0".join((version(_PACKAGE), _MAKE, _PLOTS)), _put_together))
        return _MADE[0]


def _put_together() -> bytes:
    """Nothing else of a process runs meanwhile, so another one does it."""
    command = [sys.executable, "-P", "-c", _MAKE]  # a file of the folder it works in is no module
    made = subprocess.run(command, input=_PLOTS.encode(), capture_output=True, check=True)  # noqa: S603 - our own text
    return made.stdout
