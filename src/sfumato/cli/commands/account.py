"""Commands on a study's budget: the ledger, and questions that are charged to it."""

import csv
import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import show
from sfumato.cli.new_files import write_new
from sfumato.cli.options import Anyway, Json, MemoryLimit, StudyFile
from sfumato.errors import UsageError, VerifyError

if TYPE_CHECKING:
    from sfumato.api import Study
    from sfumato.ledger import Entry, LedgerSummary


class Action(StrEnum):
    """What to do with a ledger."""

    SHOW = "show"
    VERIFY = "verify"
    EXPORT = "export"
    ADOPT = "adopt"


class Form(StrEnum):
    """How a ledger is exported."""

    JSON = "json"
    CSV = "csv"


def ledger(
    study: StudyFile,
    action: Annotated[
        Action,
        typer.Argument(help="show (default), verify, export or adopt.", metavar="ACTION", show_default=False),
    ] = Action.SHOW,
    verify: Annotated[
        bool, typer.Option("--verify", help="Show the entries, and check that none was changed.")
    ] = False,
    form: Annotated[Form, typer.Option("--format", help="With export: json, with the hash chain, or csv.")] = Form.JSON,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="With export: a file that does not exist yet.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", help="With adopt: why the ledger lacks releases; stored with each entry.")
    ] = None,
    releases: Annotated[
        list[Path] | None,
        typer.Option("--releases", help="With adopt: another folder that holds releases. Repeatable."),
    ] = None,
    json: Json = False,
) -> None:
    """Show every release of a study, its cost and the remaining budget; verify or export the ledger; adopt releases.

    Use adopt for a ledger that was lost or restored: it records the releases on disk that the ledger lacks, with the
    reason, and their ε counts as spent.
    """
    from sfumato.api import Study

    opened = Study.load(study)
    if action is Action.ADOPT:
        _adopt(opened, reason, releases or [], json=json)
        return
    if reason is not None or releases:
        raise UsageError(
            "`--reason` and `--releases` apply to adopt only",
            'use `sfumato ledger STUDY adopt --reason "…"`',
            code="SF-USAGE-003",
        )
    if action is Action.EXPORT:
        _export(opened, form, out, json=json)
        return
    if out is not None:
        raise UsageError(
            "`--out` applies to export only", "use `sfumato ledger STUDY export --out FILE`", code="SF-USAGE-004"
        )
    asked = verify or action is Action.VERIFY
    problems = opened.verify_ledger() if asked else ()
    lost = () if asked else _lost(opened)
    if json:
        show.as_json(_summary(opened, problems, lost, verified=not problems if asked else None).as_json())
    elif asked:
        _say_verified(opened, problems, with_entries=action is Action.SHOW)
    else:
        _show(opened, lost)
        for problem in opened.verify_ledger():
            if problem not in lost:
                show.warn(f"{problem}; see `sfumato ledger STUDY verify`")
    if problems or lost:
        raise typer.Exit(VerifyError.exit_code)


def _lost(opened: "Study") -> tuple[str, ...]:
    """The entries that the ledger has lost: without them, the remaining budget is unknown."""
    from sfumato.workflow import lost_entries

    return lost_entries(opened.declared, opened.ledger)


_BROKEN = (
    "the ledger does NOT verify: restore it from a backup; if entries are lost for good, "
    "`sfumato ledger STUDY adopt` records the releases that can be found"
)


def _say_verified(opened: "Study", problems: tuple[str, ...], *, with_entries: bool) -> None:
    if with_entries and not problems:
        _show(opened)
    for problem in problems:
        show.say(f"  PROBLEM  {problem}")
    show.say(_BROKEN if problems else "the ledger verifies")


