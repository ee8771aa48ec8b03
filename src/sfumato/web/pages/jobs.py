"""Jobs as pages see them: progress as server-sent events, the end, and cancelling."""

from collections.abc import AsyncIterator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from sfumato.web.rendering import fragment, workspace


async def events(request: Request) -> Response:
    """What a job does, until it ends; a closed tab closes this, and not the job."""
    job = workspace(request).jobs.get(request.path_params["job"])

    async def sent() -> AsyncIterator[bytes]:
        async for event in job.events():
            ended = event["state"] != "running"
            text = fragment("job_progress.html", job=job, event=event)
            yield _event("progress", text)
            if ended:
                yield _event("ended", fragment("job_ended.html", job=job))
            if await request.is_disconnected():
                return

    return StreamingResponse(sent(), media_type="text/event-stream", headers={"x-accel-buffering": "no"})


async def cancel(request: Request) -> Response:
    """Ask a job to stop."""
    workspace(request).jobs.get(request.path_params["job"]).cancel()
    return Response(status_code=204)


def _event(name: str, text: str) -> bytes:
    lines = "".join(f"data: {line}\n" for line in str(text).splitlines() or [""])
    return f"event: {name}\n{lines}\n".encode()


ROUTES: Final = [
    Route("/jobs/{job}/events", events),
    Route("/jobs/{job}/cancel", cancel, methods=["POST"]),
]
