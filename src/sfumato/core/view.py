"""The view: what one recipe gets to see of a study, after tailoring."""

from dataclasses import dataclass

from sfumato.core.attribute import Attribute
from sfumato.core.domain import Categories
from sfumato.core.selection import EVERYTHING, Selection
from sfumato.core.unit import Unit
from sfumato.errors import OursError


@dataclass(frozen=True, kw_only=True)
class View:
    """The predictors, the class and the privacy unit that a method works with."""

    predictors: tuple[Attribute, ...]
    target: Attribute
    unit: Unit
    selection: Selection = EVERYTHING

    @property
    def classes(self) -> tuple[str, ...]:
        """The declared class values, in code order."""
        if not isinstance(self.target.domain, Categories):
            raise OursError(f"the class '{self.target.name}' reached a method without its values")
        return self.target.domain.taxonomy.leaves

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The predictors and the class."""
        return (*self.predictors, self.target)

    @property
    def numerical(self) -> tuple[Attribute, ...]:
        """The predictors that need split points."""
        return tuple(a for a in self.predictors if a.numerical)
