"""Manifests as bytes: exact JSON in one form, and a seal that shows a change by accident."""

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np
from pydantic import BaseModel, ValidationError

from sfumato.errors import InternalError, VerifyError
from sfumato.release.forms.noisy_counts.manifest_schema import FORMAT, FORMAT_VERSION
from sfumato.release.storage.untrusted import parse_json, printable
from sfumato.study.budget import show

Json = dict[str, Any]

MOST_WHOLE: Final = 2**53  # readers in other languages round whole numbers above this
_MOST_DIGITS: Final = 300


def render(content: Mapping[str, Any]) -> bytes:
    """JSON in the one form that bundles use: UTF-8, two spaces, a line end at the end."""
    return (json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n").encode()


def seal(content: Mapping[str, Any]) -> str:
    """The SHA-256 of the manifest without its seal."""
    return hashlib.sha256(render({key: value for key, value in content.items() if key != "seal"})).hexdigest()


def open_sealed(raw: bytes, forms: Mapping[str, type[BaseModel]]) -> Json:
    """Read and check a manifest of one of these forms: fields, types, version, and that no byte of it changed."""
    content = parse_json(raw, "manifest.json")
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise broken("manifest.json is not that of a Sfumato bundle")
    form = form_of(content)
    if content.get("format_version") != FORMAT_VERSION or form not in forms:
        told = printable(f"{content.get('format_version')}", 20)
        told += "" if form in forms else f" and form '{printable(form, 20)}'"
        raise VerifyError(
            f"the bundle has format version {told}, and this version reads {FORMAT_VERSION}",
            "use the version of Sfumato that wrote it, or a newer one",
        )
    try:
        forms[form].model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise broken(f"manifest.json is wrong at '{printable(place)}': {first['msg']}") from None
    if render(content) != raw or content["seal"] != seal(content):
        raise broken("manifest.json was changed after it was written")
    _refuse_selection(content.get("selection"))
    return content


def _refuse_selection(told: Mapping[str, Any] | None) -> None:
    """Refuse a span that is not two days of a time."""
    if told is None or told["span"] is None:
        return
    try:
        start, stop = (dt.date.fromisoformat(day) for day in told["span"])
    except ValueError:
        raise broken("the span of the manifest's selection is not two days") from None
    if told["time"] is None or start >= stop:
        raise broken("the span of the manifest's selection is not two days of a time")


def form_of(content: Mapping[str, Any]) -> str:
    """What a bundle publishes: noisy counts of groups, or records."""
    return str(content.get("form", "counts"))


def told_size(content: Mapping[str, Any], name: str) -> int:
    """How long the manifest says that a file is; nothing for one that it does not list."""
    return int(content["files"].get(name, {"size": 0})["size"])


def plain(value: Any) -> Any:  # noqa: PLR0911 - a kind of value each
    """A value as JSON can hold it without rounding: exact numbers and very large ones become text.

    >>> plain({"epsilon": Fraction(1, 3), "groups": 10**18, "scale": np.float64(0.5)})
    {'epsilon': '1/3', 'groups': '1000000000000000000', 'scale': 0.5}
    """
    match value:
        case None | bool() | str() | float():
            return float(value) if isinstance(value, float) else value
        case np.generic():
            return plain(value.item())
        case int():
            if abs(value) <= MOST_WHOLE:
                return value
            digits = int(abs(value).bit_length() * 0.30103)
            return str(value) if digits <= _MOST_DIGITS else f"about 10^{digits}"
        case Fraction():
            return show(value)
        case Mapping():
            return {str(key): plain(inner) for key, inner in value.items()}
        case list() | tuple():
            return [plain(inner) for inner in value]
        case _:
            raise InternalError(f"a value of type {type(value).__name__} was to go into the manifest")


def broken(problem: str) -> VerifyError:
    """A bundle that is not what it says it is."""
    return VerifyError(printable(problem, 1_000), "get the bundle again from who published it")
