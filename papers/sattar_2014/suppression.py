"""Sattar, Li, Ding, Liu & Vincent, *A general framework for privacy preserving data publishing*, 2014: Figure 2.

The paper prints curves without numbers; its text says that none is suppressed at δ' = 0.6. Its six samples are
disjoint, as ours are. See `acs` for the table.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from papers.drawing.panels import Curve, Panels
from papers.figure import FIGURES, Fact, Reproduced, finished
from papers.parallel import side_by_side
from papers.tables.acs import CODE, HALVES, NEEDS, OCCUPATION, SALARY, Sample, Survey
from sfumato.errors import InfeasibleError
from sfumato.methods import ConfidenceCap
from sfumato.progress import Progress, silent
from sfumato.release.draft import Draft
from sfumato.release.partition import SUPPRESSED

PAPER = "Sattar, Li, Ding, Liu & Vincent, A general framework for privacy preserving data publishing, 2014"
SIZES = (25_000, 50_000, 75_000, 100_000, 125_000, 150_000)
RATE = "0.9"
THRESHOLDS = ("0.2", "0.3", "0.4", "0.5", "0.6", "0.7")
CHOSEN = "0.6"  # the paper's threshold for everything else
NAMES = {SALARY: "Salary", OCCUPATION: "Occupation", CODE: "Occupation by 530 codes"}
TABLE_4 = {
    "age": 77, "education": 14, "marital": 6, "sex": 2, "race": 6, "state": 41, SALARY: 50, OCCUPATION: 50,
}  # fmt: skip
RARE = ("2", "4")  # widowed, separated


@dataclass(frozen=True, slots=True)
class Tried:
    """One threshold on one sample."""

    sensitive: str
    records: int
    marital: str
    distortion: str
    drawn: int
    suppressed: int
    groups: int
    average: float | None  # records a group
    rare: float  # the share of the suppressed that are widowed or separated

    @property
    def share(self) -> float:
        """Which part of the drawn records is suppressed."""
        return self.suppressed / self.drawn


@dataclass(frozen=True, slots=True)
class Values:
    """How many values one attribute has in our samples, and in the paper's Table 4."""

    attribute: str
    distinct: int
    printed: int


@dataclass(frozen=True, slots=True)
class Needed:
    """How far the records of a sample go if nothing limits them."""

    below: float  # the largest distortion up to the chosen threshold
    above: float | None  # the smallest beyond it
    beyond: int  # how many records go beyond,
    at_root: int  # and how many end with their marital status generalised away


@FIGURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SattarFigure2:
    """Suppressed records by distortion threshold, for six samples and two sensitive attributes."""

    name: ClassVar[str] = "sattar-2"
    title: ClassVar[str] = "Figure 2 and Table 4: suppressed records by distortion threshold (a) Salary (b) Occupation"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = NEEDS
    takes: ClassVar[str] = "about 3 minutes"
    data: Path | None = None
    sizes: tuple[int, ...] = SIZES

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Make a release for every sample and threshold, and look at what is suppressed."""
        began = time.monotonic()
        progress("reading the survey", 0, 1)
        survey = Survey.load(self.data)
        samples = dict(survey.samples(self.sizes))
        plain = [survey.sample(samples[size], what) for what in (SALARY, OCCUPATION) for size in self.sizes]
        ends = sorted({min(self.sizes), max(self.sizes)})
        halves = [survey.sample(samples[n], what, marital=HALVES) for what in (SALARY, OCCUPATION) for n in ends]
        codes = [survey.sample(samples[n], CODE) for n in ends]
        found = side_by_side(tried, [(one, each) for one in plain for each in THRESHOLDS], workers, progress)
        middle = side_by_side(tried, [(one, CHOSEN) for one in halves], workers, progress)
        finer = side_by_side(tried, [(one, CHOSEN) for one in codes], workers, progress)
        all_the_way = {one.sensitive: needed(one) for one in plain if one.records == min(self.sizes)}
        rare = _rare(plain[0])
        facts = []
        for what in (SALARY, OCCUPATION):
            facts += _facts(
                NAMES[what],
                [one for one in found if one.sensitive == what],
                [one for one in middle if one.sensitive == what],
                all_the_way[what],
                rare,
            )
        facts.append(_codes(finer))
        values = values_of(plain)
        facts.append(_table_4(values))
        progress("drawing the plot", 0, 1)
        table = ([*found, *middle, *finer], _COLUMNS)
        more = {"table-4": (values, tuple(Values.__dataclass_fields__))}
        files = _panels(found, self.sizes).save(folder, "suppressed", table, facts, more)
        return finished(self, folder, facts, files, began)


_COLUMNS = (
    "sensitive",
    "records",
    "marital",
    "distortion",
    "drawn",
    "suppressed",
    "share",
    "groups",
    "average",
    "rare",
)


def tried(sample: Sample, distortion: str) -> Tried:
    """One release."""
    drawn = round(sample.records * float(RATE))
    try:
        draft = drafted(sample, distortion)
    except InfeasibleError:
        return Tried(sample.sensitive, sample.records, sample.marital, distortion, drawn, drawn, 0, None, _rare(sample))
    cells, lost = draft.partition.cells, draft.partition.group == SUPPRESSED
    marital = cells.codes[lost, cells.attributes.index("marital")]
    codes = sample.view.domain("marital").encode(RARE)
    rare = int(cells.counts[lost][np.isin(marital, codes)].sum())
    suppressed = int(cells.counts[lost].sum())
    return Tried(
        sample.sensitive, sample.records, sample.marital, distortion, drawn, suppressed, int(draft.facts["groups"]),
        float(draft.facts["average_group"]), rare / max(suppressed, 1),
    )  # fmt: skip


def drafted(sample: Sample, distortion: str) -> Draft:
    """A release under the cap, of a share of the sample."""
    return ConfidenceCap(rate=RATE, distortion=distortion).draft(sample.view, sample.cells)


def needed(sample: Sample) -> Needed:
    """A release without a limit: how far its records went."""
    draft = drafted(sample, "1")
    steps = [(one["distortion"], one["records"]) for one in draft.owner["distortion"]]
    within = [step for step, _ in steps if step <= float(CHOSEN)]
    beyond = [(step, records) for step, records in steps if step > float(CHOSEN)]
    boxes, partition = draft.partition.boxes, draft.partition
    place = boxes.attributes.index("marital")
    root = boxes.stops[:, place] - boxes.starts[:, place] == sample.view.domain("marital").size
    published = partition.group != SUPPRESSED
    at_root = int(partition.cells.counts[published][root[partition.group[published]]].sum())
    return Needed(
        max(within, default=0.0), min((step for step, _ in beyond), default=None), sum(n for _, n in beyond), at_root
    )


def values_of(samples: Sequence[Sample]) -> list[Values]:
    """Table 4: the values that occur in any of the samples, beside those of the paper."""
    seen: dict[str, set[int]] = {}
    for one in samples:
        for place, name in enumerate(one.cells.attributes):
            seen.setdefault(name, set()).update(np.unique(one.cells.codes[:, place]).tolist())
    return [Values(name, len(seen[name]), printed) for name, printed in TABLE_4.items()]


def _table_4(values: Sequence[Values]) -> Fact:
    return Fact(
        what="Table 4: distinct values",
        printed=", ".join(f"{_words(one)} {one.printed}" for one in values),
        ours=", ".join(f"{_words(one)} {one.distinct}" for one in values),
        agrees=all(one.distinct == one.printed for one in values),
        why="another census than the paper's: a state in place of a birth place, and occupations in groups",
    )


def _words(one: Values) -> str:
    return "birth place" if one.attribute == "state" else one.attribute.replace("_group", "")


def _rare(sample: Sample) -> float:
    cells = sample.cells
    codes = sample.view.domain("marital").encode(RARE)
    here = np.isin(cells.codes[:, cells.attributes.index("marital")], codes)
    return float(cells.counts[here].sum() / cells.counts.sum())


def _facts(name: str, found: Sequence[Tried], middle: Sequence[Tried], all_the_way: Needed, rare: float) -> list[Fact]:
    at = [one for one in found if one.distortion == CHOSEN]
    next_up = [one for one in found if one.distortion == THRESHOLDS[-1]]
    smallest = at[0]
    beyond = (
        "no record needs more"
        if all_the_way.above is None
        else f"{all_the_way.beyond:,} records need {all_the_way.above:.2f} or more, "
        f"none between {all_the_way.below:.2f} and that"
    )
    return [
        Fact(
            what=f"{name}: suppressed at δ' = {CHOSEN}, by size", printed="none", ours=said(at),
            agrees=not any(one.suppressed for one in at),
            why="marital status is flat here, so to generalise it costs 1/6 at once, which passes over 0.6; see below",
        ),
        Fact(what=f"{name}: suppressed at δ' = {THRESHOLDS[-1]}, by size", printed="(not said)", ours=said(next_up),
             agrees=None),
        Fact(
            what=f"{name}: distortions that records need, {smallest.records:,} records", printed="at most 0.6",
            ours=f"{beyond}; {all_the_way.at_root:,} records have their marital status generalised away",
            agrees=all_the_way.above is None,
            why="marital status is among the last to be generalised, and records that need it are beyond 0.6",
        ),
        Fact(
            what=f"{name}: who is suppressed at δ' = {CHOSEN}, {smallest.records:,} records",
            printed="values of very low frequencies",
            ours=f"{100 * smallest.rare:.0f} % are widowed or separated, of all records {100 * rare:.0f} %",
            agrees=smallest.rare > rare if smallest.suppressed else None,
            why="of few suppressed records chance decides who they are: the records of a release are drawn at random",
        ),
        Fact(
            what=f"{name}: suppressed at δ' = {CHOSEN} with one level more over marital status (ever, never married)",
            printed="none", ours=said(middle), agrees=not any(one.suppressed for one in middle),
            why="the step is half as long: most of them now end at 0.60, the rest go on",
        ),
    ]  # fmt: skip


def _codes(found: Sequence[Tried]) -> Fact:
    return Fact(
        what=f"Occupation by 530 codes in place of 26 groups: suppressed at δ' = {CHOSEN}",
        printed="(50 occupations)",
        ours=said(found),
        agrees=None,
        why="the rarer the value, the smaller the expected confidence",
    )


def said(found: Sequence[Tried]) -> str:
    """Shares by size."""
    return ", ".join(f"{one.records // 1000}k: {100 * one.share:.3g} %" for one in found)


def _panels(found: Sequence[Tried], sizes: Sequence[int]) -> Panels:
    curves = [
        Curve(
            panel=NAMES[what],
            series=f"{size:,} records",
            points=tuple(
                (float(one.distortion), 100 * one.share)
                for one in found
                if one.sensitive == what and one.records == size
            ),
        )
        for what in (SALARY, OCCUPATION)
        for size in sizes
    ]
    return Panels(
        title=SattarFigure2.title,
        x="Distortion threshold δ'",
        y="Suppressed records, %",
        curves=tuple(curves),
        printed=tuple((NAMES[what], float(CHOSEN), 0.0) for what in (SALARY, OCCUPATION)),
        note="Ring: what the paper's text says, none at 0.6.",
    )
