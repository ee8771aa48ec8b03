"""The command that measures a release against the table it was made from."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sfumato.cli import show
from sfumato.cli.foreign import (
    Hierarchies,
    Rate,
    Synthetic,
    Table,
    one_foreign_table,
    refuse_without_table,
    study_of_table,
)
from sfumato.cli.options import Json, MemoryLimit, Was
from sfumato.errors import UsageError

if TYPE_CHECKING:
    from sfumato.evaluate.foreign import ForeignTable
    from sfumato.evaluate.measures import Measure, Reading, Refused

_WHOLE = 1000  # from here on without a fraction
_OWNER = (
    "these numbers are computed from raw records and covered by no guarantee: for your eyes only, never publish them"
)


def measures(  # noqa: PLR0913, PLR0917 - an option each
    bundle: Annotated[
        Path | None,
        typer.Argument(help="A bundle's folder, or the folder it is in; with --table, the study.", metavar="BUNDLE"),
    ] = None,
    against: Annotated[
        Path | None, typer.Option("--against", help="The study file (YAML) that the release was made from.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="A measure, or several separated by commas. Repeatable.")
    ] = None,
    table: Table = None,
    synthetic: Synthetic = False,
    rate: Rate = None,
    hierarchy: Hierarchies = None,
    purpose: Annotated[
        str | None, typer.Option("--purpose", help="With --table: measure over the attributes of a declared purpose.")
    ] = None,
    was: Was = None,
    list_all: Annotated[bool, typer.Option("--list", help="List all measures and exit.")] = False,
    memory_limit: MemoryLimit = None,
    json: Json = False,
) -> None:
    """For the owner: privacy and utility measures of a release, computed against the raw table.

    The output is computed from raw records and covered by no guarantee. A measure that does not apply says why.
    """
    from sfumato.workflow.evaluate import chosen_measures

    names = [name.strip() for text in only or () for name in text.split(",") if name.strip()]
    chosen = chosen_measures(names or None)
    if list_all:
        _list_measures(chosen, json=json)
        return
    refuse_without_table(table, synthetic=synthetic, rate=rate, hierarchy=hierarchy, purpose=purpose)
    if table is not None:
        given = one_foreign_table(table, synthetic=synthetic, rate=rate, hierarchies=hierarchy)
        _measure_table(study_of_table(bundle, against), given, chosen, purpose, memory_limit, json=json)
        return
    if bundle is None or against is None:
        raise UsageError(
            "measuring a release requires a bundle and the study it was made from",
            "run `sfumato evaluate measures BUNDLE --against STUDY`, or `sfumato evaluate measures --list`",
            code="SF-USAGE-006",
        )
    from sfumato.api import Study

    with show.progress(shown=not json) as report:
        found = Study.load(against).measure(bundle, only=chosen, was=was, progress=report, memory_limit=memory_limit)
    if json:
        results = [{**one.as_json(), **found[one.name].as_json()} for one in chosen]
        show.as_json({"owner_only": _OWNER, "measures": results})
        return
    _show_readings(chosen, found)
    show.warn(_OWNER)


def _measure_table(
    study: Path,
    table: "ForeignTable",
    chosen: Sequence["Measure"],
    purpose: str | None,
    memory_limit: str | None,
    *,
    json: bool,
) -> None:
    from sfumato.api import Study
    from sfumato.workflow import measure_table

    with show.progress(shown=not json) as report:
        found, read = measure_table(
            Study.load(study).declared, table, chosen, purpose=purpose, progress=report, memory_limit=memory_limit
        )
    if json:
        results = [{**one.as_json(), **found[one.name].as_json()} for one in chosen]
        show.as_json({"owner_only": _OWNER, "table": read.as_json(), "measures": results})
        return
    show.bullets(read.sentences())
    _show_readings(chosen, found)
    show.warn(_OWNER)


def _list_measures(measures: Sequence["Measure"], *, json: bool) -> None:
    if json:
        show.as_json([one.as_json() for one in measures])
        return
    from sfumato.evaluate.measures import range_words

    rows = [
        [one.name, one.kind, one.better, f"{range_words(one)} {one.unit}", f"{one.title}: {one.summary}"]
        for one in measures
    ]
    show.table(["measure", "kind", "better", "range", "what it means"], rows)


def _show_readings(measures: Sequence["Measure"], found: "dict[str, Reading | Refused]") -> None:
    from sfumato.evaluate.measures import Reading

    rows = []
    for one in measures:
        reading = found[one.name]
        if isinstance(reading, Reading):
            rows.append([one.name, _value(one, reading), one.better, f"{one.title}: {one.summary}"])
    if rows:
        show.table(["measure", "value", "better", "what it means"], rows)
    for one in measures:
        reading = found[one.name]
        if not isinstance(reading, Reading):
            show.say(f"{one.name} does not apply: {reading.reason}")


def _value(one: "Measure", reading: "Reading") -> str:
    """The number with its unit, and the baseline where the measure has one: its value without the release."""
    baseline = reading.details.get("baseline")
    beside = "" if baseline is None else f" (baseline {_number(baseline)})"
    return f"{_number(reading.value)} {one.unit}{beside}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if isfinite(value) and abs(value) >= _WHOLE else f"{value:.4g}"
