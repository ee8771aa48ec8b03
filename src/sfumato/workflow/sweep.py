"""Sweeps over one study and purpose: every candidate is drafted and measured, in parallel, and can be taken up again.

A draft is made, measured and thrown away: nothing is published, nothing is entered into the ledger, no ε is spent.
What is found out looks at raw records, so it is for the owner alone, and a release that is chosen by it is recorded as
chosen on the raw table.
"""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.errors import InfeasibleError, InternalError, SfumatoError, StudyError, UsageError
from sfumato.evaluate.foreign import foreign_table, read_foreign
from sfumato.evaluate.measures import Measure
from sfumato.file_names import checked_file_name
from sfumato.frontier import (
    FOREIGN,
    NOTHING,
    Frontier,
    Point,
    Sweep,
    average_draws,
    default_sweep,
    families,
    label,
    sweep_from_settings,
)
from sfumato.methods import build, recipe_of
from sfumato.progress import Progress, silent, time_left
from sfumato.release.shown import Shown
from sfumato.study.purpose import refuse_undecided
from sfumato.study.recipe import Recipe
from sfumato.study.study import Study
from sfumato.tables import ManyCellsError
from sfumato.workflow.evaluate import chosen_measures
from sfumato.workflow.steps.background import population_file
from sfumato.workflow.sweeping.baselines import everything_published, nothing_published
from sfumato.workflow.sweeping.candidate_drafts import (
    Table,
    crowds,
    evidence_of,
    read_table,
    shown_of,
    value_or_error,
    with_files,
)
from sfumato.workflow.sweeping.frontier_axes import axis, measure_name, name_with_parameters
from sfumato.workflow.sweeping.stored_points import PointFiles, draft_parameters, fingerprint, point_fields

BASELINES = {NOTHING: nothing_published, "everything published": everything_published}
DEFAULT = "default"
REPEATS = 5  # draws of a release that is random
_MOST_REPEATS = 1_000
Draw = tuple[int, int | None]  # the place of a candidate in its sweep, and which of its draws; None if always the same
_SMALL = 200_000  # cells of a table whose drafts take no minutes
_LOSS, _OWN = "ploss", "own-record-loss"  # the two privacy axes
_SOON = 2.0  # seconds that other processes take to start


