"""When the process of the workbench looks for garbage: seldom, since each look holds up every page."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# New objects before the young ones are looked at, and how many such looks before one at older ones. Python's own 700
# suits small programs: an edit of 2,000 columns makes 400,000 objects, and half its time went into looking at them.
_SELDOM: Final = (50_000, 10, 10)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Look seldom. What references alone free, which is nearly everything, is freed at once as before."""
    before = gc.get_threshold()
    gc.set_threshold(*_SELDOM)
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


def keep_imports() -> None:
    """Never look again at what is there by now, 200,000 objects of modules: it stays until the end."""
    gc.freeze()
