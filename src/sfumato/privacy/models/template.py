"""Templates (confidence bounding): each sensitive value has a largest share of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, cast

import numpy as np

from sfumato.errors import StudyError
from sfumato.privacy.groups.parameters import Exact, parse_in_range, share_at_most
from sfumato.privacy.groups.sensitive import Sensitive, Strain, Values, code_of, refuse_unknown
from sfumato.privacy.groups.statistics import Statistics, Truths
from sfumato.privacy.models.model import MODELS
from sfumato.study.attribute import Attribute
from sfumato.study.budget import show


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class Template(Sensitive):
    """A value s has at most the share h_s of every group (Wang, Fung & Yu, ICDM 2005; KAIS 2007).

    Paper -> here: the template ⟨IC → s, h⟩ with IC all quasi-identifiers -> ``bounds[s] = h``. Without an attribute a
    bound is for every sensitive attribute that has the value. A value that is not named may have any share.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> Template(bounds={"flu": "0.5", "cancer": "0.25"}).holds(PATIENTS).tolist()
    [True, False]
    """

    name: ClassVar[str] = "template"
    summary: ClassVar[str] = "each named sensitive value has at most its own share h of every group"
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True  # a union's share lies between the two
    relative: ClassVar[bool] = False
    bounds: Mapping[str, Exact]

    def __post_init__(self) -> None:
        if not isinstance(cast("object", self.bounds), Mapping) or not self.bounds:
            raise StudyError(
                "a template bounds no value", "write `bounds: {value: largest share}`", code="SF-STUDY-108"
            )
        kept = {str(value): parse_in_range(h, f"the bound of '{value}'", 0, 1) for value, h in self.bounds.items()}
        object.__setattr__(self, "bounds", kept)

    def __hash__(self) -> int:
        return hash((self.attribute, tuple(sorted(self._shares.items()))))

    @property
    def _shares(self) -> Mapping[str, Fraction]:
        return cast("Mapping[str, Fraction]", self.bounds)

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        each = ", ".join(f"{value} {show(h)}" for value, h in self._shares.items())
        return f"Of {self._whose()}, these values have at most these shares of every group: {each} (template)."

    def way_out(self, whole: Statistics) -> str:
        """The shares that the bounded values have in the table, where they are larger."""
        found: dict[str, Fraction] = {}
        for values in self._values(whole):
            for value, h in self._shares.items():
                code = code_of(values.domain, value)
                if code is None:
                    continue
                share = Fraction(int(values.times_of(code)[0]), int(values.sizes[0]))
                if share > h:
                    found[value] = max(share, found.get(value, share))
        return "set " + ", ".join(f"the bound of '{value}' to {show(h)} or more" for value, h in found.items())

    def _keeps(self, values: Values) -> Truths:
        kept = np.ones(len(values.sizes), dtype=np.bool_)
        for value, h in self._shares.items():
            code = code_of(values.domain, value)
            if code is not None:
                kept &= share_at_most(values.times_of(code), values.sizes, h)
        return kept

    def _strain(self, values: Values) -> Strain:
        part = np.zeros(len(values.sizes))
        for value, h in self._shares.items():
            code = code_of(values.domain, value)
            if code is not None and h > 0:
                part = np.maximum(part, values.times_of(code) / np.maximum(values.sizes, 1) / float(h))
        return Strain("part of the bound", "the largest share of a value over its bound", "at most 1", part)

    def _refuse(self, attributes: Sequence[Attribute]) -> None:
        refuse_unknown(tuple(self.bounds), attributes)
