"""Measures as axes of a frontier: names that tell parameters, since numbers are found again by them."""

import hashlib
import pickle
from dataclasses import fields
from typing import Any

from sfumato.evaluate.measures import Measure
from sfumato.frontier import Axis

_LONG = 40  # letters of a parameter that are shown in the name of an axis


def measure_name(measure: str | Measure) -> str:
    """The name of a measure that may be given by it."""
    return measure if isinstance(measure, str) else name_with_parameters(measure)


def name_with_parameters(measure: Measure) -> str:
    """A measure's name, with the parameters that are not the defaults."""
    given: Any = measure
    given = [
        f"{f.name} = {_short(getattr(given, f.name))}" for f in fields(given) if getattr(given, f.name) != f.default
    ]
    return f"{measure.name} ({', '.join(given)})" if given else measure.name


def _short(value: Any) -> str:
    """A parameter in a few letters; a long value becomes a hash, since stored numbers are found by this name."""
    text = str(value)
    return text if len(text) <= _LONG else f"given {hashlib.sha256(pickle.dumps(value)).hexdigest()[:8]}"


def axis(name: str, measure: Measure) -> Axis:
    """A measure as an axis, under the name that tells its parameters."""
    title = measure.title + name.removeprefix(measure.name)
    return Axis(name=name, title=title, better=measure.better, unit=measure.unit)
