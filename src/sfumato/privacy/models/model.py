"""What every model says of itself, and the registry that finds it by name."""

from typing import Any, ClassVar, Protocol

from sfumato.privacy.groups.statistics import Statistics, Truths
from sfumato.registry import Registry
from sfumato.study.view import View


class Model(Protocol):
    """A privacy model: what a release provably satisfies.

    ``checkable`` says whether it can be checked on a published table; a guarantee about how the table was made cannot.
    """

    name: ClassVar[str]
    checkable: ClassVar[bool]

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        ...


class GroupModel(Model, Protocol):
    """A privacy model of equivalence classes (groups, for short): a frozen dataclass of its parameters.

    ``monotone``: merging two groups that satisfy the model gives a group that does, so a search may prune. For a model
    that is ``relative`` to the table this is so as long as the table stays the same; suppressing records changes it.
    A group without records has nobody to protect and satisfies every model.
    """

    summary: ClassVar[str]
    monotone: ClassVar[bool]
    relative: ClassVar[bool]

    def needs(self) -> tuple[str, ...] | None:
        """The sensitive attributes it looks at; () for none, None for all that there are."""
        ...

    def check(self, view: View) -> None:
        """Refuse, before any work, a view that the model cannot be applied to."""
        ...

    def holds(self, groups: Statistics) -> Truths:
        """Whether each group satisfies the model."""
        ...

    def parameters(self) -> dict[str, Any]:
        """The parameters as a study gives them; those that are left at None are not listed."""
        ...

    def way_out(self, whole: Statistics) -> str:
        """What to change when even the whole table as one group violates the model: the largest feasible parameter."""
        ...


MODELS: Registry[type[Any]] = Registry("model")
