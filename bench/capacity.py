"""An estimate for tables that were not measured: what the measured costs of a record come to, up to 10⁹ records.

    python -m bench.capacity [--records 1000000000] [--measured docs/explanation/benchmarks.md]

Nothing is run. The two sizes that `bench.engines` measured give a straight line for seconds, and one for the memory of
this process; a release takes what the line says, and never less than was measured. Codes that the engine stores are
counted in bytes, from the domains of the packaged study. Everything that does not grow with the records is in the
line's beginning. What breaks first is the first of: memory of this process above that of the machine, then a day.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from sfumato.domains.counts import narrowest
from sfumato.study.file.load import load_study

MEASURED = Path("docs/explanation/benchmarks.md")
HEAD = (
    "| release | engine | hours | of it publishing | Python GiB | codes stored GB | what breaks first |\n"
    "|---|---|---|---|---|---|---|"
)
_MACHINE = 24  # GiB
_DAY = 24.0  # hours
_ROW = re.compile(r"\| ([0-9,]+) \| ([^|]+) \| (duckdb|postgresql|spark) \| ([0-9.]+) \| ([0-9.]+) \| ([0-9,]+) \|")
_TUPLE = 34  # bytes that PostgreSQL takes for a row beside its columns, with alignment: 68 in all were measured
_PRIVATE = ("diffgen", "staged")  # their codes are kept; what is counted once and fits is not
_LIMITS = {
    "diffgen": "memory that DuckDB takes: set `--memory-limit`",
    "staged": "memory for occupied combinations of groups",
    "mondrian, 14 quasi-identifiers": "perhaps memory: parts bound it, and a line does not know that",
}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One measured release."""

    records: int
    release: str
    engine: str
    seconds: float
    publishing: float
    memory: float  # MiB of Python


def read_measured(text: str) -> list[Measured]:
    """The lines of the table of `bench.engines`."""
    return [
        Measured(
            records=_whole(records), release=release.strip(), engine=engine, seconds=float(seconds),
            publishing=float(publishing), memory=_whole(memory),
        )
        for records, release, engine, seconds, publishing, memory in _ROW.findall(text)
    ]  # fmt: skip


def line(few: tuple[int, float], many: tuple[int, float], records: int) -> float:
    """The straight line through two measurements; never below the larger one.

    >>> line((1, 10.0), (20, 29.0), 1000)
    1009.0
    """
    (n, low), (m, high) = few, many
    return max(low, high, low + (high - low) / (m - n) * (records - n))


def estimate(found: Iterable[Measured], records: int) -> Iterator[str]:
    """A line of Markdown for every release that was measured at two sizes."""
    pairs: dict[tuple[str, str], list[Measured]] = {}
    for one in found:
        pairs.setdefault((one.release, one.engine), []).append(one)
    stored = {engine: bytes_a_record(engine) * records / 1e9 for engine in ("duckdb", "postgresql", "spark")}
    for (release, engine), sizes in pairs.items():
        if len(sizes) < 2:  # noqa: PLR2004 - a line takes two
            continue
        few, many = min(sizes, key=lambda one: one.records), max(sizes, key=lambda one: one.records)
        seconds = line((few.records, few.seconds), (many.records, many.seconds), records)
        publishing = line((few.records, few.publishing), (many.records, many.publishing), records)
        memory = line((few.records, few.memory), (many.records, many.memory), records) / 1024
        kept = release in _PRIVATE or release.endswith("14 quasi-identifiers")
        codes = f"{stored[engine]:.0f}" if kept else "–"
        hours, files_hours = seconds / 3600, publishing / 3600
        numbers = f"{hours:.1f} | {files_hours:.1f} | {memory:.0f} | {codes}"
        yield f"| {release} | {engine} | {numbers} | {_breaks(release, memory, hours)} |"


def _breaks(release: str, memory: float, hours: float) -> str:
    if memory > _MACHINE:
        return _LIMITS.get(release, "memory of this process")
    return "time" if hours > _DAY else "nothing"


def bytes_a_record(engine: str) -> int:
    """What the codes of a record of the packaged study take in an engine's storage, before any compression."""
    with as_file(files("sfumato") / "data" / "adult") as folder:
        study = load_study(folder / "study.yaml")
    widths = [
        np.dtype(narrowest(attribute.domain.size)).itemsize
        for attribute in study.attributes.values()
        if attribute.domain is not None
    ]
    if engine == "postgresql":  # its narrowest integer has two bytes
        return _TUPLE + sum(max(2, width) for width in widths)
    return sum(widths)


def _whole(text: str) -> int:
    return int(text.replace(",", ""))


def main() -> None:
    """Print the estimate as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000_000)
    parser.add_argument("--measured", type=Path, default=MEASURED)
    asked = parser.parse_args()
    found = read_measured(asked.measured.read_text(encoding="utf-8"))
    print(HEAD, *estimate(found, asked.records), sep="\n")


if __name__ == "__main__":
    main()
