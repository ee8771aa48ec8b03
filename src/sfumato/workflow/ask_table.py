"""Questions to the table itself: a noisy count or histogram, charged to the same budget as releases.

The order is that of a release: what can fail without looking at a record fails first, then the owner's guard, the entry
is committed to the ledger, then the records are counted and noise is drawn. A crash between wastes budget and shows
nothing; there is no answer without an entry. The cells of a histogram are disjoint and public: every value of the
declared domain gets its own noise, also where no record has it, so one record more changes one count by 1 and all cells
cost ε together. Other strategies measure sums of neighbouring cells, with the sensitivity that this has
(`privacy.dp.strategies` has the argument), and estimate the cells from them.

Records whose values are missing or outside their domains are treated as in releases: kept under the value that the
study names, or left out. For persons with at most m records the noise is that of ε/m (group privacy, see `study.unit`).
"""

import datetime as dt
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import sqrt
from typing import Any, Final

import numpy as np

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import SourceError, StudyError, UsageError
from sfumato.ledger import Ledger, NewEntry
from sfumato.methods.method import NOISE_ON
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance, scale_for
from sfumato.privacy.dp.sampling import RandomSource, SecureSource
from sfumato.privacy.dp.strategies import Cells, Comparison, OrderedStrategy, check_strategy, draw_measurements
from sfumato.privacy.models import DifferentialPrivacy
from sfumato.progress import Progress, silent
from sfumato.release.guarantee import NO_GUARANTEE
from sfumato.study.attribute import Attribute, Role, observed
from sfumato.study.budget import exact_text, show
from sfumato.study.purpose import undecided_error
from sfumato.study.recipe import Recipe
from sfumato.study.selection import EVERYTHING, Selection, parse_selection
from sfumato.study.study import Study
from sfumato.tables import CodedTable, Records, SourceTable, count_left_out
from sfumato.workflow.histogram import Axis, Histogram, RangeCount
from sfumato.workflow.steps.left_out_guard import refuse_above
from sfumato.workflow.steps.outcome import current_user, given_ledger, remaining_budget
from sfumato.workflow.steps.reservation import refuse_over_budget
from sfumato.workflow.steps.study_table import open_study_table

MOST_CELLS: Final = 100_000
"""Cells of one histogram; each gets noise, the empty ones too."""

SURE: Final = 0.95
"""How sure the stated error is."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """How many records satisfy ``text`` (any, if it is empty), in one count or one for every value of ``by``.

    ``span`` is text such as ``[2004-01-01, 2010-01-01)``, by the study's time attribute. ``strategy`` says what is
    measured of the values of ``by``, and ``ranges`` are conditions on ``by`` alone whose sums are answered too: `auto`
    takes the strategy with the smallest expected error for them, or for the single values where there are none.
    """

    text: str = ""
    epsilon: Fraction
    by: str | None = None
    span: str | None = None
    strategy: str = Cells.name
    ranges: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A noisy count, or one for every value of an attribute; ``within`` bounds the noise of each with 95 %.

    Counts are as they were drawn, so that sums of them are right on average: some may be below 0. Of a strategy other
    than `cells` they are estimates, and not whole. ``ranges`` has the sums that were declared; `over` gives others.
    """

    question: Question
    counts: dict[str, Any]  # by label; one without a label for a plain count
    left: Fraction | None
    within: int
    deviation: float
    entry: int
    ranges: tuple[RangeCount, ...] = ()
    histogram: Histogram | None = None
    comparison: Comparison | None = None

    @property
    def count(self) -> Any:
        """The one count; of a histogram the sum."""
        return sum(self.counts.values())

    def over(self, condition: str) -> RangeCount:
        """The sum over the values of ``by`` that satisfy a condition, with its interval; costs nothing more."""
        if self.histogram is None:
            raise UsageError(
                "a single count has no ranges to add up", "ask for a histogram: `by=…`", code="SF-USAGE-372"
            )
        return self.histogram.over(condition)

    def error(self) -> str:
        """The expected error in words."""
        each = "" if self.question.by is None else "each "
        return f"{each}within ±{self.within:,} with {100 * SURE:.0f} %"

    def as_json(self) -> dict[str, Any]:
        """The answer as plain values."""
        return {
            "question": self.question.text,
            "by": self.question.by,
            "span": self.question.span,
            "count": self.count,
            "counts": None if self.question.by is None else self.counts,
            "within": self.within,
            "confidence": SURE,
            "deviation": self.deviation,
            "epsilon": show(self.question.epsilon),
            "left": exact_text(self.left),
            "entry": self.entry,
            "ranges": [found.as_json() for found in self.ranges],
            "strategy": None if self.histogram is None else self.histogram.as_json(),
            "comparison": None if self.comparison is None else self.comparison.as_json(),
        }


