"""What models about sensitive attributes share: which attributes, and one attribute's values in many groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.domain import DROP, Categories, Domain, Grid
from sfumato.errors import StudyError
from sfumato.privacy.groups.parameters import model_parameters
from sfumato.privacy.groups.statistics import Integers, Statistics, Truths, ValueCounts, ValueTotals
from sfumato.study.attribute import Attribute
from sfumato.study.view import View

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """One sensitive attribute in many groups, beside the table that they are compared with.

    Arrays over pairs go through the values that occur in the first group, then those in the second, and so on.
    """

    name: str
    domain: Domain
    sizes: Integers  # records, one a group
    found: ValueCounts
    table: ValueTotals

    @property
    def counts(self) -> Integers:
        """How often the pair's value occurs in its group, one a pair."""
        return self.found.counts

    @property
    def of(self) -> Integers:
        """The size of the pair's group, one a pair."""
        return self.sizes[self.found.group]

    @property
    def shares(self) -> Floats:
        """p: the share of the pair's value in its group, one a pair."""
        return self.counts / self.of

    @property
    def overall(self) -> Integers:
        """How often the pair's value occurs in the table, one a pair."""
        return self.table.at(self.found.values)

    @property
    def total(self) -> int:
        """The number of records of the table."""
        return self.table.records

    @property
    def known(self) -> Truths:
        """Whether the table has all the values of a group; a group that is part of the table does."""
        return self.every(self.overall > 0)

    @property
    def distinct(self) -> Integers:
        """How many values occur in each group."""
        return np.diff(self.found.first)

    @property
    def largest(self) -> Integers:
        """How often the most frequent value of each group occurs."""
        return self.most(self.counts)

    def most(self, pairs: NDArray[Any]) -> NDArray[Any]:
        """The largest over each group of something there is one of a pair, at least 0."""
        return self._reduced(np.maximum, pairs)

    def times_of(self, code: int) -> Integers:
        """How often one value occurs in each group."""
        return self.sums(np.where(self.found.values == code, self.counts, 0))

    def sums(self, pairs: NDArray[Any]) -> NDArray[Any]:
        """The sum over each group of something there is one of a pair."""
        return self._reduced(np.add, pairs)

    def every(self, pairs: Truths) -> Truths:
        """Whether something is true of all pairs of a group."""
        return ~self._reduced(np.logical_or, ~pairs)

    def _reduced(self, by: np.ufunc, pairs: NDArray[Any]) -> NDArray[Any]:
        # `reduceat` has no empty segments, so groups without values are left out and stay 0.
        out = np.zeros(self.found.groups, dtype=pairs.dtype)
        filled = self.distinct > 0
        if filled.any():
            out[filled] = by.reduceat(pairs, self.found.first[:-1][filled])
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Strain:
    """How near each group is to the bound of a model, by the statistic that the model bounds."""

    head: str  # what the number is, in a word or two
    words: str  # the same so that it can be read after "sorted by"
    bound: str  # what the model allows
    numbers: Floats  # one a group
    more_is_nearer: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitive:
    """A model about one sensitive attribute, or, where none is named, about each of them.

    That each attribute satisfies the model says nothing about combinations: where two attributes are known to go
    together, what is learnt of one is learnt of the other.
    """

    attribute: str | None = None

    def needs(self) -> tuple[str, ...] | None:
        """The attribute it is about; None for each there is."""
        return None if self.attribute is None else (self.attribute,)

    def check(self, view: View) -> None:
        """Refuse a view without the attribute, or one whose values the model does not fit."""
        names = self._chosen([attribute.name for attribute in view.sensitive])
        self._refuse([attribute for attribute in view.sensitive if attribute.name in names])

    def holds(self, groups: Statistics) -> Truths:
        """Whether each group satisfies the model for each attribute it is about."""
        kept = np.ones(len(groups), dtype=np.bool_)
        for values in self._values(groups):
            kept &= self._keeps(values)
        return np.asarray(kept | (groups.sizes == 0))

    def strain(self, groups: Statistics, name: str) -> Strain | None:
        """How near each group is to the bound for one attribute; None where no single number says so."""
        found = [self._strain(values) for values in self._values(groups) if values.name == name]
        return found[0] if found else None

    def parameters(self) -> dict[str, Any]:
        """The parameters as a study gives them."""
        return model_parameters(self)

    def _strain(self, values: Values) -> Strain | None:  # noqa: ARG002 - for models that have such a number
        return None

    def _values(self, groups: Statistics) -> list[Values]:
        """What the model looks at, an attribute at a time."""
        return [
            Values(name, groups.domains[name], groups.sizes, groups.sensitive[name], groups.table[name])
            for name in self._chosen(list(groups.sensitive))
        ]

    def _chosen(self, names: Sequence[str]) -> list[str]:
        if not names:
            raise StudyError(
                "the privacy model is about a sensitive attribute, and none is declared",
                "give the attribute to protect `role: sensitive`",
                code="SF-STUDY-079",
            )
        if self.attribute is None:
            return list(names)
        if self.attribute not in names:
            raise StudyError(
                f"the privacy model is about '{self.attribute}', which is no sensitive attribute of this release",
                f"name one of: {', '.join(names)}; or give it `role: sensitive`",
                code="SF-STUDY-080",
            )
        return [self.attribute]

    def _whose(self) -> str:
        """The attribute in words that fit 'the values of …'."""
        return "each sensitive attribute" if self.attribute is None else f"'{self.attribute}'"

    def _keeps(self, values: Values) -> Truths:
        """Whether each group satisfies the model for one attribute; of empty groups anything may be said."""
        raise NotImplementedError

    def _refuse(self, attributes: Sequence[Attribute]) -> None:
        """Refuse attributes whose values the model does not fit."""


def code_of(domain: Domain, label: str) -> int | None:
    """The code of a value as the owner writes it, or None where the domain has no such value.

    A value of a grid is written as its step begins.
    """
    if isinstance(domain, Categories):
        return domain.codes().get(label)
    assert isinstance(domain, Grid), "a domain is one or the other"
    if domain.missing is not None and label == domain.missing_label:
        return domain.missing
    code = int(domain.codes_of_labels([label])[0])
    inside = code not in {DROP, domain.missing} and domain.text(domain.value(code)) == label
    return code if inside else None


def refuse_unknown(labels: Sequence[str], attributes: Sequence[Attribute]) -> None:
    """Refuse a value that none of the attributes has."""
    for label in labels:
        if all(a.domain is None or code_of(a.domain, label) is None for a in attributes):
            names = ", ".join(f"'{a.name}'" for a in attributes)
            raise StudyError(
                f"'{label}' is no value of {names}",
                "name a value as the attribute's domain has it",
                code="SF-STUDY-081",
            )
