"""Recipes: one release, described and not yet made."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sfumato.errors import StudyError
from sfumato.study.attribute import Role
from sfumato.study.study import Study
from sfumato.study.values import refuse_strange

Path = tuple[str | int, ...]

_WORD = re.compile(r"[+-]?[\w./-]*\w")


def first_method(*, predicts: bool) -> str:
    """The differentially private method to begin with: `staged` predicts the class best, `marginals` needs none.

    It follows from the roles alone.
    """
    return "staged" if predicts else "marginals"


class Chosen(StrEnum):
    """How the parameters were chosen; trying several on the raw table and keeping the best is not covered by ε."""

    IN_ADVANCE = "fixed in advance"
    ON_RAW = "chosen on the raw table"
    ON_STAND_IN = "chosen on a stand-in table"


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A purpose, a method by name, and its parameters as written.

    >>> Recipe(name="dp", method="diffgen", parameters={"epsilon": "1"}).as_json()
    '{"chosen": "fixed in advance", "method": "diffgen", "name": "dp", "parameters": {"epsilon": "1"}, "purpose": null}'
    """

    name: str
    method: str
    purpose: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    chosen: Chosen = Chosen.IN_ADVANCE
    places: Mapping[Path, str] = field(default_factory=dict, compare=False, repr=False)  # where each part is written

    def place_of(self, problem: str, *names: str) -> str:
        """The file and line of what a problem is about, with a colon; nothing where there is no file.

        That is the part with these ``names``, or else the one whose name or value the problem mentions most; or the
        release as a whole.

        >>> places = {(): "s.yaml, line 4", ("k",): "s.yaml, line 5"}
        >>> recipe = Recipe(name="r", method="mondrian", parameters={"k": 0}, places=places)
        >>> recipe.place_of("k is 0"), recipe.place_of("nobody is left")
        ('s.yaml, line 5: ', 's.yaml, line 4: ')
        """
        if not self.places:
            return ""
        if names and names in self.places:
            return f"{self.places[names]}: "
        said = set(_WORD.findall(problem))
        best = max(self.places, key=lambda path: (self._mentioned(path, said), -len(path)))
        return f"{self.places[best]}: "

    def _mentioned(self, path: Path, said: set[str]) -> int:
        value: Any = {**self.parameters, "method": self.method}
        for part in path:
            value = value[part] if isinstance(value, Mapping) and part in value else None
        plain = isinstance(value, (str, int)) and not isinstance(value, bool) and str(value) in said
        return sum(str(part) in said for part in path) + plain

    def as_json(self) -> str:
        """The recipe as one line of JSON, for the ledger and the manifest."""
        return json.dumps(
            {
                "name": self.name,
                "purpose": self.purpose,
                "method": self.method,
                "parameters": self.plain_parameters(),
                "chosen": self.chosen.value,
            },
            sort_keys=True,
            ensure_ascii=False,
        )

    def plain_parameters(self) -> dict[str, Any]:
        """The parameters as plain values: whole numbers and truth values as such, all else as it is written."""
        return {key: _plain(value) for key, value in self.parameters.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if isinstance(value, (int, bool)) or value is None else str(value)


def recipe_from_study(study: Study, name: str | None = None) -> Recipe:
    """One of the study's declared releases; without a name the only one there is."""
    if name is None:
        if len(study.releases) != 1:
            raise StudyError(
                f"the study '{study.name}' declares {len(study.releases) or 'no'} releases",
                f"name one: {', '.join(study.releases)}" if study.releases else _add_one(study),
                code="SF-STUDY-189",
            )
        name = next(iter(study.releases))
    if name not in study.releases:
        raise StudyError(
            f"the study '{study.name}' declares no release '{name}'",
            f"use one of: {', '.join(study.releases)}" if study.releases else _add_one(study),
            code="SF-STUDY-190",
        )
    settings = dict(study.releases[name])
    for setting in ("method", "purpose", "chosen"):  # the method looks at the others
        refuse_strange(settings.get(setting), f"`{setting}` of release '{name}'")
    here = ("releases", name)
    places = {path[2:]: place for path, place in study.places.items() if path[:2] == here}
    method = settings.pop("method", None)
    if method is None:
        raise StudyError(f"release '{name}' names no method", "add `method: diffgen`", code="SF-STUDY-191")
    purpose = settings.pop("purpose", None)
    chosen = settings.pop("chosen", Chosen.IN_ADVANCE.value)
    if not isinstance(chosen, str) or chosen not in [c.value for c in Chosen]:
        place = f"{places[('chosen',)]}: " if ("chosen",) in places else ""
        raise StudyError(
            f"{place}release '{name}' says its parameters were '{str(chosen)[:60]}'",
            f"use one of: {', '.join(c.value for c in Chosen)}",
            code="SF-STUDY-192",
        )
    return Recipe(
        places=places,
        name=name,
        method=str(method),
        purpose=None if purpose is None else str(purpose),
        parameters=settings,
        chosen=Chosen(chosen),
    )


def _add_one(study: Study) -> str:
    method = first_method(predicts=bool(study.with_role(Role.CLASS)))
    return f"add one to the study, such as `releases: {{dp: {{method: {method}, epsilon: 1}}}}`"
