"""All candidates as columns of a table, for CSV, Arrow and the page."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.frontier.point import Point


def columns(
    points: Sequence[Point],
    *,
    measures: Sequence[str],
    efficient: Sequence[Point],
    no_better: Sequence[Point],
    chosen: Point | None,
    why: Mapping[int, str],
) -> dict[str, list[Any]]:
    """A column a thing that is known of a candidate; ``why`` has the reasons of failures by identity."""
    among, worse = ({id(point) for point in some} for some in (efficient, no_better))
    return {
        "release": [point.label for point in points],
        "method": [None if point.recipe is None else point.recipe.method for point in points],
        "series": [point.series for point in points],
        "parameters": [
            None
            if point.recipe is None
            else json.dumps(point.recipe.plain_parameters(), ensure_ascii=False, sort_keys=True)
            for point in points
        ],
        **{name: [point.numbers.get(name) for point in points] for name in measures},
        "draws": [point.draws for point in points],
        **{
            f"{name} {what}": [getattr(point.spread.get(name), what, None) for point in points]
            for name in measures
            for what in ("deviation", "least", "most")
        },
        "efficient": [id(point) in among for point in points],
        "no better than nothing": [id(point) in worse for point in points],
        "chosen": [point is chosen for point in points],
        "rows": [point.facts.get("rows") for point in points],
        "suppressed": [point.facts.get("suppressed") for point in points],
        "seconds": [round(point.seconds, 3) for point in points],
        "foreign": [point.foreign for point in points],
        "failure": [why.get(id(point)) for point in points],
    }


def as_csv(found: Mapping[str, Sequence[Any]]) -> str:
    r"""Columns as CSV; numbers read back as they were, nothing as an empty field.

    >>> as_csv({"a": [0.1, None], "b": [True, False]})
    'a,b\n0.1,true\n,false\n'
    """
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(found)
    for row in zip(*found.values(), strict=True):
        rows.writerow([str(value).lower() if isinstance(value, bool) else value for value in row])
    return out.getvalue()
