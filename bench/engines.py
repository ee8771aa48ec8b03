"""The same releases on DuckDB, PostgreSQL and Spark: seconds and peak memory, as the table grows.

    python -m bench.engines [--rows 1000000,20000000] [--engines duckdb,postgresql,spark] [--only mondrian]
        [--postgres postgresql://owner@host/database] [--spark spark://host:port] [--tables FOLDER]

The table is the packaged census table blown up with variations of its records. DuckDB and Spark read it as a Parquet
file; PostgreSQL gets it as a table of its own, `sfumato_bench`, before the clock starts, and loses it afterwards. Every
release is a process of its own, from the address to a verified bundle. What is counted is the memory of the machine
that asks: of Python, of the Java that Spark runs beside it, and of both together. The memory of servers, workers and
executors is not. Servers are started on 127.0.0.1 with the settings that are printed, and removed in the end, unless
an address names others. With `--tables` the blown-up tables are kept for the next time.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

from bench.engine_servers import (
    POSTGRES_SETTINGS,
    SPARK_SETTINGS,
    SPARK_WORKERS,
    postgres_server,
    postgres_table,
    spark_cluster,
)
from bench.process_tree import Watched, run_watched
from bench.run import study_of
from bench.staged_scale import blow_up_parts
from papers.machine import machine

_ENGINES = ("duckdb", "postgresql", "spark")
_AGE = "bounds: [0, 120], step: 1}"
_AGE_IN_LEVELS = "bounds: [0, 119], step: 1, taxonomy: {intervals: {width: 5, levels: 3}}}"
_SURVEY = "purpose: survey}"
_CAPPED = "attributes: [age, workclass, education, marital_status, race, sex, occupation, income]"
_HEAD = (
    "| records | release | engine | s | of it publishing s | Python MiB | its Java MiB | all MiB |\n"
    "|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A release as a study declares it, and the memory limit that its owner gives the built-in engine."""

    recipe: str
    sensitive: bool = False  # whether occupation is
    limit: str | None = None


_RELEASES = {
    "diffgen": Asked(recipe="{method: diffgen, epsilon: 1, h: 10}"),
    "staged": Asked(recipe="{method: staged, epsilon: 1}"),
    "mondrian, six quasi-identifiers": Asked(recipe="{method: mondrian, k: 10, " + _SURVEY),
    "mondrian, 14 quasi-identifiers": Asked(recipe="{method: mondrian, k: 10}", limit="2GB"),
    "full-domain, six quasi-identifiers": Asked(recipe="{method: full-domain, k: 10, suppress: 0.02, " + _SURVEY),
    "capped-confidence, six quasi-identifiers": Asked(recipe="{method: capped-confidence, " + _SURVEY, sensitive=True),
}


@dataclass(frozen=True, kw_only=True)
class Place:
    """A table where an engine finds it."""

    engine: str
    source: str
    environment: dict[str, str]


def study_file(folder: Path, parquet: Path, source: str, asked: Asked) -> Path:
    """The packaged study over this source, with one release."""
    study_of(folder, parquet)
    lines = (folder / f"{parquet.stem}.yaml").read_text(encoding="utf-8").splitlines()
    kept = [f"source: {source}" if line.startswith("source:") else line for line in lines]
    start = next(place for place, line in enumerate(kept) if line.startswith("releases:"))
    text = "\n".join([*kept[:start], "releases:", f"  asked: {asked.recipe}", ""]).replace(_AGE, _AGE_IN_LEVELS)
    if asked.sensitive:
        text = text.replace("occupation:     {role: quasi_identifier,", "occupation:     {role: sensitive,")
        text = text.replace("attributes: [age, workclass, education, marital_status, race, sex, income]", _CAPPED)
    path = folder / f"asked-{parquet.stem}.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def released(folder: Path, parquet: Path, asked: Asked, place: Place, patience: float, given: str | None) -> Watched:
    """One release in a process of its own, whose files are removed; ``given`` is a memory limit for every engine."""
    out, scratch = folder / "out", folder / "scratch"
    scratch.mkdir()
    study = study_file(folder, parquet, place.source, asked)
    memory = given or (asked.limit if place.engine == "duckdb" else None)
    limit = ["--memory-limit", memory] if memory else []
    command = [sys.executable, "-m", "bench.timed_release", str(study), "asked", str(out), *limit]
    environment = {**os.environ, "TMPDIR": str(scratch), **place.environment}
    found = run_watched(command, environment=environment, patience=patience)
    for made in (out, scratch):
        shutil.rmtree(made, ignore_errors=True)
    return found


