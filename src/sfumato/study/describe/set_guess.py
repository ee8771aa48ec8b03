"""Columns whose text holds several codes, told from some of its values; and a tree over codes that have none."""

from collections.abc import Sequence
from typing import Final

from sfumato.domains.sets.set_cut import BETWEEN, NONE, OTHER_SETS
from sfumato.domains.taxonomy.by_rule import ROOT
from sfumato.domains.taxonomy.text import Nested

MOST_CODES: Final = 20_000
"""Different codes that a proposal lists; a set of more needs a taxonomy of its own."""

_SEPARATORS: Final = (";", "|", ",", " ", "/")
_LEAST: Final = 20  # values, of which a set is told
_OFTEN: Final = 3  # one in so many values holds several codes
_LENGTHS: Final = 3  # different numbers of codes: `Doe, Ann` always has two parts
_LONGEST: Final = 20  # characters of a code
_FAN_OUT: Final = 32  # children of a node, at most
_FLAT: Final = 60


def guess_separator(values: Sequence[str]) -> str | None:
    """What stands between the codes of a set, if the values are sets: parts that come back, a varying number of them.

    >>> guess_separator([" ".join(str(n * 7 % 13) for n in range(m % 5 + 1)) for m in range(40)])
    ' '
    >>> guess_separator(["Doe, Ann", "Roe, Bob"] * 20), guess_separator(["a word or two"] * 40)
    (None, None)
    """
    if len(values) < _LEAST:
        return None
    for separator in _SEPARATORS:
        split = [[part.strip() for part in value.split(separator) if part.strip()] for value in values]
        several = sum(len(parts) > 1 for parts in split)
        parts = [part for one in split for part in one]
        if (
            several * _OFTEN >= len(values)
            and len({len(one) for one in split}) >= _LENGTHS
            and 2 * len(set(parts)) <= len(parts)
            and all(_is_code(part, separator) for part in parts)
        ):
            return separator
    return None


def _is_code(part: str, separator: str) -> bool:
    """Whether it is a code and no part of a sentence: blanks and slashes separate numbers alone, commas words."""
    if len(part) > _LONGEST or (separator in ", /" and " " in part):
        return False
    return separator not in " /" or any(map(str.isdigit, part))


def code_tree(codes: Sequence[str]) -> Nested | None:
    """A tree over codes in their order, with ranges of them above; None if they cannot be the codes of a set.

    >>> code_tree(["b", "a"])
    {'Any': ['a', 'b']}
    >>> list(code_tree([str(n) for n in range(100)])["Any"])
    ['0 to 31', '32 to 63', '64 to 95', '96 to 99']
    """
    if not codes or any(BETWEEN in code or code == NONE or code.startswith(OTHER_SETS) for code in codes):
        return None
    ordered = sorted(codes, key=_order)
    root = _unlike(ROOT, codes)
    if len(ordered) <= _FLAT:
        return {root: ordered}
    level: list[tuple[str, str, Nested | list[str] | None]] = [(code, code, None) for code in ordered]
    taken = {root, *codes}
    while len(level) > _FAN_OUT:
        above: list[tuple[str, str, Nested | list[str] | None]] = []
        for start in range(0, len(level), _FAN_OUT):
            part = level[start : start + _FAN_OUT]
            leaves = all(below is None for _, _, below in part)
            inside: Nested | list[str] = (
                [first for first, _, _ in part] if leaves else {_range(f, last): b for f, last, b in part}
            )
            above.append((part[0][0], part[-1][1], inside))
        level = above
        if taken & {_range(first, last) for first, last, _ in level}:
            return None
    return {root: {_range(first, last): below for first, last, below in level}}


def _range(first: str, last: str) -> str:
    return f"{first} to {last}"


def _order(code: str) -> tuple[int, int, str]:
    """Numbers by size, then texts."""
    return (0, int(code), code) if code.isascii() and code.isdigit() else (1, 0, code)


def _unlike(label: str, codes: Sequence[str]) -> str:
    return next(name for marks in range(len(codes) + 1) if (name := label + "!" * marks) not in codes)
