"""The view: what one release gets to see of a study, after a purpose is applied."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from sfumato.domains.counts import Cells
from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Domain
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import InternalError
from sfumato.study.attribute import Attribute, Role
from sfumato.study.selection import EVERYTHING, Selection
from sfumato.study.unit import Unit

NO_TARGET: Final = Attribute(
    name="\0", role=Role.CLASS, domain=Categories(taxonomy=Taxonomy.of(Node("any class", (Node("no class"),))))
)
"""Stands for the target where there is none: every record has its one value, which is never counted or released.

No column is called so."""


@dataclass(frozen=True, kw_only=True)
class View:
    """The attributes that a release may use, by role, which records it is about, and the privacy unit.

    Methods that generalise ask for `quasi`, `sensitive` and `others`; methods that predict ask for `predictors` and
    `target`. Both are readings of the same attributes.
    """

    quasi: tuple[Attribute, ...]
    sensitive: tuple[Attribute, ...] = ()
    others: tuple[Attribute, ...] = ()  # insensitive attributes and the target
    unit: Unit
    selection: Selection = EVERYTHING
    people: Cells | None = None  # the population that a model compares with, by the codes of the quasi-identifiers
    sets: Mapping[str, SetDomain] = field(default_factory=dict, hash=False)  # as declared, where sets became categories

    @classmethod
    def of(cls, attributes: Iterable[Attribute], *, unit: Unit, selection: Selection = EVERYTHING) -> "View":
        """A view of attributes by their roles, the target last; `NO_TARGET`, identifiers and times take no part."""
        there = [attribute for attribute in attributes if attribute.name != NO_TARGET.name]

        def having(role: Role) -> tuple[Attribute, ...]:
            return tuple(attribute for attribute in there if attribute.role is role)

        return cls(
            quasi=having(Role.QUASI_IDENTIFIER),
            sensitive=having(Role.SENSITIVE),
            others=(*having(Role.INSENSITIVE), *having(Role.CLASS)),
            unit=unit,
            selection=selection,
        )

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """All of them: quasi-identifiers, sensitive attributes, others."""
        return (*self.quasi, *self.sensitive, *self.others)

    @property
    def predictors(self) -> tuple[Attribute, ...]:
        """All but the target."""
        return tuple(attribute for attribute in self.attributes if attribute.role is not Role.CLASS)

    @property
    def target(self) -> Attribute:
        """The attribute that a receiver predicts; `NO_TARGET` where there is none."""
        return next((attribute for attribute in self.others if attribute.role is Role.CLASS), NO_TARGET)

    @property
    def targeted(self) -> bool:
        """Whether there is a target."""
        return self.target.name != NO_TARGET.name  # by name: a view may come from another process

    @property
    def classes(self) -> tuple[str, ...]:
        """The declared values of the target, in code order."""
        if not isinstance(self.target.domain, Categories):
            raise InternalError(f"the class '{self.target.name}' reached a method without its values")
        return self.target.domain.taxonomy.leaves

    @property
    def class_cuts(self) -> tuple[Cut, ...]:
        """The target as groups are counted by it: every value by itself; nothing where there is no target."""
        return (Cut.finest(self.target.name, len(self.classes)),) if self.targeted else ()

    @property
    def numerical(self) -> tuple[Attribute, ...]:
        """The predictors that need split points."""
        return tuple(attribute for attribute in self.predictors if attribute.numerical)

    def domain(self, name: str) -> Domain:
        """The domain of one attribute."""
        for attribute in self.attributes:
            if attribute.name == name and attribute.domain is not None:
                return attribute.domain
        raise InternalError(f"'{name}' reached a method without a domain")

    def with_domains(self, domains: Mapping[str, Domain]) -> "View":
        """The view with other domains for some attributes."""

        def changed(attributes: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
            return tuple(replace(a, domain=domains.get(a.name, a.domain)) for a in attributes)

        return replace(self, quasi=changed(self.quasi), sensitive=changed(self.sensitive), others=changed(self.others))
