"""The libraries that draw plots are an extra: what needs them says which one to install, everything else works without.

Together they are larger than Sfumato itself, and most installations release and verify and never draw.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final

from sfumato.errors import UsageError

LIBRARIES: Final = ("altair", "vl_convert")
INSTALL: Final = "install the extra `plots`: pip install '.[plots]' in a clone of Sfumato"


def can_plot() -> bool:
    """Whether the libraries are installed; they are not loaded."""
    try:
        return all(find_spec(name) is not None for name in LIBRARIES)
    except ModuleNotFoundError:
        return False


@contextmanager
def plots_needed() -> Iterator[None]:
    """An import of what draws; without the libraries, an error that names the extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in LIBRARIES:
            raise
        raise UsageError(
            "plots need libraries that are not installed",
            f"{INSTALL}; points and numbers need none: `to_csv()`, `to_arrow()`",
            code="SF-USAGE-744",
        ) from None
