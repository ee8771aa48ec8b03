"""Sattar et al. 2014: Figure 4, the error of random counts read off releases, by capped confidence and by Mondrian.

A query counts records by a predicate on three quasi-identifiers and one on the sensitive attribute: a random range of
ages or a random set of other values, which follow no taxonomy. The paper says neither how many predicates its queries
have nor how wide they are, so three selectivities stand for its three kinds, and of the queries drawn those of the kind
are kept: small ones count less than 1 % of the records, large ones more than 10 %. Estimates from our sample are
divided by 0.9; the paper adds 10 %. Suppressed records are not made up for.

Mondrian gets two k: Max.k, the smallest from which on none of its records breaks the cap, and Avg.k, the average group
of our release. The paper does not say how its Mondrian cuts categories, so ours does it in two ways: along the
taxonomies, and anywhere in the order of codes.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from papers.drawing.panels import Curve, Panels
from papers.figure import FIGURES, Fact, Reproduced, finished
from papers.parallel import side_by_side
from papers.sattar_2014.mondrian import ORDERED, TREES, WAYS, K, free_view, grouped_by, max_k
from papers.sattar_2014.suppression import CHOSEN, NAMES, PAPER, SIZES, drafted
from papers.tables.acs import NEEDS, OCCUPATION, SALARY, Sample, Survey
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES
from sfumato.evaluate.measures.query_error import LargeQueryError, QueryError, SmallQueryError
from sfumato.progress import Progress, silent
from sfumato.release.draft import Draft
from sfumato.release.shown import shown_records

QD = 3
KINDS: Mapping[str, tuple[str, int, float, int]] = {  # measure, predicates, selectivity; drawn for about a thousand
    "small": ("query-error-small", QD, 0.005, 1_600),
    "large": ("query-error-large", QD, 0.3, 1_100),
    "unbounded": ("query-error", QD, 0.05, 1_000),
}
NARROW: Mapping[str, tuple[str, int, float, int]] = {"narrow": ("query-error-small", 6, 0.0001, 1_500)}
WORDS = {
    "small": "small queries (< 1 %)",
    "large": "large queries (> 10 %)",
    "unbounded": "unbounded queries",
    "narrow": "small queries, six predicates",
}
CAPPED = f"capped confidence, δ' = {CHOSEN}"
MAX_K, AVG_K = "Max.k", "Avg.k"
Error = QueryError | SmallQueryError | LargeQueryError


def error_of(kind: str, queries: float = 1.0) -> Error:
    """The measure of one kind of queries; ``queries`` is a part of them, for a quick look."""
    name, qd, sel, drawn = {**KINDS, **NARROW}[kind]
    found: Error = MEASURES[name](qd=qd, sel=sel, queries=round(drawn * queries))
    return found


@dataclass(frozen=True, slots=True)
class Answered:
    """How well one release of one sample answers one kind of queries."""

    sensitive: str
    records: int
    release: str
    k: int | None
    kind: str
    error: float  # the mean of the relative errors
    median: float
    queries: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws:
    """Which releases are compared with ours: the ways Mondrian cuts, and the k that are tried to find Max.k."""

    ways: tuple[str, ...] = (TREES, ORDERED)
    k: tuple[int, ...] = K
    queries: float = 1.0


@FIGURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SattarFigure4:
    """Query errors of capped confidence and of Mondrian by the size of the table, for three kinds of queries."""

    name: ClassVar[str] = "sattar-4"
    title: ClassVar[str] = "Figure 4: query errors of capped confidence and Mondrian"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = NEEDS
    takes: ClassVar[str] = "about 6 minutes"
    data: Path | None = None
    sizes: tuple[int, ...] = SIZES
    draws: Draws = field(default_factory=Draws)

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Make five releases of every sample, and ask each of them the same queries."""
        began = time.monotonic()
        plain = samples_of(self.data, self.sizes, progress)
        each = side_by_side(answered, [(one, self.draws) for one in plain], workers, progress, "asking releases")
        found = [one for some in each for one in some]
        facts = facts_of(found, self.draws.ways)
        files = _panels(found).save(folder, "errors", (found, tuple(Answered.__dataclass_fields__)), facts)
        return finished(self, folder, facts, files, began)


def samples_of(data: Path | None, sizes: Sequence[int], progress: Progress) -> list[Sample]:
    """Salaries and occupations of samples of some sizes, the larger ones last."""
    progress("reading the survey", 0, 1)
    survey = Survey.load(data)
    drawn = dict(survey.samples(sizes))
    return [survey.sample(drawn[size], what) for size in sizes for what in (SALARY, OCCUPATION)]


