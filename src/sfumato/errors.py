"""The exception tree: what is wrong, the one thing to do about it, and the exit code that goes with it.

    SfumatoError            1
    ├── UsageError          2   SF-USAGE-…       the command was called wrongly
    ├── StudyError          3   SF-STUDY-…       the study file or a recipe is wrong
    │   └── TaxonomyError   3   SF-TAXONOMY-…    a taxonomy is wrong
    ├── SourceError         4   SF-SOURCE-…      the table cannot be read, or does not fit the study
    ├── BudgetError         5   SF-BUDGET-…      the privacy budget does not allow it
    ├── InfeasibleError     6   SF-INFEASIBLE-…  no release can satisfy this privacy model on this table
    ├── PublishError        7   SF-PUBLISH-…     the bundle cannot be written
    ├── VerifyError         8   SF-VERIFY-…      a bundle or a ledger does not verify
    ├── InternalError       70  SF-INTERNAL-001  a broken invariant: our bug
    └── StoppedError       130  SF-STOPPED-…     somebody stopped the command

Every message has a code of its own, which never changes its meaning. `tools/error_codes.py --assign` gives new messages
theirs, and docs/reference/errors.md lists all of them. An error that is raised again, with the place of what is wrong
or as another kind, keeps the code of the first: ``code=error.code``.

A message never carries a value taken from a record. Names of columns, values the owner declared, and numbers
from the study are fine. Only the owner's guard (`workflow.steps.left_out_guard`) says how many records are left out,
and that this is for the owner alone.
"""

from typing import ClassVar


class SfumatoError(Exception):
    """What is wrong, the one thing the user can do about it, and the code of the message.

    >>> str(SfumatoError("the soup is cold", "warm it", code="SF-SOUP-001"))
    'the soup is cold. To fix: warm it. [SF-SOUP-001]'
    """

    exit_code: ClassVar[int] = 1
    prefix: ClassVar[str] = ""  # what the codes of this kind begin with

    def __init__(self, problem: str, fix: str, code: str = "") -> None:
        super().__init__(problem, fix, code)  # all in args: the error survives pickling to a worker

    @property
    def problem(self) -> str:
        """What is wrong."""
        return str(self.args[0])

    @property
    def fix(self) -> str:
        """What to do about it."""
        return str(self.args[1])

    @property
    def code(self) -> str:
        """The stable code of the message, such as ``SF-STUDY-014``."""
        return str(self.args[2])

    def __str__(self) -> str:
        return f"{self.problem}. To fix: {self.fix}.{f' [{self.code}]' if self.code else ''}"

    def as_json(self) -> dict[str, str | int]:
        """The one JSON shape of an error, on the command line and on the page."""
        return {"problem": self.problem, "fix": self.fix, "code": self.code, "exit_code": self.exit_code}


class UsageError(SfumatoError):
    """The command or function was called wrongly."""

    exit_code = 2
    prefix = "SF-USAGE"


class StudyError(SfumatoError):
    """The study file or a recipe in it is wrong."""

    exit_code = 3
    prefix = "SF-STUDY"


class TaxonomyError(StudyError):
    """A taxonomy is not a tree over the attribute's values; ``labels`` are those at fault, for whoever knows lines."""

    prefix = "SF-TAXONOMY"

    def __init__(self, problem: str, fix: str, code: str = "", *, labels: tuple[str, ...] = ()) -> None:
        super().__init__(problem, fix, code)
        self.labels = labels


class SourceError(SfumatoError):
    """The table cannot be read, or does not fit the study."""

    exit_code = 4
    prefix = "SF-SOURCE"


class BudgetError(SfumatoError):
    """The privacy budget does not allow it."""

    exit_code = 5
    prefix = "SF-BUDGET"


class InfeasibleError(SfumatoError):
    """No release can satisfy this privacy model on this table."""

    exit_code = 6
    prefix = "SF-INFEASIBLE"


class PublishError(SfumatoError):
    """The bundle cannot be written."""

    exit_code = 7
    prefix = "SF-PUBLISH"


def unwritable(place: object, error: OSError) -> PublishError:
    """What a file is that the system does not let us write."""
    return PublishError(
        f"'{place}' cannot be written ({error.strerror})",
        "name a file in a folder you may write to",
        code="SF-PUBLISH-004",
    )


class VerifyError(SfumatoError):
    """A bundle or a ledger is not what it says it is."""

    exit_code = 8
    prefix = "SF-VERIFY"


class InternalError(SfumatoError):
    """A broken invariant inside Sfumato: our bug, not the user's."""

    exit_code = 70
    prefix = "SF-INTERNAL"

    def __init__(self, problem: str, code: str = "SF-INTERNAL-001") -> None:
        super().__init__(problem, "this is our bug: please report it with the study file and the command", code)

    def __reduce__(self) -> tuple[type["InternalError"], tuple[str, str]]:
        return type(self), (self.problem, self.code)


class StoppedError(SfumatoError):
    """Somebody stopped the command before it was done, with Ctrl-C or otherwise."""

    exit_code = 130
    prefix = "SF-STOPPED"

    def as_json(self, *, exit_code: int = 130) -> dict[str, str | int]:
        """The one JSON shape of an error, with the exit code of the signal: 143 after SIGTERM, 129 after SIGHUP."""
        return {**super().as_json(), "exit_code": exit_code}
