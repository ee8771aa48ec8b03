"""Finished points of a sweep in files, so that what was made and measured once is not made again."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.domains.json_form import domain_to_json
from sfumato.domains.sets.set_cut import Sets
from sfumato.errors import PublishError
from sfumato.frontier import Point
from sfumato.ledger.private_files import private_folder
from sfumato.study.recipe import Recipe
from sfumato.study.unit import Unit
from sfumato.study.view import View

LATEST: Final = "latest-sweep"
"""The file beside the points that lists those of the latest sweep. It is no point, and does not end like one."""

_LISTED: Final = frozenset({"label", "series", "family", "recipe", "failure"})
_MEASURES: Final = 2  # to be raised when a measure of the same name says something else


def fingerprint(
    view: View, unit: Unit, raw: Cells, cells: Cells | None = None, sets: Mapping[str, Sets] | None = None
) -> str:
    """What measured numbers depend on besides the recipe: the attributes, the records, and the version of Sfumato.

    Taxonomies are part of the domains, whatever file they come from. ``cells`` are the records that drafts are made
    from, where those are not all. Codes of sets say nothing without the ``sets`` that they are places in.
    """
    try:
        made_by = version("sfumato")
    except PackageNotFoundError:  # run from a checkout that is not installed
        made_by = "not installed"
    facts = {
        "attributes": [
            [
                a.name,
                a.role.value,
                None if a.domain is None else domain_to_json(a.domain),
                a.missing.value,
                a.outside.value,
                str(a.at_least),
            ]
            for a in view.attributes
        ],
        "unit": unit.key,
        "sfumato": made_by,
        "measures": _MEASURES,
    }
    found = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode())
    for some in (raw, *([] if cells is None or cells is raw else [cells])):
        _add(found, some.codes, some.counts)
    for each in (sets or {}).values():
        _add(found, each.first, each.leaves)
    return found.hexdigest()


def digest(content: object, people: Cells | None = None) -> str:
    """A hash of what a file says: a point that was made by it is made again if the file says something else."""
    found = hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode())
    if people is not None:
        _add(found, people.codes, people.counts)
    return found.hexdigest()


def _add(to: "hashlib._Hash", *arrays: NDArray[np.int64]) -> None:
    for part in arrays:
        to.update(np.ascontiguousarray(part, dtype=np.int64).data)


class PointFiles:
    """One JSON file a point in a folder; without a folder nothing is kept.

    A file appears whole or not at all. One that cannot be read is taken for none.
    """

    def __init__(self, folder: Path | None, of: str) -> None:
        self.folder = folder
        self.of = of

    def find(self, what: Mapping[str, Any], measures: tuple[str, ...]) -> dict[str, Any] | None:
        """What was kept, if it has every one of these measures or says why not."""
        if self.folder is None:
            return None
        try:
            found = json.loads(self._place(what).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("key") != self._key(what):
            return None
        known = {*found.get("numbers", ()), *found.get("refused", ())}
        return found if found.get("failure") is not None or known.issuperset(measures) else None

    def keep(self, what: Mapping[str, Any], found: Mapping[str, Any]) -> None:
        """Write a finished point; it is there when this returns."""
        if self.folder is None:
            return
        self._write(self._place(what), {"key": self._key(what), "of": self.of, **what, **found})

    def keep_list(self, said: Mapping[str, Any], listed: Sequence[tuple[Point, Sequence[Mapping[str, Any]]]]) -> None:
        """Write which points the latest sweep of this folder has, with the files of their draws, there or to come.

        The fingerprint is in the names of the files. So whoever shows a sweep while it runs, or after it was stopped,
        finds its points without reading the table, and no point of another state of it. The list stands with the
        points, in a folder of the owner's alone: that a point has a file says no more than the file.
        """
        if self.folder is None:
            return
        points = [
            {
                **{name: value for name, value in point.as_json().items() if name in _LISTED},
                "files": [self._place(what).name for what in draws],
            }
            for point, draws in listed
        ]
        self._write(self.folder / LATEST, {**said, "points": points})

    def _write(self, place: Path, content: Mapping[str, Any]) -> None:
        text = json.dumps(content, ensure_ascii=False, indent=1, default=str)
        try:
            private_folder(place.parent)  # and a temporary file is its owner's alone from the start
            with NamedTemporaryFile("w", dir=place.parent, suffix=".part", delete=False, encoding="utf-8") as file:
                file.write(text)
            os.replace(file.name, place)  # noqa: PTH105 - replaces a file in one step
        except OSError as error:
            raise PublishError(
                f"'{place.parent}' cannot be written ({error.strerror})",
                "name a folder you may write to with --out",
                code="SF-PUBLISH-022",
            ) from None

    def _place(self, what: Mapping[str, Any]) -> Path:
        assert self.folder is not None, "asked for only where there is one"
        return self.folder / f"{self._key(what)[:24]}.json"

    def _key(self, what: Mapping[str, Any]) -> str:
        text = json.dumps({"of": self.of, **what}, sort_keys=True, ensure_ascii=False, default=str)
        return hashlib.sha256(text.encode()).hexdigest()


def read_stored_points(folder: Path) -> list[dict[str, Any]]:
    """What was kept of all sweeps below a folder, of any state of the table; what cannot be read is passed over."""
    found = []
    for file in sorted(folder.glob("*/points/*.json")):
        try:
            one = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(one, dict) and isinstance(one.get("numbers"), dict) and ("method" in one or "baseline" in one):
            found.append(one)
    return found


def draft_parameters(recipe: Recipe) -> dict[str, Any]:
    """What of a recipe makes its draft: not its name."""
    return {"method": recipe.method, "parameters": recipe.plain_parameters(), "purpose": recipe.purpose}


def point_fields(point: Point) -> dict[str, Any]:
    """What is kept of a point: all that was found out."""
    fields = point.as_json()
    return {name: fields[name] for name in ("label", "numbers", "refused", "facts", "seconds", "failure")}
