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
from sfumato.methods.noise.noisy_groups import Finish, noise_scale
from sfumato.methods.noise.post_processing import DEFAULT_POST
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
    Sets are counted by the sets of nodes at their declared level, or of leaves; a record has one of them.
    The cross product is usually astronomical; the release costs only what it publishes (see `noisy_sparse`).
    """

    name: ClassVar[str] = "contingency"
    needs: ClassVar[Needs] = Needs(private=True, random=True)
    summary: ClassVar[str] = "noisy counts of every combination of the finest values"
    epsilon: Exact
    threshold: int | str = "auto"
    post: str = DEFAULT_POST

    def __post_init__(self) -> None:
        parse_epsilon(self.epsilon)
        _ = self.finish

    @property
    def finish(self) -> Finish:
        """How the counts are published."""
        return Finish(threshold=self.threshold, post=self.post)

    def check(self, view: View) -> None:
        """Refuse observed domains, and sets with more codes than their combinations can be written down for."""
        refuse_observed(view)
        for cut in _finest(view):
            if cut.total.bit_length() > _MOST_BITS:
                raise StudyError(
                    f"'{cut.attribute}' has {len(cut.starts):,} codes, and every set of them would be a separate value",
                    f"declare a `level` of '{cut.attribute}' with fewer nodes, or `most`: how many codes a set holds",
                    code="SF-STUDY-045",
                )

    def forecast(self, view: View) -> Forecast:
        """How many combinations there are, and what the noise does to them."""
        self.check(view)
        total = prod(cut.total for cut in _finest(view)) * len(view.classes)
        epsilon = self.spends / view.unit.stability
        counts = self.finish.least_for_counts(total, len(view.classes), budget=epsilon, left=epsilon)
        sentences, facts = count_sentences(
            view, total, total, scale=noise_scale(counts), threshold=self.threshold, post=self.post, epsilon=epsilon
        )
        fewest = min((cut.total for cut in _finest(view)), default=1)
        facts["marginal_deviation"] = sqrt(2 * (total // fewest)) * facts["noise_scale"] if total < _SUMMED else None
        return Forecast(sentences=tuple(sentences), numbers=facts)

    def draft(self, view: View, counts: Counter, context: Context | None = None) -> Draft:
        """Count the cells, add noise to all of them."""
        self.check(view)
        return self.finish.draft(view, _finest(view), counts, self, context=context)


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
