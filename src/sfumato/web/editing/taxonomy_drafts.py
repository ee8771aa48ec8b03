"""The taxonomies of a study while they are edited: what its file declares, and drafts of trees in memory."""

import hashlib
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Final

from starlette.datastructures import FormData

from sfumato.domains.domain import Domain
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import UsageError
from sfumato.study.file import load_taxonomy, study_from_mapping
from sfumato.study.file.taxonomy_field import RULES, category_taxonomy
from sfumato.study.file.yaml_lines import parse
from sfumato.web.column_rows import Numbers
from sfumato.web.editing.study_document import StudyDocument
from sfumato.web.editing.taxonomy_edit import EditableTree, History
from sfumato.web.workspace import OpenStudy

_DRAFTS: Final = "taxonomy drafts"
_MOST_UNEDITED: Final = 20  # drafts of a study that are kept although they are what its file says
REVISIONS: Final = count()  # of all drafts: a page can tell one that was made anew from the one that it shows
_NUMBERS: Final = ("integer", "number", "date")


@dataclass
class TaxonomyDraft:
    """The tree of an attribute while it is edited."""

    history: History
    saved: EditableTree | None
    basis: tuple[str, list[str] | None]  # what the study declared when the draft began, or was saved
    revision: int = field(default_factory=lambda: next(REVISIONS))
    said: str = ""

    @property
    def edited(self) -> bool:
        """Whether anybody has worked at it."""
        return bool(self.history.past or self.history.future)

    @property
    def changed(self) -> bool:
        """Whether there is anything to save."""
        return self.saved is None or self.history.tree.nested() != self.saved.nested()


@dataclass(frozen=True)
class DeclaredAttribute:
    """An attribute as the study file has it, with the number that it keeps, whatever place it gets there."""

    number: int
    name: str
    fields: Mapping[str, Any]
    document: StudyDocument = field(repr=False)

    @property
    def kind(self) -> str:
        """The type of the attribute."""
        return str(self.fields.get("type") or "category")

    @property
    def is_grid(self) -> bool:
        """Whether its values are numbers or dates, which no tree lists."""
        return self.kind in _NUMBERS

    @property
    def written(self) -> Any:
        """The taxonomy field of the study file."""
        return self.fields.get("taxonomy")

    @property
    def rule(self) -> str | None:
        """The rule that makes its taxonomy, if one does."""
        if self.written == "flat":
            return "flat"
        if isinstance(self.written, Mapping) and len(self.written) == 1:
            return next((name for name in self.written if name in RULES), None)
        return None

    @property
    def values(self) -> list[str] | None:
        """The declared values; None where there are none."""
        found = self.fields.get("values")
        return [str(value) for value in found] if isinstance(found, list) else None

    def domain(self, taxonomy: object = ...) -> Domain | None:
        """The domain as a release would have it, also with another taxonomy in place of the declared one."""
        fields = {name: value for name, value in self.fields.items() if name != "taxonomy" or taxonomy is ...}
        if taxonomy is not ... and taxonomy is not None:
            fields["taxonomy"] = taxonomy
            if isinstance(taxonomy, Taxonomy):
                fields.pop("values", None)
        study = {"name": "preview", "source": "preview.csv", "attributes": {self.name: fields}}
        return study_from_mapping(study, self.document.path.resolve().parent).attribute(self.name).domain

    def basis(self) -> tuple[str, list[str] | None]:
        """A name of the declared taxonomy, with the file that it names, and the declared values."""
        found = [repr(self.written).encode("utf-8", "surrogatepass")]
        if isinstance(self.written, str):
            with suppress(OSError, ValueError):
                found.append((self.document.path.resolve().parent / self.written).read_bytes())
        return hashlib.sha256(b"\0".join(found)).hexdigest(), self.values

    def tree(self) -> EditableTree | None:
        """The declared tree without what policies add to it; None where values alone, or nothing, is declared."""
        if self.written is None:
            return EditableTree.flat(self.values) if self.values else None
        base = self.document.path.resolve().parent
        found = category_taxonomy(self.written, values=self.values, load=lambda name: load_taxonomy(base / name))
        return EditableTree.of(found)


def observed_values(opened: OpenStudy, one: DeclaredAttribute) -> tuple[str, ...]:
    """The values of the table, for the owner's eyes; nothing while they are not known, or where codes are split."""
    profile = opened.profile
    if profile is None or one.is_grid or one.kind == "set":
        return ()
    found = next((column for column in profile.get("columns", ()) if column.get("name") == one.name), None)
    return tuple(str(value) for value in (found or {}).get("values") or ())


def _drafts(opened: OpenStudy) -> dict[str, TaxonomyDraft]:
    found: dict[str, TaxonomyDraft] = opened.cache.setdefault(_DRAFTS, {})
    return found


def forget_draft(opened: OpenStudy, one: DeclaredAttribute) -> None:
    """Go back to what the study file declares."""
    _drafts(opened).pop(one.name, None)


def draft_of(opened: OpenStudy, one: DeclaredAttribute) -> TaxonomyDraft:
    """The draft of an attribute; one without edits follows the study file."""
    with drafts_lock(opened):
        drafts = _drafts(opened)
        draft = drafts.get(one.name)
        if draft is None or not draft.edited:
            declared, basis = one.tree(), one.basis()
            tree = declared or EditableTree.flat([])
            if draft is None or draft.basis != basis:
                draft = drafts[one.name] = TaxonomyDraft(History(tree), declared, basis)
            unedited = [name for name, other in drafts.items() if not other.edited and name != one.name]
            for name in unedited[: max(len(unedited) - _MOST_UNEDITED, 0)]:
                del drafts[name]
        return draft


def drafts_lock(opened: OpenStudy) -> threading.RLock:
    """Drafts of one study are changed one after another; those of another study need not wait."""
    found: threading.RLock = opened.cache.setdefault("taxonomy lock", threading.RLock())
    return found


def attributes_of(opened: OpenStudy) -> list[DeclaredAttribute]:
    """All attributes of the study file, in its order."""
    document = opened.document()
    tree, _ = parse(document.text, document.path.name)
    found = tree.get("attributes") if isinstance(tree, Mapping) else None
    if not isinstance(found, Mapping):
        return []
    declared = {str(name): fields for name, fields in found.items() if isinstance(fields, Mapping)}
    known: Numbers = opened.cache.setdefault("taxonomy numbers", Numbers())
    numbers = known.of(list(declared))
    return [
        DeclaredAttribute(number, name, fields, document)
        for number, (name, fields) in zip(numbers, declared.items(), strict=True)
    ]


def attribute_of(opened: OpenStudy, number: int) -> DeclaredAttribute:
    """The attribute that a page addresses by its number."""
    found = next((one for one in attributes_of(opened) if one.number == number), None)
    if found is None:
        raise UsageError("the study has no such attribute", "go back to the list", code="SF-USAGE-477")
    return found


def same_attribute(one: DeclaredAttribute, form: FormData) -> DeclaredAttribute:
    """The attribute, if it still is the one that the page was made for."""
    if form.get("attribute") != one.name:
        raise UsageError("the study file was changed since the page was loaded", "reload the page", code="SF-USAGE-478")
    return one
