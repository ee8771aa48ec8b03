"""The ledger: every release of a study, who made it, why, and what it cost; written before it can leak anything.

The order that makes a crash harmless:

1. `reserve` checks the budget and commits an *opened* entry with its ε. No noise is drawn before it returns.
2. The mechanisms draw, the bundle is written and renamed into place.
3. `complete` adds *done* with the hash of the bundle; `fail` adds *failed* with a reason.

A crash before the commit of 1 spends nothing and has shown nothing. A crash after it leaves *opened*: its ε counts as
spent, because noise may have been drawn and seen. ε never comes back, not on failure either. So the sum of the
entries is at all times at least what was really spent.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

from sfumato.errors import BudgetError, InternalError
from sfumato.ledger.spending import RECORD, entries_over, span_json, total_spent
from sfumato.study.budget import exact_text, show
from sfumato.study.span import Span

State: TypeAlias = Literal["opened", "done", "failed", "adopted"]

_NAMED = 8  # entries a message names before it sums up the others


QUESTION = "ask"
"""The method of an entry that is a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """What is known of a release before it runs. ``epsilon`` is None for a release that is not differentially private.

    ``span`` is the time span of the records it reads, None for all of them; ``where`` the filter on them as written.
    ``at`` comes from the caller, with its time zone: nothing below the edges reads the clock.
    """

    study: str
    at: datetime
    who: str
    purpose: str
    method: str
    recipe: str  # JSON
    guarantee: str
    epsilon: Fraction | None
    unit: str = RECORD
    span: Span | None = None
    where: str = ""

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            raise InternalError("a ledger entry without a time zone")
        if self.epsilon is not None and (type(self.epsilon) is not Fraction or self.epsilon <= 0):
            raise InternalError("a ledger entry's ε is a positive Fraction or None")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One release in the ledger, with the state its latest row gives it.

    ``id`` is the number of its first row in the ledger. ``hash`` is that row's link in the chain: a manifest that
    carries it proves later that the entry was there. ``budget`` is what the study declared then, None where it declared
    none or the row is older than this field. An adopted entry has the ``reason``, and the hash it ``adopts``: that of
    the entry in the earlier ledger. One that stands for several lost entries ``covers`` their hashes, each with its ε.
    """

    id: int
    study: str
    at: datetime
    who: str
    purpose: str
    method: str
    recipe: str
    guarantee: str
    epsilon: Fraction | None
    unit: str
    hash: str
    span: Span | None = None
    where: str = ""
    state: State = "opened"
    bundle: str | None = None
    reason: str | None = None
    budget: Fraction | None = None
    adopts: str | None = None
    covers: Mapping[str, Fraction] = field(default_factory=dict)

    @property
    def paid(self) -> Mapping[str, Fraction]:
        """What it cost, by the hash that the entry had where it was first made, or those of the entries it covers."""
        if self.epsilon is None:
            return {}
        if self.covers and sum(self.covers.values()) == self.epsilon:
            return self.covers
        return {self.adopts or self.hash: self.epsilon}

    @property
    def release(self) -> str:
        """What the release, question or model is called in its study."""
        return str(json.loads(self.recipe).get("name", ""))

    def as_json(self) -> dict[str, Any]:
        """The entry as plain values."""
        return {
            "id": self.id,
            "at": self.at.isoformat(),
            "who": self.who,
            "state": self.state,
            "release": self.release,
            "purpose": self.purpose,
            "method": self.method,
            "guarantee": self.guarantee,
            "epsilon": exact_text(self.epsilon),
            "unit": self.unit,
            **span_json(self.span),
            "where": self.where,
            "recipe": self.recipe,
            "bundle": self.bundle,
            "hash": self.hash,
            "budget": exact_text(self.budget),
            "adopts": self.adopts,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What an earlier ledger knew: a release, with its hash there and its bundle's; both None for what left none.

    ``covers`` are the hashes of the entries that left none, each with its ε.
    """

    draft: NewEntry
    hash: str | None = None
    bundle: str | None = None
    covers: Mapping[str, Fraction] = field(default_factory=dict)


class Ledger(Protocol):
    """Where releases are entered. It only grows: no operation changes or removes what is there.

    ``lasting`` says whether it outlives the program.
    """

    lasting: ClassVar[bool]

    def reserve(self, draft: NewEntry, *, budget: Fraction | None) -> Entry:
        """Enter a release as *opened* if the budget allows it, atomically, and commit before returning.

        BudgetError if ε does not fit into what is left of ``budget``, or if it is asked for with no budget at all.
        VerifyError if the ledger is not whole. Two processes that race for the last of the budget: exactly one gets it.
        """
        ...

    def adopt(self, found: Sequence[Adoption], lost: NewEntry, *, reason: str, budget: Fraction | None) -> list[Entry]:
        """Enter those of the releases that the ledger does not know, and what else a head file says was spent.

        ``lost`` describes the latter; its ε is set here. Gives what was entered; from then on the ledger is taken for
        whole.
        """
        ...

    def complete(self, entry: int, bundle: str, *, at: datetime) -> None:
        """Note that the release is published, with the hash of its bundle."""
        ...

    def fail(self, entry: int, reason: str, *, at: datetime) -> None:
        """Note that the release failed; its ε stays spent. The reason must not carry a value from a record."""
        ...

    def entries(self, study: str) -> tuple[Entry, ...]:
        """The releases of a study, oldest first."""
        ...

    def spent(self, study: str, over: Span | None = None) -> Fraction:
        """The ε that the study's releases may have used on one unit (in the span), whatever their state."""
        ...

    def rows(self) -> list[dict[str, object]]:
        """The rows as they are kept, of all studies: whoever has them can check the chain."""
        ...

    def hashes(self) -> frozenset[str]:
        """The hashes of all entries, of all studies, and those that adopted ones had in an earlier ledger."""
        ...

    def lost(self, study: str) -> tuple[str, ...]:
        """What was in the ledger of a study once and is not in this one, as far as head files know."""
        ...

    def has_head(self, study: str) -> bool:
        """Whether a head file that can be read knows the account of a study, and with it all that was ever spent."""
        ...

    def verify(self) -> tuple[str, ...]:
        """What is wrong with the chain of rows, or was lost of it; nothing if all is well."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RaisedBudget:
    """That a study declares more than it did: with this entry, or now if there is none yet."""

    before: Fraction
    after: Fraction
    entry: Entry | None

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "from": show(self.before),
            "to": show(self.after),
            "entry": None if self.entry is None else self.entry.id,
            "at": None if self.entry is None else self.entry.at.isoformat(),
        }


def raised_budgets(entries: Sequence[Entry], now: Fraction | None = None) -> list[RaisedBudget]:
    """Every time a study's budget was larger at an entry than at the one before, and whether it is larger now."""
    declared: list[tuple[Fraction, Entry | None]] = [(e.budget, e) for e in entries if e.budget is not None]
    if now is not None:
        declared.append((now, None))
    return [
        RaisedBudget(before=before, after=after, entry=entry)
        for (before, _), (after, entry) in pairwise(declared)
        if after > before
    ]


