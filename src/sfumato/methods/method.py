"""What every method does, and the registry that finds it by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeGuard

import numpy as np

from sfumato.domains.counts import Cells, Counter
from sfumato.domains.cut import Cut
from sfumato.errors import StudyError
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.progress import Progress, silent
from sfumato.registry import Registry
from sfumato.release.draft import Draft
from sfumato.release.partition import PartitionDraft
from sfumato.study.attribute import observed
from sfumato.study.partition_view import PartitionView
from sfumato.study.view import View

# The words on a receipt for what was drawn.
NOISE_ON = "discrete Laplace noise, exact on integers"
BEST_OF = "noisy max with exponential noise (permute-and-flip)"
POINT_OF = "exponential mechanism over grid points, exact"

Exact = Fraction | Decimal | int | float | str  # ε as people give it; read exactly by `parse_epsilon`


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What a recipe will do and cost, worked out from public things alone."""

    sentences: tuple[str, ...]
    numbers: dict[str, Any]


class Method(Protocol):
    """An algorithm that turns counts into a draft that keeps its promise.

    A method is a frozen dataclass of its parameters; the study's `releases` give them by name.
    """

    name: ClassVar[str]
    summary: ClassVar[str]

    @property
    def spends(self) -> Fraction | None:
        """The ε one release costs a privacy unit; None where the promise is not differential privacy."""
        ...

    def check(self, view: View) -> None:
        """Refuse, before anything is read or spent, a view that this method cannot keep its promise on."""
        ...

    def forecast(self, view: View) -> Forecast:
        """Say what will happen and what it costs; touches nothing."""
        ...

    def run(
        self, view: View, counter: Counter, *, accountant: Accountant, source: RandomSource, progress: Progress = silent
    ) -> Draft:
        """Make the draft."""
        ...


class PartitionMethod(Protocol):
    """An algorithm that puts records into groups that keep models; it costs no ε, and promises no ε-DP.

    Like every method it is a frozen dataclass of its parameters. ``partition`` is True.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    partition: ClassVar[bool]

    @property
    def spends(self) -> None:
        """Nothing: the promise is not differential privacy."""
        ...

    def check(self, view: PartitionView) -> None:
        """Refuse, before anything is read, a view that this method cannot keep its promise on."""
        ...

    def forecast(self, view: PartitionView) -> Forecast:
        """Say what will happen; touches nothing."""
        ...

    def draft(self, view: PartitionView, cells: Cells, *, progress: Progress = silent) -> PartitionDraft:
        """Make the draft; a method that draws at random takes a `RandomSource`, too: ``source``."""
        ...


METHODS: Registry[type[Any]] = Registry("method")


def is_partition(method: object) -> TypeGuard[PartitionMethod]:
    """Whether a method puts records into groups, instead of counting with noise."""
    return bool(getattr(method, "partition", False))


def method_needs_class(method: object) -> bool:
    """Whether a method of noisy counts needs a class: it does unless it says otherwise."""
    return bool(getattr(method, "needs_class", True))


def refuse_observed(view: View) -> None:
    """A domain read off the data is not public: a differentially private method may not use it."""
    names = observed((*view.attributes, *view.selection.attributes))
    if names:
        raise StudyError(
            f"the domain of {_listed(names)} was read off the data, so publishing it would say who is in the table",
            "check the bounds, values or taxonomy against what is publicly known, then set `domain: declared`",
        )


def refuse_one_class(view: View) -> None:
    """With one class, or without any, there is nothing to predict."""
    if not view.targeted:
        raise StudyError(
            "the release has no class attribute, and this method needs one",
            "give one attribute the role `class` with its `values`, or use the method `contingency`, which needs none",
        )
    if len(view.classes) < 2:  # noqa: PLR2004 - two classes are the least there can be
        raise StudyError(
            f"the class '{view.target.name}' has {len(view.classes)} declared value, so there is nothing to predict",
            "declare all the values the class may take",
        )


def cells_by_class(counter: Counter, cuts: Sequence[Cut], view: View) -> Cells:
    """The occupied groups: region numbers of the cuts in their order, then the class; without one, 0 for all."""
    cells = counter.cells([*cuts, *view.class_cuts])
    if view.targeted:
        return cells
    none = np.zeros(len(cells), dtype=np.int64)
    return Cells((*cells.attributes, view.target.name), np.column_stack([cells.codes, none]), cells.counts)


def _listed(names: Sequence[str]) -> str:
    shown = [f"'{name}'" for name in names[:5]]
    if len(names) > len(shown):
        shown.append(f"{len(names) - len(shown)} more")
    return ", ".join(shown)
