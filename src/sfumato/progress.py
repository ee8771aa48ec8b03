"""Progress: how a long piece of work tells whoever watches how far it is."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""What is being done, how far, of how much."""


def time_left(done: int, total: int, seconds: float) -> str:
    """What is left in words, to stand behind what is being done; nothing where it cannot be said yet, or is over.

    >>> time_left(1, 3, 60.0), time_left(0, 3, 60.0), time_left(1, 2, 300.0)
    (', about 2 min left', '', ', about 5 min left')
    """
    left = seconds / done * (total - done) if done else 0.0
    if left < 1:
        return ""
    return f", about {left:.0f} s left" if left < 90 else f", about {left / 60:.0f} min left"  # noqa: PLR2004


def silent(what: str, done: int, total: int) -> None:
    """Show nothing."""
