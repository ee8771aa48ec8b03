"""Release: confirm a plan, make and publish it, verify it, and keep the owner's report."""

import os
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from threading import Lock
from typing import Any, Final
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from sfumato.errors import SfumatoError, StudyError, UsageError
from sfumato.methods import METHODS, build
from sfumato.study.budget import parse_epsilon
from sfumato.study.budget import show as exact
from sfumato.study.file import study_sha256
from sfumato.study.purpose import tailor
from sfumato.study.recipe import recipe_from_study
from sfumato.study.study import Study
from sfumato.web.bundles.made_releases import MadeRelease, entries_of, made_release
from sfumato.web.handling import attachment, go, posted
from sfumato.web.jobs import Job, path_argument
from sfumato.web.planning import budget_bar, columns_link, declared_outcome, linked
from sfumato.web.rendering import known_job, load, open_study, page, shell, shown_command, study_command, workspace
from sfumato.web.workspace import OpenStudy

_STARTING: Final = Lock()  # two tabs that confirm at once: the second sees the job of the first
# The report is made from raw records: it may draw with its own style, and neither run, load nor send anything.
_REPORT_POLICY: Final = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'self'"
)


def show(request: Request) -> Response:
    """A release that runs, or the plan of one to confirm."""
    opened = open_study(request)
    running = _running(request, opened)
    if running is not None:
        return page(
            request,
            "release_running.html",
            **shell(opened, "release", command=shown_command(*running.command[1:])),
            job=running,
            release_name=_name_of(running),
            steps_of=running.steps(),
        )
    declared, problem = load(opened)
    if declared is None or not declared.releases:
        return page(request, "release_empty.html", **shell(opened, "release"), error=problem)
    named = request.query_params.get("release", "")
    name = named if named in declared.releases else next(iter(declared.releases))
    return page(
        request,
        "release.html",
        **shell(opened, "release", command=study_command(opened, "release", path_argument(opened.path.name), name)),
        **_plan_values(opened, declared, name),
        release_name=name,
        releases=list(declared.releases),
        made=_made(declared),
        last=_last(request, opened),
    )


def _plan_values(opened: OpenStudy, declared: Study, name: str) -> dict[str, Any]:
    """The plan of the release that the study declares: of itself, since no form can show every release."""
    outcome = declared_outcome(declared, name)
    plan, error = outcome.plan, outcome.error
    recipe, statement = None, ""
    with suppress(SfumatoError):  # the outcome says why
        recipe = recipe_from_study(declared, name)
    if plan is not None and recipe is not None:
        promised = build(recipe).guarantee(tailor(declared, recipe.purpose, METHODS[recipe.method].needs))
        statement = promised.statement(chosen=recipe.chosen.value, secure=True)
    return {
        "recipe": recipe,
        "version": study_sha256(declared),
        "statement": statement,
        "out": _next_folder(declared, name),
        "outcome": outcome,
        "plan": plan,
        "error": error,
        "bar": None if plan is None else budget_bar(plan),
        "epsilon": None if plan is None or plan.epsilon is None else exact(plan.epsilon),
        "sentences": [linked(s, declared, columns_link(opened)) for s in (() if plan is None else plan.sentences)],
    }


def _next_folder(declared: Study, name: str) -> str:
    from sfumato.api import next_folder  # noqa: PLC0415 - it imports the engines

    try:
        return next_folder(declared, recipe_from_study(declared, name)).name
    except SfumatoError:
        return name


def _made(declared: Study) -> list[Any]:
    try:
        return [entry for entry in reversed(entries_of(declared)) if entry.bundle is not None]
    except SfumatoError:
        return []


def _running(request: Request, opened: OpenStudy) -> Job | None:
    return next((job for job in workspace(request).jobs.of(opened.key, "release") if job.state == "running"), None)


def _last(request: Request, opened: OpenStudy) -> Job | None:
    """The last release of this workbench, where it did not end well: reloading does not hide that."""
    last = next(iter(workspace(request).jobs.of(opened.key, "release")), None)
    return last if last is not None and last.state != "done" else None


