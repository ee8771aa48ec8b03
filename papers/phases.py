"""How long each part of a piece of work takes, by its own progress reports."""

import time
from collections.abc import Callable, Mapping


class Phases:
    """A listener to progress reports that keeps the seconds between them.

    >>> ticks = iter([0.0, 1.0, 3.0, 3.5])
    >>> phases = Phases(clock=lambda: next(ticks))
    >>> for what, done in (("reading", 0), ("publishing", 0)):
    ...     phases(what, done, 1)
    >>> phases.ended()
    {'starting': 1.0, 'reading': 2.0, 'publishing': 0.5}
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.seconds: dict[str, float] = {}
        self._clock = clock
        self._since = clock()
        self._doing = "starting"

    def __call__(self, what: str, done: int, total: int) -> None:
        """A progress report: what was being done until now is over; what is finished is followed by publishing."""
        now = self._clock()
        self.seconds[self._doing] = self.seconds.get(self._doing, 0.0) + now - self._since
        self._since, self._doing = now, what if done < total else "publishing"

    def ended(self) -> Mapping[str, float]:
        """All seconds by phase, up to now."""
        self(self._doing, 0, 1)
        return self.seconds
