"""The same study on several engines: seconds and peak memory of this process, as the table grows.

    python -m bench.engines [--rows 1000000,20000000] [--postgres postgresql://owner@host/database] [--only diffgen]

The table is the packaged census table blown up with variations of its records. DuckDB reads it as a Parquet file; a
server gets it as a table of its own, `sfumato_bench`, before the clock starts, and loses it afterwards. Every release
is a process of its own, from the address to a verified bundle. The server's memory is not counted: what is counted is
what the machine needs that asks.
"""

import argparse
import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from bench.memory import peak
from bench.run import study_of
from bench.staged_scale import blow_up_parts
from papers.machine import machine

_LIMIT = 2**40  # of address space: memory is measured here, not limited
_TABLE = "sfumato_bench"
_AGE = "bounds: [0, 120], step: 1}"
_AGE_IN_LEVELS = "bounds: [0, 119], step: 1, taxonomy: {intervals: {width: 5, levels: 3}}}"
_RELEASES = {
    "diffgen": "{method: diffgen, epsilon: 1, h: 10}",
    "staged": "{method: staged, epsilon: 1}",
    "mondrian, six quasi-identifiers": "{method: mondrian, k: 10, purpose: survey}",
    "full-domain, six quasi-identifiers": "{method: full-domain, k: 10, suppress: 0.02, purpose: survey}",
}


def copy_table(parquet: Path, address: str) -> str:
    """The address of the table on the server."""
    found = pq.ParquetFile(parquet)
    kinds = [
        f'"{field.name}" {"BIGINT" if pa.types.is_integer(field.type) else "TEXT"}' for field in found.schema_arrow
    ]
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {_TABLE}")
        connection.execute(f"CREATE UNLOGGED TABLE {_TABLE} ({', '.join(kinds)})")
        with connection.cursor() as cursor, cursor.copy(f"COPY {_TABLE} FROM STDIN") as copy:
            for batch in found.iter_batches(100_000):
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    copy.write_row(row)
        connection.execute(f"ANALYZE {_TABLE}")
    return f"{address}?table={_TABLE}"


def released(study: Path, source: str, name: str, out: Path) -> str:
    """Seconds and MiB of one release in a process of its own."""
    lines = study.read_text(encoding="utf-8").splitlines()
    kept = [f"source: {source}" if line.startswith("source:") else line for line in lines]
    start = next(place for place, line in enumerate(kept) if line.startswith("releases:"))
    path = study.with_name(f"asked-{study.name}")
    text = "\n".join([*kept[:start], "releases:", f"  asked: {_RELEASES[name]}", ""])
    path.write_text(text.replace(_AGE, _AGE_IN_LEVELS), encoding="utf-8")
    code, mebibytes, seconds = peak(["release", str(path), "asked", "--out", str(out), "--no-report"], _LIMIT)
    return f"{seconds:.1f} s, {mebibytes:,.0f} MiB" if code == 0 else f"failed ({code})"


def main() -> None:
    """Print everything as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="1000000")
    parser.add_argument("--postgres", help="a database that may be written to")
    parser.add_argument("--only", help="releases whose name begins so")
    asked = parser.parse_args()
    engines = ["DuckDB", *(["PostgreSQL"] if asked.postgres else [])]
    print(f"{machine()}\n\n| records | release | {' | '.join(engines)} |\n|---|---|{'---|' * len(engines)}", flush=True)
    with tempfile.TemporaryDirectory() as place, as_file(files("sfumato") / "data" / "adult") as packaged:
        folder = Path(place)
        shutil.copytree(packaged, folder, dirs_exist_ok=True)
        for rows in map(int, asked.rows.split(",")):
            parquet = folder / f"adult_{rows}.parquet"
            blow_up_parts(folder / "adult.parquet", rows, parquet)
            study_of(folder, parquet)
            sources = [parquet.name, *([copy_table(parquet, asked.postgres)] if asked.postgres else [])]
            for name in _RELEASES:
                if name.startswith(asked.only or ""):
                    outs = [folder / f"{rows}-{name[:4]}-{place}" for place in range(len(sources))]
                    study = folder / f"{parquet.stem}.yaml"
                    cells = [released(study, source, name, out) for source, out in zip(sources, outs, strict=True)]
                    print(f"| {rows:,} | {name} | {' | '.join(cells)} |", flush=True)
        if asked.postgres:
            with psycopg.connect(asked.postgres, autocommit=True) as connection:
                connection.execute(f"DROP TABLE IF EXISTS {_TABLE}")


if __name__ == "__main__":
    main()
