"""The same work on many things, in several processes."""

import os
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sfumato.progress import Progress, time_left

Found = TypeVar("Found")


def side_by_side(
    work: Callable[..., Found],
    given: Sequence[tuple[Any, ...]],
    workers: int | None,
    progress: Progress,
    what: str = "making releases",
) -> list[Found]:
    """What comes out of each, in the order given; the last ones are begun first, as they are the largest.

    What a process needs is sent over pipes (`max_nbytes=None`): large arrays would otherwise be written to a temporary
    folder, and these may be raw records.
    """
    done: list[Found] = []
    several = min(workers or os.cpu_count() or 1, len(given))
    backwards = list(reversed(given))
    began = time.monotonic()
    progress(what, 0, len(given))

    def told(found: Found) -> None:
        done.append(found)
        left = time_left(len(done), len(given), time.monotonic() - began)
        progress(f"{what}{left}", len(done), len(given))

    if several <= 1:
        for one in backwards:
            told(work(*one))
        return done[::-1]
    from joblib import Parallel, delayed  # noqa: PLC0415 - only where several processes are wanted

    # New interpreters, not forks: the engine has threads, which a fork would break.
    pool = Parallel(n_jobs=several, backend="loky", return_as="generator", max_nbytes=None, batch_size=1)
    for found in pool(delayed(work)(*one) for one in backwards):
        told(found)
    return done[::-1]
