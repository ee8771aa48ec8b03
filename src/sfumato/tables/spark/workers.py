"""Our code on Spark's executors: a function on the cells of each part of a table, in Arrow batches.

The executors run Python, and need this version of Sfumato there. That is tried before anything depends on it; where it
is missing, the parts are worked on in this process, with the same result.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sfumato.errors import SourceError
from sfumato.tables.engine import GroupWork

if TYPE_CHECKING:
    from sfumato.tables.spark.session import SparkQueries


def workers_are_ready(session: "SparkQueries") -> bool:
    """Whether an executor can import what it has to run, in the version that is here."""
    try:
        found = session.guarded(
            lambda: session.spark.range(1).mapInArrow(_say_version, "version string").toArrow(),
            doing="trying executors",
        )
    except SourceError:
        return False
    return bool(found["version"].to_pylist() == [_version()])


def map_on_workers(session: "SparkQueries", sql: str, work: GroupWork, *, width: int, doing: str) -> str:
    """Group the rows of a query by ``part`` and run a function on each group, where the group is.

    What comes back is the name of a query, which has not run: ``part``, and then the columns that the function makes.
    """
    schema = ", ".join(["part long", *(f"r{place} long" for place in range(width))])
    run = partial(_run, work, width)

    def mapped() -> Any:
        return session.spark.sql(sql).groupBy("part").applyInArrow(_as_function(run), schema)

    return session.name(session.guarded(mapped, doing=doing), doing=doing)


def _as_function(run: Callable[[pa.Table], pa.Table]) -> Callable[[pa.Table], pa.Table]:
    """PySpark looks at the signature of what it gets."""

    def function(table: pa.Table) -> pa.Table:
        return run(table)

    return function


def _run(work: GroupWork, width: int, table: pa.Table) -> pa.Table:
    """On an executor: one part."""
    part = int(table["part"][0].as_py())
    columns = {name: table[name].to_numpy() for name in table.column_names if name != "part"}
    made = work(part, columns)
    arrays = [pa.array(np.full(len(made), part, np.int64)), *(pa.array(made[:, place]) for place in range(width))]
    return pa.table(arrays, names=["part", *(f"r{place}" for place in range(width))])


def _say_version(batches: Iterator[Any]) -> Iterator[pa.RecordBatch]:
    for _ in batches:
        yield pa.record_batch({"version": [_version()]})


def _version() -> str:
    """The version of Sfumato and of the form in which its values are handed over."""
    from importlib.metadata import version  # noqa: PLC0415 - on an executor, when it runs

    return f"{version('sfumato')}, numpy {np.__version__.partition('.')[0]}"
