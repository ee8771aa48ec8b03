"""How many examples a costly property gets: few in the default tests, more where `make slow` searches."""

from hypothesis import settings

_QUICK = 30  # of the quick profile, see tests/conftest.py


def examples(quick: int, slow: int) -> int:
    """For `max_examples`; the profile is chosen before any test is collected."""
    return slow if settings().max_examples > _QUICK else quick
