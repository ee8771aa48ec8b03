"""Progress: how a long piece of work tells whoever watches how far it is."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""What is being done, how far, of how much."""


def silent(what: str, done: int, total: int) -> None:
    """Show nothing."""
