"""Table and columns: roles, types and domains, with what the table shows its owner."""

from collections.abc import Callable, Mapping
from secrets import token_hex
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import UsageError
from sfumato.web.column_rows import LEFT_OUT, PAGE, ROLES, SHOWS, Columns, Row, columns_of
from sfumato.web.editing.column_entry import (
    NUMBER_FORMAT,
    declare,
    declare_all,
    draft_study,
    entry_of_form,
    listed_values,
    proposed_entry,
    save_checked,
    with_role,
)
from sfumato.web.editing.study_document import StudyDocument
from sfumato.web.handling import posted
from sfumato.web.jobs import Job, path_argument
from sfumato.web.rendering import open_study, page, shell, workspace
from sfumato.web.workspace import OpenStudy

_STEP: Final = "columns"
_POLICIES: Final = (("error", "stop with an error"), ("suppress", "suppress the record"), ("keep", "keep"))


def show(request: Request) -> Response:
    """The whole page."""
    opened = open_study(request)
    _describe_at_first(request, opened)
    return page(request, "columns.html", **_shown(opened, find=request.query_params.get("find", "")))


def _describe_at_first(request: Request, opened: OpenStudy) -> None:
    """A study that was opened by the command line has no description yet."""
    if opened.described is not None:
        return
    source = columns_of(opened).fields.get("source")
    named = source.get("path") if isinstance(source, Mapping) else source
    if isinstance(named, str):
        workspace(request).describe(opened, named)


def _shown(opened: OpenStudy, *, find: str = "", filtered: str = "all", at: int = 0, **more: Any) -> dict[str, Any]:
    """What the page and its parts show."""
    _collect_check(opened)
    found = columns_of(opened)
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
        "check": opened.cache.get("check"),
        "checked": opened.cache.get("checked"),
        "privacy": _privacy(found),
        "written": _unconfirmed_format(found),
        **more,
    }


def _summary(found: Columns) -> dict[str, int]:
    rows = found.rows
    with_domain = [row for row in rows if row.origin in ("declared", "observed")]
    return {
        "columns": len(rows),
        "confirmed": sum(row.entry is not None and not row.undecided for row in rows),
        "open": sum(row.open for row in rows),
        "left_out": sum(row.left_out and row.entry is None for row in rows),
        "domains": len(with_domain),
        "declared": sum(row.origin == "declared" for row in with_domain),
        "observed": sum(row.origin == "observed" for row in with_domain),
        "missing": sum(bool(row.missing) for row in rows),
        "missing_values": sum(row.missing or 0 for row in rows),
        "invalid": sum(bool(row.invalid) for row in rows),
        "invalid_values": sum(row.invalid or 0 for row in rows),
    }


def _privacy(found: Columns) -> dict[str, Any]:
    privacy = found.fields.get("privacy")
    privacy = privacy if isinstance(privacy, Mapping) else {}
    unit = privacy.get("unit")
    person = unit if isinstance(unit, Mapping) else {}
    proposed = (found.described or {}).get("person")
    return {
        "name": found.fields.get("name") or "",
        "person": person.get("person") or "",
        "at_most": person.get("at_most") or "",
        "budget": privacy.get("budget") or "",
        "proposed": proposed if proposed and not person else None,
    }


def _unconfirmed_format(found: Columns) -> dict[str, Any]:
    """How the records suggest that the file is written, where the study does not say it."""
    source = found.fields.get("source")
    declared = source if isinstance(source, Mapping) else {}
    return {k: v for k, v in ((found.described or {}).get("written") or {}).items() if k not in declared}


@posted
def rows(request: Request, form: FormData) -> Response:
    """The rows that a filter leaves, a page of them."""
    return page(request, "column_table.html", swapped=True, **_shown(open_study(request), **_filter(form)))


def _filter(form: FormData) -> dict[str, Any]:
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
    row = _row(columns_of(opened), request)
    return page(request, "column_opened.html", swapped=True, **_panel(opened, row))


