"""Servers for `bench.engines`: a PostgreSQL and a Spark cluster of its own on 127.0.0.1, ended and removed with it."""

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

TABLE = "sfumato_bench"
POSTGRES_SETTINGS = {"shared_buffers": "1GB", "work_mem": "256MB", "max_wal_size": "8GB", "fsync": "off"}
SPARK_WORKERS = 2  # of one core each
SPARK_SETTINGS = {"spark.executor.memory": "2g", "spark.driver.memory": "1g", "spark.driver.host": "127.0.0.1"}
_BLOCK = 2**20
_PLACES = ("usr/lib/postgresql/*/bin", "usr/pgsql-*/bin", "opt/homebrew/opt/postgresql*/bin")
_USERS = ("postgres", "nobody")  # who runs PostgreSQL where we are root, which it refuses


@contextmanager
def postgres_server() -> Iterator[str]:
    """Start a PostgreSQL with a data folder of its own; the address of a database."""
    user = _server_user()
    folder = Path(tempfile.mkdtemp(prefix="sfumato-pg-"))  # short: sockets lie in it, and their paths are limited
    try:
        os.chown(folder, user.pw_uid, user.pw_gid)
        data, port = folder / "data", _free_port()
        _run_as(user, folder, _program("initdb"), "-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--no-sync")
        settings = {**POSTGRES_SETTINGS, "listen_addresses": "127.0.0.1", "unix_socket_directories": str(folder)}
        options = " ".join(f"-c {name}={value}" for name, value in settings.items())
        control = (_program("pg_ctl"), "-D", data, "-w")
        _run_as(user, folder, *control, "-l", folder / "log", "-o", f"-p {port} {options}", "start")
        try:
            yield f"postgresql://owner@127.0.0.1:{port}/postgres"
        finally:
            _run_as(user, folder, *control, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def postgres_table(parquet: Path, address: str) -> Iterator[str]:
    """Bring a table to the server; the address of the table, which is dropped in the end."""
    fields = pq.read_schema(parquet)
    kinds = [f'"{field.name}" {"BIGINT" if pa.types.is_integer(field.type) else "TEXT"}' for field in fields]
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
        connection.execute(f"CREATE UNLOGGED TABLE {TABLE} ({', '.join(kinds)})")
        with tempfile.TemporaryDirectory() as place:
            csv = Path(place) / "table.csv"
            with duckdb.connect(config={"memory_limit": "2GB", "preserve_insertion_order": False}) as writer:
                writer.execute(f"COPY (FROM '{parquet}') TO '{csv}' (FORMAT csv, HEADER false)")
            with (
                csv.open("rb") as file,
                connection.cursor() as cursor,
                cursor.copy(f"COPY {TABLE} FROM STDIN (FORMAT csv)") as copy,
            ):
                while block := file.read(_BLOCK):
                    copy.write(block)
        connection.execute(f"VACUUM ANALYZE {TABLE}")
        try:
            yield f"{address}?table={TABLE}"
        finally:
            connection.execute(f"DROP TABLE IF EXISTS {TABLE}")


@contextmanager
def spark_cluster(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Start a standalone cluster of two workers; its address, and what the environment must say to use it."""
    import pyspark  # noqa: PLC0415 - an extra

    home = Path(pyspark.__file__).parent
    configuration = folder / "conf"
    configuration.mkdir(parents=True)
    lines = [f"{name} {value}" for name, value in SPARK_SETTINGS.items()]
    (configuration / "spark-defaults.conf").write_text("\n".join([*lines, ""]), encoding="utf-8")
    environment = {
        "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_CONF_DIR": str(configuration),
        "PYSPARK_PYTHON": sys.executable,  # executors finish parts with this version
    }  # fmt: skip
    for_servers = {
        **os.environ, **environment, "SPARK_DAEMON_MEMORY": "512m", "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
    }  # fmt: skip
    with ExitStack() as stack:
        port = _free_port()
        start = str(home / "bin" / "spark-class")
        web = ("--webui-port", str(_free_port()))
        master = (start, "org.apache.spark.deploy.master.Master", "-h", "127.0.0.1", "-p", str(port), *web)
        stack.enter_context(_running(master, folder, for_servers))
        _wait(port)
        for _ in range(SPARK_WORKERS):
            web = ("--webui-port", str(_free_port()))
            worker = (start, "org.apache.spark.deploy.worker.Worker", "-h", "127.0.0.1", "-c", "1", "-m", "2g", *web)
            stack.enter_context(_running((*worker, f"spark://127.0.0.1:{port}"), folder, for_servers))
        yield f"spark://127.0.0.1:{port}", environment


@contextmanager
def _running(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[None]:
    with (folder / "said").open("a") as said:
        running = subprocess.Popen(command, stdout=said, stderr=said, cwd=folder, env=dict(environment))  # noqa: S603
        try:
            yield
        finally:
            running.terminate()
            running.wait(60)


def _wait(port: int) -> None:
    for _ in range(600):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.3)
    raise SystemExit("the Spark master did not start")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _program(name: str) -> str:
    """A program of PostgreSQL, from PATH or where distributions put it."""
    found = shutil.which(name) or next(
        (str(path) for place in _PLACES for path in sorted(Path("/").glob(f"{place}/{name}"))[-1:]), None
    )
    if found is None:
        raise SystemExit(f"there is no {name} here: install PostgreSQL (tools/postgres.sh), or name a server")
    return found


def _server_user() -> pwd.struct_passwd:
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    for name in _USERS:
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise SystemExit(f"PostgreSQL does not run as root, and there is no user {' or '.join(_USERS)}")


def _run_as(user: pwd.struct_passwd, folder: Path, *command: object) -> None:
    who: dict[str, Any] = {}
    if user.pw_uid != os.geteuid():
        who = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with (folder / "said").open("a") as said:  # no pipe: the server would keep it open
        subprocess.run(  # noqa: S603 - our own command
            [str(part) for part in command], check=True, cwd=folder, stdout=said, stderr=said,
            env={**os.environ, "LC_ALL": "C", "HOME": str(folder)}, timeout=300, **who,
        )  # fmt: skip
