"""A grant: the right to draw noise once, at one price that is already paid."""

from fractions import Fraction
from threading import Lock
from typing import Final, NoReturn

from sfumato.errors import InternalError

MINT: Final = object()
"""Whoever holds this may make grants. Only ``sfumato.privacy.dp.accountant`` imports it; a test says so."""


class Grant:
    """Permission for one run of one mechanism, worth ε. Only an `Accountant` makes one, and it redeems once.

    A grant is neither copied nor pickled: two copies would be two draws for one price.
    """

    __slots__ = ("_epsilon", "_lock", "_redeemed", "on")

    def __init__(self, epsilon: Fraction, *, on: str, mint: object) -> None:
        if mint is not MINT:
            raise InternalError("a grant was made outside the accountant")
        self.on = on
        self._epsilon = epsilon
        self._redeemed = False
        self._lock = Lock()

    def redeem(self) -> Fraction:
        """Hand over ε. A mechanism calls this exactly once, before it draws."""
        with self._lock:
            if self._redeemed:
                raise InternalError(f"the grant on '{self.on}' was redeemed twice")
            self._redeemed = True
        return self._epsilon

    @property
    def redeemed(self) -> bool:
        """Whether a mechanism has used it."""
        return self._redeemed

    def __repr__(self) -> str:
        return f"Grant(on={self.on!r}, epsilon={self._epsilon}, redeemed={self._redeemed})"

    def __copy__(self) -> NoReturn:
        raise InternalError(f"the grant on '{self.on}' was copied")

    def __deepcopy__(self, memo: object) -> NoReturn:
        raise InternalError(f"the grant on '{self.on}' was copied")

    def __reduce__(self) -> NoReturn:
        raise InternalError(f"the grant on '{self.on}' was pickled")
