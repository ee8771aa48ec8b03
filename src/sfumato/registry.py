"""Parts that are found by name: methods, scores, models, measures, engines."""

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from sfumato.errors import InternalError, SfumatoError, StudyError

P = TypeVar("P")


class Registry(Generic[P]):
    """Parts of one kind by name; the study schema, the CLI choices, the docs and the contract tests all read it.

    >>> SOUPS: Registry[type] = Registry("soup")
    >>> @SOUPS.add
    ... class Gazpacho:
    ...     name = "gazpacho"
    >>> SOUPS["gazpacho"] is Gazpacho
    True
    >>> SOUPS["borsch"]
    Traceback (most recent call last):
    sfumato.errors.StudyError: there is no soup called 'borsch'. To fix: choose one of: gazpacho. [SF-STUDY-109]
    """

    def __init__(self, kind: str, error: type[SfumatoError] = StudyError) -> None:
        """``error`` is what an unknown name is: a study's mistake, or that of who calls."""
        self.kind = kind
        self._error = error
        self._parts: dict[str, P] = {}

    def add(self, part: P) -> P:
        """Enter a part under its own ``name``; usable as a decorator."""
        name = str(_name_of(part))
        if name in self._parts:
            raise InternalError(f"two parts of kind {self.kind} are called '{name}'")
        self._parts[name] = part
        return part

    def __getitem__(self, name: str) -> P:
        try:
            return self._parts[name]
        except KeyError:
            raise self._error(
                f"there is no {self.kind} called '{name}'",
                f"choose one of: {', '.join(sorted(self._parts))}",
                code="SF-STUDY-109",
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._parts))

    def __len__(self) -> int:
        return len(self._parts)

    def values(self) -> list[P]:
        """Every part, in the order of the names."""
        return [self._parts[name] for name in self]


def _name_of(part: Any) -> str:
    return str(part.name)
