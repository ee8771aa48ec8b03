"""Memory: the peak of `release`, `measure` and `report`, each a process of its own, on wide domains and on long tables.

    python -m bench.memory [--only wide|long] [--records 5000000] [--method mondrian]

`wide` has 30,000 records and two attributes of a million values each; `long` has five million records of ten
attributes. Both are drawn by numpy from a fixed seed. Prints Markdown. No process is given more address space than
`--most` GiB, so a regression fails here and does not take the machine down.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from papers.machine import machine

METHODS = ("diffgen", "mondrian")
_WIDE = 1_000_000
_STUDY = """\
name: {name}
source: table.parquet
privacy: {{budget: 1000}}
attributes:
{attributes}
releases:
  diffgen: {{method: diffgen, epsilon: 1, h: 10}}
  mondrian: {{method: mondrian, k: 10}}
"""


def wide(folder: Path, records: int, role: str) -> None:
    """A table with two attributes of a million values, one of them in this role."""
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(17, 91, records),
        "town": rng.integers(0, 40, records),
        "pay": np.minimum(rng.lognormal(10.5, 0.7, records).astype(np.int64), _WIDE),
        "debt": rng.integers(0, _WIDE + 1, records),
        "ill": rng.choice(["no", "yes"], records),
    }
    roles = {"age": "quasi_identifier", "town": "quasi_identifier", "pay": role, "debt": "insensitive"}
    tops = {"age": 120, "town": 39, "pay": _WIDE, "debt": _WIDE}
    write(folder, "wide", columns, roles, tops)


def long(folder: Path, records: int) -> None:
    """A table of many records: eight quasi-identifiers, a sensitive attribute, a class."""
    rng = np.random.default_rng(0)
    sizes = {
        "age": 100,
        "town": 50,
        "work": 9,
        "school": 16,
        "home": 7,
        "hours": 100,
        "cars": 5,
        "children": 8,
        "ill": 30,
    }
    columns = {name: np.minimum(rng.geometric(4 / (size + 3), records) - 1, size - 1) for name, size in sizes.items()}
    roles = dict.fromkeys(sizes, "quasi_identifier") | {"ill": "sensitive"}
    columns["dead"] = rng.choice(["no", "yes"], records)
    write(folder, "long", columns, roles, {name: size - 1 for name, size in sizes.items()})


def write(folder: Path, name: str, columns: Mapping[str, Any], roles: dict[str, str], tops: dict[str, int]) -> None:
    """The table as Parquet, and its study; the last column is the class."""
    lines = [
        f"  {one}: {{role: {role}, type: integer, bounds: [0, {tops[one]}], step: 1}}" for one, role in roles.items()
    ]
    lines.append(f"  {list(columns)[-1]}: {{role: class, values: ['no', 'yes']}}")
    folder.mkdir()
    pq.write_table(pa.table(columns), folder / "table.parquet")
    (folder / "study.yaml").write_text(_STUDY.format(name=name, attributes="\n".join(lines)), encoding="utf-8")


def peak(arguments: list[str], most: int) -> tuple[int, float, float]:
    """Run `sfumato` in a process of its own: its exit code, its peak memory in MiB, and seconds."""
    began = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "sfumato", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)),  # noqa: PLW1509 - no threads here
    )
    _, status, used = os.wait4(process.pid, 0)  # the peak of this child alone
    took = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode and process.stderr is not None:
        sys.stderr.write(process.stderr.read().decode())
    return process.returncode, used.ru_maxrss / 1024, took


def measured(folder: Path, what: str, most: int, methods: Sequence[str], commands: tuple[str, ...]) -> None:
    """A row for each method: the peak of each command."""
    for method in methods:
        cells = []
        for command in commands:
            out, study = str(folder / method), str(folder / "study.yaml")
            arguments = {
                "release": ["release", study, method, "--out", out, "--no-report"],
                "measure": ["evaluate", "measures", out, "--against", study, "--json"],
                "report": ["report", out, "--against", study],
            }[command]
            code, mebibytes, seconds = peak(arguments, most)
            cells.append(f"{mebibytes:,.0f} MiB, {seconds:.0f} s" if code == 0 else f"failed ({code})")
        print(f"| {what} | {method} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Print everything as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["wide", "long"])
    parser.add_argument("--records", type=int, default=5_000_000, help="of the long table")
    parser.add_argument("--method", choices=METHODS, help="this one alone")
    parser.add_argument("--most", type=float, default=6, help="GiB of address space for each process")
    asked = parser.parse_args()
    most = int(asked.most * 2**30)
    methods = METHODS if asked.method is None else (asked.method,)
    print(f"{machine()}\n\n| table | method | release | report | measure |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        if asked.only != "long":
            for role in ("sensitive", "insensitive", "quasi_identifier"):
                wide(Path(place) / role, 30_000, role)
                what = f"30,000 records, two attributes of a million values, one {role.replace('_', '-')}"
                measured(Path(place) / role, what, most, methods, ("release", "report", "measure"))
        if asked.only != "wide":
            long(Path(place) / "long", asked.records)
            what = f"{asked.records:,} records of ten attributes"
            measured(Path(place) / "long", what, most, methods, ("release", "report", "measure"))


if __name__ == "__main__":
    main()
