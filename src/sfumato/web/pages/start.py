"""The start page: open a table, a study or a bundle."""

import shutil
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.tables.open_table import paths_of
from sfumato.web.handling import attachment, go, posted
from sfumato.web.rendering import load, page, workspace
from sfumato.web.workspace import OpenStudy

_MOST_LISTED: Final = 20
_TAXONOMY: Final = ".taxonomy.yaml"  # what the page of taxonomies writes beside a study


def show(request: Request) -> Response:
    """What can be opened, and what is open."""
    found = workspace(request)
    rows = [_row(study) for study in found.studies]
    known = {study.path for study in found.studies}
    files = [path for path in sorted(found.home.glob("*.yaml")) if not path.name.endswith(_TAXONOMY)]
    near = [path for path in files if path.resolve() not in known and _can_be_sent(path)][:_MOST_LISTED]
    return page(
        request,
        "start.html",
        rows=rows,
        near=near,
        home=found.home,
        most=found.settings.most_uploaded,
        memory_limit=found.options.memory_limit,
        said="",
    )


@posted
def set_memory_limit(request: Request, form: FormData) -> Response:
    """The memory limit of the commands that start from now on."""
    options = workspace(request).options
    options.set_memory_limit(str(form.get("memory_limit") or ""))
    said = "Commands that start from now on have this limit." if options.memory_limit else "No limit is set."
    return page(request, "start_memory.html", memory_limit=options.memory_limit, said=said)


def _can_be_sent(path: Path) -> bool:
    """Whether a page can name a file: a name in an earlier encoding of the system is no text."""
    try:
        return bool(str(path).encode())
    except UnicodeEncodeError:
        return False


def _row(study: OpenStudy) -> dict[str, object]:
    declared, problem = load(study)
    return {
        "key": study.key,
        "name": study.path.stem if declared is None else declared.name,
        "file": study.path.name,
        "attributes": 0 if declared is None else len(declared.attributes),
        "releases": 0 if declared is None else len(declared.releases),
        "problem": problem,
    }


@posted
def open_table(request: Request, form: FormData) -> Response:
    """A table by its path or address: make a study for it, and look at its columns."""
    found = workspace(request)
    named = str(form.get("address") or form.get("path") or "").strip()
    source = found.resolve_source(named)
    if "://" not in named:
        paths_of(found.home, source)  # a path with a slip is refused before a study is written for it
    name = "study" if "://" in named else Path(source).name.split(".")[0].replace("*", "")
    study = found.begin_study(source, name=name or "study")
    return go(f"/s/{study.key}/columns")


async def upload(request: Request) -> Response:
    """A table that was dropped on the page: its bytes are the body, so that too many are noticed on the way."""
    found = workspace(request)
    length = request.headers.get("content-length", "")
    path = await found.store_upload(
        unquote(request.headers.get("x-file-name", "table.csv")),
        request.stream(),
        stated=int(length) if length.isdecimal() else None,
    )
    try:
        study = await run_in_threadpool(found.begin_study, str(path), name=path.name.split(".")[0])
    except BaseException:  # whoever is refused has no copy of their table lying about
        shutil.rmtree(path.parent, ignore_errors=True)
        raise
    return Response(status_code=201, headers={"location": f"/s/{study.key}/columns"})


@posted
def open_file(request: Request, form: FormData) -> Response:
    """A study that exists."""
    found = workspace(request)
    study = found.open_study(found.resolve(str(form.get("study") or "")))
    source = study.document().get("source")
    named = source.get("path") if isinstance(source, dict) else source
    if study.described is None and isinstance(named, str):  # what a study names is its owner's, as for any command
        found.describe(study, named)
    return go(f"/s/{study.key}/columns")


def study_file(request: Request) -> Response:
    """The study file as it is."""
    study = workspace(request).study(request.path_params["study"])
    return Response(
        study.document().text, media_type="application/yaml; charset=utf-8", headers=attachment(study.path.name)
    )


ROUTES: Final = [
    Route("/", show),
    Route("/memory-limit", set_memory_limit, methods=["POST"]),
    Route("/open/table", open_table, methods=["POST"]),
    Route("/open/upload", upload, methods=["POST"]),
    Route("/open/study", open_file, methods=["POST"]),
    Route("/s/{study}/study.yaml", study_file),
]
