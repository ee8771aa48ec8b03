"""Finding Spark: the one that runs in this process, a new one on this machine, a cluster, or a Spark Connect server.

A process has one Spark at most. One that runs already is used if it is the one that is asked for, through a session of
our own; it stays as it is, and runs on after us. One that was started here ends with the process.
"""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from sfumato.errors import SourceError
from sfumato.memory_limit import parse_memory
from sfumato.tables.engine import Limits
from sfumato.tables.spark.session import SPARK_ERRORS, SparkQueries

_PATIENCE: Final = 10.0  # seconds until somebody answers
_LEAST_MEMORY: Final = 512  # MiB without which Spark does not start
_ALWAYS: Final = {
    "spark.app.name": "sfumato",
    "spark.ui.enabled": "false",  # its pages show queries, and plans with values of lookup tables
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # a failed task is logged with the value that made it fail
}


class _Process:
    """What lives as long as the process does."""


_PROCESS: Final = _Process()


def private_folder() -> Path:
    """A new folder that only its owner may look into."""
    return Path(tempfile.mkdtemp(prefix="sfumato-"))


def local_spark(limits: Limits) -> Any:
    """Spark on this machine, as a session to make others from."""
    running = _running()
    if running is not None:
        return _fitting(running, "local")
    threads = limits.threads or os.cpu_count() or 1
    memory = {} if limits.memory is None else {"spark.driver.memory": _java_memory(limits.memory)}
    spark = _started(
        {
            "spark.master": f"local[{threads}]",
            "spark.driver.host": "127.0.0.1",  # nothing listens to the network
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.maxResultSize": "0",
            "spark.sql.shuffle.partitions": str(4 * threads),
            **memory,
        }
    )
    spark.sparkContext.pythonExec = sys.executable  # not the first Python on PATH
    return spark


def cluster_spark(place: str) -> Any:
    """Spark on a cluster: the named one, or the one that the environment is configured for."""
    running = _running()
    if running is not None:
        return _fitting(running, f"spark://{place}" if place else "")
    if place:
        _refuse_unreachable(place, port=7077)
    return _started({"spark.master": f"spark://{place}"} if place else {})


def connected_spark(place: str) -> Any:
    """A new session of a Spark Connect server."""
    _refuse_unreachable(place, port=15002)
    doing = "connecting to Spark"
    try:
        return SparkQueries.guarded(lambda: SparkSession.builder.remote(f"sc://{place}").create(), doing=doing)
    except ImportError:
        raise SourceError(
            "Spark Connect needs the library grpcio, which is not installed",
            "pip install 'pyspark[connect]'",
            code="SF-SOURCE-395",
        ) from None


def _refuse_unreachable(place: str, *, port: int) -> None:
    """Whether anybody listens at one of the hosts: Spark itself tries again for minutes before it says so."""
    for one in place.split(","):
        parts = urlsplit(f"//{one}")
        with contextlib.suppress(OSError), socket.create_connection((parts.hostname, parts.port or port), _PATIENCE):
            return
    raise SourceError(
        "Spark cannot be reached, or does not let this user in",
        "check host and port, that Spark runs there, and that its version is the one of pyspark",
        code="SF-SOURCE-380",
    )


def _running() -> Any:
    with contextlib.suppress(PySparkRuntimeError):
        return SparkSession.active()
    return None


def _fitting(running: Any, master: str) -> Any:
    """The Spark that runs already, if it is the one that is asked for."""
    found = str(SparkQueries.guarded(lambda: running.sparkContext.master, doing="looking at the Spark of this process"))
    if not found.startswith(master):
        raise SourceError(
            f"this process already uses Spark at '{found}', and a process has one Spark",
            "open the table in another process, or stop that Spark first",
            code="SF-SOURCE-396",
        )
    return running


def _started(options: Mapping[str, str]) -> Any:
    """A new Spark with a private folder for its files; both go when the process ends."""
    folder = private_folder()
    places = {"spark.local.dir": str(folder / "local"), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    if not options.get("spark.master", "").startswith("local"):
        del places["spark.sql.warehouse.dir"]  # a cluster has its own
    settings = {**_ALWAYS, **places, **options}
    try:
        spark = SparkQueries.guarded(lambda: _silent(settings), doing="starting Spark")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(_PROCESS, _stop, spark, folder)  # made first, run last: sessions are closed before
    return spark


def _silent(settings: Mapping[str, str]) -> Any:
    """A new Spark whose Java writes to nobody: it greets before it reads that it is to log nothing."""
    conf = SparkConf().setAll(list(settings.items()))
    if SparkContext._gateway is None:  # noqa: SLF001 - else the Java of a Spark that was stopped here serves again
        launch: Any = launch_gateway
        nowhere = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        SparkContext(conf=conf, gateway=launch(conf, nowhere))
    return SparkSession.builder.config(conf=conf).getOrCreate()


def _stop(spark: Any, folder: Path) -> None:
    with contextlib.suppress(*SPARK_ERRORS, OSError):
        spark.stop()
    shutil.rmtree(folder, ignore_errors=True)


def _java_memory(limit: str) -> str:
    """A limit such as 2GB as Java reads it, in whole MiB, and not less than Spark needs to start.

    >>> _java_memory("1.5 GiB"), _java_memory("20MB")
    ('1536m', '512m')
    """
    return f"{max(_LEAST_MEMORY, parse_memory(limit) >> 20)}m"
