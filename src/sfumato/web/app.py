"""The workbench as an ASGI application: which address shows which page, and how errors look."""

import mimetypes
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from importlib import import_module
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import InternalError, SfumatoError, UsageError
from sfumato.look import stylesheet
from sfumato.web.pages import ROUTES
from sfumato.web.rendering import page
from sfumato.web.server.collector import keep_imports, seldom_collected
from sfumato.web.server.guard import Guard
from sfumato.web.server.settings import Settings
from sfumato.web.workspace import Workspace

_STYLE = "sfumato.css"
_STATIC = (_STYLE, "htmx.min.js", "sse.min.js", "page.js", "taxonomy.js")
_BAD_REQUEST = 400
_SCRIPT = "text/javascript; charset=utf-8"


def make_app(settings: Settings) -> Guard:
    """The guarded application."""
    workspace = Workspace(settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        with seldom_collected():
            threading.Thread(target=_warm, daemon=True).start()
            try:
                yield
            finally:
                await workspace.close()

    app = Starlette(
        routes=[*ROUTES, Route("/static/{name}", _static), Route("/static/vega/vega.js", _vega)],
        exception_handlers={SfumatoError: _told, HTTPException: _not_found, Exception: _our_bug},
        lifespan=lifespan,
    )
    app.state.workspace = workspace
    return Guard(app, settings, workspace)


def _warm() -> None:
    """Import what pages import when they first need it, so that no page waits for that."""
    for module in ("sfumato.api", "sfumato.ledger.sqlite", "sfumato.methods.full_domain.lattice"):
        import_module(module)
    keep_imports()


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise HTTPException(404)
    kind = _SCRIPT if name.endswith(".js") else mimetypes.guess_type(name)[0]
    return Response(_read(name), media_type=kind, headers={"cache-control": "private, max-age=3600"})


def _vega(_: Request) -> Response:  # in a thread: the first time it takes seconds
    return Response(_vega_bundle(), media_type=_SCRIPT, headers={"cache-control": "private, max-age=3600"})


@cache
def _read(name: str) -> bytes:
    return stylesheet().encode() if name == _STYLE else (files("sfumato.web") / "static" / name).read_bytes()


@cache
def _vega_bundle() -> bytes:
    """Vega, Vega-Lite and Vega-Embed with what draws specifications without evaluating text, as one script.

    It takes seconds to put together, during which nothing else of a process runs; so another one does it.
    """
    command = [sys.executable, "-P", "-c", _BUNDLE]
    made = subprocess.run(command, input=_PLOTS.encode(), capture_output=True, check=True)  # noqa: S603 - our own text
    return made.stdout


_BUNDLE = """
import sys, vl_convert
sys.stdout.buffer.write(vl_convert.javascript_bundle(sys.stdin.read()).encode())
"""
_PLOTS = """
window.sfumatoEmbed = (place, spec, options) => vegaEmbed(place, spec, { ast: true, actions: false, ...options });
document.dispatchEvent(new Event("sfumato:plots"));
"""


async def _told(request: Request, error: Exception) -> Response:
    """An error of ours, in its one form: what is wrong, how to fix it, its code."""
    assert isinstance(error, SfumatoError), "that is what it is registered for"
    return _shown(request, error, status=422)


async def _not_found(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    told = UsageError("there is no such page", "go back to the start page", code="SF-USAGE-417")
    if status == _BAD_REQUEST:
        told = UsageError(
            "what the page sent cannot be read, or is too much", "reload the page, and send less", code="SF-USAGE-641"
        )
    return _shown(request, told, status=status)


async def _our_bug(request: Request, error: Exception) -> Response:  # noqa: ARG001 - it may quote a record
    return _shown(request, InternalError("the page could not be made"), status=500)


def _shown(request: Request, error: SfumatoError, *, status: int) -> Response:
    """On a part of a page, or as a page of its own."""
    name = "error_notice.html" if request.headers.get("hx-request") else "error.html"
    answer = page(request, name, status=status, error=error)
    if request.headers.get("hx-request"):
        answer.headers["hx-retarget"] = "#notices"
        answer.headers["hx-reswap"] = "innerHTML"
    return answer
