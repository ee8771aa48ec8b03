"""A real Spark for tests, on this machine and small: one a process, gone with the tests."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path


def missing():
    """Why there can be no Spark here, in words; nothing if there can."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed: pip install '.[spark]'"
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
    spark.sparkContext.pythonExec = sys.executable
    try:
        yield spark
    finally:
        spark.stop()


@dataclass
class Cluster:
    """The address of a standalone cluster, and the processes of its workers."""

    address: str
    workers: list[subprocess.Popen]

    def kill(self, worker):
        """End a worker and its executors at once, as a machine that loses power does."""
        process = self.workers[worker]
        executors = _children(process.pid)
        for one in (process.pid, *executors):
            os.kill(one, signal.SIGKILL)
        return executors


@contextmanager
def cluster(folder, workers=1):
    """Start a standalone cluster with workers of one core each."""
    with ExitStack() as stack:
        port = free_port()
        web = ("--webui-port", str(free_port()))
        master = ("org.apache.spark.deploy.master.Master", "-h", "127.0.0.1", "-p", str(port), *web)
        stack.enter_context(_program(folder, "spark-class", *master))
        _wait(port, folder)
        worker = ("org.apache.spark.deploy.worker.Worker", "-h", "127.0.0.1", "-c", "1", "-m", "1g")
        started = []
        for _ in range(workers):
            web = ("--webui-port", str(free_port()))
            program = _program(folder, "spark-class", *worker, *web, f"spark://127.0.0.1:{port}")
            started.append(stack.enter_context(program))
        _wait_for(lambda: (folder / "said").read_text().count("Registering worker") >= workers, folder)
        yield Cluster(f"spark://127.0.0.1:{port}", started)


def _children(parent):
    """The processes that a process started, by their number."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == parent:
                found.append(int(path.parent.name))
    return found


@contextmanager
def connect_server(folder):
    """Start a Spark Connect server; its address."""
    port = free_port()
    options = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    settings = [word for name, value in options.items() for word in ("--conf", f"{name}={value}")]
    server = ("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal")
    with _program(folder, "spark-submit", "--master", "local[1]", *settings, *server):
        _wait(port, folder)
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def _program(folder, name, *arguments):
    import pyspark

    home = Path(pyspark.__file__).parent
    with (folder / "said").open("a") as said:
        running = subprocess.Popen(
            [str(home / "bin" / name), *arguments], stdout=said, stderr=said, cwd=folder,
            env={**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "512m",
                 "SPARK_WORKER_DIR": str(folder / "work")},
        )  # fmt: skip
        try:
            yield running
        finally:
            running.terminate()
            running.wait(60)


def _wait(port, folder):
    def listens():
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False

    _wait_for(listens, folder)


def _wait_for(ready, folder):
    for _ in range(600):
        if ready():
            return
        time.sleep(0.3)
    raise AssertionError((folder / "said").read_text()[-2000:])


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
