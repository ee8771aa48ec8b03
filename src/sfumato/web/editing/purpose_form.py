"""Purposes as a page asks for them: which columns of which records a receiver gets."""

from collections.abc import Mapping
from typing import Any

from sfumato.study.attribute import Role
from sfumato.study.study import Study
from sfumato.web.editing.study_document import StudyDocument, entry_hash


def purpose_values(document: StudyDocument, declared: Study, name: str, *, edited: bool = False) -> dict[str, Any]:
    """All purposes, and one of them in the form, which is open if it is ``edited``."""
    return {
        "purposes": _purposes(declared),
        "purpose": purpose_form(document, declared, name),
        "edited": edited or bool(name),
    }


def _purposes(declared: Study) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "attributes": one.attributes, "span": one.span, "where": one.where}
        for one in declared.purposes.values()
    ]


def purpose_form(document: StudyDocument, declared: Study, name: str) -> dict[str, Any]:
    """The fields of one purpose, or of a new one."""
    settings = document.get("purposes", name) if name else None
    found = settings if isinstance(settings, Mapping) else {}
    wanted = [str(one) for one in found.get("attributes") or ()]
    span = found.get("span")
    first, last = (str(span[0]), str(span[1])) if isinstance(span, (list, tuple)) and len(span) == 2 else ("", "")  # noqa: PLR2004
    where = found.get("where")
    purpose = declared.purposes.get(name)
    return {
        "name": name if found else "",
        "entry": entry_hash(document, "purposes", name if found else ""),
        "first": first,
        "last": last,
        "where": "" if where is None else where if isinstance(where, str) else purpose.where if purpose else "",
        "timed": bool(declared.with_role(Role.TIME)),
        "attributes": [
            {"name": a.name, "role": a.role.value.replace("_", "-"), "used": a.name in wanted if found else True}
            for a in declared.attributes.values()
            if a.role not in {Role.IDENTIFIER, Role.TIME}
        ],
    }
