"""Sattar et al. 2014: Figure 10, how long capped confidence takes on a growing table, by threshold and beside Mondrian.

The sample of 100,000 records with an occupation is blown up by variations of its records, three values in ten replaced
by others of the same column; the paper replaces "some" values from the domain. Times are from a table in memory to
finished groups, with counting and grouping apart; writing is not in them. They are seconds of a processor, all threads
together, which other work on the machine changes less than the clock's; those stand in the table, too. One release at a
time, since time is what is measured; of several the median.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, TypeVar

import pyarrow as pa

from papers.drawing.panels import Curve, Panels
from papers.figure import FIGURES, Fact, Reproduced, finished
from papers.sattar_2014.suppression import CHOSEN, PAPER, RATE
from papers.tables.acs import NEEDS, OCCUPATION, Survey
from papers.tables.blowup import blown_up
from sfumato.domains.counts import Cells
from sfumato.methods import ConfidenceCap, Mondrian
from sfumato.progress import Progress, silent, time_left
from sfumato.study.purpose import tailor
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, open_source

BASE = 100_000
SIZES = (200_000, 400_000, 600_000, 800_000, 1_000_000)
THRESHOLDS = ("0.2", "0.4", CHOSEN)
TIMES = 3
CAPPED, MONDRIAN = "capped confidence", "Mondrian, k = Avg.k"
SLIGHTLY = 2.0  # how many times as long is still slightly longer
Made = TypeVar("Made")
BY_THRESHOLD, BESIDE = "(a) capped confidence by threshold", "(b) beside Mondrian"


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds of a processor to make one release, and by the clock; the medians of some."""

    records: int
    release: str
    distortion: str
    k: int | None
    counting: float
    grouping: float
    clock: float
    groups: int
    times: int

    @property
    def seconds(self) -> float:
        """Both."""
        return self.counting + self.grouping


@FIGURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SattarFigure10:
    """Run time of capped confidence by the number of records, for some thresholds, and of Mondrian."""

    name: ClassVar[str] = "sattar-10"
    title: ClassVar[str] = "Figure 10: run time by the number of records (a) by threshold (b) beside Mondrian"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = NEEDS
    takes: ClassVar[str] = "about 4 minutes"
    data: Path | None = None
    base: int = BASE
    sizes: tuple[int, ...] = SIZES
    times: int = TIMES

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:  # noqa: ARG002 - one release at a time
        """Blow the sample up, and make every release of every size."""
        began = time.monotonic()
        progress("reading the survey", 0, 1)
        survey = Survey.load(self.data)
        ((_, records),) = survey.samples((self.base,))
        found: list[Timed] = []
        for done, size in enumerate(self.sizes):
            left = time_left(sum(self.sizes[:done]), sum(self.sizes), time.monotonic() - began)
            progress(f"making releases of {size:,} records{left}", done, len(self.sizes))
            found += timed(survey, blown_up(records, size), self.times)
        facts = facts_of(found)
        table = (found, (*Timed.__dataclass_fields__, "seconds"))
        return finished(self, folder, facts, _panels(found).save(folder, "seconds", table, facts), began)


def timed(survey: Survey, records: pa.Table, times: int) -> list[Timed]:
    """All releases of one table."""
    study = survey.study(records, OCCUPATION)
    view = tailor(study, None, Mondrian.needs)
    cells, counting, clock = _repeated(partial(_counted, study, view), times)
    found = []
    average = 2
    for distortion in THRESHOLDS:
        cap = ConfidenceCap(rate=RATE, distortion=distortion)
        draft, grouping, more = _repeated(partial(cap.draft, view, cells), times)
        groups = int(draft.facts["groups"])
        average = max(2, round(float(draft.facts["average_group"])))
        found.append(
            Timed(len(records), CAPPED, distortion, None, counting, grouping, clock + more, groups, times)
        )  # fmt: skip
    free = replace(view, quasi=tuple(replace(a, at_least=None) for a in view.quasi))
    draft, grouping, more = _repeated(partial(Mondrian(k=average).draft, free, cells), times)
    groups = len(draft.partition.boxes)
    return [*found, Timed(len(records), MONDRIAN, "", average, counting, grouping, clock + more, groups, times)]


def _counted(study: Study, view: View) -> Cells:
    with open_source(study.source, base=study.base) as table:
        return CodedTable(table, view.attributes).full_cells([a.name for a in view.attributes])


def _repeated(work: Callable[[], Made], times: int) -> tuple[Made, float, float]:
    """What comes out of some work, and the medians of its seconds: of a processor, and by the clock."""
    busy, clock = [], []
    while True:
        began, worked = time.perf_counter(), time.process_time()
        found = work()
        busy.append(time.process_time() - worked)
        clock.append(time.perf_counter() - began)
        if len(busy) >= times:
            return found, statistics.median(busy), statistics.median(clock)


def facts_of(found: Sequence[Timed]) -> list[Fact]:
    """The paper's two sentences."""
    facts = []
    for distortion in THRESHOLDS:
        mine = [one for one in found if (one.release, one.distortion) == (CAPPED, distortion)]
        first, last = mine[0], mine[-1]
        growth, more = last.seconds / first.seconds, last.records / first.records
        facts.append(
            Fact(
                what=f"δ' = {distortion}: from {first.records:,} to {last.records:,} records, {more:g} times as many",
                printed="scales well",
                ours=f"{first.seconds:.2f} s to {last.seconds:.2f} s of a processor, {growth:.1f} times as long",
                agrees=growth <= more, why="" if growth <= more else "times of a shared machine vary by more than that",
            )
        )  # fmt: skip
    ours = {one.records: one for one in found if (one.release, one.distortion) == (CAPPED, CHOSEN)}
    others = {one.records: one for one in found if one.release == MONDRIAN}
    ratios = {records: one.grouping / others[records].grouping for records, one in ours.items()}
    slightly = all(1 < ratio <= SLIGHTLY for ratio in ratios.values())
    facts.append(
        Fact(
            what=f"grouping with δ' = {CHOSEN} against Mondrian, by size", printed="slightly higher",
            ours=", ".join(f"{records // 1000}k: {ratio:.2f} times as long" for records, ratio in ratios.items()),
            agrees=slightly,
            why="" if slightly else "our Mondrian is quick: it cuts all groups of a level at once, on sorted arrays; "
            "capped confidence goes round after round over the combinations of values that fail",
        )
    )  # fmt: skip
    return facts


def _panels(found: Sequence[Timed]) -> Panels:
    curves = [
        Curve(BY_THRESHOLD, f"δ' = {distortion}", _points(found, CAPPED, distortion)) for distortion in THRESHOLDS
    ]  # fmt: skip
    curves.append(Curve(BESIDE, f"δ' = {CHOSEN}", _points(found, CAPPED, CHOSEN)))
    curves.append(Curve(BESIDE, MONDRIAN, _points(found, MONDRIAN, "")))
    return Panels(
        title=SattarFigure10.title,
        x="thousand records",
        y="seconds of a processor",
        curves=tuple(curves),
        ordered=False,
        ticks=tuple(dict.fromkeys(one.records / 1000 for one in found)),
        note="From a table in memory to finished groups: counting the records, and grouping them.",
    )


def _points(found: Sequence[Timed], release: str, distortion: str) -> tuple[tuple[float, float], ...]:
    return tuple(
        (one.records / 1000, one.seconds) for one in found if (one.release, one.distortion) == (release, distortion)
    )
