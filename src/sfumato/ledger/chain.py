"""The rows under a ledger: facts that are only ever added, each linked to the one before by its hash.

A row's hash covers everything in it and the hash of the row before, so a changed, missing, added or reordered row
breaks the chain at that place. What a chain alone cannot show is that its *end* was cut off; the hash of an entry that
was kept elsewhere does: in the manifest of its bundle, and in a head file (`ledger/heads.py`).

The body of an *opened* row has a version. Rows of version 1 do not say it, nor a span: they are about all records. Rows
before version 3 do not say what the study's budget was.

An *adopted* row enters what an earlier ledger knew and this one does not: a release whose bundle was found, or what
was spent by entries that left nothing behind. Its ε counts like any other.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Final

from sfumato.errors import InternalError, StudyError, VerifyError
from sfumato.file_names import account_name
from sfumato.ledger.ledger import Adoption, Entry, NewEntry, check_budget
from sfumato.study.span import Span, day

START: Final = "0" * 64
"""What stands before the first row."""

BODY: Final = 3
"""The version of the body of an *opened* row: since 2 it has ``span`` and ``where``, since 3 the study's ``budget``."""

KINDS: Final = ("opened", "done", "failed", "adopted")
"""What a row can say. A kind never changes its meaning: a new meaning is a new kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One fact: a release was opened, is done, failed, or was adopted from an earlier ledger.

    ``entry`` is the number of the opened row it is about; an adopted row has its own.
    """

    seq: int
    kind: str
    entry: int
    study: str
    at: str
    epsilon: str | None
    body: str  # JSON: what else this kind of row says
    previous: str
    hash: str = ""

    def digest(self) -> str:
        """The hash this row should have."""
        facts = asdict(self)
        del facts["hash"]
        return hashlib.sha256(_canonical(facts).encode()).hexdigest()


def open_row(rows: Sequence[Row], draft: NewEntry, *, budget: Fraction | None) -> Row:
    """The row that opens a release, if the ledger verifies and the budget allows it."""
    _refuse_broken(rows)
    check_budget(draft, entries_of(rows, draft.study), budget=budget)
    return _entry_row(rows, draft, "opened", _body(draft, budget))


def adopt_row(rows: Sequence[Row], found: Adoption, *, reason: str, budget: Fraction | None) -> Row:
    """The row that enters what an earlier ledger knew, whatever the budget says: it was spent already."""
    _refuse_broken(rows)
    body = {**_body(found.draft, budget), "adopts": found.hash, "bundle": found.bundle, "reason": reason}
    if found.covers:
        body["covers"] = {link: str(epsilon) for link, epsilon in found.covers.items()}
    return _entry_row(rows, found.draft, "adopted", body)


def _body(draft: NewEntry, budget: Fraction | None) -> dict[str, object]:
    return {
        "who": draft.who,
        "purpose": draft.purpose,
        "method": draft.method,
        "recipe": draft.recipe,
        "promise": draft.guarantee,
        "unit": draft.unit,
        "version": BODY,
        "span": None if draft.span is None else [draft.span.of, *str(draft.span)[1:-1].split(", ")],
        "where": draft.where,
        "budget": None if budget is None else str(budget),
    }


def _entry_row(rows: Sequence[Row], draft: NewEntry, kind: str, body: dict[str, object]) -> Row:
    number = len(rows) + 1
    return _linked(
        rows,
        Row(
            seq=number,
            kind=kind,
            entry=number,
            study=draft.study,
            at=_moment(draft.at),
            epsilon=None if draft.epsilon is None else str(draft.epsilon),
            body=_canonical(body),
            previous="",
        ),
    )


def close_row(rows: Sequence[Row], entry: int, kind: str, body: dict[str, str], *, at: datetime) -> Row:
    """The row that says how a release ended; it ends once."""
    _refuse_broken(rows)
    about = [row for row in rows if row.entry == entry]
    if [row.kind for row in about] != ["opened"]:
        raise InternalError(f"ledger entry {entry} is not open: it is {about[-1].kind if about else 'unknown'}")
    row = Row(
        seq=len(rows) + 1,
        kind=kind,
        entry=entry,
        study=about[0].study,
        at=_moment(at),
        epsilon=None,
        body=_canonical(body),
        previous="",
    )
    return _linked(rows, row)


