"""Jobs as pages see them: how far they are, that they have ended, and cancelling.

A page asks for all its jobs at once, again and again (see page.js). A stream of events for each would take a connection
each: a browser has six for all tabs of the workbench, and with six jobs on screen no click would be answered.
"""

from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.errors import UsageError
from sfumato.web.jobs import Job
from sfumato.web.rendering import fragment, workspace

_MOST_ASKED: Final = 100  # jobs in one request


def progress(request: Request) -> Response:
    """What jobs do, by their ids; one that is not known any more has ended."""
    jobs = workspace(request).jobs
    found = {}
    for name in request.path_params["ids"].split(",")[:_MOST_ASKED]:
        try:
            found[name] = _said(jobs.get(name))
        except UsageError:
            found[name] = {"ended": True}
    return JSONResponse(found)


def _said(job: Job) -> dict[str, Any]:
    event = job.event()
    return {
        "ended": event["state"] != "running",
        "doing": event["doing"],
        "share": event["share"],
        "stamp": f"{event['state']} {event['doing']} {event['share']} {event['left']}",
        "text": fragment("job_progress.html", job=job, event=event),
    }


def cancel(request: Request) -> Response:
    """Ask a job to stop."""
    workspace(request).jobs.get(request.path_params["job"]).cancel()
    return Response(status_code=204)


ROUTES: Final = [
    Route("/jobs/{ids}/progress", progress),
    Route("/jobs/{job}/cancel", cancel, methods=["POST"]),
]
