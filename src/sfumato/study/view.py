"""The view: what one recipe gets to see of a study, after tailoring."""

from dataclasses import dataclass
from typing import Final

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import InternalError
from sfumato.study.attribute import Attribute, Role
from sfumato.study.selection import EVERYTHING, Selection
from sfumato.study.unit import Unit

NO_TARGET: Final = Attribute(
    name="\0", role=Role.CLASS, domain=Categories(taxonomy=Taxonomy.of(Node("any class", (Node("no class"),))))
)
"""Stands for the class where there is none: every record has its one value, which is never counted or published.

No column is called so."""


@dataclass(frozen=True, kw_only=True)
class View:
    """The predictors, the class (or `NO_TARGET`) and the privacy unit that a method works with."""

    predictors: tuple[Attribute, ...]
    target: Attribute
    unit: Unit
    selection: Selection = EVERYTHING

    @property
    def classes(self) -> tuple[str, ...]:
        """The declared class values, in code order."""
        if not isinstance(self.target.domain, Categories):
            raise InternalError(f"the class '{self.target.name}' reached a method without its values")
        return self.target.domain.taxonomy.leaves

    @property
    def targeted(self) -> bool:
        """Whether there is a class."""
        return self.target.name != NO_TARGET.name  # by name: a view may come from another process

    @property
    def class_cuts(self) -> tuple[Cut, ...]:
        """The class as groups are counted by it: every value by itself; nothing where there is no class."""
        return (Cut.finest(self.target.name, len(self.classes)),) if self.targeted else ()

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The predictors, and the class if there is one."""
        return (*self.predictors, self.target) if self.targeted else self.predictors

    @property
    def numerical(self) -> tuple[Attribute, ...]:
        """The predictors that need split points."""
        return tuple(a for a in self.predictors if a.numerical)
