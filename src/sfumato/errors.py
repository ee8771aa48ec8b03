"""The exception tree: what is wrong, the one thing to do about it, and the exit code that goes with it.

    SfumatoError            1
    ├── UsageError          2   the command was called wrongly
    ├── StudyError          3   the study file, a taxonomy or a recipe is wrong
    │   └── TaxonomyError   3
    ├── SourceError         4   the table cannot be read, or does not fit the study
    ├── BudgetError         5   the privacy budget does not allow it
    ├── InfeasibleError     6   no release can keep this promise on this table
    ├── PublishError        7   the bundle cannot be written
    ├── VerifyError         8   a bundle or a ledger does not verify
    └── InternalError           70  a broken invariant: our bug

A message never carries a value taken from a record. Names of columns, values the owner declared, and numbers
from the study are fine. Only the owner's guard (`workflow.steps.left_out_guard`) says how many records are left out,
and that this is for the owner alone.
"""

from typing import ClassVar


class SfumatoError(Exception):
    """What is wrong, and the one thing the user can do about it.

    >>> str(SfumatoError("the soup is cold", "warm it"))
    'the soup is cold. To fix: warm it.'
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem, fix)  # both in args: the error survives pickling to a worker

    @property
    def problem(self) -> str:
        """What is wrong."""
        return str(self.args[0])

    @property
    def fix(self) -> str:
        """What to do about it."""
        return str(self.args[1])

    def __str__(self) -> str:
        return f"{self.problem}. To fix: {self.fix}."

    def as_json(self) -> dict[str, str | int]:
        """The one JSON shape of an error, on the command line and on the page."""
        return {"problem": self.problem, "fix": self.fix, "code": self.exit_code}


class UsageError(SfumatoError):
    """The command or function was called wrongly."""

    exit_code = 2


class StudyError(SfumatoError):
    """The study file or a recipe in it is wrong."""

    exit_code = 3


class TaxonomyError(StudyError):
    """A taxonomy is not a tree over the attribute's values; ``labels`` are those at fault, for whoever knows lines."""

    def __init__(self, problem: str, fix: str, labels: tuple[str, ...] = ()) -> None:
        super().__init__(problem, fix)
        self.labels = labels


class SourceError(SfumatoError):
    """The table cannot be read, or does not fit the study."""

    exit_code = 4


class BudgetError(SfumatoError):
    """The privacy budget does not allow it."""

    exit_code = 5


class InfeasibleError(SfumatoError):
    """No release can keep this promise on this table."""

    exit_code = 6


class PublishError(SfumatoError):
    """The bundle cannot be written."""

    exit_code = 7


class VerifyError(SfumatoError):
    """A bundle or a ledger is not what it says it is."""

    exit_code = 8


class InternalError(SfumatoError):
    """A broken invariant inside Sfumato: our bug, not the user's."""

    exit_code = 70

    def __init__(self, problem: str) -> None:
        super().__init__(problem, "this is our bug: please report it with the study file and the command")

    def __reduce__(self) -> tuple[type["InternalError"], tuple[str]]:
        return type(self), (self.problem,)
