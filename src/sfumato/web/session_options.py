"""What the owner has set for all commands of this session of the workbench: how much memory they may take."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

_OPTION: Final = "--memory-limit"
LIMITED: Final = frozenset(
    {
        "ask", "check", "document", "frontier", "learn", "plan", "query", "release", "report", "run", "verify",
        "evaluate accuracy", "evaluate compare", "evaluate intersect", "evaluate link", "evaluate max-k",
        "evaluate measures",
    }
)  # fmt: skip
"""The commands that take a memory limit."""


@dataclass(eq=False)
class SessionOptions:
    """The memory limit as it was typed; None leaves it to the engine. It can be changed at any time."""

    memory_limit: str | None = None

    def set_memory_limit(self, text: str) -> None:
        """Take another limit for the commands from now on, if the engine takes it; an empty text takes it away."""
        from sfumato.tables.duckdb.session import refuse_unusable  # noqa: PLC0415 - it imports the engine
        from sfumato.tables.engine import Limits  # noqa: PLC0415

        wanted = text.strip() or None
        if wanted is not None:
            refuse_unusable(Limits(memory=wanted))
        self.memory_limit = wanted

    def applied(self, arguments: Sequence[str]) -> tuple[str, ...]:
        """The arguments of a command with the options of the session, where it takes them.

        >>> SessionOptions("2GB").applied(["check", "study.yaml"])
        ('check', 'study.yaml', '--memory-limit', '2GB')
        """
        limit = self.memory_limit
        takes = not {arguments[0], " ".join(arguments[:2])}.isdisjoint(LIMITED)
        if limit is None or not takes or _OPTION in arguments:
            return tuple(arguments)
        end = arguments.index("--") if "--" in arguments else len(arguments)  # what follows it is no option
        return (*arguments[:end], _OPTION, limit, *arguments[end:])
