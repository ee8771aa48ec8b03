"""What every method does, and the registry that finds it by name."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Protocol

import numpy as np

from sfumato.domains.counts import Cells, Counter
from sfumato.domains.cut import Cut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import InternalError, StudyError
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import RandomSource, SecureSource
from sfumato.privacy.models import GroupModel
from sfumato.progress import Progress, silent
from sfumato.registry import Registry
from sfumato.release.draft import Draft
from sfumato.release.guarantee import DpGuarantee, Guarantee
from sfumato.study.attribute import observed
from sfumato.study.budget import parse_epsilon
from sfumato.study.purpose import Needs
from sfumato.study.view import View

# What the budget breakdown calls the mechanisms.
NOISE_ON = "discrete Laplace noise, exact on integers"
BEST_OF = "noisy max with exponential noise (permute-and-flip)"
POINT_OF = "exponential mechanism over grid points, exact"

Exact = Fraction | Decimal | int | float | str  # ε as people give it; read exactly by `parse_epsilon`


@dataclass(frozen=True, kw_only=True)
class Forecast:
    """What a recipe will do and cost, worked out from public things alone."""

    sentences: tuple[str, ...]
    numbers: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a method may use besides counts: an accountant that grants ε, a source of randomness, a progress report."""

    accountant: Accountant | None = None
    source: RandomSource = field(default_factory=SecureSource)
    progress: Progress = silent


def require_accountant(context: Context | None) -> tuple[Accountant, RandomSource, Progress]:
    """The accountant, the source and the progress report, for a method that spends ε."""
    if context is None or context.accountant is None:
        raise InternalError("a differentially private method was run without an accountant")
    return context.accountant, context.source, context.progress


class Method(Protocol):
    """An algorithm that turns counts into a draft with a guarantee.

    A method is a frozen dataclass of its parameters; the study's `releases` give them by name. It declares what it
    needs; ``form`` is the name of the form that its drafts are published in.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    needs: ClassVar[Needs]

    @property
    def form(self) -> str:
        """The form that its drafts are published in."""
        ...

    @property
    def spends(self) -> Fraction | None:
        """The ε that one release costs a privacy unit; None where the guarantee is not differential privacy."""
        ...

    @property
    def models(self) -> tuple[GroupModel, ...]:
        """The privacy models that it satisfies; none where it spends ε."""
        ...

    @property
    def may_suppress(self) -> bool:
        """Whether it may suppress records."""
        ...

    @property
    def samples(self) -> bool:
        """Whether it draws a part of the records."""
        ...

    @property
    def in_parts(self) -> bool:
        """Whether it can work with a table whose cells are brought in parts (`TableParts`), with the same result."""
        ...

    @property
    def one_by_one(self) -> bool:
        """Whether a draft holds each record by itself, and not how many there are of each combination."""
        ...

    @property
    def collects(self) -> str:
        """What all combinations of values of the table are collected for; of no meaning where counts are enough."""
        ...

    def guarantee(self, view: View) -> Guarantee:
        """What a release of the view satisfies."""
        ...

    def check(self, view: View) -> None:
        """Refuse, before anything is read or spent, a view on which it cannot give its guarantee."""
        ...

    def check_declared(self, view: View) -> None:
        """Refuse declarations that would be published and tell of records; the view has sets as they are declared."""
        ...

    def forecast(self, view: View) -> Forecast:
        """Say what will happen and what it costs; touches nothing."""
        ...

    def draft(self, view: View, counts: Any, context: Context | None = None) -> Draft:
        """Make the draft: from a `Counter` where ``needs.private``, else from all `Cells` of a table, or its parts."""
        ...


class PrivateMethod:
    """A method that is ε-differentially private: it publishes noisy counts, and no record."""

    form: ClassVar[str] = "noisy-counts"
    models: ClassVar[tuple[GroupModel, ...]] = ()
    may_suppress: ClassVar[bool] = False
    samples: ClassVar[bool] = False
    in_parts: ClassVar[bool] = False  # it asks for counts, and never for all cells
    one_by_one: ClassVar[bool] = False
    collects: ClassVar[str] = "nothing"
    epsilon: Exact

    @property
    def spends(self) -> Fraction:
        """ε, exactly."""
        return parse_epsilon(self.epsilon)

    def guarantee(self, view: View) -> DpGuarantee:
        """ε-differential privacy for the view's unit."""
        return DpGuarantee.of(self.spends, view.unit)

    def check_declared(self, view: View) -> None:
        """Nothing beyond `check`, which refuses every domain that was read off the table."""


METHODS: Registry[type[Any]] = Registry("method")


def refuse_observed(view: View) -> None:
    """A domain read off the data is not public: a differentially private method may not use it."""
    names = observed((*view.attributes, *view.selection.attributes))
    if names:
        raise StudyError(
            f"the domain of {_listed(names)} was read off the data, so publishing it would disclose information about "
            "records",
            "check the bounds, values or taxonomy against what is publicly known, then set `domain: declared`",
            code="SF-STUDY-064",
        )


def refuse_one_class(view: View) -> None:
    """With one class, or without any, there is nothing to predict."""
    if not view.targeted:
        raise StudyError(
            "the release has no class attribute, and this method needs one",
            "give one attribute the role `class` with its `values`, or use the method `contingency`, which needs none",
            code="SF-STUDY-065",
        )
    if len(view.classes) < 2:  # noqa: PLR2004 - two classes are the least there can be
        raise StudyError(
            f"the class '{view.target.name}' has {len(view.classes)} declared value, so there is nothing to predict",
            "declare all the values the class may take",
            code="SF-STUDY-066",
        )


def refuse_sets(view: View, method: str) -> None:
    """Stop at a predictor that holds sets, for a method that counts attributes with one value a record."""
    sets = [a.name for a in view.predictors if isinstance(a.domain, SetDomain)]
    if sets:
        raise StudyError(
            f"'{sets[0]}' holds sets of codes, and `{method}` counts attributes with one value a record",
            f"leave '{sets[0]}' out of the purpose, or use `method: diffgen`, which takes sets",
            code="SF-STUDY-224",
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
