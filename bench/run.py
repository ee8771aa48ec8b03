"""Speed: one million records, Parquet to bundle, beside what DuckDB alone needs to read and group the same columns.

    python -m bench.run [--rows 1000000] [--quick]

Prints ratios of one run on one machine: the time of each phase, growth with rows, h and columns, peak memory. Phases
are told by the same progress reports that the command line shows.
"""

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path

import duckdb

from bench.blowup import blow_up
from papers.machine import machine
from papers.phases import Phases
from sfumato import workflow
from sfumato.methods import recipe_of
from sfumato.methods.diffgen.algorithm import DiffGen
from sfumato.release.draft import Draft
from sfumato.study.file import load_study
from sfumato.study.study import Study


def study_of(folder: Path, parquet: Path) -> Study:
    """The packaged study over another file, with a budget that lasts for a benchmark."""
    text = (folder / "study.yaml").read_text(encoding="utf-8")
    text = text.replace("source: adult.parquet", f"source: {parquet.name}").replace("budget: 4", "budget: 1000")
    path = folder / f"{parquet.stem}.yaml"
    path.write_text(text.replace("name: adult", f"name: {parquet.stem}"), encoding="utf-8")
    return load_study(path)


def duckdb_alone(parquet: Path, columns: list[str], repeats: int = 3) -> float:
    """The median time DuckDB takes to read the file and group by all the columns once."""
    listed = ", ".join(f'"{c}"' for c in columns)
    times = []
    for _ in range(repeats):
        connection = duckdb.connect()
        began = time.perf_counter()
        connection.sql(f"SELECT {listed}, count(*) FROM '{parquet}' GROUP BY {listed}").to_arrow_table()  # noqa: S608
        times.append(time.perf_counter() - began)
        connection.close()
    return statistics.median(times)


def ours(study: Study, folder: Path, h: int, name: str) -> tuple[float, Phases, Draft]:
    """One release: the whole time, its phases, and what came out."""
    phases = Phases()
    began = time.perf_counter()
    done = workflow.release(
        study, recipe_of(DiffGen(epsilon=1, h=h), name=name), folder=folder / "out" / name, progress=phases
    )
    took = time.perf_counter() - began
    assert isinstance(done.draft, Draft), "DiffGen publishes counts"
    return took, phases, done.draft


def main() -> None:
    """Print everything as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, as_file(files("sfumato") / "data" / "adult") as packaged:
        folder = Path(place) / "study"
        shutil.copytree(packaged, folder)
        report(folder, asked.rows)


def report(folder: Path, most: int) -> None:
    """Run all of it in one temporary folder."""
    print(f"{machine()}\n")
    print(
        "| records | h | DuckDB alone s | ours s | of it noise s | rows published | noise µs a row | (ours − noise) / "
        "DuckDB | limit 3 × + 2 s |\n|---|---|---|---|---|---|---|---|---|"
    )
    last = folder / "adult.parquet"
    for rows in (most // 5, most // 2, most):
        last = folder / f"adult_{rows}.parquet"
        blow_up(folder / "adult.parquet", rows, last)
        study = study_of(folder, last)
        alone = duckdb_alone(last, list(study.attributes))
        took, phases, draft = ours(study, folder, 15, f"rows-{rows}")
        noise = phases.seconds.get("adding noise", 0.0)
        published = len(draft.groups)
        within = "kept" if took - noise <= 3 * alone + 2 else "MISSED"
        print(
            f"| {rows:,} | 15 | {alone:.2f} | {took:.2f} | {noise:.2f} | {published:,} | "
            f"{1e6 * noise / max(published, 1):.1f} | {(took - noise) / alone:.2f} | {within} |",
            flush=True,
        )
    print(
        "\n| h | specializing s | counting groups s | adding noise s | groups × classes | threshold | rows published "
        "|\n|---|---|---|---|---|---|---|"
    )
    study = study_of(folder, last)
    for h in (5, 15, 25, 50):
        _, phases, draft = ours(study, folder, h, f"h-{h}")
        facts = draft.facts
        print(
            f"| {h} | {phases.seconds.get('specializing', 0):.3f} | {phases.seconds.get('counting groups', 0):.2f} | "
            f"{phases.seconds.get('adding noise', 0):.2f} | {facts['groups']:,} | {facts['threshold']} | "
            f"{len(draft.groups):,} |",
            flush=True,
        )
    whole_command(folder, last)


def whole_command(folder: Path, parquet: Path) -> None:
    """The same as a user runs it: a process of its own, start-up and all, with its peak memory."""
    began = time.perf_counter()
    subprocess.run(  # noqa: S603 - our own command
        [
            str(Path(sys.executable).parent / "sfumato"),
            "release",
            str(folder / f"{parquet.stem}.yaml"),
            "dp",
            "--json",
            "--out",
            str(folder / "out" / "command"),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    took = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\n`sfumato release` on the largest file, as a command: {took:.2f} s, peak memory {peak:.0f} MiB")


if __name__ == "__main__":
    main()
