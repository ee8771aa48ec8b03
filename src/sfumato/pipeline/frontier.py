"""Sweeps over one study and purpose: every candidate is drafted and measured, in parallel, and can be taken up again.

A draft is made, measured and thrown away: nothing is published, nothing is entered into the ledger, no ε is spent.
What is found out looks at raw records, so it is for the owner alone, and a release that is chosen by it is recorded as
chosen on the raw table.
"""

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from sfumato.compare import Axis, Frontier, Point, Sweep, default_sweep, families, label, sweep_from_settings
from sfumato.core.array_counter import ArrayCounter
from sfumato.core.counts import Cells
from sfumato.core.partition import PartitionView
from sfumato.core.progress import Progress, silent
from sfumato.core.shown import Shown, shown_counts, shown_records
from sfumato.core.study import Study
from sfumato.core.view import View
from sfumato.dp.accountant import Accountant
from sfumato.dp.sampling import SecureSource
from sfumato.engines import CodedTable, open_source
from sfumato.errors import InfeasibleError, OursError, SfumatoError, StudyError, UsageError
from sfumato.measure import Evidence, Measure
from sfumato.methods import Method, build, is_partition, recipe_of
from sfumato.pipeline.baselines import everything, nothing
from sfumato.pipeline.counts import refuse_guesses
from sfumato.pipeline.measuring import chosen_measures, measuring_view
from sfumato.pipeline.partitions import drafted, refuse_unfit
from sfumato.pipeline.point_files import PointFiles, described, fingerprint, outcome
from sfumato.pipeline.population import with_people, with_population
from sfumato.recipe import Recipe
from sfumato.tailor import tailor, tailor_partition

BASELINES = {"nothing published": nothing, "everything published": everything}
DEFAULT = "default"
_V = TypeVar("_V")
_SMALL = 200_000  # cells of a table whose drafts take no minutes
_LONG = 40  # letters of a parameter that are shown in the name of an axis
_SOON = 2.0  # seconds that other processes take to start


@dataclass(frozen=True, kw_only=True)
class Table:
    """What a worker needs to make and measure any draft: the records, the views, and what is shared between drafts."""

    study: Study  # without its source, which is closed
    view: PartitionView  # what is measured
    raw: Cells  # all records, which drafts are measured against
    cells: Cells  # the records that drafts are made from; of persons with many records only some
    for_groups: PartitionView | SfumatoError  # what partition methods see, or why none can run
    for_counts: View | SfumatoError
    measures: Mapping[str, Measure]  # by the names of their numbers
    kept: dict[str, Any] = field(default_factory=dict)


def run_frontier(  # noqa: PLR0913 - all but the first two by keyword
    study: Study,
    sweep: Sweep | str | None = None,
    *,
    purpose: str | None = None,
    x: str | Measure = "ploss",
    y: str | Measure = "uloss",
    measures: Sequence[str | Measure] = (),
    workers: int | None = None,
    folder: Path | None = None,
    progress: Progress = silent,
) -> Frontier:
    """Draft and measure every candidate of a sweep; see `Frontier` for what can be done with the result.

    ``sweep`` is a sweep, the name of one that the study declares, or nothing for the study's only one or the default.
    ``measures`` are taken besides x and y; each is a name, or a measure with its parameters. Finished points are kept
    in ``folder``, without one beside the study; what is there already is not made again.
    """
    name, wanted = _wanted(study, sweep, purpose)
    taken = {_named(measure): measure for measure in chosen_measures((x, y, *measures))}
    axes = {known: _axis(known, measure) for known, measure in taken.items()}
    names = tuple(taken)
    recipes = wanted.recipes(purpose)
    if not recipes:
        raise UsageError("the sweep has no release in it", "give a parameter at least one value")
    count = _workers(workers)
    if folder is None and study.base != Path():
        folder = study.base / "frontier" / (name if purpose is None else f"{name}-{purpose}")
    table = _read(study, purpose, taken, progress)
    files = PointFiles(None if folder is None else folder / "points", fingerprint(table.view, study.unit, table.raw))
    baselines = _baselines(table, files, names, progress)
    tried = _tried(table, recipes, files, names, count, progress)
    found = Frontier(
        study=study.name, purpose=purpose, x=axes[_known(x)], y=axes[_known(y)], axes=axes, tried=tried,
        baselines=baselines, folder=folder,
    )  # fmt: skip
    if not found.points:
        why = list(dict.fromkeys(reason for _, reason in found.failures))
        raise InfeasibleError(
            f"none of the {len(tried)} releases of the sweep could be made and measured; the first says: "
            f"{why[0].removesuffix('.')}",
            "change the sweep or the study",
        )
    return found


