"""The names of the owner's tables as they are published: the file name, without its folder.

A recipe may name a table of people by a path or a URL. A path reveals something about the owner's machine, and
a URL may contain a password, so neither is published. A receiver needs only the name, to know which table to ask for.
"""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

_POPULATION: Final = "population"
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
    return {
        name: table_name(value) if name == _POPULATION and isinstance(value, str) else _inside(value)
        for name, value in parameters.items()
    }


def _inside(value: Any) -> Any:
    """The same for what a parameter holds, whatever it is called: a study of version 0.1 calls its models `promise`."""
    if isinstance(value, Mapping):
        return public_table_names(value)
    return [_inside(part) for part in value] if isinstance(value, (list, tuple)) else value