def _adopt(opened: "Study", reason: str | None, folders: list[Path], *, json: bool) -> None:
    if reason is None:
        raise UsageError(
            "adopt needs a reason", 'say what happened: --reason "restored the backup of 3 May"', code="SF-USAGE-005"
        )
    headed = opened.ledger.has_head(opened.name)  # before it is written again
    entered = opened.adopt_releases(reason, folders=folders)
    notes = [_NOT_COUNTED] if entered and not headed else []
    if json:
        adopted = [entry.as_json() for entry in entered]
        show.as_json({**_summary(opened).as_json(), "adopted": adopted, "notes": notes})
        return
    for e in entered:
        cost = "no ε" if e.epsilon is None else f"ε = {show.exact(e.epsilon)}"
        show.say(f"  adopted as entry {e.id}: {e.purpose}, {cost}")
    if not entered:
        show.say("nothing to adopt: the ledger has an entry for every release that was found")
    for note in notes:
        show.say(note)
    _show_sum(opened)


_NOT_COUNTED = "Questions and learnt models have no bundle: if there were any, their ε is not counted."


def _show(opened: "Study", lost: tuple[str, ...] = ()) -> None:
    from sfumato.ledger import raised_budgets, stretches

    budget = opened.declared.budget
    entries = opened.ledger.entries(opened.name)
    if entries:
        show.table(["entry", "time (UTC)", "state", "cost", "what"], [_row(e) for e in entries], right=(0,))
    for raised in raised_budgets(entries, now=budget):
        when = "since" if raised.entry is None else f"with entry {raised.entry.id} at {raised.entry.at:%Y-%m-%d %H:%M}"
        show.say(f"  budget raised from {show.exact(raised.before)} to {show.exact(raised.after)} {when}")
    if [e.id for e in entries] != list(range(1, len(entries) + 1)):
        show.say("  (entries are numbered by ledger row, and completing an entry takes a row, too)")
    if lost:
        for problem in lost:
            show.say(f"  PROBLEM  {problem}")
        show.say("ENTRIES ARE MISSING from the ledger, so the spent and the remaining budget are unknown.")
        show.say('restore it from a backup; if that is impossible, use `sfumato ledger STUDY adopt --reason "…"`')
        return
    pieces = stretches(entries)
    if len(pieces) > 1:
        rows = [
            [
                str(piece.span or "other days, or no date"),
                str(show.exact(piece.spent)),
                "" if budget is None else str(show.exact(budget - piece.spent)),
            ]
            for piece in pieces
        ]
        show.table(["time", "spent", "remaining"], rows)
    _show_sum(opened)


def _show_sum(opened: "Study") -> None:
    from sfumato.ledger import stretches, total_spent

    budget = opened.declared.budget
    entries = opened.ledger.entries(opened.name)
    spent = total_spent(entries)
    several = len(stretches(entries)) > 1
    left = "the study declares no budget" if budget is None else f"{show.exact(budget - spent)} remains"
    if several:
        least = "" if budget is None else "at least "
        show.say(f"for any time, at most ε = {show.exact(spent)} is spent, {least}{left}")
    else:
        show.say(f"{'' if entries else 'no release yet; '}ε = {show.exact(spent)} is spent, {left}")


_DIGITS = 12  # of a SHA-256, to distinguish bundles; `--json` and `export` have all of it


def _row(entry: "Entry") -> list[str]:
    """An entry as the cells of a table."""
    cost = "no ε" if entry.epsilon is None else f"ε = {show.exact(entry.epsilon)}"
    over = "" if entry.span is None else f", over {entry.span}"
    digest = "" if entry.bundle is None else f"; bundle {entry.bundle[:_DIGITS]}"
    why = f"; adopted: {entry.reason}" if entry.state == "adopted" else ""
    what = f"'{entry.release}': {entry.method} for {entry.purpose}, by {entry.who}{over}{_filtered(entry)}{digest}{why}"
    return [str(entry.id), f"{entry.at:%Y-%m-%d %H:%M}", entry.state, cost, what]


def _filtered(entry: "Entry") -> str:
    return f", where {entry.where}" if entry.where else ""


