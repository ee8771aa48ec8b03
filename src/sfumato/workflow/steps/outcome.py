"""What planning and publishing have in common: their results, the ledger, and sentences about every release."""

import datetime as dt
import getpass
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shlex import quote
from typing import Any

from sfumato.display import Display, Displayed
from sfumato.errors import StudyError
from sfumato.file_names import account_name, account_stems, file_stem
from sfumato.ledger import ENDING, Ledger, open_ledger
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.progress import Progress
from sfumato.release.draft import Draft
from sfumato.release.form import FORMS
from sfumato.release.release import Release
from sfumato.study.attribute import Attribute
from sfumato.study.budget import exact_text, show
from sfumato.study.left_out import LeftOut
from sfumato.study.recipe import Recipe
from sfumato.study.span import Span
from sfumato.study.study import Study
from sfumato.study.unit import PersonUnit, Unit
from sfumato.wording import sentence

_LEDGER = ".ledger.sqlite"
_PACKAGES = ("sfumato", "opendp", "duckdb", "ibis-framework", "numpy", "pyarrow")


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(Displayed):
    """What a recipe will do and cost, in words and numbers.

    ``left`` is the remaining budget, over the span of the release where it has one; None without a budget,
    and if the ledger has lost entries. ``left_out`` says how many records are left out for missing or invalid values,
    for the owner only; None if the table was not read.
    """

    study: str
    recipe: Recipe
    epsilon: Fraction | None
    budget: Fraction | None
    left: Fraction | None
    sentences: tuple[str, ...]
    numbers: Mapping[str, Any]
    left_out: LeftOut | None = None

    @property
    def fits(self) -> bool:
        """Whether the remaining budget covers it."""
        return self.epsilon is None or (self.left is not None and self.epsilon <= self.left)

    def display(self) -> Display:
        """What would be done and what it costs; for the owner alone if the table was read for it."""
        cost = "no ε (syntactic guarantee)" if self.epsilon is None else f"ε = {show(self.epsilon)}"
        facts = [("method", self.recipe.method), ("cost", cost)]
        if self.budget is not None:
            left = "unknown" if self.left is None else show(self.left)
            facts.append(("budget", f"{left} of {show(self.budget)} remains"))
            facts.append(("fits", "yes" if self.fits else "NO: the release will be refused"))
        return Display(
            title=f"Plan of '{self.recipe.name}' for the study '{self.study}'; nothing is spent",
            facts=tuple(facts),
            sentences=tuple(sentence(one) for one in self.sentences),
            owner_only=self.left_out is not None,
        )

    def as_json(self) -> dict[str, Any]:
        """The plan as plain values."""
        return {
            "study": self.study,
            "release": self.recipe.name,
            "method": self.recipe.method,
            "epsilon": exact_text(self.epsilon),
            "budget": exact_text(self.budget),
            "left": exact_text(self.left),
            "fits": self.fits,
            "sentences": list(self.sentences),
            "numbers": dict(self.numbers),
            "left_out": None if self.left_out is None else self.left_out.as_json(),
        }


@dataclass(frozen=True, kw_only=True, repr=False)
class Published(Displayed):
    """A published release: the paths of the bundle and the owner's folder, and its cost.

    ``left`` is over the span of the release where it has one; ``warnings`` and ``left_out`` are for the owner.
    """

    folder: Path
    bundle: Path
    sha256: str
    epsilon: Fraction | None
    left: Fraction | None
    draft: Draft = field(repr=False)
    data: str | None = None  # where the tables are, if not in the bundle
    warnings: tuple[str, ...] = ()
    left_out: LeftOut | None = field(default=None, repr=False)

    @property
    def rows(self) -> int:
        """How many groups with counts, or records that are not suppressed, the bundle holds."""
        return FORMS[self.draft.form].rows(self.draft)

    @property
    def what(self) -> str:
        """What the rows are."""
        return FORMS[self.draft.form].rows_are

    @property
    def owner(self) -> Path:
        """The folder of what the owner keeps."""
        return self.folder / "owner"

    @property
    def report(self) -> Path:
        """Where the owner's report is, once it has been made."""
        return self.owner / "report.html"

    def display(self) -> Display:
        """What was published and what it cost; what only the owner may know is marked."""
        cost = "no ε (syntactic guarantee)" if self.epsilon is None else f"ε = {show(self.epsilon)}"
        own = [("warning", warning) for warning in self.warnings]
        if self.left_out is not None and self.left_out.left_out:
            own.append(("left out", self.left_out.sentence()))
        if self.report.exists():
            own.append(("report", str(self.report)))
        return Display(
            title=f"Published: {self.rows:,} {self.what}",
            facts=(
                ("bundle, to be published", str(self.bundle)),
                *((("table", self.data),) if self.data is not None else ()),
                ("SHA-256 of its manifest", self.sha256),
                ("cost", cost),
                *((("remaining budget", show(self.left)),) if self.left is not None else ()),
            ),
            owner_facts=tuple(own),
        )

    def open(self) -> Release:
        """The release as its receiver sees it."""
        return Release.open(self.bundle, data=self.data)

    def as_json(self, *, report: bool = True) -> dict[str, Any]:
        """The outcome as plain values; without the place of the report if none will be made."""
        return {
            "bundle": str(self.bundle),
            "data": self.data,
            "owner": str(self.owner),
            "report": str(self.report) if report else None,
            "sha256": self.sha256,
            "rows": self.rows,
            "epsilon": exact_text(self.epsilon),
            "left": exact_text(self.left),
            "warnings": list(self.warnings),
            "left_out": None if self.left_out is None else self.left_out.as_json(),
        }


