"""Staged tables on many attributes and many records: time beside DuckDB's own grouping, and peak memory.

    python -m bench.staged_scale [--data ../shared/data] [--rows 1000000] [--most 20000000]

The first is Census-Income with 40 attributes (left out where the data folder is absent), records to draft. `rows` is
the packaged table blown up with variations of its records, Parquet to verified bundle, beside DuckDB that reads the
file and groups by the same columns once. `most` is the same table larger still: `sfumato release` as a process of its
own, with its peak memory.
"""

import argparse
import csv
import gzip
import shutil
import tempfile
import time
from collections import defaultdict
from importlib.resources import as_file, files
from pathlib import Path

import pyarrow.parquet as pq

from bench.memory import peak
from bench.posts import coded
from bench.run import duckdb_alone, study_of
from bench.staged import drafted
from papers.machine import machine
from papers.tables.blowup import blown_up
from sfumato import workflow
from sfumato.methods import Staged, recipe_of

_PART = 1_000_000  # records that are made at once
_LIMIT = 2**40  # of address space: memory is measured here, not limited
_MANY = 200  # distinct numbers from which a column is a number and not a category


def blow_up_parts(packaged: Path, rows: int, target: Path) -> None:
    """Write so many records, some at a time."""
    table = pq.read_table(packaged)
    with pq.ParquetWriter(target, table.schema) as writer:
        for number, start in enumerate(range(0, rows, _PART)):
            size = min(_PART, rows - start)
            writer.write_table(blown_up(table, size, as_they_are=table.column_names[-1:], seed=number + 1))


def many_attributes(data: Path, folder: Path) -> str:
    """Census-Income with all its columns but the record's weight: seconds from codes to draft."""
    path = (data / "census_kdd" / "train.csv.gz").resolve()
    seen: dict[str, set[str]] = defaultdict(set)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for name, value in row.items():
                seen[name].add(value)
    *names, target = [name for name in seen if name != "instance_weight"]
    lines = []
    for name in names:
        values = seen[name]
        numbers = all(value.lstrip("-").isdigit() for value in values) and len(values) > _MANY // 4
        if numbers:
            top = max(map(int, values))
            lines.append(f"  {name}: {{role: quasi_identifier, type: integer, bounds: [0, {top}], step: 1}}")
        else:
            listed = ", ".join("'" + value.replace("'", "''") + "'" for value in sorted(values))
            lines.append(f"  {name}: {{role: quasi_identifier, values: [{listed}]}}")
    listed = ", ".join(f"'{value}'" for value in sorted(seen[target]))
    lines.append(f"  {target}: {{role: class, values: [{listed}]}}")
    view, codes = coded("name: census\nsource: " + str(path) + "\nattributes:\n" + "\n".join(lines), folder, "census")
    began = time.perf_counter()
    draft = drafted(Staged(epsilon=1), view, codes)
    took = time.perf_counter() - began
    size = f"{len(view.predictors)} attributes, {len(codes[target]):,} records"
    return f"{size}: {took:.1f} s, {draft.facts['stages']} stages"


def many_rows(folder: Path, rows: int) -> str:
    """A release beside DuckDB alone."""
    parquet = folder / f"adult_{rows}.parquet"
    blow_up_parts(folder / "adult.parquet", rows, parquet)
    study = study_of(folder, parquet)
    alone = duckdb_alone(parquet, list(study.attributes))
    began = time.perf_counter()
    workflow.release(study, recipe_of(Staged(epsilon=1), name="staged"), folder=folder / "out" / parquet.stem)
    took = time.perf_counter() - began
    verdict = "kept" if took <= 4 * alone + 5 else "MISSED"
    return f"{rows:,} records: DuckDB alone {alone:.2f} s, ours {took:.2f} s; limit 4 × + 5 s: {verdict}"


def most_rows(folder: Path, rows: int) -> str:
    """The command's peak memory."""
    parquet = folder / f"adult_{rows}.parquet"
    blow_up_parts(folder / "adult.parquet", rows, parquet)
    study_of(folder, parquet)
    path = folder / f"{parquet.stem}.yaml"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("releases:\n", "releases:\n  large: {method: staged, epsilon: 1}\n", 1), encoding="utf-8"
    )
    code, mebibytes, seconds = peak(
        ["release", str(path), "large", "--out", str(folder / "large"), "--no-report"], _LIMIT
    )
    said = f"{mebibytes:,.0f} MiB, {seconds:.0f} s" if code == 0 else f"failed ({code})"
    return f"{rows:,} records, `sfumato release`: {said}"


def main() -> None:
    """Print everything as a list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--most", type=int, default=20_000_000)
    asked = parser.parse_args()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as place, as_file(files("sfumato") / "data" / "adult") as packaged:
        folder = Path(place) / "study"
        shutil.copytree(packaged, folder)
        if (asked.data / "census_kdd").is_dir():
            print(f"- {many_attributes(asked.data, folder)}", flush=True)
        print(f"- {many_rows(folder, asked.rows)}", flush=True)
        if asked.most:
            print(f"- {most_rows(folder, asked.most)}", flush=True)


if __name__ == "__main__":
    main()