def _summary(
    opened: "Study", problems: tuple[str, ...] = (), lost: tuple[str, ...] = (), *, verified: bool | None = None
) -> "LedgerSummary":
    """The ledger of the study; with problems no entry is read."""
    from sfumato.ledger import LedgerSummary

    entries = () if problems else tuple(opened.ledger.entries(opened.name))
    return LedgerSummary(
        study=opened.name, entries=entries, budget=opened.declared.budget, problems=problems, lost=lost,
        verified=verified,
    )  # fmt: skip


def _export(opened: "Study", form: Form, out: Path | None, *, json: bool) -> None:
    """The ledger of the study; as JSON with the rows of the hash chain, so that anyone can check it."""
    import json as encoding

    if json and out is None and form is Form.CSV:
        raise UsageError(
            "`--json` prints JSON, and `--format csv` prints CSV",
            "omit one of them, or write the CSV to a file with `--out FILE`",
            code="SF-USAGE-781",
        )

    summary = _summary(opened, lost=_lost(opened)).as_json()
    if form is Form.JSON:
        summary["rows"] = opened.ledger.rows()
        text = encoding.dumps(summary, ensure_ascii=False, indent=2) + "\n"
    else:
        written = io.StringIO()
        names = list(_COLUMNS)
        writer = csv.DictWriter(written, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: entry[name] for name in names} for entry in summary["entries"])
        text = written.getvalue()
    if out is None:
        sys.stdout.write(text)
    else:
        write_new(out, text)
        if json:
            show.as_json({"written": str(out), "format": str(form), "entries": len(summary["entries"])})
        else:
            show.say(f"wrote {out}")


_COLUMNS = (
    "id", "at", "who", "state", "release", "purpose", "method", "guarantee", "epsilon", "unit", "time", "start", "stop",
    "where", "recipe", "bundle", "hash", "budget", "adopts", "reason",
)  # fmt: skip


def ask(  # noqa: PLR0913, PLR0917 - an option each
    study: StudyFile,
    epsilon: Annotated[str, typer.Option("--epsilon", help="The privacy budget to spend, such as 0.1.")],
    question: Annotated[
        str, typer.Argument(help='Such as "age >= 40 and sex = Male"; default: all records.', metavar="QUESTION")
    ] = "",
    by: Annotated[
        str | None, typer.Option("--by", help="An attribute: count the records for each of its values.")
    ] = None,
    span: Annotated[
        str | None, typer.Option("--span", help="Only these days: 2004-01-01..2010-01-01; the end is excluded.")
    ] = None,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy", help="What is measured for --by: cells, hierarchical, wavelet, or auto by the smallest error."
        ),
    ] = "cells",
    ranges: Annotated[
        list[str] | None,
        typer.Option("--range", help='A condition on the attribute of --by to add up: "age >= 40 and age < 65".'),
    ] = None,
    anyway: Anyway = False,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """Ask the table itself: a noisy count or histogram, charged to the study's budget and recorded in its ledger."""
    from sfumato.api import Study

    opened = Study.load(study)
    with show.progress(shown=not json) as report:
        found = opened.ask(
            question, epsilon=epsilon, by=by, span=span, strategy=strategy, ranges=ranges or (), progress=report,
            memory_limit=memory_limit, anyway=anyway,
        )  # fmt: skip
    if json:
        show.as_json(found.as_json())
        return
    if by is None:
        show.say(f"about {found.count:,} records, {found.error()}")
    else:
        width = max(len(label) for label in found.counts)
        for label, count in found.counts.items():
            show.say(
                f"  {label:<{width}}  {count:>10,}"
                if isinstance(count, int)
                else f"  {label:<{width}}  {count:>12,.1f}"
            )
        show.say(f"records by '{by}', {found.error()}; noise can make a count negative")
        for one in found.ranges:
            show.say(f"  {one.question}: about {one.count:,.0f}, from {one.low:,} to {one.high:,} with 95 %")
        if found.comparison is not None and (strategy != "cells" or found.ranges):
            show.say(found.comparison.sentence())
    left = "" if found.left is None else f"; {show.exact(found.left)} remains"
    show.say(f"spent ε = {show.exact(found.question.epsilon)}{left}{'' if span is None else ' over these days'}")