@contextmanager
def places(folder: Path, parquet: Path, asked: argparse.Namespace, engines: list[str]) -> Iterator[list[Place]]:
    """The table for every engine; what was started for it ends."""
    with ExitStack() as stack:
        found = []
        for engine in engines:
            if engine == "duckdb":
                found.append(Place(engine=engine, source=str(parquet), environment={}))
            elif engine == "postgresql":
                address = asked.postgres or stack.enter_context(postgres_server())
                source = stack.enter_context(postgres_table(parquet, address))
                found.append(Place(engine=engine, source=source, environment={}))
            else:
                cluster: tuple[str, dict[str, str]] = (asked.spark, {})
                if not asked.spark:
                    cluster = stack.enter_context(spark_cluster(folder / f"spark-{parquet.stem}"))
                address, environment = cluster
                scratch = folder / "kept"
                scratch.mkdir(exist_ok=True)
                source = f"{address}?path=file:{parquet}&scratch=file:{scratch}"
                found.append(Place(engine=engine, source=source, environment=environment))
        yield found


def row(rows: int, name: str, engine: str, found: Watched) -> str:
    """One line of the table."""
    if found.code:
        sys.stderr.write(found.failure)
        return f"| {rows:,} | {name} | {engine} | failed ({found.code}) after {found.seconds:.0f} | | | | |"
    phases = json.loads(found.said.splitlines()[-1])
    sys.stderr.write(f"{rows} {name} {engine}, seconds and MiB so far: {found.said.splitlines()[-1]}\n")
    published = phases.get("publishing", [0])[0]
    numbers = f"{found.seconds:.1f} | {published:.1f} | {found.process:,.0f} | {found.java:,.0f}"
    return f"| {rows:,} | {name} | {engine} | {numbers} | {found.tree:,.0f} |"


def growth(times: dict[tuple[str, str], dict[int, Watched]]) -> Iterator[str]:
    """How seconds and memory grow from the smallest to the largest table."""
    for (name, engine), found in times.items():
        fine = {rows: watched for rows, watched in found.items() if watched.code == 0}
        if len(fine) > 1:
            few, many = min(fine), max(fine)
            cost = 1e6 * (fine[many].seconds - fine[few].seconds) / (many - few)
            memory = fine[many].process / fine[few].process
            times_longer = fine[many].seconds / fine[few].seconds
            yield f"| {name} | {engine} | {many / few:.0f} | {times_longer:.1f} | {memory:.1f} | {cost:.2f} |"


def main() -> None:
    """Print everything as Markdown, a line when it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1000000,20000000")
    parser.add_argument("--engines", default=",".join(_ENGINES))
    parser.add_argument("--only", action="append", help="releases whose names begin so; may be given several times")
    parser.add_argument("--postgres", help="a database that may be written to; otherwise one is started")
    parser.add_argument("--spark", help="a cluster that reads files of this machine; otherwise one is started")
    parser.add_argument("--tables", type=Path, help="a folder where blown-up tables are kept")
    parser.add_argument("--memory-limit", help="given to every release, instead of what the list of releases says")
    parser.add_argument("--patience", type=float, default=3600, help="seconds after which a release is ended")
    asked = parser.parse_args()
    engines = asked.engines.split(",")
    if unknown := set(engines) - set(_ENGINES):
        parser.error(f"no engine is called {', '.join(sorted(unknown))}")
    names = [name for name in _RELEASES if name.startswith(tuple(asked.only or [""]))]
    print(f"{machine()}\n\n{'; '.join(settings(asked, engines))}\n\n{_HEAD}", flush=True)
    times: dict[tuple[str, str], dict[int, Watched]] = {}
    with tempfile.TemporaryDirectory(prefix="sfumato-bench-") as made:
        folder = Path(made)
        with as_file(files("sfumato") / "data" / "adult") as packaged:
            shutil.copytree(packaged, folder, dirs_exist_ok=True)
        for rows in map(int, asked.rows.split(",")):
            parquet = (asked.tables or folder) / f"adult_{rows}.parquet"
            if not parquet.exists():
                blow_up_parts(folder / "adult.parquet", rows, parquet)
            with places(folder, parquet.absolute(), asked, engines) as found:
                for name in names:
                    for place in found:
                        watched = released(folder, parquet, _RELEASES[name], place, asked.patience, asked.memory_limit)
                        times.setdefault((name, place.engine), {})[rows] = watched
                        print(row(rows, name, place.engine, watched), flush=True)
    print("\n| release | engine | times the records | times the seconds | times the Python memory | µs a record more |")
    print("|---|---|---|---|---|---|")
    print("\n".join(growth(times)), flush=True)


def settings(asked: argparse.Namespace, engines: list[str]) -> Iterator[str]:
    """How the servers were started."""
    if "postgresql" in engines and not asked.postgres:
        yield "PostgreSQL with " + ", ".join(f"{name} = {value}" for name, value in POSTGRES_SETTINGS.items())
    if "spark" in engines and not asked.spark:
        with_settings = ", ".join(f"{name} = {value}" for name, value in SPARK_SETTINGS.items())
        yield f"Spark with {SPARK_WORKERS} workers of one core, {with_settings}"
    if asked.memory_limit:
        yield f"every release with `--memory-limit {asked.memory_limit}`"
        return
    limits = {name: one.limit for name, one in _RELEASES.items() if one.limit}
    yield "DuckDB with " + ", ".join(f"`--memory-limit {limit}` for {name}" for name, limit in limits.items())


if __name__ == "__main__":
    main()