def _wanted(study: Study, sweep: Sweep | str | None, purpose: str | None) -> tuple[str, Sweep]:
    """The sweep and its name."""
    if isinstance(sweep, Sweep):
        return "sweep", sweep
    if sweep is None:
        if len(study.sweeps) > 1:
            raise StudyError(
                f"the study '{study.name}' declares {len(study.sweeps)} sweeps", f"name one: {', '.join(study.sweeps)}"
            )
        if not study.sweeps:
            return DEFAULT, default_sweep(study, purpose)
        sweep = next(iter(study.sweeps))
    if sweep not in study.sweeps:
        raise StudyError(
            f"the study '{study.name}' declares no sweep '{sweep}'",
            f"use one of: {', '.join(study.sweeps)}" if study.sweeps else "declare it under `sweeps`",
        )
    return sweep, sweep_from_settings(study.sweeps[sweep])


def _known(measure: str | Measure) -> str:
    return measure if isinstance(measure, str) else _named(measure)


def _named(measure: Measure) -> str:
    """A measure's name, with the parameters that are not the defaults."""
    given: Any = measure
    told = [
        f"{f.name} = {_short(getattr(given, f.name))}" for f in fields(given) if getattr(given, f.name) != f.default
    ]
    return f"{measure.name} ({', '.join(told)})" if told else measure.name


def _short(value: Any) -> str:
    """A parameter in a few letters; what is long is told by a hash, since numbers are found again by this name."""
    text = str(value)
    return text if len(text) <= _LONG else f"given {hashlib.sha256(repr(value).encode()).hexdigest()[:8]}"


def _axis(known: str, measure: Measure) -> Axis:
    title = measure.title + known.removeprefix(measure.name)
    return Axis(name=known, title=title, better=measure.better, unit=measure.unit)


def _workers(asked: int | None) -> int:
    if asked is not None and asked < 1:
        raise UsageError(f"{asked} workers do no work", "use 1 or more")
    if asked is not None:
        return asked
    affinity = getattr(os, "sched_getaffinity", None)  # the cores we may use, where the system tells
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def _read(study: Study, purpose: str | None, measures: Mapping[str, Measure], progress: Progress) -> Table:
    """The records, counted once; the source is closed before any other process begins."""
    view = measuring_view(study, purpose)
    for_groups = _view_or_error(lambda: tailor_partition(study, purpose))
    for_counts = _view_or_error(lambda: tailor(study, purpose))
    names_of = [a.name for a in view.attributes]
    progress("reading the table", 0, 1)
    with open_source(study.source, base=study.base) as table:
        counter = CodedTable(table, view.attributes, unit=study.unit, selection=view.selection)
        cells = counter.full_cells(names_of)
        whole = study.unit == view.unit
        raw = (
            cells
            if whole
            else CodedTable(table, view.attributes, unit=view.unit, selection=view.selection).full_cells(names_of)
        )
        if isinstance(for_groups, PartitionView):
            for_groups = _refusal(lambda: refuse_unfit(counter, view, cells, counter.all_rows())) or for_groups
        if isinstance(for_counts, View):
            for_counts = _refusal(lambda: refuse_guesses(table)) or for_counts
    return Table(
        study=replace(study, source=""), view=view, raw=raw, cells=cells, for_groups=for_groups, for_counts=for_counts,
        measures=measures,
    )  # fmt: skip


def _view_or_error(look: Callable[[], _V]) -> _V | SfumatoError:
    try:
        return look()
    except SfumatoError as error:
        return error


def _refusal(look: Callable[[], None]) -> SfumatoError | None:
    """The error that looking raises, as a value: it is told of each draft that it stops."""
    try:
        look()
    except SfumatoError as error:
        return error
    return None


def _baselines(table: Table, files: PointFiles, names: tuple[str, ...], progress: Progress) -> tuple[Point, ...]:
    found = []
    for name, show in BASELINES.items():
        what = {"baseline": name}
        kept = files.find(what, names)
        if kept is None:
            progress("measuring the table itself", 0, 1)
            began = time.monotonic()
            point = _measured(Point(label=name, series="baseline", family=name), table, show(table.view, table.raw))
            point = replace(point, seconds=time.monotonic() - began)
            files.keep(what, outcome(point))
        else:
            point = _restored(Point(label=name, series="baseline", family=name), kept)
        found.append(point)
    return tuple(found)