def ask(
    study: Study,
    question: Question,
    *,
    ledger: Ledger | None = None,
    source: RandomSource | None = None,
    progress: Progress = silent,
    clock: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC),
    memory_limit: str | None = None,
    anyway: bool = False,
) -> Answer:
    """Answer one question about the study's table with noise, and record it in the ledger.

    Refused, unless ``anyway``, if more records are left out than the study's ``most_invalid`` allows.
    """
    book = given_ledger(study, ledger)
    noise = source or SecureSource()
    epsilon, by = question.epsilon, question.by
    selection = _selection(study, question)
    axis = None if by is None else _axis(study, by)
    strategy, comparison = _strategy(question, axis, epsilon / study.unit.stability)
    used = (*selection.attributes, *(() if by is None else (study.attribute(by),)))
    attributes = tuple({attribute.name: attribute for attribute in used}.values())
    if undecided := [attribute.name for attribute in attributes if attribute.role is Role.UNDECIDED]:
        raise undecided_error(undecided)
    _refuse_observed(attributes)
    recipe = _recipe(question)
    refuse_over_budget(study, book, epsilon=epsilon, unit=study.unit, span=selection.span, at=clock(), method="ask")
    progress("opening the table", 0, 1)
    with open_study_table(study, private=True, memory_limit=memory_limit) as table:
        counter = CodedTable(table, attributes or [_every_record(study)], unit=study.unit, selection=selection)
        if not anyway:
            _refuse_unreadable(study, table, counter.records.attributes, selection)
        guarantee = DifferentialPrivacy(epsilon=epsilon, unit=study.unit.words).sentence()
        entry = book.reserve(
            NewEntry(
                study=study.name,
                at=clock(),
                who=current_user(),
                purpose="question",
                method="ask",
                recipe=recipe.as_json(),
                guarantee=guarantee if noise.secure else NO_GUARANTEE,
                epsilon=epsilon,
                unit=study.unit.key,
                span=selection.span,
                where=selection.where,
            ),
            budget=study.budget,
        )
        try:
            progress("counting", 0, 1)
            counts = _count_cells(counter, None if axis is None else axis.cut)
            accountant = Accountant(epsilon / study.unit.stability)
            grant = accountant.grant(accountant.budget, on=question.text or "all records", mechanism=NOISE_ON)
            drawn = draw_measurements(strategy, counts[None], grant=grant, source=noise)[0]
        except BaseException as failure:
            book.fail(entry.id, type(failure).__name__, at=clock())
            raise
    histogram = None if axis is None else Histogram.of(axis, strategy, accountant.budget, drawn)
    answer = {"": int(drawn[0])} if histogram is None else histogram.counts
    book.complete(entry.id, _hash(answer), at=clock())
    single = histogram is None or isinstance(strategy, Cells)
    scale = scale_for(accountant.budget, sensitivity=1)
    return Answer(
        question=question,
        counts=answer,
        left=remaining_budget(study, book, selection.span),
        within=error_bound(scale) if histogram is None or single else histogram.within,
        deviation=sqrt(laplace_variance(scale)) if histogram is None or single else histogram.deviation,
        entry=entry.id,
        ranges=() if histogram is None else tuple(histogram.over(text) for text in question.ranges),
        histogram=histogram,
        comparison=comparison,
    )


def _strategy(question: Question, axis: Axis | None, epsilon: Fraction) -> tuple[OrderedStrategy, Comparison | None]:
    """What is measured; refuses what does not fit before anything is spent."""
    if axis is not None:
        return axis.strategy(question.strategy, epsilon, question.ranges)
    check_strategy(question.strategy)
    if question.strategy != Cells.name or question.ranges:
        raise UsageError(
            "a strategy and ranges are for the values of an attribute, and the question has one count",
            "name an attribute with `--by` (Python: `by=`)",
            code="SF-USAGE-373",
        )
    return Cells(1), None


def _refuse_unreadable(study: Study, table: SourceTable, attributes: Sequence[Attribute], selection: Selection) -> None:
    """Refuse if too many records of the *whole* table have invalid values in the attributes that the question uses.

    Not of the records that the question selects, and without a number: who asks may choose the condition, and counts of
    chosen records would be exact answers for nothing. What is left is one fact about each attribute: whether more of
    its values than the study's public limit are missing or invalid (see `left_out_guard` for what that reveals).
    """
    if study.most_invalid is None:
        return
    timed = () if selection.time is None else (selection.time,)
    used = tuple({attribute.name: attribute for attribute in (*attributes, *timed)}.values())
    found = count_left_out(Records(table, used, unit=study.unit, selection=EVERYTHING))
    try:
        refuse_above(study, found)
    except SourceError:
        raise SourceError(
            "too many records have a missing or invalid value in the attributes that the question uses, so no "
            "question was asked and nothing was spent",
            "inspect the values with `sfumato check`; to ask nevertheless, use `--anyway` (Python: `anyway=True`)",
            code="SF-SOURCE-039",
        ) from None


