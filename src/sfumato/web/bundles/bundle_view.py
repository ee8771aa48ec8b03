"""What the workbench shows of a bundle: all of it is read off the bundle, which anybody may have written."""

from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from sfumato.errors import VerifyError
from sfumato.release.answer.marginal import Marginal, marginal
from sfumato.release.bundle.atomic_files import MANIFEST, find_bundle
from sfumato.release.form import FORMS
from sfumato.release.manifest.read_manifest import parse_manifest
from sfumato.release.page.bars import bars
from sfumato.release.page.bundle_words import BundleWords, bundle_words
from sfumato.release.release import Release
from sfumato.release.storage.untrusted import read_bounded, refuse_unexpected


def read_view(path: Path) -> BundleWords:
    """A bundle by its folder; an error if its manifest is none, was changed, or contradicts itself."""
    with refuse_unexpected():
        place = find_bundle(path)
        try:
            manifest = parse_manifest(read_bounded(place / MANIFEST))
        except OSError:
            raise VerifyError("manifest.json cannot be read", "get the bundle again", code="SF-VERIFY-436") from None
        form = FORMS[manifest["form"]]
        return bundle_words(manifest, form.domains(form.layout(manifest)))


def view_values(view: BundleWords) -> dict[str, Any]:
    """All that the page shows of it, as plain values."""
    stated = view.manifest
    manifest = {
        **{name: stated[name] for name in ("release", "study", "date", "guarantee")},
        "method": {"name": stated["method"]["name"]},
        "privacy": {"odds": stated["privacy"].get("odds")},
        "rules": list(stated.get("rules") or ()),
    }
    return {
        "manifest": manifest,
        "columns": [asdict(column) for column in view.columns],
        "nodes": view.nodes,
        "size": view.size,
        "private": view.private,
        "noisy": view.noisy,
        "limits": view.limits,
        "facts": view.facts,
        "weight": view.weight,
        "snippets": view.snippets(),
        "training": view.training,
        "example": view.example,
    }


def open_cached(path: Path) -> Release:
    """The release of a bundle; kept until its manifest is another one."""
    place = find_bundle(path)
    try:
        stamp = (place / MANIFEST).lstat()
    except OSError:
        raise VerifyError("manifest.json cannot be read", "get the bundle again", code="SF-VERIFY-436") from None
    return _open(place, stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=4)
def _open(place: Path, _when: int, _size: int) -> Release:
    return Release.open(place)


def marginal_of(path: Path, number: int) -> tuple[Marginal, list[dict[str, Any]], float]:
    """The marginal of a column by its place, its bars, and the confidence of its intervals."""
    release = open_cached(path)
    names = [str(stated["name"]) for stated in release.manifest["attributes"]]
    if not 0 <= number < len(names):
        raise VerifyError("the release has no such column", "reload the page", code="SF-VERIFY-437")
    with refuse_unexpected():
        found = marginal(release, names[number])
    return found, bars(found), min((part.estimate.confidence for part in found.parts), default=1.0)
