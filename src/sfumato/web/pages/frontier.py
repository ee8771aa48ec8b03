"""The frontier: many drafts, measured and compared, and the choice among them."""

import time
from collections.abc import Mapping
from json import dumps
from threading import Lock
from typing import Any, Final
from urllib.parse import quote

from starlette.datastructures import FormData, QueryParams
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sfumato.errors import SfumatoError, UsageError
from sfumato.evaluate.measures import MEASURES
from sfumato.file_names import checked_file_name
from sfumato.frontier import NO_BETTER, WHY_NO_BETTER, default_sweep, sweep_from_settings
from sfumato.methods import METHODS
from sfumato.study.study import Study
from sfumato.web.asked_sweep import DEFAULT, REPEATS, X, Y, asked_of, earlier_sweep, points_of, sweep_job, sweep_names
from sfumato.web.editing.method_forms import read_yaml
from sfumato.web.handling import go, posted
from sfumato.web.jobs import Job, path_argument
from sfumato.web.rendering import fragment, load, open_study, page, shell, study_command, workspace
from sfumato.web.sweep_points import (
    BASELINE,
    StoredSweep,
    candidates,
    plot,
    series_of,
)
from sfumato.web.workspace import OpenStudy
from sfumato.workflow.sweeping.stored_points import digest

_MOST_SHOWN: Final = 500
_NEW: Final = "page"
_STARTING: Final = Lock()  # two tabs that start at once: the second sees the job of the first


def show(request: Request) -> Response:
    """Choose a sweep, start it, and look at its points."""
    opened = open_study(request)
    declared, problem = load(opened)
    if declared is None or not declared.attributes:
        return page(request, "frontier_empty.html", **shell(opened, "frontier"), error=problem)
    job = sweep_job(request, opened)
    earlier = earlier_sweep(opened, declared, job)
    asked = asked_of(opened, earlier)
    named = request.query_params.get("sweep") or asked["sweep"] or next(iter(declared.sweeps), DEFAULT)
    return page(
        request,
        "frontier.html",
        **shell(
            opened,
            "frontier",
            command=_command(opened, asked if job else {**asked, "sweep": named}),
            entry=("sweeps", named),
        ),
        sweeps=sweep_names(declared),
        sweep=named,
        grids=_grids(opened, declared, named, asked["purpose"] or None),
        methods=[name for name in METHODS if not name.startswith("_")],
        purposes=list(declared.purposes),
        measures=[(name, MEASURES[name].title, MEASURES[name].kind) for name in MEASURES],
        asked=asked,
        job=job,
        editable=named if named != DEFAULT else _NEW,
        **_shown(opened, job, earlier, request.query_params),
    )


def points(request: Request) -> Response:
    """The plot and the table, as far as the sweep is."""
    opened = open_study(request)
    job = sweep_job(request, opened)
    earlier = earlier_sweep(opened, load(opened)[0], job)
    return HTMLResponse(
        fragment("frontier_points.html", study=opened, job=job, **_shown(opened, job, earlier, request.query_params))
    )


@posted
def save_sweep(request: Request, form: FormData) -> Response:
    """Write a sweep into the study file: a method and its grid a line."""
    opened = open_study(request)
    document = opened.document()
    name = checked_file_name("the sweep", str(form.get("name") or "").strip() or _NEW)
    settings: list[dict[str, Any]] = []
    for method, grid in zip(form.getlist("method"), form.getlist("grid"), strict=False):
        text = str(grid).strip()
        if not str(method):
            continue
        found = read_yaml("{" + text.strip().removeprefix("{").removesuffix("}") + "}", f"the grid of '{method}'") or {}
        if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
            raise UsageError(
                f"the grid of '{method}' is not a list of parameters",
                "write such as k: [2, 5, 10]",
                code="SF-USAGE-464",
            )
        settings.append({"method": str(method), **found})
    if not settings:
        raise UsageError("the sweep has no method", "choose at least one", code="SF-USAGE-465")
    sweep_from_settings(settings)  # refuses before anything is written
    new = document.set("sweeps", name, value=settings)
    new.study()
    new.save()
    return go(f"/s/{opened.key}/frontier?sweep={quote(name)}")


@posted
def start(request: Request, form: FormData) -> Response:
    """Start a sweep; points that are stored already are not made again."""
    opened = open_study(request)
    declared, problem = load(opened)
    if declared is None:
        raise problem or UsageError("the study is not complete", "correct it", code="SF-USAGE-466")
    asked = {
        "sweep": _named("the sweep", form),
        "purpose": _named("the purpose", form),
        "x": _known(_text(form, "x") or X),
        "y": _known(_text(form, "y") or Y),
        "measures": [_known(str(name)) for name in form.getlist("measure")],
        "repeats": _whole(_text(form, "repeats") or str(REPEATS)),
    }
    with _STARTING:
        job = sweep_job(request, opened)
        if job is not None and job.state == "running":
            raise UsageError("a sweep is running already", "wait for it, or cancel it", code="SF-USAGE-467")
        since = time.time()
        workspace(request).jobs.start("frontier", _arguments(opened, asked), cwd=opened.path.parent, study=opened.key)
        opened.cache["frontier"], opened.cache["frontier since"] = asked, since  # only if it was not refused
    return go(f"/s/{opened.key}/frontier")


