"""Purposes, on the page Plan and ε: what is typed of a release there stays, and is planned again."""

from typing import Any, Final

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import StudyError
from sfumato.file_names import checked_file_name
from sfumato.study.study import Study
from sfumato.web.editing.method_forms import read_yaml
from sfumato.web.editing.purpose_form import purpose_form, purpose_values
from sfumato.web.editing.study_document import entry_hash
from sfumato.web.handling import posted
from sfumato.web.pages.plan import around_values, live_values
from sfumato.web.rendering import open_study, page
from sfumato.web.workspace import OpenStudy


@posted
def save(request: Request, form: FormData) -> Response:
    """Write a purpose into the study file."""
    opened = open_study(request)
    document = opened.document()
    name, was = str(form.get("purpose_name") or "").strip(), str(form.get("purpose_was") or "")
    checked_file_name("the purpose", name)
    if str(form.get("purpose_entry") or "") != entry_hash(document, "purposes", was):
        raise StudyError(
            f"the purpose '{was or name}' was changed by another page or program",
            "reload this page, and make the change again",
            code="SF-STUDY-433",
        )
    if name != was and document.get("purposes", name) is not None:
        raise StudyError(f"the study has a purpose '{name}' already", "choose another name", code="SF-STUDY-434")
    declared = document.study()
    places = [str(place) for place in form.getlist("attribute")]
    named = list(declared.attributes)
    offered = [one["name"] for one in purpose_form(document, declared, was)["attributes"]]
    wanted = [offered[int(place)] for place in places if place.isdecimal() and int(place) < len(offered)]
    value: dict[str, Any] = {"attributes": [name for name in named if name in wanted]}
    if not wanted:
        raise StudyError("the purpose has no attribute", "choose at least one", code="SF-STUDY-435")
    first, last = str(form.get("first") or "").strip(), str(form.get("last") or "").strip()
    if first or last:
        value["span"] = [PlainDate(first), PlainDate(last)]
    where = str(form.get("where") or "").strip()
    if where:
        value["where"] = read_yaml(where, "the filter") if where.startswith("{") else where
    edited = document
    if was and was != name:
        _refuse_used(declared, was)
        edited = edited.remove("purposes", was)
    edited = edited.set("purposes", name, value=value)
    edited.study()
    edited.save()
    return _purposes_saved(request, opened, form, name, was)


def _purposes_saved(request: Request, opened: OpenStudy, form: FormData, name: str, before: str) -> Response:
    """The purposes after an edit, with the plan of what is typed: it may be of a purpose that has changed."""
    live = live_values(opened, form, purposes={before: name} if before else {})
    document = opened.document()
    values = purpose_values(document, document.study(), name)
    was = str(form.get("was") or "")
    return page(request, "plan_purposes_saved.html", **live, **values, **around_values(opened), selected=was)


def edit(request: Request) -> Response:
    """The purposes with one of them in the form, or an empty form."""
    opened = open_study(request)
    document = opened.document()
    values = purpose_values(document, document.study(), request.query_params.get("purpose", ""), edited=True)
    return page(request, "plan_purposes.html", study=opened, selected=request.query_params.get("release", ""), **values)


def _refuse_used(declared: Study, name: str) -> None:
    """A purpose that a release needs keeps its name."""
    using = [release for release, settings in declared.releases.items() if str(settings.get("purpose") or "") == name]
    if using:
        raise StudyError(
            f"the purpose '{name}' is used by the release '{using[0]}'",
            "change or remove that release first",
            code="SF-STUDY-436",
        )


class PlainDate(str):
    """A date, which YAML writes without quotes."""

    __slots__ = ()


@posted
def remove(request: Request, form: FormData) -> Response:
    """Take a purpose out of the study file, unless a release needs it."""
    opened = open_study(request)
    name = str(form.get("purpose_was") or "")
    document = opened.document()
    _refuse_used(document.study(), name)
    edited = document.remove("purposes", name)
    edited.study()
    edited.save()
    return _purposes_saved(request, opened, form, "", name)


ROUTES: Final[list[Route]] = [
    Route("/s/{study}/plan/purpose", edit, methods=["GET"]),
    Route("/s/{study}/plan/purpose", save, methods=["POST"]),
    Route("/s/{study}/plan/purpose/remove", remove, methods=["POST"]),
]
