"""What every model says of itself, and the registry that finds it by name."""

from typing import Any, ClassVar, Protocol

from sfumato.core.registry import Registry


class Model(Protocol):
    """A privacy promise.

    ``checkable`` says whether the promise can be checked on a published table; one about how the table was made
    cannot.
    """

    name: ClassVar[str]
    checkable: ClassVar[bool]

    def sentence(self) -> str:
        """The promise in one sentence that can be quoted."""
        ...


MODELS: Registry[type[Any]] = Registry("model")
