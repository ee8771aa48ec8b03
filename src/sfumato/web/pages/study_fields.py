"""Edits of what stands above the columns: the card of the study, and how its file is written."""

from collections.abc import Mapping
from typing import Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import StudyError, UsageError
from sfumato.web.column_rows import Columns
from sfumato.web.editing.study_document import StudyDocument
from sfumato.web.handling import posted
from sfumato.web.pages.columns import HERE, edited
from sfumato.web.study_card import card_fields, unconfirmed_format

_FIELDS: Final = {  # of the card of the study: those that are changed together
    "name of the study": ("name",),
    "total budget": ("budget",),
    "privacy unit": ("person", "at_most"),
}


@posted
def study_fields(request: Request, form: FormData) -> Response:
    """The name of the study, the privacy unit and the total budget."""

    def edit(document: StudyDocument, found: Columns) -> StudyDocument:
        now = {name: str(value) for name, value in card_fields(found).items()}
        name, budget, person, at_most = (
            str(form.get(f) or "").strip() for f in ("name", "budget", "person", "at_most")
        )
        if _typed("name of the study", form, now) and name:
            document = document.set("name", value=name)
        if _typed("privacy unit", form, now) and (person or now["person"]):
            document = document.set("privacy", "unit", value=_unit(person, at_most))
        if _typed("total budget", form, now):
            number = int(budget) if budget.isdecimal() else budget
            document = (
                document.set("privacy", "budget", value=number) if budget else document.remove("privacy", "budget")
            )
        return document

    return edited(request, form, edit, study_saved=True)


def _typed(what: str, form: FormData, now: Mapping[str, str]) -> bool:
    """Whether the owner changed a field: it differs from what the page showed of it, which is sent as ``was_NAME``.

    The others stay as the file has them now, whoever declared them meanwhile: a page of yesterday takes no budget away.
    """
    names = _FIELDS[what]
    declared = [now[name] for name in names]
    wanted = [str(form.get(name, now[name])).strip() for name in names]
    shown = [str(form.get(f"was_{name}", now[name])) for name in names]
    if wanted in (shown, declared):
        return False
    if declared != shown:
        raise StudyError(
            f"the {what} was changed by another page or program",
            "reload this page, and make the change again",
            code="SF-STUDY-833",
        )
    return True


def _unit(person: str, at_most: str) -> object:
    if not person:
        return "record"
    if not at_most.isdecimal() or int(at_most) < 1:
        raise UsageError(
            "the most records of a person is no whole number above 0", "write one, such as 3", code="SF-USAGE-436"
        )
    return {"person": person, "at_most": int(at_most)}


@posted
def confirm_format(request: Request, form: FormData) -> Response:
    """Declare how the file is written, as the records suggest."""

    def edit(document: StudyDocument, found: Columns) -> StudyDocument:
        source = found.fields.get("source")
        declared = dict(source) if isinstance(source, Mapping) else {"path": source}
        written = {k: "tab" if v == "\t" else v for k, v in unconfirmed_format(found).items()}
        return document.set("source", value={**declared, **written})

    return edited(request, form, edit)


ROUTES: Final = [
    Route(f"{HERE}/study", study_fields, methods=["POST"]),
    Route(f"{HERE}/format", confirm_format, methods=["POST"]),
]
