"""Sweeps: methods with grids of parameters, each combination one candidate release."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

from sfumato.errors import SfumatoError, StudyError, UsageError
from sfumato.privacy.models import parse_models
from sfumato.study.attribute import Role, observed
from sfumato.study.budget import show
from sfumato.study.recipe import Chosen, Recipe
from sfumato.study.study import Study
from sfumato.study.unit import PersonUnit

PRIVACY = "privacy"
OLD_PRIVACY = "promise"  # in studies of version 0.1
_MOST = 10_000  # releases in one sweep
_K = (2, 5, 10, 25, 50, 100)
_L = (2, 3, 4)
_T = ("0.05", "0.1", "0.2", "0.3")
_EPSILON = ("0.1", "0.5", "1", "2")


@dataclass(frozen=True)
class Sweep:
    """Candidate releases in order, each a method with its parameters; ``+`` joins two sweeps.

    >>> both = sweep("mondrian", k=[5, 10]) + sweep("diffgen", epsilon=["0.5"], h=4)
    >>> [label(recipe) for recipe in both.recipes()]
    ['mondrian, k = 5', 'mondrian, k = 10', 'diffgen, ε = 0.5, h = 4']
    """

    candidates: tuple[tuple[str, Mapping[str, Any]], ...]

    def __add__(self, other: object) -> "Sweep":
        if not isinstance(other, Sweep):
            return NotImplemented
        return Sweep(self.candidates + other.candidates)

    def __len__(self) -> int:
        return len(self.candidates)

    def recipes(self, purpose: str | None = None) -> tuple[Recipe, ...]:
        """The candidates as recipes, each once; all of them are chosen on the raw table."""
        found: dict[str, Recipe] = {}
        for method, parameters in self.candidates:
            recipe = Recipe(
                name=method, method=method, purpose=purpose, parameters=dict(parameters), chosen=Chosen.ON_RAW
            )
            found.setdefault(recipe.as_json(), recipe)
        return tuple(found.values())


def sweep(method: Any, /, **grids: Any) -> Sweep:
    """Every combination of the parameters' values, the last parameter changing fastest.

    ``method`` is a method's class or its name. A list (or another sequence that is no text and no tuple) holds the
    values to try; anything else is one value. Lists inside `privacy` are tried, too. Models that must hold together
    are one mapping, or a tuple.

    >>> [r.parameters for r in sweep("mondrian", privacy={"t-closeness": {"t": ["0.1", "0.2"]}}).recipes()]
    [{'privacy': {'t-closeness': {'t': '0.1'}}}, {'privacy': {'t-closeness': {'t': '0.2'}}}]
    """
    name = method if isinstance(method, str) else getattr(method, "name", None)
    if not isinstance(name, str):
        raise UsageError(
            "a sweep needs a method",
            'name one, as in sweep(Mondrian, k=[5, 10]) or sweep("mondrian")',
            code="SF-USAGE-042",
        )
    if OLD_PRIVACY in grids and PRIVACY not in grids:
        grids = {PRIVACY if parameter == OLD_PRIVACY else parameter: values for parameter, values in grids.items()}
    for parameter, values in grids.items():
        if _listed(values) and not len(values):
            raise UsageError(
                f"the sweep of '{name}' tries no value of '{parameter}'", "list at least one", code="SF-USAGE-043"
            )
    number = 1
    for parameter, values in grids.items():
        listed = _listed(values) and parameter != PRIVACY
        number *= len(values) if listed else len(_choices(parameter, values))
    if number > _MOST:
        raise UsageError(
            f"the sweep of '{name}' has {number:,} combinations", f"keep to {_MOST:,} or fewer", code="SF-USAGE-044"
        )
    every = product(*(_choices(parameter, values) for parameter, values in grids.items()))
    return Sweep(tuple((name, dict(zip(grids, values, strict=True))) for values in every))


def sweep_from_settings(settings: Iterable[Mapping[str, Any]]) -> Sweep:
    """The sweep that a study declares under one name: settings with a method and lists of values each."""
    found = Sweep(())
    for one in settings:
        grids = dict(one)
        found += sweep(str(grids.pop("method")), **grids)
    return found


def default_sweep(study: Study, purpose: str | None = None) -> Sweep:
    """The sweep of a study that declares none.

    Mondrian over k; where there is a sensitive attribute, l-diversity and t-closeness by generalisation and by buckets;
    where there is a class and every domain is declared, DiffGen over ε.
    """
    wanted = (
        study.purposes[purpose].attributes
        if purpose is not None and purpose in study.purposes
        else tuple(study.attributes)
    )
    roles = {role: [a for a in study.with_role(role) if a.name in wanted] for role in Role}
    found = Sweep(())
    if roles[Role.QUASI_IDENTIFIER] and not (isinstance(study.unit, PersonUnit) and study.unit.at_most > 1):
        found += sweep("mondrian", k=list(_K))
        if roles[Role.SENSITIVE]:
            diverse = {"probabilistic-l-diversity": {"l": list(_L)}}
            close = {"t-closeness": {"t": list(_T), "distance": "js"}}
            for method in ("mondrian", "bucketization"):
                found += sweep(method, privacy=diverse) + sweep(method, privacy=close)
    used = [a for role in Role if role is not Role.IDENTIFIER for a in roles[role] if a.coded]
    if len(roles[Role.CLASS]) == 1 and not observed(used):
        found += sweep("diffgen", epsilon=list(_EPSILON), h=10)
    if not found.candidates:
        raise StudyError(
            f"there is no default sweep for the study '{study.name}'",
            "give an attribute `role: quasi_identifier`, or declare a sweep under `sweeps`",
            code="SF-STUDY-024",
        )
    return found


def label(recipe: Recipe) -> str:
    """A candidate in a few words: the method and the parameters that were given."""
    return _worded(recipe.method, _leaves(recipe))


def families(recipes: Sequence[Recipe]) -> tuple[str, ...]:
    """For each candidate what is the same along its line: its words without the last number that varies.

    >>> families(sweep("mondrian", privacy={"t-closeness": {"t": ["0.1", "0.2"], "distance": "js"}}).recipes())
    ('mondrian, t-closeness distance = js', 'mondrian, t-closeness distance = js')
    """
    leaves = [_leaves(recipe) for recipe in recipes]
    shapes = [(recipe.method, tuple(found)) for recipe, found in zip(recipes, leaves, strict=True)]
    words: list[str] = []
    for recipe, found, shape in zip(recipes, leaves, shapes, strict=True):
        alike = [other for other, its in zip(leaves, shapes, strict=True) if its == shape]
        along = [p for p in found if _number(found[p]) and len({str(other[p]) for other in alike}) > 1]
        rest = {path: value for path, value in found.items() if path != along[-1]} if along else found
        bare = [path[1] for path in along[-1:] if len(path) > 1 and not any(p[:2] == path[:2] for p in rest)]
        words.append(", ".join([_worded(recipe.method, rest), *bare]))
    return tuple(words)


def _choices(parameter: str, value: Any) -> list[Any]:
    values = list(value) if _listed(value) else [value]
    if parameter != PRIVACY:
        return values
    found: list[Any] = []
    for one in values:
        if isinstance(one, Mapping):
            found += _inside(one)
        else:
            found.append(tuple(one) if isinstance(one, (list, tuple)) else (one,))
    return found


def _inside(value: Any) -> list[Any]:
    """All the ways to take one value from each list below a mapping."""
    if isinstance(value, Mapping):
        every = product(*(_inside(below) for below in value.values()))
        return [dict(zip(value, below, strict=True)) for below in every]
    return list(value) if _listed(value) else [value]


def _listed(value: Any) -> bool:
    return (
        not isinstance(value, (str, bytes, tuple, Mapping)) and hasattr(value, "__len__") and hasattr(value, "__iter__")
    )


Path = tuple[str, ...]


def _leaves(recipe: Recipe) -> dict[Path, Any]:
    """The given parameters, those of `privacy` under the names of its models."""
    found: dict[Path, Any] = {}
    for name, value in recipe.parameters.items():
        if name == PRIVACY and value is not None:
            found |= dict(_with_models(value))
        else:
            found[name,] = value
    return found


def _with_models(value: Any) -> Iterator[tuple[Path, Any]]:
    try:
        models = parse_models(value)
    except SfumatoError:  # the reason is told when the release is made
        yield (PRIVACY,), value
        return
    for model in models:
        for name, given in model.parameters().items():
            yield (PRIVACY, model.name, name), given


def _worded(method: str, leaves: Mapping[Path, Any]) -> str:
    said = [method]
    before: Path = ()
    for path, value in leaves.items():
        name = "ε" if path == ("epsilon",) else path[-1]
        model = f"{path[1]} " if len(path) > 2 and path[:2] != before[:2] else ""  # noqa: PLR2004 - privacy, model, name
        said.append(f"{model}{name} = {_value(value)}")
        before = path
    return ", ".join(said)


def _value(value: Any) -> str:
    if isinstance(value, Fraction):
        return show(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_value(one)}" for key, one in value.items()) + "}"
    return ", ".join(map(_value, value)) if isinstance(value, (list, tuple)) else str(value)


def _number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    try:
        float(Fraction(str(value)))
    except (ValueError, ZeroDivisionError):
        return False
    return True