def answered(sample: Sample, draws: Draws) -> list[Answered]:
    """All releases of one sample."""
    kept: dict[str, Any] = {}
    found = []
    for name, k, draft in _releases(sample, draws):
        evidence = Evidence(view=sample.view, raw=sample.cells, shown=shown_records(draft), kept=kept)
        for kind in KINDS:
            measure = error_of(kind, draws.queries)
            if measure.refuses(evidence) is None:
                read = measure.read(evidence)
                found.append(
                    Answered(
                        sample.sensitive, sample.records, name, k, kind, read.value, read.details["median error"],
                        read.details["queries"],
                    )
                )  # fmt: skip
    return found


def mondrian(way: str, which: str) -> str:
    """The name of one of Mondrian's releases."""
    return f"Mondrian, {way}, {which}"


def _releases(sample: Sample, draws: Draws) -> Iterator[tuple[str, int | None, Draft]]:
    ours = drafted(sample, CHOSEN)
    yield CAPPED, None, ours
    average = max(2, round(float(ours.facts["average_group"])))
    view = free_view(sample)
    for way in draws.ways:
        largest = max_k(grouped_by(sample, way, draws.k)) or draws.k[-1]
        for which, k in ((MAX_K, largest), (AVG_K, average)):
            yield mondrian(way, which), k, replace(WAYS[way], k=k).draft(view, sample.cells)


def facts_of(found: Sequence[Answered], ways: Sequence[str]) -> list[Fact]:
    """The paper's one sentence, for both ways to cut and both k; and how far apart the errors are."""
    facts = []
    for way in ways:
        for which in (MAX_K, AVG_K):
            pairs = _pairs(found, mondrian(way, which))
            less = sum(ours.error < theirs.error for ours, theirs in pairs)
            facts.append(
                Fact(
                    what=f"errors of capped confidence are less than those of Mondrian with {way}, k = {which}",
                    printed="always", ours=f"at {less} of {len(pairs)} points; Mondrian's are {_times(pairs)}",
                    agrees=less == len(pairs), why="" if less == len(pairs) else _WHY[way],
                )
            )  # fmt: skip
    return facts


_WHY = {
    TREES: "at the other points the sample and the suppressed records cost more than Mondrian's wide groups",
    ORDERED: "Mondrian that may cut a category anywhere makes much narrower groups than one that keeps to taxonomies, "
    "which the paper does not speak of; and the smaller the sample, the further the cap makes records go",
}


def _pairs(found: Sequence[Answered], other: str) -> list[tuple[Answered, Answered]]:
    by = {(one.sensitive, one.records, one.kind, one.release): one for one in found}
    return [(ours, by[(*key[:3], other)]) for key, ours in by.items() if key[3] == CAPPED and (*key[:3], other) in by]


def _times(pairs: Sequence[tuple[Answered, Answered]]) -> str:
    """Mondrian's errors for each of ours, by kind."""
    said = []
    for kind in KINDS:
        ratios = [theirs.error / ours.error for ours, theirs in pairs if ours.kind == kind]
        if ratios:
            said.append(f"{min(ratios):.2f} to {max(ratios):.2f} times as large ({kind})")
    return ", ".join(said)


def panel_of(sensitive: str, kind: str) -> str:
    """The name of one panel."""
    return f"{NAMES[sensitive]}: {WORDS[kind]}"


def _panels(found: Sequence[Answered]) -> Panels:
    releases = list(dict.fromkeys(one.release for one in found))
    curves = []
    for sensitive in (SALARY, OCCUPATION):
        for kind in KINDS:
            for release in releases:
                mine = [o for o in found if (o.sensitive, o.kind, o.release) == (sensitive, kind, release)]
                points = tuple((one.records / 1000, 100 * one.error) for one in mine)
                if points:
                    curves.append(Curve(panel_of(sensitive, kind), release, points))
    return Panels(
        title=SattarFigure4.title,
        x="thousand records",
        y="mean relative error, %",
        curves=tuple(curves),
        upwards="log",
        ordered=False,
        columns=3,
        shared=False,
        sizes=(270, 230),
        ticks=tuple(dict.fromkeys(one.records / 1000 for one in found)),
        note="Logarithmic upwards. The paper says that capped confidence, its method, is always below Mondrian.",
    )
