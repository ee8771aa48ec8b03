"""The same work on many things, in several processes."""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sfumato.core.progress import Progress

Found = TypeVar("Found")


def side_by_side(
    work: Callable[..., Found], given: Sequence[tuple[Any, ...]], workers: int | None, progress: Progress
) -> list[Found]:
    """What comes out of each, in the order given; the last ones are begun first, as they are the largest."""
    done: list[Found] = []
    several = min(workers or os.cpu_count() or 1, len(given))
    backwards = list(reversed(given))
    if several <= 1:
        for count, one in enumerate(backwards):
            progress("making releases", count, len(given))
            done.append(work(*one))
        return done[::-1]
    from joblib import Parallel, delayed  # noqa: PLC0415 - only where several processes are wanted

    # New interpreters, not forks: the engine has threads, which a fork would break.
    pool = Parallel(n_jobs=several, backend="loky", return_as="generator")
    for count, found in enumerate(pool(delayed(work)(*one) for one in backwards)):
        progress("making releases", count + 1, len(given))
        done.append(found)
    return done[::-1]