def error_bound(scale: float, sure: float = SURE) -> int:
    """The smallest t with P(|X| ≤ t) ≥ ``sure`` for discrete Laplace noise X of scale b.

    P(|X| > t) = 2 α^(t+1) / (1 + α) with α = exp(-1/b).

    >>> error_bound(10.0), error_bound(0.1)
    (30, 0)
    """
    alpha = math.exp(-1 / scale)
    if 2 * alpha <= (1 - sure) * (1 + alpha):
        return 0
    return math.ceil(-scale * math.log((1 - sure) * (1 + alpha) / 2) - 1 - 1e-9)  # the last: rounding of the logarithm


def _selection(study: Study, question: Question) -> Selection:
    open_to_questions = {name: a for name, a in study.attributes.items() if a.role is not Role.IDENTIFIER}
    found = parse_selection(question.text.strip(), open_to_questions)
    return found if question.span is None else replace(found, span=study.span(question.span), time=study.time)


def _axis(study: Study, by: str) -> Axis:
    """Every value of the declared domain: leaves of the taxonomy, or points of the grid."""
    attribute = study.attribute(by)
    domain = attribute.domain
    if attribute.role is Role.IDENTIFIER or domain is None:
        raise StudyError(
            f"'{by}' has no public domain, so there are no cells to count",
            "choose an attribute with a public domain",
            code="SF-STUDY-210",
        )
    if isinstance(domain, SetDomain):
        raise StudyError(
            f"'{by}' has sets of codes, so a record may be in several cells, which histograms do not support yet",
            "choose another attribute, or make a release and query it",
            code="SF-STUDY-211",
        )
    tree = domain.taxonomy
    whole = tree is None or domain.size == len(tree.widths)
    cut = Cut.finest(by, domain.size) if tree is None or whole else _leaves(by, tree.widths, domain.size)
    if len(cut) > MOST_CELLS:
        raise StudyError(
            f"'{by}' has {len(cut):,} values, and noise would be added to each",
            f"give it a coarser step or a taxonomy, so that there are at most {MOST_CELLS:,}",
            code="SF-STUDY-212",
        )
    return Axis(cut, domain)


def _leaves(name: str, widths: tuple[int, ...], size: int) -> Cut:
    return Cut(name, tuple(accumulate(widths[:-1], initial=0)), size)


def _refuse_observed(attributes: tuple[Attribute, ...]) -> None:
    names = observed(attributes)
    if names:
        raise StudyError(
            f"the domain of {', '.join(repr(name) for name in names)} was read from the data, so an answer that uses "
            "it would reveal who is in the table",
            "check the bounds, values or taxonomy against what is publicly known, then set `domain: declared`",
            code="SF-STUDY-213",
        )


def _every_record(study: Study) -> Attribute:
    """What to code by where a question names no attribute: one in which every record has a code.

    A set has no column of its name if it is joined from several; one is taken only if there is nothing else.
    """
    plain = next((name for name, a in study.attributes.items() if not isinstance(a.domain, SetDomain)), None)
    if plain is not None:
        alike = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("a record"),))), missing=0, other=0)
        return Attribute(name=plain, role=Role.INSENSITIVE, domain=alike)
    first = next(iter(study.attributes.values()))
    assert isinstance(first.domain, SetDomain), "there are sets alone"
    return Attribute(name=first.name, role=Role.INSENSITIVE, domain=replace(first.domain, other=0, empty=True))


def _count_cells(counter: CodedTable, cells: Cut | None) -> Any:
    if cells is None:
        return np.array([counter.rows()], dtype=np.int64)
    found = counter.cells([cells])
    counts = np.zeros(len(cells), dtype=np.int64)
    counts[found.codes[:, 0]] = found.counts
    return counts


def _recipe(question: Question) -> Recipe:
    asked = {"question": question.text, "by": question.by, "span": question.span, "epsilon": show(question.epsilon)}
    if question.strategy != Cells.name:
        asked |= {"strategy": question.strategy, "ranges": "; ".join(question.ranges)}
    return Recipe(name="question", method="ask", parameters={key: value for key, value in asked.items() if value})


def _hash(answer: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()
