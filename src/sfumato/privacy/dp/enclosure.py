"""Enclosures: two decimals that a real number provably lies between, as close as one asks.

Python's `decimal` rounds sums, products and quotients in the direction the context names, and `exp` and `ln` correctly
to nearest (libmpdec, "correctly rounded"), so a result and its two neighbours at that precision enclose the true value.
The samplers use floats where those decide, and come here for the draws that floats cannot decide.
"""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Final, NamedTuple

ZERO: Final = Decimal(0)
ONE: Final = Decimal(1)
INFINITY: Final = Decimal("Infinity")


class Bounds(NamedTuple):
    """A real number lies in ``[low, high]``."""

    low: Decimal
    high: Decimal


class Arithmetic:
    """Enclosing arithmetic with a given number of significant digits.

    >>> low, high = Arithmetic(30).exp(Fraction(-1))
    >>> low < high, str(low)[:22]
    (True, '0.36787944117144232159')
    """

    def __init__(self, digits: int) -> None:
        self.digits = digits
        self._down = _context(digits, ROUND_FLOOR)
        self._up = _context(digits, ROUND_CEILING)

    def ratio(self, numerator: int, denominator: int) -> Bounds:
        """Enclose a rational number."""
        top, bottom = Decimal(numerator), Decimal(denominator)
        return Bounds(self._down.divide(top, bottom), self._up.divide(top, bottom))

    def exp(self, x: Fraction) -> Bounds:
        """Enclose e to the power x, for x ≤ 0, to about this many significant digits whatever the size of x."""
        # An error of 10^-d in x, relative, is one of |x| 10^-d in exp(x): carry the digits of |x| on top.
        wide = Arithmetic(self.digits + len(str(abs(x.numerator) // x.denominator)) + 3)
        low, high = wide.ratio(x.numerator, x.denominator)
        return Bounds(max(ZERO, wide._below(wide._down.exp(low))), min(ONE, wide._above(wide._up.exp(high))))

    def negative_log(self, x: Bounds) -> Bounds:
        """Enclose -ln(x), for x > 0."""
        low, high = self._below(self._down.ln(x.low)), self._above(self._up.ln(x.high))
        return Bounds(high.copy_negate(), low.copy_negate())  # unary minus would round to the ambient precision

    def divide(self, x: Bounds, y: Bounds) -> Bounds:
        """Enclose x / y, for x ≥ 0 and y > 0; infinite where the lower bound of y is 0."""
        high = self._up.divide(x.high, y.low) if y.low else INFINITY
        return Bounds(self._down.divide(x.low, y.high), high)

    def add(self, x: Bounds, y: Bounds) -> Bounds:
        """Enclose x + y."""
        return Bounds(self._down.add(x.low, y.low), self._up.add(x.high, y.high))

    def multiply(self, x: Bounds, y: Bounds) -> Bounds:
        """Enclose x · y, for x ≥ 0 and y ≥ 0."""
        return Bounds(self._down.multiply(x.low, y.low), self._up.multiply(x.high, y.high))

    def one_minus(self, x: Bounds) -> Bounds:
        """Enclose 1 - x."""
        return Bounds(self._down.subtract(ONE, x.high), self._up.subtract(ONE, x.low))

    def _below(self, nearest: Decimal) -> Decimal:
        return self._down.next_minus(nearest)

    def _above(self, nearest: Decimal) -> Decimal:
        return self._up.next_plus(nearest)


def _context(digits: int, rounding: str) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