def _name_of(job: Job) -> str:
    return job.command[3]


@posted
def start(request: Request, form: FormData) -> Response:
    """Make the release, if what was typed is what the plan says and the study file is the one that was shown."""
    opened = open_study(request)
    name = str(form.get("release") or "")
    with _STARTING:
        if _running(request, opened) is not None:
            raise UsageError(
                "a release of this study is running already", "reload this page to see it", code="SF-USAGE-444"
            )
        declared = opened.document().study()
        confirmed = study_sha256(declared)
        if str(form.get("version") or "") != confirmed:
            raise StudyError(
                f"the study '{opened.path.name}' was changed since this plan was shown",
                "reload this page, and read the plan again",
                code="SF-STUDY-437",
            )
        spends = build(recipe_from_study(declared, name)).spends
        _refuse_unconfirmed(name, spends, form)
        workspace(request).jobs.start(
            "release",
            # The command reads the study again: it is told which one was confirmed, and refuses another.
            ["release", path_argument(opened.path.name), name, "--no-report", "--study-sha256", confirmed],
            cwd=opened.path.parent,
            study=opened.key,
        )
    return go(f"/s/{opened.key}/release")


def _refuse_unconfirmed(name: str, spends: Fraction | None, form: FormData) -> None:
    typed = str(form.get("typed_name") or "").strip()
    if typed != name:
        raise UsageError(
            f"the name that was typed is not '{name}'", "type the name of the release as the plan has it",
            code="SF-USAGE-446",
        )  # fmt: skip
    if spends is None:
        return
    text = str(form.get("typed_epsilon") or "").strip()
    if not text or parse_epsilon(text) != spends:
        raise UsageError(
            f"the plan says ε = {exact(spends)}, and another value was typed", "type ε as the plan has it",
            code="SF-USAGE-447",
        )  # fmt: skip


def steps(request: Request) -> Response:
    """What a running release has done, and what it does."""
    opened, job = open_study(request), _job(request)
    return page(request, "release_steps.html", study=opened, job=job, steps_of=job.steps(), entry=_entry(opened, job))


def _entry(opened: OpenStudy, job: Job) -> Any:
    """The entry that a release has opened in the ledger, if it has come so far."""
    declared, _ = load(opened)
    try:
        found = entries_of(declared) if declared is not None else ()
    except SfumatoError:
        return None
    last = found[-1] if found else None
    return last if last is not None and last.release == _name_of(job) and last.state == "opened" else None


def _job(request: Request) -> Job:
    return workspace(request).jobs.get(request.path_params["job"])


def ended(request: Request) -> Response:
    """Where to go when a release has ended."""
    opened, job = open_study(request), _job(request)
    if job.state == "done" and isinstance(job.result, dict):
        declared, _ = load(opened)
        for entry in reversed(entries_of(declared) if declared is not None else ()):
            if entry.bundle == job.result["sha256"]:
                return go(f"/s/{opened.key}/release/made/{entry.id}")
    return go(f"/s/{opened.key}/release?release={quote(_name_of(job))}")


def _release(request: Request) -> tuple[OpenStudy, Study, MadeRelease]:
    opened = open_study(request)
    declared = opened.document().study()
    number = str(request.path_params["entry"])
    return opened, declared, made_release(opened, declared, int(number) if number.isdecimal() else 0)


def made(request: Request) -> Response:
    """A release that is made: its bundle, its guarantee, and what to do with both."""
    opened, _, found = _release(request)
    place = "" if found.folder is None else os.path.relpath(found.bundle, opened.path.parent)
    return page(
        request,
        "release_done.html",
        **shell(opened, "release", command=study_command(opened, "verify", path_argument(place) or "BUNDLE")),
        **_parts(request, opened, found),
        place=place,
        path="" if found.folder is None else str(found.bundle),
        files=[] if found.folder is None else found.files(),
        warnings=_warnings(request, opened, found),
    )


