"""The receiver's page: a bundle without a study."""

import os
from pathlib import Path
from typing import Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sfumato.errors import SfumatoError, UsageError
from sfumato.release.bundle.atomic_files import MANIFEST, find_bundle
from sfumato.release.storage.untrusted import open_regular
from sfumato.web.handling import go, posted
from sfumato.web.jobs import Job, path_argument, word_argument
from sfumato.web.rendering import fragment, page, shown_command, workspace
from sfumato.web.workspace import Workspace

_MOST_SHOWN: Final = 40_000  # characters of the manifest in the drawer
_MOST_MARGINALS: Final = 60
_SOON: Final = 0.1  # seconds that the page waits for the process that reads the bundle


@posted
def open_bundle(request: Request, form: FormData) -> Response:
    """A bundle by its folder, or as a ZIP file; it is verified at once."""
    found = workspace(request)
    path = found.resolve(str(form.get("bundle") or ""))
    if path.suffix.lower() == ".zip" and path.is_file():
        place = find_bundle(found.unpack(path))
    else:
        place = found.resolve(str(find_bundle(path)))  # the folder `bundle` in it may be a link
    key = found.open_bundle(place)
    found.readers.of(place).view(patience=0)  # it begins
    _verify(found, key)
    return go(f"/b/{key}")


def show(request: Request) -> Response:
    """What a bundle says, and how to use it."""
    found = workspace(request)
    key = request.path_params["bundle"]
    path = found.bundle(key)
    job = _job(found, key) or _verify(found, key)
    view = found.readers.of(path).view(patience=_SOON)
    if view is None:
        return page(request, "receiver_opening.html", key=key)
    with open_regular(path / MANIFEST) as file:
        text = file.read(4 * _MOST_SHOWN + 4).decode("utf-8", "replace")
    return page(
        request,
        "receiver.html",
        key=key,
        view=view,
        job=job,
        columns=view.columns[:_MOST_MARGINALS],
        hidden=max(0, len(view.columns) - _MOST_MARGINALS),
        manifest=text[:_MOST_SHOWN] + ("\n…" if len(text) > _MOST_SHOWN else ""),
        command=_command(found, "verify", _said(found, path)),
    )


def opened(request: Request) -> Response:
    """Whether the process that reads the bundle has said what it is, or why it cannot be read."""
    found, key = workspace(request), request.path_params["bundle"]
    try:
        there = found.readers.of(found.bundle(key)).view(patience=0) is not None
    except SfumatoError:
        there = True  # the page says what is wrong
    return go(f"/b/{key}") if there else Response(status_code=204)


def marginal(request: Request) -> Response:
    """The marginal of one column."""
    found = workspace(request)
    reader = found.readers.of(found.bundle(request.path_params["bundle"]))
    said = reader.marginal(request.path_params["number"])
    values = {"found": said, "bars": said.bars, "confidence": said.confidence}
    return HTMLResponse(fragment("receiver_marginal.html", **values, noisy=reader.view().noisy))


@posted
def query(request: Request, form: FormData) -> Response:
    """How many records satisfy a condition, with its interval."""
    found = workspace(request)
    path = found.bundle(request.path_params["bundle"])
    text = str(form.get("predicate") or "").strip()
    if not text:
        raise UsageError("the query is empty", "type a condition such as age >= 40", code="SF-USAGE-462")
    said = found.readers.of(path).query(text)
    estimate = said.estimate
    most = max(estimate.total, estimate.high, 1)
    return HTMLResponse(
        fragment(
            "receiver_answer.html",
            asked=text,
            estimate=estimate,
            words=said.words,
            scale=480 / most,
            most=most,
            command=_command(found, "query", _said(found, path), *word_argument(text)),
        )
    )


@posted
def verify(request: Request, form: FormData) -> Response:
    """Verify it again, maybe against the hash that its publisher gave."""
    found = workspace(request)
    key = request.path_params["bundle"]
    sha256 = str(form.get("sha256") or "").strip().lower()
    if sha256 and (len(sha256) != 64 or set(sha256) - set("0123456789abcdef")):  # noqa: PLR2004 - hex digits of SHA-256
        raise UsageError(
            "this is not a SHA-256 hash", "paste the 64 characters that the publisher gave", code="SF-USAGE-463"
        )
    return _verification(request, key, _verify(found, key, sha256 or None))


def verification(request: Request) -> Response:
    """How the verification goes, or what it found."""
    found, key = workspace(request), request.path_params["bundle"]
    found.bundle(key)
    return _verification(request, key, _job(found, key) or _verify(found, key))


def _verification(request: Request, key: str, job: Job) -> Response:
    del request
    return HTMLResponse(fragment("receiver_verification.html", key=key, job=job, swapped=True))


def _verify(found: Workspace, key: str, sha256: str | None = None) -> Job:
    hashed = [] if sha256 is None else ["--sha256", sha256]
    return found.jobs.start_anew("verify", ["verify", str(found.bundle(key)), *hashed], cwd=found.home, study=key)


def _job(found: Workspace, key: str) -> Job | None:
    return next(iter(found.jobs.of(key, "verify")), None)


def _command(found: Workspace, *arguments: str) -> str:
    return shown_command(*found.options.applied(arguments))


def _said(found: Workspace, path: Path) -> str:
    """A path as a person would type it."""
    short = os.path.relpath(path, found.home)
    return "BUNDLE" if short.startswith(os.pardir) else path_argument(short)


ROUTES: Final[list[Route]] = [
    Route("/open/bundle", open_bundle, methods=["POST"]),
    Route("/b/{bundle}", show),
    Route("/b/{bundle}/opened", opened),
    Route("/b/{bundle}/marginals/{number:int}", marginal),
    Route("/b/{bundle}/query", query, methods=["POST"]),
    Route("/b/{bundle}/verify", verify, methods=["POST"]),
    Route("/b/{bundle}/verification", verification),
]
