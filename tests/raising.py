"""Expecting an error by its code, which stays, and not by its words, which may improve."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sfumato.errors import SfumatoError


@contextmanager
def raises_code(
    kind: type[SfumatoError], code: str, *, match: str | None = None
) -> Iterator[pytest.ExceptionInfo[SfumatoError]]:
    """As `pytest.raises`, for an error with this code; ``match`` is for what the message is filled with."""
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert caught.value.code == code, f"{code} was expected, and this was raised: {caught.value}"
