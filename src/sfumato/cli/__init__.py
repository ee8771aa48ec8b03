"""The command line: parse, call, show."""

from sfumato.cli.main import main

__all__ = ["main"]
