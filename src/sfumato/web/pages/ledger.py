"""Ledger: what is spent and left, who spent it, and whether the chain is whole."""

import subprocess
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from secrets import token_hex
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import SfumatoError, UsageError
from sfumato.ledger import Entry, LedgerSummary
from sfumato.ledger.spending import RECORD, entries_over
from sfumato.study.budget import show as exact
from sfumato.study.study import Study
from sfumato.web.bundles.made_releases import bundle_folders
from sfumato.web.handling import attachment, posted
from sfumato.web.jobs import path_argument
from sfumato.web.open_points import planned_releases
from sfumato.web.rendering import known_job, load, open_study, page, shell, study_command, workspace
from sfumato.web.spent_budget import ledger_summary
from sfumato.web.workspace import OpenStudy

_PATIENCE: Final = 120.0  # seconds for an export
_WHOLE: Final = "whole study"  # what the ledger says of a release without a purpose
_ALL: Final = "no purpose: all that may be released"
_FORMS: Final = {"json": "application/json", "csv": "text/csv; charset=utf-8"}


def show(request: Request) -> Response:
    """Every entry of the study, and what they add up to."""
    opened = open_study(request)
    declared, problem = load(opened)
    around = shell(opened, "ledger", command=_command(opened), entry=("privacy",))
    if declared is None:
        return page(request, "ledger_empty.html", **around, error=problem)
    try:
        summary = ledger_summary(opened, declared)
    except SfumatoError as error:
        return page(request, "ledger_empty.html", **around, error=error)
    return page(
        request,
        "ledger.html",
        **{**around, **_verification(request, opened)},
        **_values(opened, declared, summary),
    )


def _command(opened: OpenStudy) -> str:
    return study_command(opened, "ledger", path_argument(opened.path.name))


def _values(opened: OpenStudy, declared: Study, summary: LedgerSummary) -> dict[str, Any]:
    entries = summary.entries
    spent, budget = summary.spent, summary.budget
    planned = planned_releases(declared, entries)
    folders = bundle_folders(opened, declared)
    return {
        "summary": summary,
        "rows": [{"entry": entry, "bundle": entry.bundle in folders} for entry in reversed(entries)],
        "purposes": _purposes(declared, entries),
        "by_person": _by_person(entries),
        "unfinished": [entry for entry in entries if entry.state == "opened"],
        "bar": None if spent is None or budget is None else _bar(spent, budget, planned),
        "planned": planned,
        "pieces": [_piece(declared, summary, piece) for piece in summary.atoms],
    }


def _by_person(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """Entries and their ε by who made them. Sums are of ε as entered, without the discount of disjoint spans."""
    grouped: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        grouped[entry.who].append(entry)
    return [
        {
            "name": key,
            "entries": len(found),
            "epsilon": exact(sum((entry.epsilon for entry in found if entry.epsilon is not None), Fraction(0))),
        }
        for key, found in sorted(grouped.items())
    ]


def _purposes(declared: Study, entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """What each purpose was declared for, and what was released and spent for it; also those no longer declared."""
    grouped: dict[str, list[Entry]] = {name: [] for name in declared.purposes}
    for entry in entries:
        grouped.setdefault(entry.purpose, []).append(entry)
    found = []
    for name, its in grouped.items():
        purpose = declared.purposes.get(name)
        spent = [entry.epsilon for entry in its if entry.epsilon is not None]
        spans = dict.fromkeys(str(entry.span) if entry.span is not None else "all records" for entry in its)
        found.append(
            {
                "name": name,
                "columns": () if purpose is None else purpose.attributes,
                "other": "" if purpose is not None else _ALL if name == _WHOLE else "not a purpose of the study file",
                "span": None if purpose is None else str(purpose.span or "all records"),
                "where": None if purpose is None else purpose.where,
                "spans": list(spans),
                "methods": sorted({entry.method for entry in its}),
                "entries": [entry.id for entry in its],
                "epsilon": exact(sum(spent, Fraction(0))),
            }
        )
    return found


def _bar(spent: Fraction, budget: Fraction, planned: Mapping[str, Fraction]) -> dict[str, Any]:
    """Spent, declared but not made, and left, as lengths of a bar."""
    wanted = sum(planned.values(), Fraction(0))
    scale = 320 / max(budget, spent)
    width = float(spent * scale)
    return {
        "total": exact(budget),
        "spent": exact(spent),
        "left": exact(budget - spent),
        "wanted": exact(wanted),
        "spent_width": round(width, 1),
        "this_width": round(min(float(wanted * scale), 320 - width), 1),
    }


def _piece(declared: Study, summary: LedgerSummary, piece: Any) -> dict[str, Any]:
    span = piece.span
    over = entries_over(summary.entries, span)
    covering = [entry.id for entry in over if span is not None or entry.span is None or entry.unit != RECORD]
    budget = declared.budget
    return {
        "name": str(span)
        if span is not None
        else "other days, or no date"
        if len(summary.atoms) > 1
        else "all records",
        "spent": exact(piece.spent),
        "left": None if budget is None else exact(budget - piece.spent),
        "entries": ", ".join(map(str, covering)),
    }


@posted
def verify(request: Request, form: FormData) -> Response:  # noqa: ARG001 - it has no field
    """Check the chain of hashes, the head file and the bundles on disk, as a job."""
    opened = open_study(request)
    job = workspace(request).jobs.start(
        "ledger", ["ledger", path_argument(opened.path.name), "verify"], cwd=opened.path.parent, study=opened.key
    )
    opened.cache["ledger"] = job.id
    return page(request, "ledger_verify.html", study=opened, **_verification(request, opened))


def verified(request: Request) -> Response:
    """What the last verification found."""
    opened = open_study(request)
    return page(request, "ledger_verify.html", study=opened, **_verification(request, opened))


def _verification(request: Request, opened: OpenStudy) -> dict[str, Any]:
    job = known_job(request, opened.cache.get("ledger"))
    found = None if job is None or job.state == "running" else job.result
    return {"verifying": job, "verification": found, "command": _command(opened)}


def export(request: Request) -> Response:
    """The ledger as a file: what `sfumato ledger STUDY export` writes."""
    opened = open_study(request)
    form = request.path_params["form"]
    if form not in _FORMS:
        raise UsageError("the ledger is exported as JSON or CSV", "choose one of them", code="SF-USAGE-450")
    folder = workspace(request).private / "exports"
    folder.mkdir(mode=0o700, exist_ok=True)
    file = folder / f"{token_hex(8)}.{form}"
    job = workspace(request).jobs.start(
        "export",
        ["ledger", path_argument(opened.path.name), "export", "--format", form, "--out", str(file)],
        cwd=opened.path.parent,
        study=opened.key,
    )
    try:
        job.process.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        job.cancel()
        raise UsageError(
            "the export takes too long for a page", "use the command `sfumato ledger STUDY export`", code="SF-USAGE-451"
        ) from None
    if job.state != "done":
        said = job.error
        raise SfumatoError(str(said["problem"]), str(said["fix"]), code=str(said["code"]))
    text = file.read_bytes()
    file.unlink()
    return Response(
        text,
        media_type=_FORMS[form],
        headers=attachment(f"ledger.{form}"),
    )


ROUTES: Final[list[Route]] = [
    Route("/s/{study}/ledger", show),
    Route("/s/{study}/ledger/verify", verify, methods=["POST"]),
    Route("/s/{study}/ledger/verified", verified),
    Route("/s/{study}/ledger/export.{form}", export),
]
