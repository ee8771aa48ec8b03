"""A source whose first bits a test chooses."""

import numpy as np

from sfumato.privacy.dp.sampling import InsecureSource


class Scripted:
    """Hands out the given 64-bit integers, then bits that are all 0 or all 1, or seeded ones."""

    secure = False

    def __init__(self, first=(), *, then=None):
        self.first = list(first)
        self.then = then
        self.rest = InsecureSource(0)
        self.asked = 0  # bits handed out after the first ones

    def bits(self, n):
        if n == 64 and self.first:
            return self.first.pop(0)
        self.asked += n
        if self.then is None:
            return self.rest.bits(n)
        return (1 << n) - 1 if self.then else 0

    def uint64(self, k):
        return np.array([self.bits(64) for _ in range(k)], dtype=np.uint64)