def check_budget(draft: NewEntry, entries: Sequence[Entry], *, budget: Fraction | None) -> None:
    """Refuse a draft that does not fit; say what is left, who spent it, and what would fit."""
    if draft.epsilon is None:
        return
    if budget is None:
        raise BudgetError(
            f"the study '{draft.study}' declares no budget, and this release asks for ε = {show(draft.epsilon)}",
            "declare the total with `budget:` in the study: it bounds the sum of ε over all its releases",
            code="SF-BUDGET-001",
        )
    others = {entry.unit for entry in entries if entry.epsilon is not None} - {draft.unit}
    if others:
        raise BudgetError(
            f"the study '{draft.study}' has spent ε for the unit '{', '.join(sorted(others))}', and this release "
            f"has the unit '{draft.unit}': the two cannot be added up",
            "keep the privacy unit of the earlier releases, or start a study of another name",
            code="SF-BUDGET-002",
        )
    left = budget - total_spent(entries, draft.span)
    if draft.epsilon > left:
        where = "" if draft.span is None else f" over {draft.span}"
        raise BudgetError(
            f"the {_asker(draft)} for ε = {show(draft.epsilon)}{where}, and {show(max(left, Fraction(0)))} is left of "
            f"the study's {show(budget)}{' there' if where else ''}; spent by: {_spenders(entries, draft.span)}",
            _what_fits(draft, entries, budget, left),
            code="SF-BUDGET-003",
        )


def _what_fits(draft: NewEntry, entries: Sequence[Entry], budget: Fraction, left: Fraction) -> str:
    """What would fit: a smaller ε, or the pieces of the asked span where there is enough."""
    assert draft.epsilon is not None, "only what costs something can be too much"
    over = draft.span or _asked_over(draft, entries)
    free = [] if over is None else _free(over, entries, budget - draft.epsilon)
    if draft.method == QUESTION:
        where = "days with " + " or ".join(f"`--span {span.start}..{span.stop}`" for span in free[:3])
    else:
        where = " or ".join(str(span) for span in free[:3])
    elsewhere = f"; or keep to {where}, where it fits" if free else ""
    if left > 0:
        return f"ask for ε = {show(left)} or less{elsewhere}"
    if elsewhere:
        return elsewhere.removeprefix("; or ")
    return (
        "the budget is spent: use a bundle that is published already, or raise the study's budget knowing that "
        "this weakens the guarantee for everyone in the table"
    )


def _asker(draft: NewEntry) -> str:
    return "question asks" if draft.method == QUESTION else "release asks"


def _asked_over(draft: NewEntry, entries: Sequence[Entry]) -> Span | None:
    """For a question to all records: the days that the ledger knows of, some of which may have enough left."""
    spans = [entry.span for entry in entries if entry.span is not None and entry.epsilon is not None]
    if draft.method != QUESTION or draft.unit != RECORD or len({span.of for span in spans}) != 1:
        return None
    return Span(spans[0].of, min(span.start for span in spans), max(span.stop for span in spans))


def _free(over: Span, entries: Sequence[Entry], most: Fraction) -> list[Span]:
    """The longest pieces of a span on whose records at most ``most`` is spent, in order."""
    ends = {over.start, over.stop}
    for entry in entries:
        if entry.span is not None and entry.span.of == over.of:
            ends |= {day for day in (entry.span.start, entry.span.stop) if over.start < day < over.stop}
    free: list[Span] = []
    for start, stop in pairwise(sorted(ends)):
        if total_spent(entries, Span(over.of, start, stop)) <= most:
            first = free.pop().start if free and free[-1].stop == start else start
            free.append(Span(over.of, first, stop))
    return free


def _spenders(entries: Sequence[Entry], over: Span | None) -> str:
    paid = [entry for entry in entries_over(entries, over) if entry.epsilon is not None]
    lines = [
        f"entry {entry.id} ('{entry.purpose}' by {entry.who}, {entry.at:%Y-%m-%d}, ε = {show(entry.epsilon)}"
        f"{'' if entry.span is None else f' over {entry.span}'}, {entry.state})"
        for entry in paid[-_NAMED:]
        if entry.epsilon is not None
    ]
    if len(paid) > _NAMED:
        earlier = paid[:-_NAMED]
        lines.insert(0, f"{len(earlier)} earlier entries (ε = {show(total_spent(earlier, over))})")
    return "; ".join(lines) if lines else "nobody yet"
