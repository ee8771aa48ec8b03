"""Forms: what is published of a draft, how it is read back, its README, and which checks apply."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from pydantic import BaseModel

from sfumato.domains.domain import Domain
from sfumato.domains.sets.set_cut import Sets
from sfumato.errors import UsageError, VerifyError
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.registry import Registry
from sfumato.release.checks import Check
from sfumato.release.draft import Draft
from sfumato.release.guarantee import Evidence
from sfumato.release.page.embedded_rows import PageAnswers, not_answered
from sfumato.release.shown import Shown
from sfumato.release.storage.seal import Json
from sfumato.release.uniqueness import Uniqueness
from sfumato.study.view import View

if TYPE_CHECKING:
    from sfumato.release.forms.records.runs import Runs
    from sfumato.release.manifest.compose import ReleaseFacts
    from sfumato.release.release import Release

Writer = Callable[[IO[bytes]], object]
FORMATS: Final = ("parquet", "csv")


class Form(ABC):
    """One form of release. A new one is a subclass that is registered in `FORMS`.

    A layout says which columns there are, a content what stands in them; nobody but the form looks inside. Everything
    that is read may come from anybody: what does not fit is a `VerifyError`, and nothing may take more memory than the
    files themselves.
    """

    name: str
    schema: type[BaseModel]  # the manifest of this form: `manifest.fields.Manifest` with fields of its own
    rows_are: str  # what a row is, for "120 … published"
    shuffles: bool = False  # whether what is published depends on random numbers beyond the draft

    # writing

    def published(self, draft: Draft) -> Draft:
        """The draft as far as it is published: all that is released, and all that measures see, is made from this."""
        return draft

    @abstractmethod
    def shown(self, draft: Draft, view: View, sets: Mapping[str, Sets]) -> Shown:
        """What a draft would show, for measures; ``view`` and ``sets`` are those of the table."""

    @abstractmethod
    def prepare(self, draft: Draft, facts: "ReleaseFacts", source: RandomSource) -> tuple[Any, Any]:
        """Layout and content of a draft, in an order that tells nothing but what is published."""

    @abstractmethod
    def writers(self, layout: Any, content: Any) -> Mapping[str, Writer]:
        """Who writes each data file, by its name; each table as Parquet and as CSV."""

    def runs(self, layout: Any, content: Any) -> "Mapping[str, Iterable[Runs]]":  # noqa: ARG002 - the shape of a form
        """The tables by the names of their files, for an engine to write; only tables of records are large enough.

        A table comes in pieces that follow each other, one at least.
        """
        raise _not_elsewhere()

    @abstractmethod
    def fields(self, draft: Draft, layout: Any, content: Any) -> Json:
        """Its own fields of the manifest, and `rules` that it adds."""

    @abstractmethod
    def readme(self, layout: Any, manifest: Mapping[str, Any], unique: Uniqueness | None) -> str:
        """The text of README.md; all numbers come from what is published."""

    @abstractmethod
    def columns(self, layout: Any, manifest: Mapping[str, Any]) -> Mapping[str, Json]:
        """For datapackage.json: of each table, by the name of its files without ending, its Frictionless schema."""

    @abstractmethod
    def about(self) -> str:
        """For datapackage.json: what the data are, in a sentence."""

    @abstractmethod
    def rows(self, draft: Draft) -> int:
        """How many rows a draft publishes, suppressed records not counted."""

    def unique(self, layout: Any, content: Any) -> Uniqueness | None:  # noqa: ARG002 - most forms have no records
        """How many published records are unique over all published columns; None where no records are published."""
        return None

    # reading

    @abstractmethod
    def layout(self, manifest: Mapping[str, Any]) -> Any:
        """The layout that a manifest declares."""

    def refuse_broken(self, manifest: Mapping[str, Any]) -> None:
        """Refuse a manifest of this form whose fields contradict each other."""
        self.layout(manifest)

    @abstractmethod
    def files(self, layout: Any) -> tuple[str, ...]:
        """The names of the data files."""

    @abstractmethod
    def read(self, place: Path, manifest: Mapping[str, Any], layout: Any, ending: str) -> Any:
        """The content of the data files with this ending (see `FORMATS`)."""

    def planned_names(self, view: View) -> tuple[str, ...]:  # noqa: ARG002 - the shape of a form
        """The tables that an engine would write of a release with this view, known before anything is made."""
        raise _not_elsewhere()

    def stored_names(self, layout: Any) -> tuple[str, ...]:  # noqa: ARG002 - the shape of a form
        """The tables that an engine may keep in place of the bundle, by the names of their files."""
        return ()

    def in_pieces(self, layout: Any) -> bool:  # noqa: ARG002 - the shape of a form
        """Whether such tables can be read back and checked piece by piece, without holding all distinct rows."""
        return False

    def from_runs(self, layout: Any, tables: "Mapping[str, Iterable[Runs]]") -> Any:  # noqa: ARG002 - the shape of a form
        """The content of tables that an engine has, in pieces whose rows stand in any order."""
        raise _not_elsewhere()

    @abstractmethod
    def same(self, one: Any, other: Any) -> bool:
        """Whether two contents are equal."""

    @abstractmethod
    def checks(self, layout: Any, content: Any, manifest: Mapping[str, Any]) -> list[Check]:
        """What can be checked of the content beyond that it could be read: order, and the manifest's numbers."""

    @abstractmethod
    def readable(self, layout: Any, content: Any) -> str:
        """What was found out by reading: how many rows there are, and that their values are declared ones."""

    @abstractmethod
    def evidence(self, layout: Any, content: Any, manifest: Mapping[str, Any]) -> Evidence | None:
        """What models about equivalence classes look at; None where there are no records."""

    @abstractmethod
    def open(self, place: Path, manifest: Mapping[str, Any], layout: Any, content: Any) -> "Release":
        """The release as its receiver uses it."""

    def summarise(self, place: Path, manifest: Mapping[str, Any], layout: Any, content: Any) -> "Release":
        """The release as its page asks it: about single attributes alone, so rows need not be taken apart."""
        return self.open(place, manifest, layout, content)

    def page_answers(self, layout: Any, content: Any, manifest: Mapping[str, Any]) -> PageAnswers:  # noqa: ARG002 - the shape of a form
        """What the page embeds to answer queries as `Release.query` does; nothing where it leaves them to that."""
        return not_answered("releases of this form are asked with the command alone")

    @abstractmethod
    def domains(self, layout: Any) -> Mapping[str, Domain]:
        """The domain of every published attribute."""

    def declared_domains(self, layout: Any) -> Mapping[str, Domain]:
        """The same as the owner declared them; those of sets are of their codes."""
        return self.domains(layout)


def _not_elsewhere() -> UsageError:
    return UsageError(
        "only releases of records can be written to a database or with Spark",
        "leave out --to: the tables of other releases are small, and any engine loads them from the bundle",
        code="SF-USAGE-395",
    )


FORMS: Registry[Form] = Registry("form", VerifyError)
