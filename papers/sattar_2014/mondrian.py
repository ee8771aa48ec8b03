"""Sattar et al. 2014: Figure 3 and Table 5, how large Mondrian's groups must be until no record breaks the cap.

Both of the paper's tables are put beside its one Table 5, which does not say whose it is. Its k go by tens, as ours do:
Max.k is the smallest ten from which on no record breaks the cap in any group that was tried. Mondrian has no rule for
ages of at least five years; expected confidences come from the shares of the sample, and β = 0.9, as for the method.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from typing import ClassVar

import numpy as np

from papers.drawing.panels import Curve, Panels
from papers.figure import FIGURES, Fact, Reproduced, finished
from papers.parallel import side_by_side
from papers.sattar_2014.suppression import CHOSEN, NAMES, PAPER, RATE, SIZES, tried
from papers.tables.acs import NEEDS, OCCUPATION, QUASI, SALARY, Sample, Survey
from sfumato.methods import Mondrian
from sfumato.privacy.groups.shares import Distribution, shares_of_counts
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import CappedConfidence
from sfumato.progress import Progress, silent
from sfumato.study.view import View

K = (5, *range(10, 160, 10))
CLOSE_TO_MAX = 50  # the k at which it is looked at who breaks the cap
TABLE_5 = {  # size: Max.k, Avg.k
    25_000: (90, 8), 50_000: (90, 10), 75_000: (90, 11), 100_000: (70, 12), 125_000: (70, 13), 150_000: (70, 14),
}  # fmt: skip
TREES, ORDERED, LOSS = "cuts along taxonomies", "cuts anywhere in the order of codes", "cuts by loss"
WAYS = {
    TREES: Mondrian(k=2),
    ORDERED: Mondrian(k=2, ordered=QUASI),
    LOSS: Mondrian(k=2, choose="loss"),
}


@dataclass(frozen=True, slots=True)
class Grouped:
    """Mondrian's groups of one sample at one k."""

    sensitive: str
    records: int
    way: str
    k: int
    groups: int
    broken: int
    crowded: float  # records of the groups with broken ones, for each that independence expects there (median)
    usual: float  # the same of all groups

    @property
    def share(self) -> float:
        """Which part of the records breaks the cap."""
        return self.broken / self.records


@dataclass(frozen=True, slots=True)
class Row:
    """A row of Table 5; ``max_k`` is None where every k that was tried has records that break the cap."""

    sensitive: str
    records: int
    max_k: int | None
    avg_k: float | None
    printed_max_k: int | None
    printed_avg_k: int | None


@FIGURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SattarFigure3:
    """Records that break the cap by k, for six samples and two sensitive attributes; Max.k and Avg.k."""

    name: ClassVar[str] = "sattar-3"
    title: ClassVar[str] = "Figure 3 and Table 5: records that break the cap in Mondrian's groups, by k"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = NEEDS
    takes: ClassVar[str] = "about 3 minutes"
    data: Path | None = None
    sizes: tuple[int, ...] = SIZES

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Group every sample by every k, and make a release under the cap of each."""
        began = time.monotonic()
        progress("reading the survey", 0, 1)
        survey = Survey.load(self.data)
        samples = dict(survey.samples(self.sizes))
        plain = [survey.sample(samples[size], what) for what in (SALARY, OCCUPATION) for size in self.sizes]
        ends = [one for one in plain if one.records in {min(self.sizes), max(self.sizes)}]
        given = [(one, TREES) for one in plain] + [(one, way) for one in ends for way in (ORDERED, LOSS)]
        grouped = [one for by_k in side_by_side(grouped_by, given, workers, progress) for one in by_k]
        capped = side_by_side(tried, [(one, CHOSEN) for one in plain], workers, progress)
        rows = [
            Row(
                one.sensitive, one.records, max_k(_of(grouped, one.sensitive, one.records, TREES)), one.average,
                *TABLE_5.get(one.records, (None, None)),
            )
            for one in capped
        ]  # fmt: skip
        facts = [fact for what in (SALARY, OCCUPATION) for fact in _facts(what, rows, grouped)]
        progress("drawing the plot", 0, 1)
        files = _panels(grouped, self.sizes).save(
            folder, "broken", (grouped, _COLUMNS), facts, {"table-5": (rows, _TABLE_5)}
        )
        return finished(self, folder, facts, files, began)


_TABLE_5 = ("sensitive", "records", "max_k", "avg_k", "printed_max_k", "printed_avg_k")
_COLUMNS = ("sensitive", "records", "way", "k", "groups", "broken", "share", "crowded", "usual")


def free_view(sample: Sample) -> View:
    """The sample as Mondrian sees it, which has no rule for the least generalisation."""
    return replace(sample.view, quasi=tuple(replace(a, at_least=None) for a in sample.view.quasi))


def grouped_by(sample: Sample, way: str, every: Sequence[int] = K) -> list[Grouped]:
    """Mondrian with every k, by the name of a way to cut."""
    return [replace(one, way=way) for one in broken_by(sample, WAYS[way], every)]


def broken_by(sample: Sample, method: Mondrian, every: Sequence[int] = K) -> list[Grouped]:
    """Mondrian with every k."""
    view, cells = sample.view, sample.cells
    places = {a.name: cells.attributes.index(a.name) for a in (*view.quasi, *view.sensitive)}
    own = {
        name: shares_of_counts(view.domain(name), cells.codes[:, place], cells.counts) for name, place in places.items()
    }
    shares = {
        a.name: Distribution.from_counts(cells.codes[:, places[a.name]], cells.counts, view.domain(a.name).size)
        for a in view.quasi
    }
    model = CappedConfidence(rate=RATE, shares=own)
    free = free_view(sample)
    found = []
    for k in every:
        if k > sample.records:
            break
        groups = replace(method, k=k).draft(free, cells).partition.statistics(free)
        broken = model.broken_records(groups)
        crowd = _crowd(groups, shares, sample.records)
        found.append(
            Grouped(
                sample.sensitive, sample.records, "", k, len(groups), int(broken.sum()),
                float(np.median(crowd[broken > 0])) if broken.any() else float("nan"), float(np.median(crowd)),
            )
        )  # fmt: skip
    return found


def max_k(found: Sequence[Grouped]) -> int | None:
    """The smallest k from which on nothing breaks the cap.

    >>> few = [Grouped("s", 9, TREES, k, 1, broken, 1.0, 1.0) for k, broken in ((5, 3), (10, 0), (20, 1), (30, 0))]
    >>> max_k(few), max_k(few[:3])
    (30, None)
    """
    kept = list(takewhile(lambda one: not one.broken, sorted(found, key=lambda one: -one.k)))
    return kept[-1].k if kept else None


def _crowd(groups: Statistics, shares: dict[str, Distribution], records: int) -> np.ndarray:
    """How many records each group has for each that would be in its region if attributes were independent."""
    boxes = groups.boxes
    assert boxes is not None, "the groups of a partition have regions"
    expected = np.full(len(groups), float(records))
    for place, name in enumerate(boxes.attributes):
        expected *= shares[name].share(boxes.starts[:, place], boxes.stops[:, place])
    return np.asarray(groups.sizes / expected)


def _of(grouped: Sequence[Grouped], sensitive: str, records: int, way: str) -> list[Grouped]:
    return [one for one in grouped if (one.sensitive, one.records, one.way) == (sensitive, records, way)]


def _facts(sensitive: str, rows: Sequence[Row], grouped: Sequence[Grouped]) -> list[Fact]:
    name = NAMES[sensitive]
    mine = [row for row in rows if row.sensitive == sensitive]
    printed = [row for row in mine if row.printed_max_k is not None]
    ends = (mine[0].records, mine[-1].records)
    near = [one for one in _of(grouped, sensitive, ends[1], TREES) if one.k == CLOSE_TO_MAX]
    ways = "; ".join(
        f"{way}: {', '.join(_k(max_k(_of(grouped, sensitive, records, way))) for records in dict.fromkeys(ends))}"
        for way in WAYS
    )
    facts = [
        Fact(
            what=f"{name}: Max.k by size", printed=_listed([row.printed_max_k for row in mine]),
            ours=_listed([row.max_k for row in mine]),
            agrees=[row.max_k for row in printed] == [row.printed_max_k for row in printed] if printed else None,
            why="Max.k hangs on how Mondrian cuts, which the paper does not say; see below",
        ),
        Fact(
            what=f"{name}: Max.k by the cuts, at {' and '.join(f'{size:,}' for size in dict.fromkeys(ends))} records",
            printed="(not said)", ours=ways, agrees=None,
        ),
        Fact(
            what=f"{name}: Avg.k by size", printed=_listed([row.printed_avg_k for row in mine]),
            ours=", ".join("–" if row.avg_k is None else f"{row.avg_k:.1f}" for row in mine),
            agrees=all(
                row.avg_k is not None and row.printed_avg_k is not None and abs(row.avg_k - row.printed_avg_k) < 1
                for row in printed
            ) if printed else None,
            why="the more sensitive values, the larger the groups: compare salary (50) with occupation (26)",
        ),
    ]  # fmt: skip
    if near and near[0].broken:
        (one,) = near
        facts.append(
            Fact(
                what=f"{name}: whose records break the cap at k = {one.k}, {one.records:,} records",
                printed="(not said)",
                ours=f"groups with {one.crowded:.1f} times the records that independence expects there (median); "
                f"of all groups, {one.usual:.1f} times",
                agrees=None,
            )
        )
    return facts


def _listed(found: Sequence[int | None]) -> str:
    return ", ".join(_k(k) for k in found)


def _k(found: int | None) -> str:
    return f"above {K[-1]}" if found is None else str(found)


def _panels(grouped: Sequence[Grouped], sizes: Sequence[int]) -> Panels:
    curves = [
        Curve(
            panel=NAMES[what],
            series=f"{size:,} records",
            points=tuple((float(one.k), 100 * one.share) for one in _of(grouped, what, size, TREES)),
        )
        for what in (SALARY, OCCUPATION)
        for size in sizes
    ]
    printed = sorted({float(TABLE_5[size][0]) for size in sizes if size in TABLE_5})
    return Panels(
        title=SattarFigure3.title,
        x="k",
        y="Records that break the cap, %",
        curves=tuple(curves),
        printed=tuple((NAMES[what], k, 0.0) for what in (SALARY, OCCUPATION) for k in printed),
        upwards="bent",
        note="Rings: the paper's Max.k, 90 up to 75,000 records and 70 from 100,000 on.",
    )
