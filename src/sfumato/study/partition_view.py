"""The view of a method that puts records into equivalence classes: what it generalises, protects and publishes."""

from dataclasses import dataclass

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Domain
from sfumato.errors import InternalError
from sfumato.study.attribute import Attribute
from sfumato.study.selection import EVERYTHING, Selection
from sfumato.study.unit import Unit


@dataclass(frozen=True, kw_only=True)
class PartitionView:
    """What a partition method works with: attributes to generalise, to protect, and to publish as they are."""

    quasi: tuple[Attribute, ...]
    sensitive: tuple[Attribute, ...]
    others: tuple[Attribute, ...]  # the class and insensitive attributes
    unit: Unit
    selection: Selection = EVERYTHING
    people: Cells | None = None  # the population that a promise compares with, by the codes of the quasi-identifiers

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """All of them: quasi-identifiers, sensitive attributes, others."""
        return (*self.quasi, *self.sensitive, *self.others)

    def domain(self, name: str) -> Domain:
        """The domain of one attribute."""
        for attribute in self.attributes:
            if attribute.name == name and attribute.domain is not None:
                return attribute.domain
        raise InternalError(f"'{name}' reached a method without a domain")
