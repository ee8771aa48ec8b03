"""Count queries: the error of counts estimated from a release (Li & Li, KDD 2009, 5.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

import numpy as np

from sfumato.domains.domain import Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import UsageError
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading
from sfumato.evaluate.uniform_assumption import Held, Predicate, Ranges, Sets, Workload, estimate, exact
from sfumato.release.shown import Floats, Integers
from sfumato.study.attribute import Attribute
from sfumato.wording import share_words

_SMALL, _LARGE = 0.01, 0.1  # shares of the records; Sattar et al. (2014), 6.1.1
_SLACK = 1e-9  # 0.3 · 10 is a little above 3 in binary, and 3 values are meant


def workload(
    evidence: Evidence, protected: Sequence[Attribute], *, qd: int, sel: float, queries: int, seed: int
) -> Workload:
    """Random COUNT queries with predicates on ``qd`` quasi-identifiers and on one of the ``protected`` attributes.

    Each predicate selects ⌈|A|·sel^(1/(qd + 1))⌉ values of its attribute's domain, so that a query selects about the
    share ``sel`` of all combinations (Xiao & Tao, VLDB 2006, 6.1). On a grid they are a random range, since numbers
    and days are asked for by ranges and a random set of them is a query nobody asks; on categories a random set of
    leaves, since their order is the taxonomy's and a range would follow its nodes, which generalised releases answer
    exactly. Of a set the values are codes, or nodes at its declared level, and a record is selected that has at least
    one of them; with several codes a record, that is more than ``sel``.
    Of several protected attributes each query draws one; without any, there are qd predicates, and sel^(1/qd).
    With fewer than ``qd`` quasi-identifiers, all of them are asked for.
    """
    draw = np.random.default_rng(seed)
    quasi = evidence.view.quasi
    qd = min(qd, len(quasi))
    part = sel ** (1 / (qd + bool(protected)))
    asked = draw.random((queries, len(quasi))).argsort(axis=1)[:, :qd]
    found: dict[str, Predicate] = {}
    for place, each in enumerate(quasi):
        found[each.name] = _selected(each, np.flatnonzero((asked == place).any(axis=1)), part, draw)
    of = draw.integers(0, max(1, len(protected)), queries)
    for place, each in enumerate(protected):
        found[each.name] = _selected(each, np.flatnonzero(of == place), part, draw)
    sizes = {name: evidence.view.domain(name).size for name in found}
    return Workload(queries, found, sizes)


def _selected(attribute: Attribute, queries: Integers, part: float, draw: np.random.Generator) -> Predicate:
    domain = attribute.domain
    assert domain is not None, "a view has domains"
    edges = np.array([*domain.starts_at(domain.level), domain.size]) if isinstance(domain, SetDomain) else None
    size = domain.size if edges is None else len(edges) - 1
    width = min(size, max(1, ceil(size * part - _SLACK)))
    if isinstance(domain, Grid):
        starts = draw.integers(0, size - width + 1, len(queries))
        return Ranges(queries, starts, starts + width)
    member = np.zeros((len(queries), size), dtype=np.bool_)
    member[:, :width] = True
    member = draw.permuted(member, axis=1)
    return Sets(queries, member) if edges is None else Held(queries, member, edges)


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The true and the estimated answers to the same queries."""

    true: Floats
    estimated: Floats

    def errors(self, asked: Sequence[bool] | Any) -> Floats:
        """|estimate − truth|/truth of the queries asked for, none of which has the answer 0."""
        true = self.true[asked]
        return np.abs(self.estimated[asked] - true) / true


