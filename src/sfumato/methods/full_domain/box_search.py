"""Optimal search in a lattice by branch and bound over boxes of nodes.

A box [low, high] holds every node between two. Two things are known of all of them without looking:

- Generalising alone costs at least what it costs at `low`: its loss is a sum over attributes, each a number that was
  counted once and that grows with the level.
- Suppressing costs at least what the groups that are too small at `high` cost. Every group of a more specific node is
  part of a group of `high`, so a record whose group is too small at `high` stands in one that is too small everywhere
  in the box; and to lose a record costs 1 less what generalising has already cost it, which is least at `high`.

The sum of the two bounds the box from below. Boxes are taken lowest bound first and cut in two along an attribute; the
half that keeps `high` needs no counting, the other one needs one node counted. When the lowest bound is above the best
loss found, that is the optimum: for any model, as only group sizes are used.

More boxes can be dropped where a model is violated for good. If more records are in too small groups at `high` than may
be suppressed, so it is in all of the box. And if none may be suppressed and the models are monotone (merging groups
that satisfy them gives groups that do), a model violated at `high` is violated in the whole box: if all groups of a
more specific node satisfied it, the groups of `high`, each a merger of some of them, would, too. With suppression this
does not follow: a group that violates a model as a whole may have parts that satisfy it.
"""

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.methods.full_domain.lattice import Lattice, Levels
from sfumato.methods.full_domain.worths import TIE, Worth, Worths, generalised_loss
from sfumato.progress import Progress, silent


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to: the best node, if any, and how far it got."""

    best: Worth | None
    counted: int  # nodes whose groups were counted
    complete: bool  # nothing is left that could be better
    bound: float  # no node has a lower loss


@dataclass(frozen=True)
class Search:
    """What is searched, and by which rules."""

    lattice: Lattice
    worths: Worths
    allowed: int  # records that may be suppressed
    monotone: bool

    def run(self, *, stop: Callable[[], bool] = lambda: False, progress: Progress = silent) -> Found:
        """Find the best node, or the best so far when ``stop`` says so."""
        bottom, top = self.lattice.bottom, self.lattice.top
        seen = {top: self.worths.of(top, bottom)}
        best = seen[top] if self._fits(seen[top]) else None
        used: Counter[Levels] = Counter()
        heap = [] if self._hopeless(seen[top]) else [(self._generalised(bottom) + seen[top].extra, 0, bottom, top)]
        made = 0
        while heap:
            bound, _, low, high = heapq.heappop(heap)
            if best is not None and bound > best.loss + TIE:
                break
            if stop():
                return Found(best, len(seen), complete=False, bound=bound)
            if low == high:
                continue
            place, middle = self._cut(low, high)
            above, below = _at(low, place, middle + 1), _at(high, place, middle)
            made += 2
            heapq.heappush(heap, (self._generalised(above) + seen[high].extra, made, above, high))
            used[low] += 1
            if used[low] == 2:  # noqa: PLR2004 - asked again, so once more likely
                self.worths.prepare(low, below)
            found = seen[below] = self.worths.of(below, low)
            progress("searching the lattice", len(seen), self.lattice.size)
            if self._fits(found) and (best is None or found.better_than(best)):
                best = found
            if not self._hopeless(found):
                heapq.heappush(heap, (self._generalised(low) + found.extra, made + 1, low, below))
        return Found(best, len(seen), complete=True, bound=1.0 if best is None else best.loss)

    def _fits(self, found: Worth) -> bool:
        return found.suppressed <= self.allowed and found.groups > 0

    def _hopeless(self, high: Worth) -> bool:
        """Whether no node below can be published; see the top of this file."""
        if high.too_small > self.allowed or high.too_small == self.worths.records:
            return True
        return self.allowed == 0 and self.monotone and high.suppressed > 0

    def _generalised(self, node: Levels) -> float:
        return generalised_loss(self.worths.generalised, node)

    def _cut(self, low: Levels, high: Levels) -> tuple[int, int]:
        """The attribute whose levels differ most in loss, and the last level on the lower side of half of that."""
        costs = self.worths.generalised
        place = max(
            (place for place in range(len(low)) if low[place] < high[place]),
            key=lambda place: costs[place][high[place]] - costs[place][low[place]],
        )
        steps = costs[place][low[place] : high[place]]
        half = (costs[place][low[place]] + costs[place][high[place]]) / 2
        return place, low[place] + int(np.searchsorted(steps, half, side="right")) - 1


def _at(node: Levels, place: int, step: int) -> Levels:
    return (*node[:place], step, *node[place + 1 :])
