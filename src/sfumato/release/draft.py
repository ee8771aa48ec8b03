"""Drafts: what a method returns, before it is published."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.errors import InternalError
from sfumato.privacy.dp.strategies import Strategy
from sfumato.privacy.models import GroupModel
from sfumato.release.guarantee import Guarantee, SyntacticGuarantee
from sfumato.release.measured import MeasuredTables
from sfumato.release.measured_marginals import MeasuredMarginals
from sfumato.release.partition import Partition
from sfumato.study.view import View


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Noisy counts: a region an attribute, a class, and a count. A group that is not listed has count 0.

    Of synthetic records the counts are weights, which need not be whole.
    """

    cuts: tuple[Cut, ...]  # one a predictor, in the view's order
    regions: NDArray[np.int64]  # (groups, predictors): which range of each cut
    classes: NDArray[np.int64]  # (groups,)
    counts: NDArray[Any]  # (groups,), all above 0

    def __post_init__(self) -> None:
        assert self.regions.shape == (len(self.counts), len(self.cuts)), "a region a cut"
        assert self.classes.shape == self.counts.shape, "a class a group"

    def __len__(self) -> int:
        return len(self.counts)


@dataclass(frozen=True, slots=True, eq=False)
class EstimatedGroups(Groups):
    """Counts that were estimated from noisy measurements of a strategy, with these.

    The strategy is over one ordered attribute, in every cell of the others, or over the whole table (``ordered`` None).
    """

    measured: NDArray[np.int64] = field(kw_only=True)  # (measurements × cells of all else,), as `measured.csv` lists it
    strategy: Strategy = field(kw_only=True)
    ordered: str | None = field(kw_only=True)
    scale: float = field(kw_only=True)

    def with_groups(self, groups: Groups) -> "EstimatedGroups":
        """Other groups of the same measurements."""
        return EstimatedGroups(
            groups.cuts, groups.regions, groups.classes, groups.counts,
            measured=self.measured, strategy=self.strategy, ordered=self.ordered, scale=self.scale,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Tables:
    """Measured tables, and synthetic records of them, which are drawn when they are first asked for."""

    measured: MeasuredTables | MeasuredMarginals
    draw: Callable[[], Groups]

    @cached_property
    def records(self) -> Groups:
        """The synthetic records, with their weights."""
        return self.draw()


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A release that is not published yet.

    ``form`` names the form that it is published in (`release.form`), which knows how to read ``content``: noisy counts
    of groups, measured tables, or a partition of records. ``facts`` goes into the manifest as it is, so it holds only
    what the guarantee covers: outputs of mechanisms, public parameters, and what follows from them or from the
    published records. ``owner`` goes into the owner's report and nowhere else. ``suppression`` says whether records may
    be suppressed, and ``rate`` is the share of the table's records that was drawn at random before anything else: a
    partition holds those alone, and a count of the table is estimated by a count of the release divided by it.
    """

    view: View
    content: Any
    form: str
    guarantee: Guarantee
    facts: Mapping[str, Any] = field(default_factory=dict)
    owner: Mapping[str, Any] = field(default_factory=dict)
    suppression: bool = False
    rate: Fraction = Fraction(1)

    @property
    def groups(self) -> Groups:
        """The noisy counts, of a draft that holds such; of measured tables the synthetic records with their weights."""
        if isinstance(self.content, Tables):
            return self.content.records
        if not isinstance(self.content, Groups):
            raise InternalError(f"a draft of the form '{self.form}' has no noisy counts")
        return self.content

    @property
    def measured(self) -> MeasuredTables:
        """The measured tables of stages, of a draft that holds such."""
        if not isinstance(self.content, Tables) or not isinstance(self.content.measured, MeasuredTables):
            raise InternalError(f"a draft of the form '{self.form}' has no measured tables of stages")
        return self.content.measured

    @property
    def marginals(self) -> MeasuredMarginals:
        """The measured marginals, of a draft that holds such."""
        if not isinstance(self.content, Tables) or not isinstance(self.content.measured, MeasuredMarginals):
            raise InternalError(f"a draft of the form '{self.form}' has no measured marginals")
        return self.content.measured

    @property
    def partition(self) -> Partition:
        """The partition, of a draft that holds one."""
        if not isinstance(self.content, Partition):
            raise InternalError(f"a draft of the form '{self.form}' has no partition")
        return self.content

    @property
    def models(self) -> tuple[GroupModel, ...]:
        """The privacy models of a syntactic guarantee; none of another."""
        return self.guarantee.models if isinstance(self.guarantee, SyntacticGuarantee) else ()
