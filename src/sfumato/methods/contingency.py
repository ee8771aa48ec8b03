"""The noisy contingency table: the paper's strawman, and a baseline of its own name."""

from dataclasses import dataclass
from itertools import accumulate
from math import prod, sqrt
from typing import ClassVar

from sfumato.domains.counts import Counter
from sfumato.domains.cut import Cut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import StudyError
from sfumato.methods.diffgen.forecast import count_sentences
from sfumato.methods.method import METHODS, Context, Exact, Forecast, PrivateMethod, refuse_observed
from sfumato.methods.noise.marginal_counts import draft_by_marginals, marginals_forecast, marginals_of
from sfumato.methods.noise.noisy_groups import Finish, noise_scale
from sfumato.methods.noise.post_processing import DEFAULT_POST
from sfumato.methods.noise.strategy_counts import (
    OrderedTable,
    choose_strategy,
    draft_by_strategy,
    refuse_strategy,
    strategy_forecast,
)
from sfumato.privacy.dp.strategies import MARGINALS, check_strategy
from sfumato.release.draft import Draft
from sfumato.study.budget import parse_epsilon
from sfumato.study.purpose import Needs
from sfumato.study.view import View

_SUMMED = 2**62  # combinations beyond this are not added up by anybody
_MOST_BITS = 4_096  # of the number of combinations: a manifest has to hold it


@METHODS.add
@dataclass(frozen=True, kw_only=True)
class ContingencyTable(PrivateMethod):
    """Noise on the count of every combination of leaf values, present or not: DiffGen with no limit on h.

    Neighbours differ by one record, so the vector of counts changes by 1 in one place (Δ = 1) and all of ε goes there.
    It needs no class; where there is one, it is counted like any other attribute.
    A ``strategy`` other than `cells` measures sums of neighbouring values of one ordered attribute instead, with the
    sensitivity that this has, and estimates the counts from them (`noise.strategy_counts` has the argument).
    Sets are counted by the sets of nodes at their declared level, or of leaves; a record has one of them.
    The cross product is usually astronomical; the release costs only what it publishes (see `noisy_sparse`).
    """

    name: ClassVar[str] = "contingency"
    needs: ClassVar[Needs] = Needs(private=True, random=True)
    summary: ClassVar[str] = "noisy counts of every combination of the finest values"
    epsilon: Exact
    threshold: int | str = "auto"
    post: str = DEFAULT_POST
    strategy: str = "cells"
    order: int = 2

    def __post_init__(self) -> None:
        parse_epsilon(self.epsilon)
        _ = self.finish
        check_strategy(self.strategy)
        if self.strategy == MARGINALS and (self.threshold != "auto" or self.post != DEFAULT_POST):
            raise StudyError(
                f"the strategy '{MARGINALS}' has a way of its own to make counts whole and non-negative",
                "leave `threshold` and `post` out, or use another strategy",
                code="SF-STUDY-379",
            )

    @property
    def finish(self) -> Finish:
        """How the counts are published."""
        return Finish(threshold=self.threshold, post=self.post)

    def check(self, view: View) -> None:
        """Refuse observed domains, sets with too many codes to be combined, and strategies that do not fit."""
        refuse_observed(view)
        for cut in _finest(view):
            if cut.total.bit_length() > _MOST_BITS:
                raise StudyError(
                    f"'{cut.attribute}' has {len(cut.starts):,} codes, and every set of them would be a separate value",
                    f"declare a `level` of '{cut.attribute}' with fewer nodes, or `most`: how many codes a set holds",
                    code="SF-STUDY-045",
                )
        if self.strategy == MARGINALS:
            marginals_of(view, _finest(view), self.order)
        else:
            refuse_strategy(self.strategy, view, _finest(view))

    def forecast(self, view: View) -> Forecast:
        """How many combinations there are, what the noise does to them, and which strategy has the smallest error."""
        self.check(view)
        cuts, epsilon = _finest(view), self.spends / view.unit.stability
        if self.strategy == MARGINALS:
            words, facts = marginals_forecast(marginals_of(view, cuts, self.order), epsilon)
            return Forecast(sentences=tuple(words), numbers=facts)
        table = OrderedTable.of(view, cuts)
        compared = None if table is None else table.comparison(epsilon)
        chosen = choose_strategy(self.strategy, view, cuts, epsilon)
        said = () if compared is None or table is None else (f"by '{table.name}', {compared.sentence()}",)
        numbers = {} if compared is None else {"strategies": compared.as_json()}
        if chosen is not None:
            words, facts = strategy_forecast(*chosen, epsilon=epsilon)
            return Forecast(sentences=(*words, *said), numbers=facts | numbers)
        total = prod(cut.total for cut in cuts) * len(view.classes)
        counts = self.finish.least_for_counts(total, len(view.classes), budget=epsilon, left=epsilon)
        sentences, facts = count_sentences(
            view, total, total, scale=noise_scale(counts), threshold=self.threshold, post=self.post, epsilon=epsilon
        )
        fewest = min((cut.total for cut in _finest(view)), default=1)
        facts["marginal_deviation"] = sqrt(2 * (total // fewest)) * facts["noise_scale"] if total < _SUMMED else None
        return Forecast(sentences=(*sentences, *said), numbers=facts | numbers)

    def draft(self, view: View, counts: Counter, context: Context | None = None) -> Draft:
        """Count the cells, add noise to all of them, or to the sums that a strategy measures."""
        self.check(view)
        cuts = _finest(view)
        if self.strategy == MARGINALS:
            marginals = marginals_of(view, cuts, self.order)
            return draft_by_marginals(view, cuts, marginals, counts, self, context)
        chosen = choose_strategy(self.strategy, view, cuts, self.spends / view.unit.stability)
        if chosen is None:
            return self.finish.draft(view, cuts, counts, self, context=context)
        threshold = 1 if self.threshold == "auto" else int(self.threshold)
        return draft_by_strategy(*chosen, counts, self, post=self.post, threshold=threshold, context=context)


def _finest(view: View) -> tuple[Cut, ...]:
    """Every predictor cut into the leaves of its taxonomy, or into single grid points."""
    cuts: list[Cut] = []
    for attribute in view.predictors:
        domain = attribute.domain
        assert domain is not None, "a predictor has a domain"
        if isinstance(domain, SetDomain):
            cuts.append(domain.finest(attribute.name))
            continue
        if domain.taxonomy is not None and domain.size > len(domain.taxonomy.widths):
            starts = accumulate(domain.taxonomy.widths[:-1], initial=0)
            cuts.append(Cut(attribute.name, tuple(starts), domain.size))
        else:
            cuts.append(Cut.finest(attribute.name, domain.size))
    return tuple(cuts)
