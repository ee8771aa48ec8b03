"""Jobs that compare the table with the study: the check, and the count of records outside of a domain in a form."""

from secrets import token_hex
from typing import Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import UsageError
from sfumato.web.checked_table import last_check
from sfumato.web.column_rows import columns_of
from sfumato.web.editing.column_entry import draft_study, entry_of_form
from sfumato.web.handling import posted
from sfumato.web.jobs import path_argument
from sfumato.web.pages.columns import HERE, filter_of, row_of, shown_values
from sfumato.web.rendering import open_study, page, workspace


@posted
def check(request: Request, form: FormData) -> Response:
    """Compare the table with the study, as a job."""
    opened = open_study(request)
    with opened.editing:
        document = opened.document()
        job, looked_at = last_check(opened) or (None, "")
        running = job is not None and job.state == "running"
        if not running or looked_at != document.version:  # another page may have asked already
            if job is not None and running:
                job.cancel()
            job = workspace(request).jobs.start(
                "check", ["check", path_argument(opened.path.name)], cwd=opened.path.parent, study=opened.key
            )
            opened.cache["check"] = job, document.version
    return page(request, "column_messages.html", **shown_values(opened, **filter_of(form)))


@posted
def messages(request: Request, form: FormData) -> Response:
    """What the last check found, and the parts that it changes: the rest of the page stays, with what is ticked."""
    wanted = filter_of(form)
    name = "columns_changed.html" if wanted["filtered"] == "invalid" else "columns_checked.html"
    return page(request, name, changed=None, **shown_values(open_study(request), swapped=True, **wanted))


@posted
def outside(request: Request, form: FormData) -> Response:
    """Count what would fall outside of the domain as it stands in the form, as a job."""
    opened = open_study(request)
    found = columns_of(opened)
    row = row_of(found, request)
    # The domain is what counts: a column that no role was chosen for yet has one, too.
    entry = entry_of_form(row, form if form.get("role") else FormData([*form.multi_items(), ("role", "insensitive")]))
    if entry is None or entry["role"] == "identifier":
        raise UsageError("without a domain nothing is outside of it", "choose another role", code="SF-USAGE-437")
    folder = workspace(request).private / "drafts"
    folder.mkdir(mode=0o700, exist_ok=True)
    path = draft_study(found.fields, row, entry, base=opened.path.parent, path=folder / f"{token_hex(8)}.yaml")
    job = workspace(request).jobs.start_anew(
        f"outside {row.number}", ["check", str(path)], cwd=opened.path.parent, study=opened.key
    )
    return page(request, "column_outside.html", study=opened, row=row, job=job, report=None)


def outside_found(request: Request) -> Response:
    """What that job counted."""
    opened = open_study(request)
    job = workspace(request).jobs.get(request.path_params["job"])
    reports = job.result
    report = reports[0] if isinstance(reports, list) and reports else None
    return page(
        request, "column_outside.html", study=opened, row=row_of(columns_of(opened), request), job=job, report=report
    )


ROUTES: Final = [
    Route(f"{HERE}/check", check, methods=["POST"]),
    Route(f"{HERE}/messages", messages, methods=["POST"]),
    Route(f"{HERE}/{{number:int}}/outside", outside, methods=["POST"]),
    Route(f"{HERE}/{{number:int}}/outside/{{job}}", outside_found),
]
