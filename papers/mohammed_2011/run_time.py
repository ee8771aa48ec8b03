"""Mohammed, Chen, Fung & Yu, KDD 2011: Figure 5, how long DiffGen takes on a growing table (ε = 1, h = 15).

Adult is blown up as in the paper's section 5, written as a Parquet file, and released as `sfumato release` does it:
from the file to a bundle that was read back and checked. One release at a time, since time is what is measured; each
size several times, of which the median is taken. The made-up tables have a ledger of their own, which is thrown away
with them.
"""

import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log
from pathlib import Path
from typing import ClassVar

import pyarrow.parquet as pq

from papers.drawing.panels import Curve, Panels
from papers.figure import FIGURES, Fact, Reproduced, finished
from papers.mohammed_2011.learners import PAPER
from papers.phases import Phases
from papers.tables.adult import incomes
from papers.tables.blowup import blown_up
from sfumato.ledger import open_ledger
from sfumato.methods import DiffGen, recipe_of
from sfumato.progress import Progress, silent, time_left
from sfumato.study.study import Study
from sfumato.workflow import release

SIZES = (200_000, 400_000, 600_000, 800_000, 1_000_000)
WHOLE = 45_222  # records of Adult
EPSILON, H, TIMES = 1, 15, 3
PARTS: Mapping[str, tuple[str, ...]] = {
    "reading": ("starting", "opening the table", "counting attributes"),
    "anonymising": ("specializing", "counting groups", "adding noise"),
    "writing and checking": ("publishing",),
}
PRINTED_MINUTES, PRINTED_SECONDS = 3, 30  # of a million records, read off the figure; of Adult itself, in the text


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of one release by part, the medians of some; the owner's report is none of the paper's parts."""

    records: int
    reading: float
    anonymising: float
    writing: float
    report: float
    groups: int
    times: int

    @property
    def total(self) -> float:
        """From the file to the checked bundle."""
        return self.reading + self.anonymising + self.writing


@FIGURES.add
@dataclass(frozen=True, slots=True)
class MohammedFigure5:
    """Run time of DiffGen by the number of records, in its parts."""

    name: ClassVar[str] = "diffgen-5"
    title: ClassVar[str] = "Figure 5: run time of DiffGen by the number of records (ε = 1, h = 15)"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = ""
    takes: ClassVar[str] = "about a minute"
    sizes: tuple[int, ...] = SIZES
    times: int = TIMES

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:  # noqa: ARG002 - one release at a time
        """Blow the table up, and release it, size by size."""
        began = time.monotonic()
        sizes = (WHOLE, *self.sizes)
        found = []
        with tempfile.TemporaryDirectory() as place:
            for done, records in enumerate(sizes):
                left = time_left(sum(sizes[:done]), sum(sizes), time.monotonic() - began)
                progress(f"releasing {records:,} records{left}", done, len(sizes))
                found.append(timed(Path(place), records, self.times))
        facts = facts_of(found)
        table = (found, (*Timed.__dataclass_fields__, "total"))
        return finished(self, folder, facts, _panels(found).save(folder, "seconds", table, facts), began)


def timed(place: Path, records: int, times: int) -> Timed:
    """Release a table of some size several times, after a first one that loads what is needed."""
    study = _study(place, records)
    recipe = recipe_of(DiffGen(epsilon=EPSILON, h=H, post="none"), name="time")
    ledger = open_ledger("memory:")
    parts: dict[str, list[float]] = {name: [] for name in (*PARTS, "report")}
    groups = 0
    for turn in range(times + 1):
        phases = Phases()
        done = release(study, recipe, folder=place / f"out-{records}-{turn}", ledger=ledger, progress=phases)
        seconds = phases.ended()
        groups = done.rows
        if turn:
            for name, words in PARTS.items():
                parts[name].append(sum(seconds.get(word, 0.0) for word in words))
            parts["report"].append(sum(seconds.values()) - sum(parts[name][-1] for name in PARTS))
    reading, anonymising, writing, report = (statistics.median(parts[name]) for name in (*PARTS, "report"))
    return Timed(records, reading, anonymising, writing, report, groups, times)


def _study(place: Path, records: int) -> Study:
    """The packaged study over a blown-up table, with a budget that lasts for a benchmark."""
    packaged = incomes()
    table = pq.read_table(packaged.base / str(packaged.source))
    source = place / f"adult-{records}.parquet"
    pq.write_table(blown_up(table, records, as_they_are=table.column_names[-1:]), source, compression="snappy")
    return replace(packaged, source=str(source), budget=Fraction(1000), releases={}, purposes={}, sweeps={})


def facts_of(found: Sequence[Timed]) -> list[Fact]:
    """What the paper says, and how time grows."""
    small, *rest = found
    first, last = rest[0], rest[-1]
    bound = last.records * log(last.records) / (first.records * log(first.records))
    return [
        Fact(
            what=f"{small.records:,} records: seconds", printed=f"within {PRINTED_SECONDS}", ours=f"{small.total:.2f}",
            agrees=small.total <= PRINTED_SECONDS,
        ),
        Fact(
            what=f"{last.records:,} records: seconds", printed=f"about {60 * PRINTED_MINUTES}, read off the figure",
            ours=f"{last.total:.2f}: reading {last.reading:.2f}, anonymising {last.anonymising:.2f}, writing and "
            f"checking {last.writing:.2f}",
            agrees=last.total <= 60 * PRINTED_MINUTES,
            why=f"{60 * PRINTED_MINUTES / last.total:.0f} times as fast: a machine of today, and the table is counted "
            "once for all specializations",
        ),
        Fact(
            what=f"growth from {first.records:,} to {last.records:,} records",
            printed=f"h·n·log n, which is {bound:.1f} times as long",
            ours=f"{last.total / first.total:.1f} times as long", agrees=last.total / first.total <= bound,
            why="" if last.total / first.total <= bound else "times of a shared machine vary by more than that",
        ),
    ]  # fmt: skip


def _panels(found: Sequence[Timed]) -> Panels:
    names = {"reading": "reading", "anonymising": "anonymising", "writing": "writing and checking", "total": "total"}
    curves = [
        Curve(_PANEL, words, tuple((one.records / 1000, getattr(one, name)) for one in found))
        for name, words in names.items()
    ]
    return Panels(
        title=MohammedFigure5.title,
        x="thousand records",
        y="seconds",
        curves=tuple(curves),
        ordered=False,
        columns=1,
        sizes=(480, 320),
        ticks=tuple(one.records / 1000 for one in found if one.records != WHOLE),
        note=f"From a Parquet file to a bundle that was read back and checked. The paper, in 2011: about "
        f"{60 * PRINTED_MINUTES} seconds for a million records.",
    )


_PANEL = "Adult, blown up"
