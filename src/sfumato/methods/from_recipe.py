"""From a recipe to a method with its parameters, and back."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, cast

from sfumato.errors import StudyError
from sfumato.methods.method import METHODS, Method
from sfumato.privacy.models import MODELS, parse_models, written_models
from sfumato.study.recipe import Chosen, Recipe
from sfumato.study.values import refuse_misunderstood, refuse_strange

_MOST_DIGITS = 30  # of a whole number; longer text is no number of a study
PRIVACY = "privacy"  # the parameter of partition methods that holds models
_OLD_NAMES = {"promise": PRIVACY}  # as studies and ledgers of version 0.1 call them


def build(recipe: Recipe) -> Method:
    """The method a recipe names, with the recipe's parameters.

    >>> from sfumato.study.recipe import Recipe
    >>> build(Recipe(name="dp", method="diffgen", parameters={"epsilon": "1", "height": "3"}))
    Traceback (most recent call last):
    sfumato.errors.StudyError: method 'diffgen' has no parameter 'height'. To fix: use one of: epsilon, h, score, ...
    """
    try:
        return _build_method(recipe)
    except StudyError as error:
        place = recipe.place_of(error.problem, *error.names if isinstance(error, _AboutError) else ())
        raise StudyError(f"{place}{error.problem}", error.fix, code=error.code) from None


class _AboutError(StudyError):
    """An error about one parameter."""

    def __init__(self, problem: str, fix: str, code: str = "", *, name: str = "") -> None:
        super().__init__(problem, fix, code)
        self.names = (name,)


def _build_method(recipe: Recipe) -> Method:
    kind = METHODS[recipe.method]
    known = [f.name for f in fields(kind)]
    recipe = _with_new_names(recipe, known)
    for name in recipe.parameters:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            raise _AboutError(
                f"method '{recipe.method}' has no parameter '{name}'",
                f"write '{close[0]}'" if close else f"use one of: {', '.join(known)}",
                name=name,
                code="SF-STUDY-035",
            )
    for name, value in recipe.parameters.items():
        refuse_strange(value, name, others=tuple(MODELS.values()))
    given = {name: _read(name, value) for name, value in recipe.parameters.items()}
    lacking = [f.name for f in fields(kind) if f.name not in given and _required(f)]
    if lacking:
        raise StudyError(
            f"release '{recipe.name}' has no {' and no '.join(lacking)}",
            f"add `{lacking[0]}: …` to it",
            code="SF-STUDY-036",
        )
    for field in fields(kind):
        if isinstance(field.default, (str, int)) and _holds_many_or_nothing(value := given.get(field.name, 0)):
            raise _AboutError(
                f"{field.name} of release '{recipe.name}' is {'empty' if value is None else 'no single value'}",
                f"write one value, as in `{field.name}: {str(field.default).lower()}`, or leave it out",
                name=field.name,
                code="SF-STUDY-037",
            )
    with refuse_misunderstood(f"release '{recipe.name}'"):
        return cast("Method", kind(**given))


def _with_new_names(recipe: Recipe, known: Sequence[str]) -> Recipe:
    """The recipe with parameters that were renamed under their names of today."""
    renamed = {
        old: new
        for old, new in _OLD_NAMES.items()
        if old in recipe.parameters and new in known and new not in recipe.parameters
    }
    if not renamed:
        return recipe
    return replace(recipe, parameters={renamed.get(name, name): value for name, value in recipe.parameters.items()})


def recipe_of(method: Any, *, name: str, purpose: str | None = None, chosen: Chosen = Chosen.IN_ADVANCE) -> Recipe:
    """The recipe that `build` turns into this method."""
    parameters = {f.name: getattr(method, f.name) for f in fields(method)}
    shown = {key: _as_written(key, value) for key, value in parameters.items()}
    return Recipe(name=name, method=method.name, purpose=purpose, parameters=shown, chosen=chosen)


def _required(field: Any) -> bool:
    return bool(field.default is field.default_factory)  # both are MISSING


def _holds_many_or_nothing(value: object) -> bool:
    return value is None or isinstance(value, (Mapping, list, tuple))


def _as_written(name: str, value: Any) -> Any:
    """A parameter as a study gives it."""
    if name == PRIVACY:
        return written_models(parse_models(value)) or None
    return str(value) if isinstance(value, Fraction) else value


def _read(name: str, value: Any) -> Any:
    """Whole numbers may come as text, since study files are read without rounding; `privacy` becomes models."""
    if name == PRIVACY:
        return parse_models(value)
    text = str(value)
    plain = isinstance(value, str) and text.isdecimal() and text.isascii() and len(text) <= _MOST_DIGITS
    return int(text) if plain else value