def _row(found: Columns, request: Request) -> Row:
    row = found.get(request.path_params["number"])
    if row is None:
        raise UsageError("there is no such column", "reload the page", code="SF-USAGE-433")
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
        "after": found.get(row.number + 1),
    }


def _plain_type(kind: str) -> str:
    return kind if kind in ("integer", "number", "date") else "category"


def _edited(
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
    values = _shown(opened, swapped=True, **_filter(form), **more)
    found: Columns = values["columns"]
    changed = None if row is None else found.get(row)
    single = {} if changed is None else {"changed": changed, "panel": form.get("panel"), **_panel(opened, changed)}
    return page(request, "columns_changed.html", **{**values, **single, "changed": changed})


@posted
def confirm(request: Request, form: FormData) -> Response:
    """Confirm the proposal of one column, or give it another role."""
    number = request.path_params["number"]

    def edit(document: StudyDocument, found: Columns) -> StudyDocument:
        row = _row(found, request)
        role = str(form.get("role") or row.role or "")
        if role == "none":
            _leave_out(open_study(request), [row])
            return declare(document, row, None)
        return declare(document, row, with_role(row, _known(role)))

    return _edited(request, form, edit, number)


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
        row = _row(found, request)
        entry = entry_of_form(row, form)
        return document if entry is None and row.entry is None else declare(document, row, entry)

    return _edited(request, form, edit, request.path_params["number"])


@posted
def bulk(request: Request, form: FormData) -> Response:
    """Do the same to all chosen columns."""

    def edit(document: StudyDocument, found: Columns) -> StudyDocument:
        picked = {int(str(one)) for one in form.getlist("pick") if str(one).isdecimal()}
        wanted = _filter(form)
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
            entry = with_role(row, _known(wanted_role)) if role or row.entry is None else dict(row.entry)
            if missing and wanted_role != "identifier":
                entry["missing"] = missing
            if entry != row.entry:
                values.append((row, entry))
        return declare_all(document, values)

    return _edited(request, form, edit)


@posted
def study_fields(request: Request, form: FormData) -> Response:
    """The name of the study, the privacy unit and the total budget."""

    def edit(document: StudyDocument, found: Columns) -> StudyDocument:
        old = _privacy(found)
        name, budget = (str(form.get(field) or "").strip() for field in ("name", "budget"))
        person, at_most = (str(form.get(field) or "").strip() for field in ("person", "at_most"))
        if name and name != old["name"]:
            document = document.set("name", value=name)
        if person and (person, at_most) != (old["person"], old["at_most"]):
            if not at_most.isdecimal() or int(at_most) < 1:
                raise UsageError(
                    "the most records of a person is no whole number above 0",
                    "write one, such as 3",
                    code="SF-USAGE-436",
                )
            document = document.set("privacy", "unit", value={"person": person, "at_most": int(at_most)})
        elif not person and old["person"]:
            document = document.set("privacy", "unit", value="record")
        if budget != str(old["budget"]):
            number = int(budget) if budget.isdecimal() else budget
            document = (
                document.set("privacy", "budget", value=number) if budget else document.remove("privacy", "budget")
            )
        return document

    return _edited(request, form, edit, study_saved=True)


@posted
def confirm_format(request: Request, form: FormData) -> Response:
    """Declare how the file is written, as the records suggest."""

    def edit(document: StudyDocument, found: Columns) -> StudyDocument:
        source = found.fields.get("source")
        declared = dict(source) if isinstance(source, Mapping) else {"path": source}
        written = {k: "tab" if v == "\t" else v for k, v in _unconfirmed_format(found).items()}
        return document.set("source", value={**declared, **written})

    return _edited(request, form, edit)


@posted
def check(request: Request, form: FormData) -> Response:
    """Compare the table with the study, as a job."""
    opened = open_study(request)
    document = opened.document()
    before = _last_check(opened)
    if before is not None and before.state == "running":
        before.cancel()
    job = workspace(request).jobs.start(
        "check", ["check", path_argument(opened.path.name)], cwd=opened.path.parent, study=opened.key
    )
    opened.cache["check"], opened.cache["check-version"] = job, document.version
    return page(request, "column_messages.html", **_shown(opened, **_filter(form)))


@posted
def messages(request: Request, form: FormData) -> Response:
    """What the last check found, with the rows and the summary that it changes."""
    shown = _shown(open_study(request), **_filter(form))
    return page(request, "columns_changed.html", changed=None, swapped=True, **shown)


def _last_check(opened: OpenStudy) -> Job | None:
    found: Job | None = opened.cache.get("check")
    return found


def _collect_check(opened: OpenStudy) -> None:
    """Keep what a check found once it has ended; values that the study declares an error make it end with code 4."""
    job = _last_check(opened)
    if job is None or job.state == "running" or opened.cache.get("collected") == job.id:
        return
    opened.cache["collected"] = job.id
    reports = job.result
    if isinstance(reports, list):
        opened.cache["checked"] = {"version": opened.cache["check-version"], "reports": reports, "id": job.id}


@posted
def outside(request: Request, form: FormData) -> Response:
    """Count what would fall outside of the domain as it stands in the form, as a job."""
    opened = open_study(request)
    found = columns_of(opened)
    row = _row(found, request)
    # The domain is what counts: a column that no role was chosen for yet has one, too.
    entry = entry_of_form(row, form if form.get("role") else FormData([*form.multi_items(), ("role", "insensitive")]))
    if entry is None or entry["role"] == "identifier":
        raise UsageError("without a domain nothing is outside of it", "choose another role", code="SF-USAGE-437")
    folder = workspace(request).private / "drafts"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = draft_study(found.fields, row, entry, base=opened.path.parent, path=folder / f"{token_hex(8)}.yaml")
    job = workspace(request).jobs.start("outside", ["check", str(path)], cwd=opened.path.parent, study=opened.key)
    return page(request, "column_outside.html", study=opened, row=row, job=job, report=None)


def outside_found(request: Request) -> Response:
    """What that job counted."""
    opened = open_study(request)
    job = workspace(request).jobs.get(request.path_params["job"])
    reports = job.result
    report = reports[0] if isinstance(reports, list) and reports else None
    return page(
        request, "column_outside.html", study=opened, row=_row(columns_of(opened), request), job=job, report=report
    )


@posted
def describe_again(request: Request, form: FormData) -> Response:  # noqa: ARG001 - a form without fields
    """Look at the table again."""
    opened = open_study(request)
    opened.described = None
    _describe_at_first(request, opened)
    return page(request, "columns_body.html", **_shown(opened))


def body(request: Request) -> Response:
    """The page's content once the table is described."""
    return page(request, "columns_body.html", **_shown(open_study(request)))


_HERE: Final = "/s/{study}/columns"
ROUTES: Final = [
    Route(_HERE, show),
    Route(f"{_HERE}/body", body),
    Route(f"{_HERE}/describe", describe_again, methods=["POST"]),
    Route(f"{_HERE}/rows", rows, methods=["POST"]),
    Route(f"{_HERE}/bulk", bulk, methods=["POST"]),
    Route(f"{_HERE}/study", study_fields, methods=["POST"]),
    Route(f"{_HERE}/format", confirm_format, methods=["POST"]),
    Route(f"{_HERE}/check", check, methods=["POST"]),
    Route(f"{_HERE}/messages", messages, methods=["POST"]),
    Route(f"{_HERE}/{{number:int}}", panel),
    Route(f"{_HERE}/{{number:int}}", save, methods=["POST"]),
    Route(f"{_HERE}/{{number:int}}/role", confirm, methods=["POST"]),
    Route(f"{_HERE}/{{number:int}}/outside", outside, methods=["POST"]),
    Route(f"{_HERE}/{{number:int}}/outside/{{job}}", outside_found),
]
