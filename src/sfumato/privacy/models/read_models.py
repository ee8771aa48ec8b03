"""Privacy models: parsed from the `privacy` of a study, and checked several at once."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, cast

import numpy as np

from sfumato.errors import InfeasibleError, StudyError
from sfumato.privacy.groups.statistics import Integers, Statistics, Truths
from sfumato.privacy.models.model import MODELS, GroupModel
from sfumato.study.values import refuse_misunderstood, refuse_strange


def parse_models(privacy: Mapping[str, Any] | Iterable[Any] | None) -> tuple[GroupModel, ...]:
    """The models of a `privacy`: a mapping from names to parameters, or a list of such mappings (or of models).

    A single value is the model's one required parameter. The list form can name a model twice, for two attributes.

    >>> parse_models({"k-anonymity": "10"})
    (KAnonymity(k=10),)
    >>> [model.sentence() for model in parse_models([{"k-anonymity": 2}, {"k-anonymity": {"k": 3}}])]
    ['Every group of records that look alike has at least 2 of them (k-anonymity).',
     'Every group of records that look alike has at least 3 of them (k-anonymity).']
    >>> parse_models({"k-anonimity": 2})
    Traceback (most recent call last):
    sfumato.errors.StudyError: there is no privacy model called 'k-anonimity'. To fix: write ... [SF-STUDY-105]
    """
    if privacy is None:
        return ()
    if isinstance(privacy, Mapping):
        return tuple(_model(name, given) for name, given in privacy.items())
    if isinstance(privacy, str) or not isinstance(privacy, Iterable):
        raise _malformed_promise()
    models: list[GroupModel] = []
    part: Any
    for part in privacy:
        if isinstance(part, Mapping):
            models.extend(parse_models(part))
        elif type(part) in MODELS.values() and type(part).checkable:
            models.append(cast("GroupModel", part))
        else:
            raise _malformed_promise()
    return tuple(models)


def written_models(models: Iterable[GroupModel]) -> list[dict[str, dict[str, Any]]]:
    """The list form that `parse_models` turns into these models.

    >>> written_models(parse_models({"k-anonymity": 10}))
    [{'k-anonymity': {'k': 10}}]
    """
    return [{model.name: model.parameters()} for model in models]


def all_hold(models: Iterable[GroupModel], statistics: Statistics) -> Truths:
    """Whether each group satisfies every model."""
    kept = np.ones(len(statistics), dtype=np.bool_)
    for model in models:
        kept &= model.holds(statistics)
    return kept


def broken_records(model: GroupModel, statistics: Statistics) -> Integers:
    """How many records of each group violate a model: all of a group that does, unless the model can tell which.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> broken_records(parse_models({"distinct-l-diversity": 3})[0], PATIENTS).tolist()
    [0, 4]
    """
    counted = getattr(model, "broken_records", None)
    if counted is not None:
        return cast("Integers", counted(statistics))
    return np.asarray(np.where(model.holds(statistics), 0, statistics.sizes), dtype=np.int64)


def any_regional(models: Iterable[GroupModel]) -> bool:
    """Whether any of the models looks at the regions of all groups at once, which a search does not have."""
    return any(getattr(model, "regional", False) for model in models)


def population_names(models: Iterable[GroupModel]) -> tuple[str, ...]:
    """The populations that models compare with, by the names of their tables."""
    named = [getattr(model, "population", None) for model in models]
    return tuple(dict.fromkeys(name for name in named if isinstance(name, str)))


def counts_people(models: Iterable[GroupModel]) -> bool:
    """Whether any of the models counts the people of a population in the regions of groups."""
    return any(getattr(model, "counts_people", False) for model in models)


def all_monotone(models: Iterable[GroupModel]) -> bool:
    """Whether merging groups that satisfy all the models gives groups that do, as long as the table does not change."""
    return all(model.monotone for model in models)


def any_relative(models: Iterable[GroupModel]) -> bool:
    """Whether any of the models compares groups with the table, which changes when records are suppressed."""
    return any(model.relative for model in models)


def refuse_infeasible(models: Iterable[GroupModel], whole: Statistics) -> None:
    """Refuse a model that the whole table violates even as one group, and name the largest feasible parameter.

    For a monotone model this is final: if all groups of some partition satisfied it, so would all of them merged.
    Suppressing records may help where shares are bounded, never where sizes or numbers of values are.

    >>> ten = Statistics.of(np.zeros(10, np.int64), np.ones(10, np.int64), {}, {}, groups=1)
    >>> refuse_infeasible(parse_models({"k-anonymity": 11}), ten)
    Traceback (most recent call last):
    sfumato.errors.InfeasibleError: this table cannot satisfy k-anonymity (k = 11), not even with all its records in one
    group. To fix: set k to 10 or less. [SF-INFEASIBLE-013]
    """
    assert len(whole) == 1, "the whole table as one group"
    for model in models:
        if not model.holds(whole)[0]:
            raise InfeasibleError(
                f"this table cannot satisfy {title(model)}, not even with all its records in one group",
                model.way_out(whole),
                code="SF-INFEASIBLE-013",
            )


def title(model: GroupModel) -> str:
    """A model with its parameters, as one says it: 'k-anonymity (k = 5)'."""
    given = ", ".join(f"{name} = {_value_text(value)}" for name, value in model.parameters().items())
    return f"{model.name} ({given})"


def _value_text(value: Any) -> str:
    parts = list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []
    if any(isinstance(part, Mapping) for part in parts):  # too much for a title
        return f"{len(parts)} given"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {one}" for key, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _model(name: str, given: Any) -> GroupModel:
    choices = [model for model in MODELS if MODELS[model].checkable]
    if not isinstance(cast("object", name), str) or name not in choices:
        raise _unknown(name, choices)
    kind = MODELS[name]
    known = [field.name for field in fields(kind)]
    required = [field.name for field in fields(kind) if field.default is MISSING]
    if isinstance(given, Mapping):
        values = dict(given)
    elif len(required) == 1 and given is not None:
        values = {required[0]: given}
    else:
        raise StudyError(
            f"'{name}' needs {_and(required)}", f"write `{name}: {{{_example(required)}}}`", code="SF-STUDY-100"
        )
    for parameter in values:
        if parameter not in known:
            close = difflib.get_close_matches(str(parameter), known, n=1)
            raise StudyError(
                f"privacy model '{name}' has no parameter '{str(parameter)[:60]}'",
                f"write '{close[0]}'" if close else f"use one of: {', '.join(known)}",
                code="SF-STUDY-101",
            )
        refuse_strange(values[parameter], f"{parameter} of '{name}'")
        if parameter == "attribute" and not isinstance(values[parameter], (str, type(None))):
            raise StudyError(
                f"the attribute of '{name}' is no name",
                "write the name of one sensitive attribute",
                code="SF-STUDY-102",
            )
    missing = [parameter for parameter in required if values.get(parameter) is None]
    if missing:
        raise StudyError(
            f"'{name}' has no {' and no '.join(missing)}", f"add `{missing[0]}: …` to it", code="SF-STUDY-103"
        )
    with refuse_misunderstood(f"the privacy model '{name}'"):
        return cast("GroupModel", kind(**values))


def _unknown(name: object, choices: Sequence[str]) -> StudyError:
    if isinstance(name, str) and name in MODELS:
        return StudyError(
            f"'{name}' is a guarantee about how a release is made and cannot be checked on equivalence classes",
            "choose a differentially private method instead",
            code="SF-STUDY-104",
        )
    told = name if isinstance(name, str) else f"a value of the type {type(name).__name__}"
    close = difflib.get_close_matches(told, choices, n=1)
    return StudyError(
        f"there is no privacy model called '{told[:60]}'",
        f"write '{close[0]}'" if close else f"choose one of: {', '.join(choices)}",
        code="SF-STUDY-105",
    )


def _malformed_promise() -> StudyError:
    return StudyError(
        "`privacy` is neither a mapping nor a list of models", "write `privacy: {k-anonymity: 10}`", code="SF-STUDY-106"
    )


def _and(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _example(names: Sequence[str]) -> str:
    return ", ".join(f"{name}: …" for name in names)
