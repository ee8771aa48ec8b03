"""The day and the machine, for the head of whatever was measured."""

import datetime as dt
import os
import platform


def machine() -> str:
    """The day and the machine in a line."""
    today = dt.datetime.now(dt.UTC).date()
    return f"{today}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
