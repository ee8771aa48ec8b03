"""Manifests as bytes: exact JSON in one form, and a seal that shows a change by accident."""

import hashlib
import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np

from sfumato.errors import InternalError, VerifyError
from sfumato.release.storage.untrusted import printable
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


def stated_size(content: Mapping[str, Any], name: str) -> int:
    """How long the manifest says that a file is; nothing for one that it does not list."""
    return int(content["files"].get(name, {"size": 0})["size"])


def as_json_value(value: Any) -> Any:  # noqa: PLR0911 - a kind of value each
    """A value as JSON can hold it without rounding: exact numbers and very large ones become text.

    >>> as_json_value({"epsilon": Fraction(1, 3), "groups": 10**18, "scale": np.float64(0.5)})
    {'epsilon': '1/3', 'groups': '1000000000000000000', 'scale': 0.5}
    """
    match value:
        case None | bool() | str() | float():
            return float(value) if isinstance(value, float) else value
        case np.generic():
            return as_json_value(value.item())
        case int():
            if abs(value) <= MOST_WHOLE:
                return value
            digits = int(abs(value).bit_length() * 0.30103)
            return str(value) if digits <= _MOST_DIGITS else f"about 10^{digits}"
        case Fraction():
            return show(value)
        case Mapping():
            return {str(key): as_json_value(inner) for key, inner in value.items()}
        case list() | tuple():
            return [as_json_value(inner) for inner in value]
        case _:
            raise InternalError(f"a value of type {type(value).__name__} was to go into the manifest")


def broken_bundle(problem: str, *, code: str = "") -> VerifyError:
    """A bundle that is not what it says it is."""
    return VerifyError(printable(problem, 1_000), "get the bundle again from who published it", code=code)
