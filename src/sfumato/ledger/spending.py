"""How the entries of a ledger add up: in sequence on the same records, in parallel on different ones.

The privacy unit is a record. Every entry reads the records of its span, or all of them. A record has one time, so it
lies in one *atom*: an interval between neighbouring end points of all the spans, or in none if its time is missing.
The mechanisms that read it are those whose spans cover its atom; the others see the same input with and without it. So
what one record more or less can change is bounded by the sum of the ε of the entries that cover its atom (sequential
composition, McSherry 2009, Thm 3; also where later entries were chosen by earlier outputs, see
`privacy.dp.accountant`), and for whichever record it is by the largest of these sums (parallel composition, Thm 4).
Filters of a purpose get no discount: an entry counts for every record of its span, filtered out or not. That spends
too much, never too little.

The argument takes the time of a record for fixed. Where a table is edited between two releases so that a record moves
from one span to another, both have read it, and it has paid both.

Two studies of the same name may have taken time from different columns, or read its text in different ways. A record
then has an atom of each; for it the sums of both add up. So the largest sums of the time attributes are added.

A person may have records in several spans, and one more person can change the output of each. For the person unit,
every entry counts for everybody: there is no parallel discount.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

from sfumato.study.budget import show
from sfumato.study.span import Span, atoms

RECORD = "record"
"""The unit for which spans compose in parallel."""


class Costly(Protocol):
    """What is added up: an ε or none, for whom, on which records."""

    @property
    def epsilon(self) -> Fraction | None:
        """What it cost; None if it is not differentially private."""
        ...

    @property
    def unit(self) -> str:
        """Whose presence is hidden."""
        ...

    @property
    def span(self) -> Span | None:
        """The records it read; None for all of them."""
        ...


Paid = TypeVar("Paid", bound=Costly)


@dataclass(frozen=True, slots=True)
class Stretch:
    """An atom of time and the ε spent on its records; without a span, records that have no readable time or another."""

    span: Span | None
    spent: Fraction

    def as_json(self, budget: Fraction | None) -> dict[str, Any]:
        """The atom as plain values, with what is left of a budget on its records."""
        left = None if budget is None else show(budget - self.spent)
        return {**span_json(self.span), "spent": show(self.spent), "left": left}


def span_json(span: Span | None) -> dict[str, str | None]:
    """The time attribute, the first day and the day after the last as plain values; none without a span."""
    return {
        "time": None if span is None else span.of,
        "start": None if span is None else span.start.isoformat(),
        "stop": None if span is None else span.stop.isoformat(),
    }


def total_spent(entries: Sequence[Costly], over: Span | None = None) -> Fraction:
    """The most ε that these entries may have spent on one unit; with ``over``, on one in that span."""
    total = _everywhere(entries)
    profile = _profile(entries)
    for of in {stretch.span.of for stretch in profile if stretch.span is not None}:
        total += max(
            stretch.spent
            for stretch in (Stretch(None, Fraction(0)), *profile)
            if stretch.span is None
            or (stretch.span.of == of and (over is None or over.of != of or stretch.span.overlaps(over)))
        )
    return total


def stretches(entries: Sequence[Costly]) -> list[Stretch]:
    """What is spent on every atom of time, and last on records that lie in none of them."""
    found = [Stretch(stretch.span, total_spent(entries, stretch.span)) for stretch in _profile(entries)]
    return [*found, Stretch(None, _everywhere(entries))]


def entries_over(entries: Sequence[Paid], over: Span | None) -> list[Paid]:
    """The entries that cost something and may have read a record of the span."""
    return [
        entry
        for entry in entries
        if entry.epsilon is not None
        and (over is None or not _discounted(entry) or (entry.span is not None and entry.span.overlaps(over)))
    ]


def _discounted(entry: Costly) -> bool:
    """Whether the entry counts for the records of its span alone."""
    return entry.span is not None and entry.unit == RECORD


def _everywhere(entries: Sequence[Costly]) -> Fraction:
    """What counts for every record."""
    paid = (entry.epsilon for entry in entries if entry.epsilon is not None and not _discounted(entry))
    return sum(paid, Fraction(0))


def _profile(entries: Sequence[Costly]) -> list[Stretch]:
    """The sum of the entries with a span over each atom: what begins at a day is added there, what ends taken away."""
    paid = [(e.span, e.epsilon) for e in entries if e.epsilon is not None and e.span is not None and _discounted(e)]
    changes = defaultdict[object, Fraction](Fraction)
    for span, epsilon in paid:
        changes[span.of, span.start] += epsilon
        changes[span.of, span.stop] -= epsilon
    running = defaultdict[str, Fraction](Fraction)
    found = []
    for piece in atoms(span for span, _ in paid):
        running[piece.of] += changes[piece.of, piece.start]
        found.append(Stretch(piece, running[piece.of]))
    return found
