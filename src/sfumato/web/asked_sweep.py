"""The sweep that the frontier page is about: what was asked for, its job, and the points that are there of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request

from sfumato.frontier import Point
from sfumato.study.study import Study
from sfumato.web.jobs import Job
from sfumato.web.rendering import load, workspace
from sfumato.web.sweep_points import StoredSweep, finished, latest, stored
from sfumato.web.workspace import OpenStudy

X, Y = "ploss", "uloss"
DEFAULT: Final = "default"  # the sweep that follows from the roles
REPEATS: Final = 5


def sweep_job(request: Request, opened: OpenStudy) -> Job | None:
    """The last sweep of the study since the workbench was started."""
    return next(iter(workspace(request).jobs.of(opened.key, "frontier")), None)


def sweep_names(declared: Study) -> list[str]:
    """The sweeps that can be started."""
    return [*declared.sweeps] or [DEFAULT]


def earlier_sweep(opened: OpenStudy, declared: Study | None, job: Job | None) -> StoredSweep | None:
    """What the sweep of the page has stored: the one that runs or was stopped, or else the last one before a restart.

    A sweep that runs lists its points once it has read the table; until then, and not longer, there are none.
    """
    if job is None:
        if declared is None:
            return None
        return latest(opened.path.parent / "frontier", sweep_names(declared), list(declared.purposes))
    found = stored(_folder(opened, asked_of(opened, None)))
    if found is not None and job.state == "running" and found.began < opened.cache.get("frontier since", 0.0) - 1:
        return None
    return found


def asked_of(opened: OpenStudy, earlier: StoredSweep | None) -> dict[str, Any]:
    """What was asked for last: on the page, or else before a restart."""
    first = {"sweep": "", "purpose": "", "x": X, "y": Y, "measures": [], "repeats": REPEATS}
    return {**first, **(earlier.asked if earlier is not None else {}), **opened.cache.get("frontier", {})}


def _folder(opened: OpenStudy, asked: Mapping[str, Any]) -> Path:
    parts = [asked["sweep"] or DEFAULT, *([asked["purpose"]] if asked["purpose"] else [])]
    return opened.path.parent / "frontier" / "-".join(parts)


def points_of(job: Job | None, earlier: StoredSweep | None) -> list[Point]:
    """What the sweep gave in the end; while it runs, if it was stopped or before it, what is stored of it."""
    if job is not None and job.state == "done" and job.result is not None:
        return finished(job.result)
    return [] if earlier is None else list(earlier.points)


def points_by_name(request: Request, opened: OpenStudy) -> dict[str, Point]:
    """All candidates that the page lists, by their names."""
    job = sweep_job(request, opened)
    return {one.label: one for one in points_of(job, earlier_sweep(opened, load(opened)[0], job))}
