"""Reading a manifest that anybody may have written: fields, types, version, seal, and what its form demands."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from sfumato.errors import VerifyError
from sfumato.release.form import FORMS
from sfumato.release.manifest import format_1
from sfumato.release.manifest.fields import FORMAT, FORMAT_VERSION
from sfumato.release.storage.seal import Json, broken_bundle, render, seal
from sfumato.release.storage.untrusted import parse_json, printable

_KINDS: Final = ("differential privacy", "syntactic")  # how pydantic tells the two kinds of `privacy` apart


def parse_manifest(raw: bytes) -> Json:
    """Read and check a manifest of any form; one of format 1 is given in the names of format 2."""
    content = parse_json(raw, "manifest.json")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise broken_bundle("manifest.json is not that of a Sfumato bundle", code="SF-VERIFY-084")
    old = content.get("format_version") == 1 and content.get("format_version") is not True
    _validate(content, _schema(content, old=old))
    if render(content) != raw or content["seal"] != seal(content):
        raise broken_bundle("manifest.json was changed after it was written", code="SF-VERIFY-085")
    _refuse_selection(content.get("selection"))
    content = format_1.upgrade(content) if old else content
    form = FORMS[content["form"]]
    form.refuse_broken(content)
    stored = content.get("stored")
    if stored is not None and {*stored["tables"]} != ({*form.stored_names(form.layout(content))} or None):
        raise broken_bundle("the manifest keeps other tables elsewhere than its form has", code="SF-VERIFY-134")
    return content


def _schema(content: Mapping[str, Any], *, old: bool) -> type[BaseModel]:
    """The fields that a manifest must have, by its version and form."""
    form = format_1.form_1(content) if old else str(content.get("form"))
    if old and form in format_1.SCHEMAS:
        return format_1.SCHEMAS[form]
    if not old and content.get("format_version") == FORMAT_VERSION and form in FORMS:
        return FORMS[form].schema
    stated = printable(f"{content.get('format_version')}", 20)
    known = form in (format_1.SCHEMAS if old else FORMS)
    stated += "" if known else f" and form '{printable(form, 20)}'"
    raise VerifyError(
        f"the bundle has format version {stated}, and this version reads 1 to {FORMAT_VERSION}",
        "use the version of Sfumato that wrote it, or a newer one",
        code="SF-VERIFY-086",
    )


def _validate(content: Mapping[str, Any], schema: type[BaseModel]) -> None:
    try:
        schema.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if part not in _KINDS)
        raise broken_bundle(
            f"manifest.json is wrong at '{printable(place)}': {first['msg']}", code="SF-VERIFY-087"
        ) from None


def _refuse_selection(stated: Mapping[str, Any] | None) -> None:
    """Refuse a span that is not two days of a time."""
    if stated is None or stated["span"] is None:
        return
    try:
        start, stop = (dt.date.fromisoformat(day) for day in stated["span"])
    except ValueError:
        raise broken_bundle("the span of the manifest's selection is not two days", code="SF-VERIFY-088") from None
    if stated["time"] is None or start >= stop:
        raise broken_bundle("the span of the manifest's selection is not two days of a time", code="SF-VERIFY-089")
