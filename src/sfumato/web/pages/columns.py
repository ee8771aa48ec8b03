"""Table and columns: roles, types and domains, with what the table shows its owner."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import StudyError, UsageError
from sfumato.web.checked_table import collect_check, last_check
from sfumato.web.column_rows import LEFT_OUT, PAGE, ROLES, SHOWS, Columns, Row, columns_of
from sfumato.web.editing.column_entry import (
    NUMBER_FORMAT,
    declare,
    declare_all,
    declared_entry,
    entry_of_form,
    listed_values,
    proposed_entry,
    save_checked,
    with_role,
)
from sfumato.web.editing.study_document import StudyDocument
from sfumato.web.handling import posted
from sfumato.web.rendering import open_study, page, shell, workspace
from sfumato.web.study_card import privacy_values, unconfirmed_format
from sfumato.web.workspace import OpenStudy

_STEP: Final = "columns"
_POLICIES: Final = (("error", "stop with an error"), ("suppress", "suppress the record"), ("keep", "keep"))


def show(request: Request) -> Response:
    """The whole page."""
    opened = open_study(request)
    _describe_at_first(request, opened)
    return page(request, "columns.html", **shown_values(opened, find=request.query_params.get("find", "")))


def _describe_at_first(request: Request, opened: OpenStudy) -> None:
    """A study that was opened by the command line has no description yet."""
    if opened.described is not None:
        return
    source = columns_of(opened).fields.get("source")
    named = source.get("path") if isinstance(source, Mapping) else source
    if isinstance(named, str):
        workspace(request).describe(opened, named)


def shown_values(
    opened: OpenStudy, *, find: str = "", filtered: str = "all", at: int = 0, **more: Any
) -> dict[str, Any]:
    """What the page and its parts show."""
    collect_check(opened)
    found = columns_of(opened)
    job, looked_at = last_check(opened) or (None, "")
    around = shell(opened, _STEP)
    counts = found.counts(find)
    matching = found.matching(find, filtered)
    at = max(0, min(at, (len(matching) - 1) // PAGE))
    problem = around["problem"] if around["problem"] is None or around["problem"].code != "SF-STUDY-142" else None
    return {
        **around,
        "problem": problem,
        "problem_row": found.place_of(problem),
        "columns": found,
        "rows": matching[at * PAGE : (at + 1) * PAGE],
        "matching": len(matching),
        "at": at,
        "pages": -(-len(matching) // PAGE),
        "first": at * PAGE,
        "find": find,
        "show": filtered,
        "shows": [(name, title, counts[name]) for name, title in SHOWS],
        "roles": ROLES,
        "policies": _POLICIES,
        "summary": _summary(found),
        "described": opened.described,
        "check": job,
        "check_version": looked_at,
        "checked": opened.cache.get("checked"),
        "privacy": privacy_values(found),
        "written": unconfirmed_format(found),
        **more,
    }


def _summary(found: Columns) -> dict[str, int]:
    rows = found.rows
    origins = Counter(row.origin for row in rows)
    return {
        "columns": len(rows),
        "confirmed": sum(row.entry is not None and not row.undecided for row in rows),
        "open": sum(row.open for row in rows),
        "left_out": sum(row.left_out and row.entry is None for row in rows),
        "domains": origins["declared"] + origins["observed"],
        "declared": origins["declared"],
        "observed": origins["observed"],
        "missing": sum(bool(row.missing) for row in rows),
        "missing_values": sum(row.missing or 0 for row in rows),
        "invalid": sum(bool(row.invalid) for row in rows),
        "invalid_values": sum(row.invalid or 0 for row in rows),
    }


@posted
def rows(request: Request, form: FormData) -> Response:
    """The rows that a filter leaves, a page of them."""
    return page(request, "column_table.html", swapped=True, **shown_values(open_study(request), **filter_of(form)))


def filter_of(form: FormData) -> dict[str, Any]:
    """What of the columns the page shows."""
    at = str(form.get("page") or "0")
    wanted = str(form.get("show") or "all")
    return {
        "find": str(form.get("find") or ""),
        "filtered": wanted if wanted in dict(SHOWS) else "all",
        "at": int(at) if at.isdecimal() and len(at) < 8 else 0,  # noqa: PLR2004 - more pages than there are
    }


def panel(request: Request) -> Response:
    """One column, to edit."""
    opened = open_study(request)
    row = row_of(columns_of(opened), request)
    return page(request, "column_opened.html", swapped=True, **_panel(opened, row))


def row_of(found: Columns, request: Request) -> Row:
    """The column that the address names."""
    row = found.get(request.path_params["number"])
    if row is None:
        raise UsageError("there is no such column", "reload the page", code="SF-USAGE-433")
    return row


def _as_shown(row: Row, form: FormData, *, always: bool = False) -> Row:
    """The column, if the file still says of it what the page that asks has shown.

    Its owner decides on what they see: what was declared meanwhile, on another page or in an editor, is not undone.
    A program that has shown nothing may leave the state out where it sends no field of the old declaration along.
    """
    shown = form.get("entry")
    if shown != row.state and (always or shown is not None):
        raise StudyError(
            f"the column '{row.name}' was changed by another page or program",
            "press Revert in its panel, or reload this page, and make the change again",
            code="SF-STUDY-831",
        )
    return row


def _panel(opened: OpenStudy, row: Row) -> dict[str, Any]:
    entry = dict(row.entry) if row.entry is not None else proposed_entry(row, row.role or "insensitive")
    bounds = entry.get("bounds")
    bounds = bounds if isinstance(bounds, list) and len(bounds) == 2 else ["", ""]  # noqa: PLR2004 - lower and upper
    form = entry.get("format")
    kind = str(entry.get("type") or "category")
    found = columns_of(opened)
    return {
        **shell(opened, _STEP, entry=("attributes", row.name)),
        "row": row,
        "roles": ROLES,
        "total": len(found.rows),
        "entry": {**dict.fromkeys(("step", "taxonomy", "missing", "outside"), ""), **entry},
        "role": row.role if row.entry is not None or row.proposed else "",
        "type": kind if row.entry is not None or "type" in entry else _plain_type(row.kind),
        "lower": bounds[0],
        "upper": bounds[1],
        "values": "\n".join(listed_values(entry) if row.entry is None else map(str, entry.get("values") or ())),
        "formats": "\n".join(map(str, form)) if isinstance(form, list) else (form if isinstance(form, str) else ""),
        "marks": {**dict.fromkeys(NUMBER_FORMAT, ""), **(form if isinstance(form, Mapping) else {})},
        "several": isinstance(form, list) and any(isinstance(one, Mapping) for one in form),
        "policies": _POLICIES,
        "after": found.after(row),
    }


def _plain_type(kind: str) -> str:
    return kind if kind in ("integer", "number", "date") else "category"


def edited(
    request: Request,
    form: FormData,
    edit: Callable[[StudyDocument, Columns], StudyDocument],
    row: int | None = None,
    **more: Any,
) -> Response:
    """Save an edit, and swap what it changed."""
    opened = open_study(request)
    with opened.editing:
        before = opened.document()
        after = edit(before, columns_of(opened))
        if after.text != before.text:
            save_checked(after, before)
    values = shown_values(opened, swapped=True, **filter_of(form), **more)
    found: Columns = values["columns"]
    changed = None if row is None else found.get(row)
    single = {} if changed is None else {"changed": changed, "panel": form.get("panel"), **_panel(opened, changed)}
    return page(request, "columns_changed.html", **{**values, **single, "changed": changed})


@posted
def confirm(request: Request, form: FormData) -> Response:
    """Confirm the proposal of one column, or give it another role."""
    number = request.path_params["number"]

    def edit(document: StudyDocument, found: Columns) -> StudyDocument:
        row = _as_shown(row_of(found, request), form)
        role = str(form.get("role") or row.role or "")
        if role == "none":
            _leave_out(open_study(request), [row])
            return declare(document, row, None)
        return declare(document, row, with_role(row, _known(role)))

    return edited(request, form, edit, number)


def _leave_out(opened: OpenStudy, rows: list[Row]) -> None:
    """Take it that these columns are decided: they are not released, as every column without an entry."""
    opened.cache[LEFT_OUT] = opened.cache.get(LEFT_OUT, frozenset()) | {row.name for row in rows}


def _known(role: str) -> str:
    if role not in ROLES:
        raise UsageError("no role is chosen", "choose a role for the column", code="SF-USAGE-434")
    return role


@posted
def save(request: Request, form: FormData) -> Response:
    """Declare a column as the panel says."""

    def edit(document: StudyDocument, found: Columns) -> StudyDocument:
        row = _as_shown(row_of(found, request), form, always=True)
        entry = entry_of_form(row, form)
        return document if entry is None and row.entry is None else declare(document, row, entry)

    return edited(request, form, edit, request.path_params["number"])


@posted
def bulk(request: Request, form: FormData) -> Response:
    """Do the same to all chosen columns."""

    def edit(document: StudyDocument, found: Columns) -> StudyDocument:
        if form.get("shown") not in (None, found.state):
            raise StudyError(
                "columns were declared or changed by another page or program",
                "reload this page, and make the change again",
                code="SF-STUDY-832",
            )
        picked = {int(str(one)) for one in form.getlist("pick") if str(one).isdecimal()}
        wanted = filter_of(form)
        matching = found.matching(wanted["find"], wanted["filtered"])
        chosen = matching if form.get("all") else [row for row in found.rows if row.number in picked]
        if not chosen:
            raise UsageError("no column is selected", "tick some, or all that match", code="SF-USAGE-435")
        role, missing = str(form.get("role") or ""), str(form.get("missing") or "")
        if role == "none":
            _leave_out(open_study(request), chosen)
            return declare_all(document, [(row, None) for row in chosen])
        values: list[tuple[Row, dict[str, Any]]] = []
        for row in chosen:
            wanted_role = role or row.role
            if wanted_role is None:  # nothing is proposed, and nothing was chosen
                continue
            entry = with_role(row, _known(wanted_role)) if role or row.entry is None else declared_entry(row)
            if missing and wanted_role != "identifier":
                entry["missing"] = missing
            if row.entry is None or entry != declared_entry(row):
                values.append((row, entry))
        return declare_all(document, values)

    return edited(request, form, edit, untick=True)


@posted
def describe_again(request: Request, form: FormData) -> Response:
    """Look at the table again."""
    opened = open_study(request)
    opened.described = None
    _describe_at_first(request, opened)
    if form.get("page") is None:  # no columns are listed yet
        return page(request, "columns_body.html", **shown_values(opened))
    return page(request, "columns_described.html", **shown_values(opened, swapped=True, **filter_of(form)))


def body(request: Request) -> Response:
    """The page's content once the table is described, where there was none before."""
    return page(request, "columns_body.html", **shown_values(open_study(request)))


@posted
def described(request: Request, form: FormData) -> Response:
    """The parts of the page that a description changes, where it lists columns already: an open panel stays."""
    return page(request, "columns_described.html", **shown_values(open_study(request), swapped=True, **filter_of(form)))


HERE: Final = "/s/{study}/columns"
ROUTES: Final = [
    Route(HERE, show),
    Route(f"{HERE}/body", body),
    Route(f"{HERE}/described", described, methods=["POST"]),
    Route(f"{HERE}/describe", describe_again, methods=["POST"]),
    Route(f"{HERE}/rows", rows, methods=["POST"]),
    Route(f"{HERE}/bulk", bulk, methods=["POST"]),
    Route(f"{HERE}/{{number:int}}", panel),
    Route(f"{HERE}/{{number:int}}", save, methods=["POST"]),
    Route(f"{HERE}/{{number:int}}/role", confirm, methods=["POST"]),
]