def entries_of(rows: Sequence[Row], study: str) -> tuple[Entry, ...]:
    """The releases of a study, oldest first, each in the state its latest row gives it.

    Names that differ by case, blanks or Unicode form are one study.
    """
    found: dict[int, Entry] = {}
    account = account_name(study)
    try:
        for row in rows:
            if account_name(row.study) != account:
                continue
            body = json.loads(row.body)
            if row.kind in {"opened", "adopted"}:
                found[row.entry] = Entry(
                    id=row.entry,
                    study=row.study,
                    at=datetime.fromisoformat(row.at),
                    who=body["who"],
                    purpose=body["purpose"],
                    method=body["method"],
                    recipe=body["recipe"],
                    guarantee=body["promise"],
                    epsilon=None if row.epsilon is None else Fraction(row.epsilon),
                    unit=body["unit"],
                    span=_span(body.get("span")),
                    where=str(body.get("where", "")),
                    hash=row.hash,
                    budget=None if body.get("budget") is None else Fraction(body["budget"]),
                )
            if row.kind == "adopted":
                found[row.entry] = replace(
                    found[row.entry],
                    state="adopted",
                    adopts=body["adopts"],
                    bundle=body["bundle"],
                    reason=body["reason"],
                    covers={str(link): Fraction(epsilon) for link, epsilon in body.get("covers", {}).items()},
                )
            elif row.kind == "done":
                found[row.entry] = replace(found[row.entry], state="done", bundle=body["bundle"])
            elif row.kind == "failed":
                found[row.entry] = replace(found[row.entry], state="failed", reason=body["reason"])
    except (AttributeError, KeyError, TypeError, ValueError, ZeroDivisionError, StudyError):
        raise _broken("a row cannot be read", code="SF-VERIFY-041") from None
    return tuple(found.values())


def hashes_of(rows: Sequence[Row]) -> frozenset[str]:
    """The hashes of all entries, and those that adopted entries had in an earlier ledger."""
    found = {row.hash for row in rows}
    for row in rows:
        if row.kind == "adopted":
            try:
                found.add(str(json.loads(row.body)["adopts"]))
            except (KeyError, TypeError, ValueError):
                raise _broken("a row cannot be read", code="SF-VERIFY-041") from None
    return frozenset(found)


def _span(said: object) -> Span | None:
    if said is None:
        return None
    if not isinstance(said, list) or len(said) != 3:  # noqa: PLR2004 - the time attribute and two days
        raise ValueError
    return Span(str(said[0]), day(str(said[1])), day(str(said[2])))


def problems(rows: Sequence[Row]) -> tuple[str, ...]:
    """Every place where the chain is broken or a row makes no sense."""
    found: list[str] = []
    previous, open_entries = START, set[int]()
    for number, row in enumerate(rows, start=1):
        if row.seq != number:
            found.append(f"row {number} is missing: the next one is {row.seq}")
            return tuple(found)  # everything after it would be reported again
        if row.previous != previous:
            found.append(f"row {number} does not follow the row before it")
        if row.hash != row.digest():
            found.append(f"row {number} was changed: its hash does not match")
        found += _row_problem(row, open_entries)
        previous = row.hash
    return tuple(found)


def _row_problem(row: Row, open_entries: set[int]) -> list[str]:
    """What makes no sense about a row; the entries that are open after it are noted."""
    if row.kind not in KINDS:
        return [f"row {row.seq} is of a kind that this version does not know: '{row.kind}'"]
    if row.kind in {"opened", "adopted"}:
        if row.kind == "opened":
            open_entries.add(row.entry)
        wrong = [f"row {row.seq} opens an entry under another number"] if row.entry != row.seq else []
        if _version(row) > BODY:
            wrong.append(f"row {row.seq} was written by a later version of Sfumato, which this one cannot read")
        return wrong
    if row.entry not in open_entries:
        return [f"row {row.seq} closes entry {row.entry}, which is not open"]
    open_entries.remove(row.entry)
    return []


def _version(row: Row) -> int:
    """The version of an opened row's body; one that cannot be read is told of elsewhere."""
    try:
        version = json.loads(row.body).get("version", 1)
    except (AttributeError, ValueError):
        return 1
    return version if isinstance(version, int) else 1


def _refuse_broken(rows: Sequence[Row]) -> None:
    found = problems(rows)
    if found:
        raise _broken(found[0], code="SF-VERIFY-042")


def _broken(what: str, *, code: str = "") -> VerifyError:
    return VerifyError(
        f"the ledger does not verify: {what}",
        "restore it from a backup; without one, move it away and run `sfumato ledger STUDY adopt`",
        code=code,
    )


def _linked(rows: Sequence[Row], row: Row) -> Row:
    row = replace(row, previous=rows[-1].hash if rows else START)
    return replace(row, hash=row.digest())


def _canonical(facts: object) -> str:
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _moment(at: datetime) -> str:
    if at.tzinfo is None:
        raise InternalError("a ledger row without a time zone")
    return at.astimezone(UTC).isoformat()
