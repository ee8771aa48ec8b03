"""A real Spark for tests, on this machine and small: one a process, gone with the tests."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path


def missing():
    """Why there can be no Spark here, in words; nothing if there can."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed: pip install 'sfumato[spark]'"
    if shutil.which("java") is None and not (Path(os.environ.get("JAVA_HOME", "/nowhere")) / "bin" / "java").exists():
        return "no Java here: install a JDK of version 17 or newer, see tools/java.sh"
    return ""


@contextmanager
def running(folder):
    """Start Spark with its files in a folder; queries on a few rows are quickest with one thread and one partition."""
    from pyspark.sql import SparkSession

    settings = {
        "spark.master": "local[1]",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
    }
    spark = SparkSession.builder.config(map=settings).getOrCreate()
    try:
        yield spark
    finally:
        spark.stop()
