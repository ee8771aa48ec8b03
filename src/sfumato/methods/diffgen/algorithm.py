"""DiffGen: differentially private generalisation for classification (Mohammed, Chen, Fung & Yu, KDD 2011)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt
from typing import Any, ClassVar

from sfumato.domains.counts import Counter, Marginal
from sfumato.domains.cut import Cut, Range
from sfumato.errors import StudyError
from sfumato.methods.diffgen.forecast import auto_specializations, count_sentences, group_range
from sfumato.methods.method import (
    BEST_OF,
    METHODS,
    POINT_OF,
    Context,
    Exact,
    Forecast,
    PrivateMethod,
    refuse_observed,
    refuse_one_class,
    require_accountant,
)
from sfumato.methods.noise.noisy_groups import SHARE_OF_SIZE, Finish, noise_scale, noisy_size
from sfumato.methods.noise.post_processing import DEFAULT_POST
from sfumato.methods.specialization.candidates import Frontier, can_split, domain_of, split_point
from sfumato.methods.specialization.scores import SCORES, Score
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms.noisy_max import noisy_max
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.release.draft import Draft
from sfumato.study.budget import parse_epsilon
from sfumato.study.purpose import Needs
from sfumato.study.view import View


@METHODS.add
@dataclass(frozen=True, kw_only=True)
class DiffGen(PrivateMethod):
    """Specialize from the top by private choices, then publish noisy counts of all groups (the paper's Algorithm 1).

    Paper -> here: specialization v → child(v) -> `Candidate`, ∪Cut -> `Frontier`, u(D, v) -> `Score`, equivalence
    group -> group. We differ, each time within the same ε:

    - Candidates are chosen by noisy max with exponential noise (permute-and-flip), which is never worse than the
      exponential mechanism at the same ε (McKenna & Sheldon 2020); monotone scores use their halved cost.
    - Split points come from the public grid, drawn exactly; the paper draws from a real interval.
    - ε' that a round does not use (a categorical choice needs no split points; no candidate is left) goes to the
      counts. Which rounds those are follows from choices already drawn, and budgets that depend on earlier outputs
      compose like fixed ones as long as their sum stays under ε (see `Accountant`).
    - Sets (Zaman & Obimbo 2014) are specialized by which of a node's children a record contains (`SetMarginal`); every
      record is in one region of the subsets of a cut's nodes (`SetCut`), so nothing of the argument below changes.
    - A score depends only on (attribute × class) counts, so the table is counted once for all h specializations.

    Privacy, for tables that differ by one record: every numerical root costs ε' (all records), every round ε' for the
    choice and ε' for the new split points (disjoint records, one charge); at most ε'·(numerical + 2h) = ε/2 in all.
    The counts take what is left, at least ε/2, with Δ = 1. A noisy size (`h: auto`, post-processing, a crowded cut)
    costs ε/100 of its own first, and the rest is split the same way; noisy class totals (`post: class_totals`) cost
    1/20 of the whole ε (`SHARE_OF_TOTALS`), taken from the share of the counts. For persons with at most m records
    everything runs at ε/m (group privacy).
    """

    name: ClassVar[str] = "diffgen"
    summary: ClassVar[str] = "differentially private generalisation for classification"
    needs: ClassVar[Needs] = Needs(private=True, target=True, random=True)
    epsilon: Exact
    h: int | str = "auto"
    score: str = "max"
    threshold: int | str = "auto"
    post: str = DEFAULT_POST

    def __post_init__(self) -> None:
        parse_epsilon(self.epsilon)
        if self.h != "auto" and (not isinstance(self.h, int) or isinstance(self.h, bool) or self.h < 1):
            raise StudyError(
                f"h is {self.h!r}", "use a whole number of specializations from 1 on, or `auto`", code="SF-STUDY-046"
            )
        _ = SCORES[self.score], self.finish

    @property
    def finish(self) -> Finish:
        """How the counts are published."""
        return Finish(threshold=self.threshold, post=self.post)

    def check(self, view: View) -> None:
        """Refuse observed domains, fewer than two classes, and attributes that cannot be generalised."""
        refuse_observed(view)
        refuse_one_class(view)

    def forecast(self, view: View) -> Forecast:
        """What will happen, from the domains and parameters alone."""
        self.check(view)
        epsilon = self.spends / view.unit.stability
        numbers: dict[str, Any] = {"h": self.h, "numerical": len(view.numerical)}
        sentences = []
        if self.h == "auto":
            sentences.append(
                f"h is chosen from a noisy number of records (ε/{SHARE_OF_SIZE} of the budget) so that groups stay "
                "large compared with the noise"
            )
            low, high = 1, None
        else:
            low, high = group_range(view, int(self.h))
            step = _share(epsilon, len(view.numerical), int(self.h))
            sentences.append(
                f"{self.h} specializations chosen by score '{self.score}', each step with ε' = {float(step):.4g}; "
                f"{len(view.numerical)} numerical attributes get split points from their public grids"
            )
        sized = self.h == "auto" or self.finish.needs == "size"
        half = (epsilon - epsilon / SHARE_OF_SIZE if sized else epsilon) / 2
        classes = len(view.classes)
        scale = noise_scale(self.finish.least_for_counts(high, classes, budget=epsilon, left=half, sized=sized))
        more, facts = count_sentences(
            view, low, high, scale=scale, threshold=self.threshold, post=self.post, epsilon=epsilon
        )
        if high is not None and high < 2**62:  # a count of a one-way marginal adds up at most all groups
            facts["marginal_deviation"] = sqrt(2 * high) * float(scale)
        return Forecast(sentences=(*sentences, *more), numbers={**numbers, **facts})

    def draft(self, view: View, counts: Counter, context: Context | None = None) -> Draft:
        """Count once, specialize h times, count the groups, add noise."""
        self.check(view)
        accountant, source, progress = require_accountant(context)
        progress("counting attributes", 0, 1)
        marginals = counts.marginals([a.name for a in view.predictors], view.target.name)
        size: int | None = None
        if self.h == "auto" or self.finish.needs == "size":
            records = int(next(iter(marginals.values())).counts.sum())
            size = noisy_size(records, accountant=accountant, source=source)
        rest = accountant.left
        h = auto_specializations(view, size or 0, rest / 2) if self.h == "auto" else int(self.h)
        share = _share(rest, len(view.numerical), h)
        top = _Descent(view, marginals, SCORES[self.score], share, accountant=accountant, source=source)
        for done in range(h):
            progress("specializing", done, h)
            if not top.specialize():
                break
        draft = self.finish.draft(view, top.cuts, counts, self, size=size, context=context)
        return replace(draft, facts={"score": self.score, "h": h, "specializations": top.history, **draft.facts})


class _Descent:
    """The cuts on their way down: what Algorithm 1 carries from line to line."""

    def __init__(
        self,
        view: View,
        marginals: Mapping[str, Marginal],
        score: Score,
        share: Fraction,
        *,
        accountant: Accountant,
        source: RandomSource,
    ) -> None:
        """Lines 1 to 5: every attribute at its root, the numerical ones with a split point, all scored."""
        self._domains = {a.name: domain_of(a) for a in view.predictors}
        self._marginals = marginals
        self._score = score
        self._sensitivity = score.sensitivity(len(view.classes))
        self._share = share
        self._accountant = accountant
        self._source = source
        self._frontier = Frontier(view.predictors, marginals, score)
        self._cuts: dict[str, Cut] = {name: domain.root(name) for name, domain in self._domains.items()}
        self.history: list[str] = []
        for name, domain in self._domains.items():
            self._open(name, [(0, domain.size)])

    @property
    def cuts(self) -> tuple[Cut, ...]:
        """One cut a predictor, in the view's order."""
        return tuple(self._cuts.values())

    def specialize(self) -> bool:
        """Lines 7 to 10: choose a candidate, replace it by its children, score those. False when none is left."""
        candidates, scores = self._frontier.scored()
        if not candidates:
            return False
        grant = self._accountant.grant(self._share, on=f"choice {len(self.history) + 1}", mechanism=BEST_OF)
        place = noisy_max(
            scores, sensitivity=self._sensitivity, monotone=self._score.monotone, grant=grant, source=self._source
        )
        chosen = candidates[place]
        self._frontier.take(chosen)
        self._cuts[chosen.attribute] = self._cuts[chosen.attribute].specialize(chosen.region, chosen.children)
        self.history.append(f"{chosen.attribute}: {self._domains[chosen.attribute].label(*chosen.region)}")
        self._open(chosen.attribute, chosen.children)
        return True

    def _open(self, name: str, regions: Sequence[Range]) -> None:
        """Enter regions as candidates; on a free grid draw their split points first, in parallel (disjoint records)."""
        domain = self._domains[name]
        splits: dict[Range, int] = {}
        if domain.free:
            wide = [region for region in regions if can_split(domain, region)]
            parts = [f"split point of '{name}' in {domain.label(*region)}" for region in wide]
            grants = self._accountant.parallel(self._share, on=parts, mechanism=POINT_OF)
            for region, grant in zip(wide, grants, strict=True):
                splits[region] = split_point(
                    self._marginals[name], region, self._score, grant=grant, source=self._source
                )
        for region in regions:
            self._frontier.open(name, region, splits.get(region))


def _share(epsilon: Fraction, numerical: int, h: int) -> Fraction:
    """ε' = ε / (2(|A_num| + 2h)): half the budget over all private choices (the paper's line 3)."""
    return epsilon / (2 * (numerical + 2 * h))
