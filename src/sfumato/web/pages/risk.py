"""Attacks and risk, for the owner: a published release, attacked as an adversary would."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sfumato.errors import SfumatoError, UsageError
from sfumato.release.bundle.atomic_files import MANIFEST
from sfumato.release.manifest.read_manifest import parse_manifest
from sfumato.release.storage.untrusted import read_bounded
from sfumato.web.handling import go, posted
from sfumato.web.jobs import path_argument
from sfumato.web.rendering import fragment, load, open_study, page, shell, shown_command, study_command, workspace
from sfumato.web.server.opened_folders import file_argument
from sfumato.web.workspace import OpenStudy

_MEASURES: Final = (
    "prosecutor-risk", "journalist-risk", "marketer-risk", "records-at-risk", "sample-uniques", "linked-people",
    "guessed-values",
)  # fmt: skip
_MOST: Final = 200  # releases that are listed
_KINDS: Final = ("measures", "link", "known", "intersect")


def show(request: Request) -> Response:
    """The releases of the study, and what attacks on one of them found."""
    opened = open_study(request)
    declared, problem = load(opened)
    found = _bundles(opened)
    if declared is None or not found:
        return page(request, "risk_empty.html", **shell(opened, "risk"), error=problem)
    at = next((key for key in found if key == request.query_params.get("release")), next(iter(found)))
    return page(
        request,
        "risk.html",
        **shell(opened, "risk", command=study_command(opened, *_link(opened, found[at]))),
        releases=found,
        at=at,
        chosen=found[at],
        results={kind: _result(request, opened, kind, at) for kind in _KINDS},
    )


@posted
def run(request: Request, form: FormData) -> Response:
    """Start an attack, or the measures of risk, on one release."""
    opened = open_study(request)
    kind = request.path_params["kind"]
    found = _bundles(opened)
    at = _place(form, "release", found)
    file = ["--against", path_argument(opened.path.name)]
    bundle = f"releases/{found[at]['folder']}"
    if kind == "measures":
        arguments = ["evaluate", "measures", bundle, *file, "--only", ",".join(_MEASURES)]
    elif kind == "link":
        arguments = _link(opened, found[at])
    elif kind == "known":
        known = workspace(request).resolve(str(form.get("known") or ""))
        arguments = [
            "evaluate",
            "link",
            bundle,
            *file,
            "--with",
            path_argument(file_argument(known, opened.path.parent)),
        ]
    elif kind == "intersect":
        other = f"releases/{found[_place(form, 'other', found)]['folder']}"
        k = str(form.get("k") or "5").strip()
        if not k.isdecimal() or len(k) > 9 or int(k) < 1:  # noqa: PLR2004 - more than there are people
            raise UsageError("k is not a whole number above 0", "type such as 5", code="SF-USAGE-482")
        arguments = ["evaluate", "intersect", bundle, other, *file, "--k", k]
    else:
        raise UsageError("there is no such attack", "reload the page", code="SF-USAGE-483")
    workspace(request).jobs.start_anew(_kind(kind, at), arguments, cwd=opened.path.parent, study=opened.key)
    return _part(request, opened, kind, at)


def result(request: Request) -> Response:
    """How an attack goes, or what it found."""
    opened = open_study(request)
    return _part(request, opened, request.path_params["kind"], request.path_params["key"])


@posted
def choose(request: Request, form: FormData) -> Response:
    """Look at another release."""
    opened = open_study(request)
    return go(f"/s/{opened.key}/risk?release={_place(form, 'release', _bundles(opened))}")


def _part(request: Request, opened: OpenStudy, kind: str, at: str) -> Response:
    if kind not in _KINDS:
        raise UsageError("there is no such attack", "reload the page", code="SF-USAGE-483")
    return HTMLResponse(
        fragment("risk_part.html", study=opened, kind=kind, at=at, found=_result(request, opened, kind, at))
    )


def _kind(kind: str, at: str) -> str:
    return f"risk {kind} {at}"


def _result(request: Request, opened: OpenStudy, kind: str, at: str) -> dict[str, Any] | None:
    """The newest job of a kind on a release, with what it found; None if there was none."""
    job = next(iter(workspace(request).jobs.of(opened.key, _kind(kind, at))), None)
    if job is None:
        return None
    return {
        "job": job,
        "said": job.result if job.state == "done" else None,
        "command": shown_command(*job.command[1:]),
    }


def _bundles(opened: OpenStudy) -> dict[str, dict[str, Any]]:
    """The bundles below the study's releases by a key each, the newest first; what cannot be read is left out."""
    folder = opened.path.parent / "releases"
    places = sorted(folder.glob(f"*/bundle/{MANIFEST}"), key=_when, reverse=True)[:_MOST]
    known: dict[Any, dict[str, Any] | None] = opened.cache.get("risk manifests", {})
    read = {}
    found = {}
    for place in places:
        try:
            facts = place.lstat()
        except OSError:
            continue
        stamp = (place, facts.st_ino, facts.st_mtime_ns, facts.st_size)
        about = read[stamp] = known[stamp] if stamp in known else _read(place)
        if about is not None:
            name = place.parent.parent.name
            found[hashlib.sha256(os.fsencode(name)).hexdigest()[:12]] = {"folder": name, **about}
    opened.cache["risk manifests"] = read  # of no more bundles than there are
    return found


def _read(place: Path) -> dict[str, Any] | None:
    """What the page says of a bundle; None if its manifest cannot be read."""
    try:
        return _about(parse_manifest(read_bounded(place)))
    except (SfumatoError, OSError):
        return None


def _about(stated: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": stated["release"],
        "date": stated["date"],
        "method": stated["method"]["name"],
        "guarantee": stated["guarantee"],
        "records": stated["privacy"]["kind"] == "syntactic",
    }


def _when(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0


def _place(form: FormData, name: str, found: Mapping[str, Any]) -> str:
    key = str(form.get(name) or "")
    if key not in found:
        raise UsageError("there is no such release", "reload the page", code="SF-USAGE-484")
    return key


def _link(opened: OpenStudy, bundle: Mapping[str, Any]) -> list[str]:
    """The arguments of linkage; what each attribute adds to it is known of releases of records alone."""
    more = ["--attributes"] * bundle["records"]
    return ["evaluate", "link", f"releases/{bundle['folder']}", "--against", path_argument(opened.path.name), *more]


ROUTES: Final[list[Route]] = [
    Route("/s/{study}/risk", show),
    Route("/s/{study}/risk/choose", choose, methods=["POST"]),
    Route("/s/{study}/risk/{kind}", run, methods=["POST"]),
    Route("/s/{study}/risk/{kind}/{key}", result),
]