@dataclass(frozen=True, slots=True, kw_only=True)
class _QueryError(Measure):
    """The average over queries of |estimate − truth|/truth.

    Estimates use the uniform assumption: a row's weight times the share of its region, and of its group's or bucket's
    values, that is selected; divided by the sampling rate. Suppressed records are not imputed. Queries with the
    true answer 0 have no relative error; they are excluded, and their number is a detail.
    """

    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, None)
    unit: ClassVar[str] = "share"
    which: ClassVar[tuple[float, float]] = (0.0, 1.0)  # true answers as shares of the records, both ends left out
    words: ClassVar[str] = "some record"
    subject: ClassVar[str] = "A random count query"  # of the sentence on a number
    qd: int = 4
    sel: float = 0.05
    queries: int = 1_000
    seed: int = 0
    attribute: str | None = None

    def __post_init__(self) -> None:
        if self.qd < 1 or self.queries < 1:
            raise UsageError(
                "qd and queries must be at least 1", "give qd and queries of at least 1", code="SF-USAGE-034"
            )
        if not 0 < self.sel <= 1:
            raise UsageError(
                f"a selectivity of {self.sel:g} is not a share", "give sel above 0 and at most 1", code="SF-USAGE-032"
            )

    def refuses(self, evidence: Evidence) -> str | None:
        """There must be quasi-identifiers, records, and a query of the required size."""
        if not evidence.view.quasi:
            return "there are no quasi-identifiers to query"
        if not evidence.records:
            return "the table has no records"
        if not self._asked(evidence, self._true(evidence)).any():
            return f"none of the {self.queries:,} queries counts {self.words}; try another `sel` or `qd`"
        return None

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return f"{self.subject} has a relative error of {share_words(value)} on average."

    def read(self, evidence: Evidence) -> Reading:
        """The mean error, with how many queries it is of."""
        answers = self._answers(evidence)
        asked = self._asked(evidence, answers.true)
        errors = answers.errors(asked)
        details = {
            "queries": int(asked.sum()),
            "queries with the answer 0, left out": int((answers.true == 0).sum()),
            "median error": float(np.median(errors)),
            "largest error": float(errors.max()),
            "mean true answer": float(answers.true[asked].mean()),
        }
        return Reading(value=float(errors.mean()), details=details)

    def asked(self, evidence: Evidence) -> tuple[Floats, Any]:
        """The table's answers to all queries, and which of the queries the error is over."""
        true = self._true(evidence)
        return true, self._asked(evidence, true)

    def _asked(self, evidence: Evidence, true: Floats) -> Any:
        least, most = self.which
        share = true / evidence.records
        return (true > 0) & (share > least if least else True) & (share < most if most < 1 else True)

    def _key(self) -> str:
        return f"queries qd={self.qd} sel={self.sel!r} n={self.queries} seed={self.seed} of={self.attribute}"

    def _true(self, evidence: Evidence) -> Floats:
        kept = evidence.kept
        if self._key() not in kept:
            protected = evidence.chosen(self.attribute) if self.attribute or evidence.protected else ()
            asked = workload(evidence, protected, qd=self.qd, sel=self.sel, queries=self.queries, seed=self.seed)
            kept[self._key()] = asked, estimate(exact(evidence), asked)
        true: Floats = kept[self._key()][1]
        return true

    def _answers(self, evidence: Evidence) -> Answers:
        if self._key() not in evidence.found:
            true = self._true(evidence)
            evidence.found[self._key()] = Answers(true, estimate(evidence.shown, evidence.kept[self._key()][0]))
        answers: Answers = evidence.found[self._key()]
        return answers


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class QueryError(_QueryError):
    """The average relative error of all queries with an answer above 0."""

    name: ClassVar[str] = "query-error"
    title: ClassVar[str] = "Query error"
    summary: ClassVar[str] = (
        "the relative error of counts estimated from the release, averaged over random count queries; 1: the "
        "error is as large as the true count"
    )


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SmallQueryError(_QueryError):
    """The average relative error of queries that count less than 1 % of the records."""

    name: ClassVar[str] = "query-error-small"
    title: ClassVar[str] = "Query error, small queries"
    summary: ClassVar[str] = "the relative error averaged over random queries that count less than 1 % of the records"
    which: ClassVar[tuple[float, float]] = (0.0, _SMALL)
    words: ClassVar[str] = "some record and less than 1 % of them"
    subject: ClassVar[str] = "A query that counts less than 1 % of the records"


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class LargeQueryError(_QueryError):
    """The average relative error of queries that count more than 10 % of the records."""

    name: ClassVar[str] = "query-error-large"
    title: ClassVar[str] = "Query error, large queries"
    summary: ClassVar[str] = "the relative error averaged over random queries that count more than 10 % of the records"
    which: ClassVar[tuple[float, float]] = (_LARGE, 1.0)
    words: ClassVar[str] = "more than 10 % of the records"
    subject: ClassVar[str] = "A query that counts more than 10 % of the records"
