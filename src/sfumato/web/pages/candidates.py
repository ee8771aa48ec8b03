"""Candidates of a sweep: two of them side by side, and the choice of one to release."""

import re
from collections.abc import Iterator, Mapping
from itertools import count
from json import dumps
from typing import Any, Final
from urllib.parse import quote

from markupsafe import Markup
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sfumato.errors import UsageError
from sfumato.evaluate.measures import MEASURES
from sfumato.file_names import is_file_name
from sfumato.frontier import Point
from sfumato.web.asked_sweep import DEFAULT, REPEATS, asked_of, earlier_sweep, points_by_name, sweep_job
from sfumato.web.compared_columns import columns_of
from sfumato.web.handling import go, posted
from sfumato.web.jobs import path_argument
from sfumato.web.rendering import fragment, load, open_study, shown_command, workspace
from sfumato.web.sweep_points import Candidate
from sfumato.web.workspace import OpenStudy

_LONGEST: Final = 40  # characters of the name of a release that a candidate gives
_LETTERS: Final = str.maketrans({"ε": "e", "δ": "delta", "α": "alpha", "β": "beta", "′": ""})


@posted
def compare(request: Request, form: FormData) -> Response:
    """Two candidates side by side."""
    opened = open_study(request)
    every = points_by_name(request, opened)
    chosen = [every[str(name)] for name in form.getlist("candidate") if str(name) in every]
    if len(chosen) != 2:  # noqa: PLR2004 - a comparison has two
        raise UsageError(f"{len(chosen)} candidates are chosen", "choose two of them", code="SF-USAGE-468")
    pair = [Candidate(point, efficient=False) for point in chosen]
    raw = every.get("everything published")
    names = list(dict.fromkeys(name for point in chosen for name in (*point.numbers, *point.refused)))
    columns = _start_columns(request, opened, [point for point in chosen if point.recipe is not None])
    return HTMLResponse(
        fragment(
            "frontier_compare.html",
            study=opened,
            pair=pair,
            raw=None if raw is None else Candidate(raw, efficient=False),
            names=names,
            measures=MEASURES,
            facts=list(dict.fromkeys(name for point in chosen for name in point.facts)),
            settings=[dumps(one.settings, ensure_ascii=False) for one in pair],
            columns=columns,
        )
    )


def _start_columns(request: Request, opened: OpenStudy, chosen: list[Point]) -> Markup | str:
    """Start to compare them column by column: both are made again, which takes a while."""
    if len(chosen) != 2:  # noqa: PLR2004 - a comparison has two
        return ""
    asked = asked_of(opened, earlier_sweep(opened, load(opened)[0], sweep_job(request, opened)))
    named = [] if asked["sweep"] in ("", DEFAULT) else ["--sweep", asked["sweep"]]
    purpose = ["--purpose", asked["purpose"]] if asked["purpose"] else []
    repeats = ["--repeats", str(asked["repeats"])] * (asked["repeats"] != REPEATS)
    labels = [point.label for point in chosen]
    arguments = ["evaluate", "compare", path_argument(opened.path.name), *labels, *purpose, *named, *repeats]
    last = next(iter(workspace(request).jobs.of(opened.key, "compare")), None)
    if last is not None and last.state == "running":
        last.cancel()
    job = workspace(request).jobs.start("compare", arguments, cwd=opened.path.parent, study=opened.key)
    return fragment("frontier_columns.html", study=opened, job=job)


def columns(request: Request) -> Response:
    """The last comparison of two candidates, column by column, as far as it is."""
    opened = open_study(request)
    job = next(iter(workspace(request).jobs.of(opened.key, "compare")), None)
    if job is None:
        raise UsageError(
            "no candidates are compared", "choose two of the table, and press “Compare two”", code="SF-USAGE-661"
        )
    found = job.result if job.state == "done" else None
    return HTMLResponse(
        fragment(
            "frontier_columns.html",
            study=opened,
            job=job,
            found=found,
            columns=[] if found is None else columns_of(found),
            drawn=_drawn(found),
            command=shown_command(*job.command[1:]),
        )
    )


@posted
def release(request: Request, form: FormData) -> Response:
    """Declare a candidate as a release of the study, chosen on the raw table, and go to its plan."""
    opened = open_study(request)
    every = points_by_name(request, opened)
    point = every.get(str(form.get("candidate") or "").strip())
    if point is None or point.recipe is None:
        raise UsageError("there is no such candidate", "choose one of the table", code="SF-USAGE-469")
    settings = Candidate(point, efficient=False).settings
    with opened.editing:  # a second press sees what the first has written
        document = opened.document()
        found = document.get("releases")
        declared = found if isinstance(found, Mapping) else {}
        name = next(n for n in _release_names(point) if n not in declared)
        new = document.set("releases", name, value=settings)
        same = next((n for n, other in declared.items() if other == new.get("releases", name)), None)
        if same is None:
            new.study()
            new.save()
    return go(f"/s/{opened.key}/plan?release={quote(name if same is None else str(same))}")


def _release_names(point: Point) -> Iterator[str]:
    """Names for a release of a candidate, short and in plain letters: they are typed, and name a folder."""
    assert point.recipe is not None, "only candidates are released"
    stem = re.sub(r"[^A-Za-z0-9.]+", "-", point.label.translate(_LETTERS).replace(" = ", "")).strip("-.")
    stem = stem[:_LONGEST].strip("-.")
    if not is_file_name(stem):
        stem = point.recipe.method
    return (stem if k == 1 else f"{stem}-{k}" for k in count(1))


def _drawn(found: Mapping[str, Any] | None) -> int:
    """How often a random release of a comparison was drawn; 0 if none is random."""
    most = 1 if found is None else max(int(one["draws"]) for one in found["releases"])
    return most if most > 1 else 0


ROUTES: Final[list[Route]] = [
    Route("/s/{study}/frontier/compare", compare, methods=["POST"]),
    Route("/s/{study}/frontier/columns", columns),
    Route("/s/{study}/frontier/release", release, methods=["POST"]),
]
