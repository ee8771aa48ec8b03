"""The files of a bundle that follow from all others, for its receiver: index.html and croissant.json.

They are made again when a bundle is verified, from the manifest and the data alone. So a page cannot say what the data
do not, even where whoever wrote it sealed everything anew.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from sfumato.errors import SfumatoError, VerifyError
from sfumato.release.bundle.atomic_files import FileFacts
from sfumato.release.bundle.croissant import CROISSANT, croissant
from sfumato.release.checks import Check
from sfumato.release.form import Form
from sfumato.release.page.render_page import PAGE, made_by, render_page
from sfumato.release.storage.seal import render
from sfumato.release.storage.untrusted import parse_json, read_bounded, refuse_unexpected

RECEIVER_FILES: Final = (CROISSANT, PAGE)
"""Bundles from before there were any have none; where one is listed, both are."""

_NUMBER: Final = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")
_CLOSE: Final = 1e-9


def page_of(form: Form, manifest: Mapping[str, Any], layout: Any, content: Any) -> bytes:
    """index.html, from what is published."""
    release = form.summarise(Path(), manifest, layout, content)
    return render_page(release, form.page_answers(layout, content, manifest))


def croissant_of(form: Form, manifest: Mapping[str, Any], layout: Any, files: Mapping[str, FileFacts]) -> bytes:
    """croissant.json, from the manifest."""
    return render(croissant(form.columns(layout, manifest), manifest, files, about=form.about()))


def listed_files(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Which of the files a bundle has to have."""
    return RECEIVER_FILES if any(name in manifest["files"] for name in RECEIVER_FILES) else ()


def check_croissant(
    form: Form, place: Path, manifest: Mapping[str, Any], layout: Any, files: Mapping[str, FileFacts]
) -> Check:
    """Whether croissant.json is that of the manifest."""
    try:
        found = parse_json(read_bounded(place / CROISSANT), CROISSANT)
        agrees = found == parse_json(croissant_of(form, manifest, layout, files), CROISSANT)
    except (VerifyError, OSError):
        agrees = False
    return Check("croissant", agrees, f"croissant.json {'agrees' if agrees else 'disagrees'} with the manifest")


def check_page(form: Form, place: Path, manifest: Mapping[str, Any], layout: Any, content: Any) -> Check:
    """Whether index.html says what the data say.

    The words of a page change with the version that makes it. A page of another version is not made again: its hash is
    compared like that of every file, and the check says that this is all.
    """
    try:
        found = read_bounded(place / PAGE)
    except (VerifyError, OSError):
        return Check("page", ok=False, detail="index.html cannot be read")
    if made_by() not in found:
        detail = "index.html was made by another version of Sfumato: its hash was compared, what it says was not"
        return Check("page", ok=True, detail=detail)
    if content is None:
        return Check("page", ok=False, detail="index.html was not compared with the data, which cannot be read")
    try:
        with refuse_unexpected():  # a manifest whose fields contradict each other makes no page
            agrees = _same_page(found, page_of(form, manifest, layout, content))
    except SfumatoError:
        agrees = False
    return Check(
        "page", agrees, f"index.html {'says' if agrees else 'does not say'} what the manifest and the data say"
    )


def _same_page(found: bytes, expected: bytes) -> bool:
    """Byte by byte, but for the last digits of fractions: processors may differ in how they round a long sum."""
    if found == expected:
        return True
    if _NUMBER.split(found) != _NUMBER.split(expected):
        return False
    pairs = zip(_NUMBER.findall(found), _NUMBER.findall(expected), strict=True)
    return all(
        one == other or (b"." in one and b"." in other and _close(float(one), float(other))) for one, other in pairs
    )


def _close(one: float, other: float) -> bool:
    return abs(one - other) <= _CLOSE * max(abs(one), abs(other))