def _tried(
    table: Table, recipes: Sequence[Recipe], files: PointFiles, names: tuple[str, ...], workers: int, progress: Progress
) -> tuple[Point, ...]:
    """Every candidate as a point, those that are on file first."""
    found: dict[int, Point] = {}
    todo: list[tuple[int, Point]] = []
    for place, (recipe, family) in enumerate(zip(recipes, families(recipes), strict=True)):
        point = _described(recipe, family)
        kept = None if point.failure is not None else files.find(_what(point), names)
        if point.failure is not None:
            found[place] = point
        elif kept is not None:
            found[place] = _restored(point, kept)
        else:
            todo.append((place, point))
    began, before = time.monotonic(), len(found)
    progress(f"making and measuring {len(todo)} releases", len(found), len(recipes))
    if todo:
        _warm(table)
    for place, point, lasting in _worked(table, todo, workers):
        found[place] = point
        if lasting:
            files.keep(_what(point), outcome(point))
        done = len(found) - before
        left = (time.monotonic() - began) / done * (len(todo) - done)
        progress(f"making and measuring releases{_time_left(left)}", len(found), len(recipes))
    return tuple(found[place] for place in range(len(recipes)))


def _time_left(seconds: float) -> str:
    if seconds < 1:
        return ""
    return f", about {seconds:.0f} s left" if seconds < 90 else f", about {seconds / 60:.0f} min left"  # noqa: PLR2004


def _described(recipe: Recipe, family: str) -> Point:
    """A candidate before it is made, or why it cannot be; its recipe has the parameters that were given, as plain."""
    words = label(recipe)
    try:
        method = build(recipe)
    except SfumatoError as error:
        return Point(label=words, series=recipe.method, family=family, recipe=recipe, failure=str(error))
    promised = [model.name for model in getattr(method, "models", ())] if is_partition(method) else ["ε-DP"]
    whole = recipe_of(method, name=recipe.name).parameters
    given = replace(recipe, parameters={name: whole[name] for name in recipe.parameters})
    series = f"{recipe.method}: {', '.join(dict.fromkeys(promised))}"
    return Point(label=words, series=series, family=family, recipe=given)


def _what(point: Point) -> dict[str, Any]:
    """What makes the draft: the recipe with all its parameters, also those that were not given."""
    assert point.recipe is not None, "candidates have one"
    return described(recipe_of(build(point.recipe), name="", purpose=point.recipe.purpose))


def _restored(point: Point, kept: Mapping[str, Any]) -> Point:
    return replace(
        point, numbers=kept["numbers"], refused=kept["refused"], facts=kept["facts"], seconds=kept["seconds"],
        failure=kept["failure"],
    )  # fmt: skip


def _warm(table: Table) -> None:
    """Let measures work out once what does not depend on the release; workers get it with the table."""
    shown = nothing(table.view, table.raw)
    evidence = Evidence(view=table.view, raw=table.raw, shown=shown, kept=table.kept)
    for measure in table.measures.values():
        if measure.refuses(evidence) is None:
            measure.read(evidence)


def _worked(table: Table, todo: Sequence[tuple[int, Point]], workers: int) -> Iterator[tuple[int, Point, bool]]:
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


def _placed(table: Table, place: int, point: Point) -> tuple[int, Point, bool]:
    return place, *make_point(table, point)


def make_point(table: Table, point: Point) -> tuple[Point, bool]:
    """Make one draft and measure it; a failure is told with its reason, and kept if it would come again."""
    began = time.monotonic()
    lasting = True
    try:
        assert point.recipe is not None, "candidates have one"
        found = _measured(point, table, _shown(table, point.recipe))
    except SfumatoError as error:
        found = replace(point, failure=str(error))
    except Exception as error:  # noqa: BLE001 - one broken draft must not stop the others; its text may hold values
        lasting = False
        found = replace(point, failure=str(OursError(f"an unexpected {type(error).__name__} while making it")))
    return replace(found, seconds=time.monotonic() - began), lasting


def _shown(table: Table, recipe: Recipe) -> Shown:
    """What the draft of a recipe would show."""
    method = build(recipe)
    if is_partition(method):
        if isinstance(table.for_groups, SfumatoError):
            raise table.for_groups
        view = table.for_groups
        method.check(view)
        view = with_people(getattr(method, "models", ()), table.study, view)
        method = with_population(method, table.study, view)
        return shown_records(drafted(method, view, table.cells, SecureSource(), silent))
    if isinstance(table.for_counts, SfumatoError):
        raise table.for_counts
    view_of_counts, private = table.for_counts, cast("Method", method)
    private.check(view_of_counts)
    spends = private.spends
    assert spends is not None, "what is no partition method spends ε"
    codes = {
        name: np.repeat(table.cells.codes[:, place], table.cells.counts)
        for place, name in enumerate(table.cells.attributes)
    }
    counter = ArrayCounter(codes, {view_of_counts.target.name: len(view_of_counts.classes)})
    accountant = Accountant(spends / view_of_counts.unit.stability)
    draft = private.run(view_of_counts, counter, accountant=accountant, source=SecureSource())
    return shown_counts(draft, tuple(a.name for a in table.view.quasi))


def _measured(point: Point, table: Table, shown: Shown) -> Point:
    evidence = Evidence(view=table.view, raw=table.raw, shown=shown, kept=table.kept)
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