def run_frontier(  # noqa: PLR0913 - all but the first two by keyword
    study: Study,
    sweep: Sweep | str | None = None,
    *,
    purpose: str | None = None,
    x: str | Measure = "ploss",
    y: str | Measure = "uloss",
    measures: Sequence[str | Measure] = (),
    tables: Mapping[str, Any] | None = None,
    repeats: int = REPEATS,
    workers: int | None = None,
    folder: Path | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> Frontier:
    """Draft and measure every candidate of a sweep; see `Frontier` for what can be done with the result.

    ``sweep`` is a sweep, the name of one that the study declares, or nothing for the study's only one or the default.
    A sweep of private and syntactic releases over `ploss` has `own-record-loss` as a second privacy axis.
    ``measures`` are taken besides x and y; each is a name, or a measure with its parameters. ``tables`` are releases of
    other tools, which become points beside the candidates and are read before any candidate is made. A release that is
    random, by its noise or its sample, is drawn ``repeats`` times, and its point is the mean. Finished drafts are kept
    in ``folder``, without one beside the study; what is there already is not made again.
    """
    refuse_undecided(study, purpose)
    name, wanted = choose_sweep(study, sweep, purpose)
    recipes = wanted.recipes(purpose)
    beside = _OWN if measure_name(x) == _LOSS and _mixed(recipes) else None
    asked = (x, y, *measures, *([] if beside is None else [beside]))
    taken = {name_with_parameters(measure): measure for measure in chosen_measures(asked)}
    axes = {name: axis(name, measure) for name, measure in taken.items()}
    names = tuple(taken)
    if not recipes:
        raise UsageError("the sweep has no release", "give a parameter at least one value", code="SF-USAGE-088")
    count = _workers(workers)
    refuse_repeats(repeats)
    if folder is None and study.base != Path():
        parts = [("the sweep", name), *([] if purpose is None else [("the purpose", purpose)])]
        folder = study.base / "frontier" / "-".join(checked_file_name(kind, part) for kind, part in parts)
    table = read_table(study, purpose, taken, progress, memory_limit=memory_limit)
    table = with_files(study, table, recipes, memory_limit=memory_limit)
    of = fingerprint(table.view, study.unit, table.raw.cells, table.cells, table.raw.sets)
    files = PointFiles(None if folder is None else folder / "points", of)
    foreign = [
        _measure_draft(point, table, shown)
        for point, shown in _foreign(study, table, tables or {}, progress, memory_limit)
    ]
    candidates = [
        _describe_candidate(recipe, family, table) for recipe, family in zip(recipes, families(recipes), strict=True)
    ]
    said = {"sweep": name, "purpose": purpose, "x": measure_name(x), "y": measure_name(y), "repeats": repeats}
    files.keep_list({**said, "measures": list(map(measure_name, measures))}, _listed(candidates, table, repeats))
    baselines = _baselines(table, files, names, progress)
    tried = _measure_candidates(candidates, table, files, names, count, repeats, progress)
    found = Frontier(
        study=study.name, purpose=purpose, x=axes[measure_name(x)], y=axes[measure_name(y)], axes=axes,
        tried=(*tried, *foreign), baselines=baselines, folder=folder,
        beside=None if beside is None else axes[beside],
    )  # fmt: skip
    if not any(point.recipe is not None for point in found.points):
        why = list(dict.fromkeys(reason for _, reason in found.failures))
        raise InfeasibleError(
            f"none of the {len(tried)} releases of the sweep could be made and measured; the first failed with: "
            f"{why[0].removesuffix('.')}",
            "change the sweep or the study",
            code="SF-INFEASIBLE-017",
        )
    return found


def refuse_repeats(repeats: int) -> None:
    """Refuse numbers of draws that nobody wants."""
    if not 1 <= repeats <= _MOST_REPEATS:
        raise UsageError(
            f"{repeats} is not a valid number of repeats", f"use 1 to {_MOST_REPEATS:,} repeats", code="SF-USAGE-089"
        )


def _mixed(recipes: Sequence[Recipe]) -> bool:
    """Whether a sweep has private and syntactic releases: then neither privacy axis alone compares them."""
    found = set()
    for recipe in recipes:
        method = value_or_error(partial(build, recipe))
        if not isinstance(method, SfumatoError):
            found.add(method.needs.private)
    return len(found) > 1


def choose_sweep(study: Study, sweep: Sweep | str | None, purpose: str | None) -> tuple[str, Sweep]:
    """The sweep and its name."""
    if isinstance(sweep, Sweep):
        return "sweep", sweep
    if sweep is None:
        if len(study.sweeps) > 1:
            raise StudyError(
                f"the study '{study.name}' declares {len(study.sweeps)} sweeps",
                f"name one: {', '.join(study.sweeps)}",
                code="SF-STUDY-222",
            )
        if not study.sweeps:
            return DEFAULT, default_sweep(study, purpose)
        sweep = next(iter(study.sweeps))
    if sweep not in study.sweeps:
        raise StudyError(
            f"the study '{study.name}' declares no sweep '{sweep}'",
            f"use one of: {', '.join(study.sweeps)}" if study.sweeps else "declare it under `sweeps`",
            code="SF-STUDY-223",
        )
    return sweep, sweep_from_settings(study.sweeps[sweep])


def _workers(asked: int | None) -> int:
    if asked is not None and asked < 1:
        raise UsageError(f"{asked} is not a valid number of workers", "use 1 or more", code="SF-USAGE-090")
    if asked is not None:
        return asked
    affinity = getattr(os, "sched_getaffinity", None)  # the cores we may use, where the system tells
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _baselines(table: Table, files: PointFiles, names: tuple[str, ...], progress: Progress) -> tuple[Point, ...]:
    found = []
    for name, show in BASELINES.items():
        what = _baseline_draft(name)
        kept = files.find(what, names)
        if kept is None:
            progress("measuring the table itself", 0, 1)
            began = time.monotonic()
            shown = show(table.view, table.raw.cells, table.raw.sets)
            point = _measure_draft(_baseline_point(name), table, shown)
            point = replace(point, seconds=time.monotonic() - began)
            files.keep(what, point_fields(point))
        else:
            point = _restore_point(_baseline_point(name), kept)
        found.append(point)
    return tuple(found)


def _foreign(
    study: Study, table: Table, given: Mapping[str, Any], progress: Progress, memory_limit: str | None
) -> list[tuple[Point, Shown]]:
    """Releases of other tools, read in the study's order of values, as points that are not yet measured."""
    found: list[tuple[Point, Shown]] = []
    for name, one in given.items():
        progress(f"reading {name}", len(found), len(given))
        read = read_foreign(study, table.view, foreign_table(one), reorder=False, memory_limit=memory_limit)
        point = Point(label=name, series=FOREIGN, family=name, foreign=True, notes=tuple(read.sentences()))
        found.append((point, read.shown))
    return found


def _measure_candidates(
    points: Sequence[Point],
    table: Table,
    files: PointFiles,
    names: tuple[str, ...],
    workers: int,
    repeats: int,
    progress: Progress,
) -> tuple[Point, ...]:
    """Every candidate measured. What is made, kept on file and counted is its draws: one, or ``repeats``."""
    draws = {n: _draws(point, repeats) for n, point in enumerate(points) if point.failure is None}
    found: dict[Draw, Point] = {}
    todo: list[tuple[Draw, Point]] = []
    for draw in ((n, which) for n, many in draws.items() for which in many):
        kept = files.find(_what(points[draw[0]], draw[1], table), names)
        if kept is None:
            todo.append((draw, points[draw[0]]))
        else:
            found[draw] = _restore_point(points[draw[0]], kept)
    began, before, whole = time.monotonic(), len(found), len(found) + len(todo)
    progress(f"making and measuring {len(todo)} releases", len(found), whole)
    if todo:
        _warm(table)
    for draw, point, lasting in _run_workers(table, todo, workers):
        found[draw] = point
        if lasting:
            files.keep(_what(point, draw[1], table), point_fields(point))
        done = len(found) - before
        left = time_left(done, len(todo), time.monotonic() - began)
        progress(f"making and measuring releases{left}", len(found), whole)
    return tuple(
        average_draws([found[n, which] for which in draws[n]]) if n in draws else point
        for n, point in enumerate(points)
    )


def _listed(candidates: Sequence[Point], table: Table, repeats: int) -> list[tuple[Point, Sequence[Mapping[str, Any]]]]:
    """Every baseline and candidate with what makes each of its draws; one that cannot be made has none."""
    found: list[tuple[Point, Sequence[Mapping[str, Any]]]] = [
        (_baseline_point(name), [_baseline_draft(name)]) for name in BASELINES
    ]
    for point in candidates:
        draws = [] if point.failure is not None else _draws(point, repeats)
        found.append((point, [_what(point, draw, table) for draw in draws]))
    return found


def _baseline_point(name: str) -> Point:
    return Point(label=name, series="baseline", family=name)


def _baseline_draft(name: str) -> dict[str, Any]:
    return {"baseline": name}


def _draws(point: Point, repeats: int) -> list[int | None]:
    """The draws of a candidate by number; what is always the same is made once and has none."""
    assert point.recipe is not None, "candidates have one"
    return list(range(repeats)) if build(point.recipe).needs.random else [None]


def _describe_candidate(recipe: Recipe, family: str, table: Table) -> Point:
    """A candidate before it is made, or why it cannot be; its recipe has the parameters that were given, as plain."""
    words = label(recipe)
    try:
        method = build(recipe)
        shares = table.populations.get(population_file(method) or "")
        for found in (shares, *(table.people[name] for name in crowds(method) if name in table.people)):
            if isinstance(found, SfumatoError):
                raise found
    except SfumatoError as error:
        return Point(label=words, series=recipe.method, family=family, recipe=recipe, failure=str(error))
    models = [model.name for model in method.models] or ["ε-DP"]
    whole = recipe_of(method, name=recipe.name).parameters
    given = replace(recipe, parameters={name: whole[name] for name in recipe.parameters})
    series = f"{recipe.method}: {', '.join(dict.fromkeys(models))}"
    return Point(label=words, series=series, family=family, recipe=given)


def _what(point: Point, draw: int | None, table: Table) -> dict[str, Any]:
    """What makes the draft: the recipe with all its parameters, what files say that it names, and which draw it is."""
    assert point.recipe is not None, "candidates have one"
    method = build(point.recipe)
    made = draft_parameters(recipe_of(method, name="", purpose=point.recipe.purpose))
    names = [name for name in (population_file(method), *crowds(method)) if name is not None]
    said = {"said": [table.said.get(name) for name in names]} if names else {}
    return {**made, **said, **({} if draw is None else {"draw": draw})}


def _restore_point(point: Point, kept: Mapping[str, Any]) -> Point:
    return replace(
        point, numbers=kept["numbers"], refused=kept["refused"], facts=kept["facts"], seconds=kept["seconds"],
        failure=kept["failure"],
    )  # fmt: skip


def _warm(table: Table) -> None:
    """Let measures work out once what does not depend on the release; workers get it with the table."""
    evidence = evidence_of(table, nothing_published(table.view, table.raw.cells, table.raw.sets))
    for measure in table.measures.values():
        if measure.refuses(evidence) is None:
            measure.read(evidence)


def _run_workers(table: Table, todo: Sequence[tuple[Draw, Point]], workers: int) -> Iterator[tuple[Draw, Point, bool]]:
    """The points as they are finished, and whether to keep them on file."""
    began = time.monotonic()
    waiting = dict(todo)
    alone = min(workers, len(todo)) <= 1
    for place, point in todo:
        # Other processes take some seconds to start: what is done by then needs none.
        if not alone and (len(table.cells) > _SMALL or time.monotonic() - began > _SOON):
            break
        del waiting[place]
        yield place, *make_point(table, point)
    if len(waiting) <= 1 or alone:
        yield from ((place, *make_point(table, point)) for place, point in waiting.items())
        return
    from joblib import Parallel, delayed  # noqa: PLC0415 - only where several processes are wanted
    from joblib.externals.loky.process_executor import BrokenProcessPool  # noqa: PLC0415

    # New interpreters, not forks: the engine and the numerical libraries have threads, which a fork would break. Large
    # arrays are shared as memory maps.
    pool = Parallel(n_jobs=min(workers, len(waiting)), backend="loky", return_as="generator_unordered", batch_size=1)
    try:
        for place, point, lasting in pool(
            delayed(_placed)(table, place, point) for place, point in list(waiting.items())
        ):
            del waiting[place]
            yield place, point, lasting
    except BrokenProcessPool:
        for place, point in waiting.items():
            why = "a worker process was ended before this was finished, perhaps for lack of memory; run it again"
            yield place, replace(point, failure=why), False


def _placed(table: Table, place: Draw, point: Point) -> tuple[Draw, Point, bool]:
    return place, *make_point(table, point)


def make_point(table: Table, point: Point) -> tuple[Point, bool]:
    """Make one draft and measure it; a failure has its reason, and is stored if it would recur.

    One for which the whole table is refused would not: the record that stops it may be gone, with all others as before.
    """
    began = time.monotonic()
    lasting = True
    try:
        assert point.recipe is not None, "candidates have one"
        found = _measure_draft(point, table, shown_of(table, point.recipe))
    except SfumatoError as error:
        whole = error is table.for_groups or error is table.for_counts
        lasting = not whole and not isinstance(error, ManyCellsError)  # a larger limit may be given next time
        found = replace(point, failure=str(error))
    except Exception as error:  # noqa: BLE001 - one broken draft must not stop the others; its text may hold values
        lasting = False
        found = replace(point, failure=str(InternalError(f"an unexpected {type(error).__name__} while making it")))
    return replace(found, seconds=time.monotonic() - began), lasting


def _measure_draft(point: Point, table: Table, shown: Shown) -> Point:
    evidence = evidence_of(table, shown)
    numbers: dict[str, float] = {}
    refused: dict[str, str] = {}
    for name, measure in table.measures.items():
        reason = measure.refuses(evidence)
        if reason is not None:
            refused[name] = reason
        else:
            # Rounded, so that the last bits of a sum make no release better than another.
            numbers[name] = round(float(measure.read(evidence).value), 12)
    facts = {"rows": len(shown), "records": round(shown.records), "suppressed": shown.suppressed}
    return replace(point, numbers=numbers, refused=refused, facts=facts)