def _warnings(request: Request, opened: OpenStudy, found: MadeRelease) -> list[str]:
    for job in workspace(request).jobs.of(opened.key, "release"):
        if job.state == "done" and isinstance(job.result, dict) and job.result.get("sha256") == found.entry.bundle:
            return [str(one) for one in job.result.get("warnings", ())]
    return []


def _parts(request: Request, opened: OpenStudy, found: MadeRelease) -> dict[str, Any]:
    def last(kind: str) -> Job | None:
        return known_job(request, opened.cache.get(f"{kind} {found.entry.id}"))

    return {"made": found, "entry": found.entry, "verified": last("verify"), "reporting": last("report")}


@posted
def verify(request: Request, form: FormData) -> Response:  # noqa: ARG001 - it has no field
    """Verify the bundle as a receiver would, as a job."""
    opened, _, found = _release(request)
    assert found.entry.bundle is not None, "it is made"
    return _begin(
        request, opened, found, "verify", ["verify", _relative(opened, found.bundle), "--sha256", found.entry.bundle]
    )


@posted
def report(request: Request, form: FormData) -> Response:  # noqa: ARG001 - it has no field
    """Make the owner's report, as a job."""
    opened, _, found = _release(request)
    assert found.folder is not None, "the page offers it only then"
    return _begin(
        request,
        opened,
        found,
        "report",
        ["report", _relative(opened, found.folder), "--against", path_argument(opened.path.name)],
    )


def _relative(opened: OpenStudy, path: Path) -> str:
    return os.path.relpath(path, opened.path.parent)


def _begin(request: Request, opened: OpenStudy, found: MadeRelease, kind: str, asked: list[str]) -> Response:
    with _STARTING:
        last = known_job(request, opened.cache.get(f"{kind} {found.entry.id}"))
        if last is None or last.state != "running":
            job = workspace(request).jobs.start(kind, asked, cwd=opened.path.parent, study=opened.key)
            opened.cache[f"{kind} {found.entry.id}"] = job.id
    return page(request, f"release_{kind}.html", study=opened, **_parts(request, opened, found))


def part(request: Request) -> Response:
    """The verification or the report as far as it is."""
    opened, _, found = _release(request)
    kind = "verify" if request.path_params["part"] == "verified" else "report"
    return page(request, f"release_{kind}.html", study=opened, **_parts(request, opened, found))


def download(request: Request) -> Response:
    """The bundle as a zip archive; only files of the bundle are in it."""
    _, _, found = _release(request)
    if found.folder is None:
        raise UsageError(
            "the bundle is not below the study's releases", "look where it was written", code="SF-USAGE-448"
        )
    return StreamingResponse(
        found.zipped(), media_type="application/zip", headers=attachment(f"{found.folder.name}.zip")
    )


def report_page(request: Request) -> Response:
    """The owner's report, for a frame that can do nothing."""
    _, _, found = _release(request)
    place = found.report
    if place is None:
        raise UsageError(
            "the owner's report is not made yet", "make it on the page of the release", code="SF-USAGE-449"
        )
    return Response(
        place.read_bytes(),
        media_type="text/html; charset=utf-8",
        headers={"content-security-policy": _REPORT_POLICY, "x-frame-options": "SAMEORIGIN"},
    )


ROUTES: Final[list[Route]] = [
    Route("/s/{study}/release", show),
    Route("/s/{study}/release", start, methods=["POST"]),
    Route("/s/{study}/release/steps/{job}", steps),
    Route("/s/{study}/release/ended/{job}", ended),
    Route("/s/{study}/release/made/{entry}", made),
    Route("/s/{study}/release/made/{entry}/verify", verify, methods=["POST"]),
    Route("/s/{study}/release/made/{entry}/report", report, methods=["POST"]),
    Route("/s/{study}/release/made/{entry}/part/{part}", part),
    Route("/s/{study}/release/made/{entry}/bundle.zip", download),
    Route("/s/{study}/release/made/{entry}/report.html", report_page),
]
