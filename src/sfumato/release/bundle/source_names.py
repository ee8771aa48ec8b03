"""The names of the owner's tables as they are published: the file name, without its folder.

A recipe may name a table of people by a path or a URL. A path reveals something about the owner's machine, and
a URL may contain a password, so neither is published. A receiver needs only the name, to know which table to ask for.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

_POPULATION: Final = "population"
_PRIVACY: Final = "privacy"
_UNNAMED: Final = "a table"


def table_name(place: str) -> str:
    """The last part of a path or URL; of a URL without user, host, query and fragment.

    >>> table_name("/data/ada/people.csv"), table_name("https://ada:secret@host/public/people.csv?token=1")
    ('people.csv', 'people.csv')
    >>> table_name("https://ada:secret@host")
    'a table'
    """
    path = place
    if "://" in place:
        try:
            path = urlsplit(place).path
        except ValueError:  # no URL that anybody could open
            return _UNNAMED
    parts = [part for part in re.split(r"[/\\]", path) if part]
    return parts[-1] if parts else _UNNAMED


def public_table_names(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a method or a privacy model, with the tables that they name by `table_name` only.

    Shares that are written out in place of a file are left as they are.

    >>> public_table_names({"k": 5, "privacy": [{"delta-presence": {"population": "/data/ada/people.csv"}}]})
    {'k': 5, 'privacy': [{'delta-presence': {'population': 'people.csv'}}]}
    """
    found = dict(parameters)
    if isinstance(found.get(_POPULATION), str):
        found[_POPULATION] = table_name(found[_POPULATION])
    if _PRIVACY in found:
        found[_PRIVACY] = _public_models(found[_PRIVACY])
    return found


def _public_models(privacy: Any) -> Any:
    """The field `privacy` of a study: models with their parameters, or a list of such mappings."""
    if isinstance(privacy, Mapping):
        return {
            name: public_table_names(given) if isinstance(given, Mapping) else given for name, given in privacy.items()
        }
    return [_public_models(part) for part in privacy] if isinstance(privacy, (list, tuple)) else privacy