@dataclass(frozen=True, kw_only=True)
class Run:
    """Where and how one release is made: everything about it that is no part of the study or the recipe."""

    folder: Path
    ledger: Ledger
    source: RandomSource
    progress: Progress
    clock: Callable[[], dt.datetime]
    memory_limit: str | None = None
    anyway: bool = False  # also if more records are left out than the study allows


def given_ledger(study: Study, ledger: Ledger | None) -> Ledger:
    """The ledger that was given, else the study's own; a study in memory has none beside it."""
    if ledger is None and study.base == Path() and study.ledger is None:
        raise StudyError(
            f"the study '{study.name}' is in memory and no ledger was given, so its spending would not be recorded",
            "use `sfumato.Study`, which has a ledger, or pass `ledger=`",
            code="SF-STUDY-209",
        )
    return ledger or ledger_of(study)


def ledger_of(study: Study) -> Ledger:
    """The study's ledger: where the study says, else a SQLite file beside it, in the working folder for one in memory.

    Its head is kept beside the study too, so that a ledger elsewhere cannot be lost unnoticed.
    """
    folder = study_folder(study)
    head = _files_of_account(study, folder, f".ledger{ENDING}")[0]
    if study.ledger is not None:
        if study.ledger.startswith("memory:") and study.base != Path():
            raise StudyError(
                "the study file names a ledger in memory, which would lose the record of the spent budget when "
                "the command ends",
                "give `ledger:` a path, or omit it: the ledger is then a file beside the study",
                code="SF-STUDY-220",
            )
        # In whatever folder a program runs, its studies in memory may be others of the same name.
        apart = study.base == Path() and not study.ledger.startswith("postgres")
        return open_ledger(study.ledger, base=study.base, head=None if apart else head)
    return open_ledger(_default_ledger(study, folder), head=head)


def study_folder(study: Study) -> Path:
    """Where the files of a study are: beside its file, or in the working folder for a study in memory."""
    return study.base if study.base != Path() else working_folder()


def working_folder() -> Path:
    """Where the program runs."""
    return Path.cwd()


def _default_ledger(study: Study, folder: Path) -> Path:
    """The ledger of a study that names none."""
    found = _files_of_account(study, folder, _LEDGER)
    if len(found) > 1:
        raise StudyError(
            f"there are {len(found)} ledgers of the study '{study.name}' in '{folder}', of names that differ by case, "
            f"blanks, invisible characters or Unicode form alone: {', '.join(path.name for path in found)}",
            "move one of them away and record its releases in the other with `sfumato ledger STUDY adopt`",
            code="SF-STUDY-221",
        )
    return found[0]


def _files_of_account(study: Study, folder: Path, ending: str) -> list[Path]:
    """The files of a study's account: those made under any spelling of its name; else the one to make."""
    stem = file_stem(study.name)
    names = account_stems(study.name)
    found: list[Path] = []
    with suppress(OSError):
        found = [path for path in folder.glob(f"*{ending}") if account_name(path.name.removesuffix(ending)) in names]
    return sorted(found) or [folder / f"{stem}{ending}"]


def remaining_budget(study: Study, ledger: Ledger, span: Span | None) -> Fraction | None:
    """The remaining budget of the study over this span; None without a budget."""
    return None if study.budget is None else study.budget - ledger.spent(study.name, span)


def remaining_words(study: Study, left: Fraction | None, span: Span | None, *, spends: bool) -> str:
    """The same for a sentence about a release that ``spends`` some of it, or none; nothing without a budget."""
    if study.budget is None or left is None:
        return ""
    over = "" if span is None else f" over {span}"
    if spends:
        return f"; before it, {show(left)} of the budget of {show(study.budget)} remains{over}"
    return f"; {show(left)} of {show(study.budget)} remains{over}"


def person_rules(unit: Unit) -> list[str]:
    """Which records of a person are used, as the study declares; nothing if the unit is a record.

    The declared number is public. How many records are left out is private and not stated here.
    """
    if not isinstance(unit, PersonUnit):
        return []
    records = f"record{'s' * (unit.at_most > 1)}"
    used = "is" if unit.at_most == 1 else "are"
    return [f"at most {unit.at_most} {records} of each person {used} used; a record without a person is left out"]


def list_names(names: Sequence[str], of: int) -> str:
    """Names for a sentence, or `every attribute` if they are all."""
    return "every attribute" if len(names) == of else ", ".join(names)


def published_words(folder: Path, bundle: Path, epsilon: Fraction | None, *, against: str = "STUDY") -> str:
    """Says that a release is published, after an interruption that came later; publication cannot be undone."""
    cost = "it spent no ε" if epsilon is None else f"it spent ε = {show(epsilon)}"
    return f"the release is published in {bundle} and complete; {cost}; {report_words(folder, against)}"


def report_words(folder: Path, against: str = "STUDY") -> str:
    """Says how the owner's report of a release is made later."""
    return f"make its report with `sfumato report {quote(str(folder))} --against {quote(against)}`"


def released_attributes_sentence(study: Study, attributes: Sequence[Attribute]) -> str:
    """Which declared attributes are released, and which are not."""
    stay = [name for name in study.attributes if name not in {a.name for a in attributes}]
    return "only declared attributes are released" + (f"; not released: {', '.join(stay)}" if stay else "")


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that make a release."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # run from a checkout that is not installed
            found[package] = "not installed"
    return found


def current_user() -> str:
    """The user who runs this, for the ledger."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "unknown"