def _arguments(opened: OpenStudy, asked: Mapping[str, Any]) -> list[str]:
    named = [] if asked["sweep"] in ("", DEFAULT) else ["--sweep", asked["sweep"]]
    purpose = ["--purpose", asked["purpose"]] if asked["purpose"] else []
    axes = [*(["--x", asked["x"]] * (asked["x"] != X)), *(["--y", asked["y"]] * (asked["y"] != Y))]
    more = [part for name in asked["measures"] for part in ("--measure", name)]
    repeats = ["--repeats", str(asked["repeats"])] * (asked["repeats"] != REPEATS)
    return ["frontier", path_argument(opened.path.name), *purpose, *named, *axes, *more, *repeats]


def _command(opened: OpenStudy, asked: Mapping[str, Any]) -> str:
    return study_command(opened, *_arguments(opened, asked))


def _shown(opened: OpenStudy, job: Job | None, earlier: StoredSweep | None, query: QueryParams) -> dict[str, Any]:
    """The plot and the table by what the page asks for: axes, scales, methods."""
    asked = asked_of(opened, earlier)
    found = points_of(job, earlier)
    every = series_of(found)
    names = list(dict.fromkeys(name for point in found for name in point.numbers))
    x, y = (one if (one := query.get(name, "")) in names else str(asked[name]) for name in ("x", "y"))
    keys = {series: digest(series)[:8] for series in every}
    hidden = set(query.getlist("offered")) - set(query.getlist("series"))  # a method that came since is shown
    shown = [series for series in every if keys[series] not in hidden]
    log = "log" in query
    rows = candidates(found, x, y, shown)
    chosen = job.result["chosen"] if job is not None and job.state == "done" and job.result else None
    return {
        "stored": earlier if job is None else None,
        "rows": rows[:_MOST_SHOWN],
        "there": sum(row.point.series != BASELINE and row.point.has(x, y) for row in rows),
        "no_better": sum(row.no_better for row in rows),
        "no_better_words": (NO_BETTER, WHY_NO_BETTER),
        "best": sum(row.efficient for row in rows),
        "x": x,
        "y": y,
        "log": log,
        "names": names or [x, y],
        # The form stays as it is until it has something else to offer: an answer on its way resets no box meanwhile.
        "form_key": digest([names, every])[:8],
        "series": [(keys[series], series) for series in every],
        "shown_series": shown,
        "plot": plot(rows, x, y, log=log, series=every) if any(row.point.has(x, y) for row in rows) else "",
        "chosen": chosen,
        "baseline": BASELINE,
    }


def _grids(opened: OpenStudy, declared: Study, named: str, purpose: str | None) -> list[tuple[str, str]]:
    """The methods of a sweep with their grids as the study file writes them."""
    settings = opened.document().get("sweeps", named)
    if not isinstance(settings, list):
        try:
            settings = _grouped(default_sweep(declared, purpose).candidates)
        except SfumatoError:
            settings = []
    return [
        (str(one.get("method", "")), ", ".join(f"{k}: {_flow(v)}" for k, v in one.items() if k != "method"))
        for one in settings
        if isinstance(one, Mapping)
    ]


def _grouped(found: Any) -> list[dict[str, Any]]:
    """Candidates of one method and one parameter that varies, as a grid."""
    grids: dict[tuple[str, tuple[str, ...]], dict[str, list[Any]]] = {}
    for method, parameters in found:
        held = grids.setdefault((method, (*parameters, *map(str, _models(parameters)))), {})
        for name, value in parameters.items():
            if value not in held.setdefault(name, []):
                held[name].append(value)
    return [
        {"method": key[0], **{n: v[0] if len(v) == 1 else v for n, v in grid.items()}} for key, grid in grids.items()
    ]


def _models(parameters: Mapping[str, Any]) -> list[str]:
    found = parameters.get("privacy")
    return list(found) if isinstance(found, Mapping) else []


def _flow(value: Any) -> str:
    """A value as YAML writes it in one line; JSON is YAML."""
    return dumps(value, ensure_ascii=False, default=str)


def _text(form: FormData, name: str) -> str:
    return str(form.get(name) or "").strip()


def _named(kind: str, form: FormData) -> str:
    """A name of the study, which is also that of a folder; nothing where none is chosen."""
    name = _text(form, kind.removeprefix("the "))
    return checked_file_name(kind, name) if name else ""


def _known(name: str) -> str:
    if name not in MEASURES:
        raise UsageError("there is no such measure", "choose one of the list", code="SF-USAGE-491")
    return name


def _whole(text: str) -> int:
    if not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= 1_000:  # noqa: PLR2004 - as the command line has it
        raise UsageError("the number of draws is not from 1 to 1,000", "type such a number", code="SF-USAGE-492")
    return int(text)


ROUTES: Final[list[Route]] = [
    Route("/s/{study}/frontier", show),
    Route("/s/{study}/frontier/points", points),
    Route("/s/{study}/frontier/sweep", save_sweep, methods=["POST"]),
    Route("/s/{study}/frontier/start", start, methods=["POST"]),
]
