"""Two candidates beside the table, column by column, as a page draws what `sfumato evaluate compare` printed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_WIDE: Final = 240.0
_TALL: Final = 36.0
_GAP: Final = 2.0
_LEAST: Final = 0.6  # of a bar that is not zero


@dataclass(frozen=True, kw_only=True)
class Side:
    """A column in the table or in one of the releases: bars as (x, y, width, height), and a few words."""

    bars: tuple[tuple[float, float, float, float], ...]
    words: str
    said: str  # the same as the bars, for those who cannot see them


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: its name and role, the table and both releases, and the numbers behind the bars."""

    name: str
    role: str
    sides: tuple[Side, ...]
    numbers: tuple[tuple[str, ...], ...]


def columns_of(result: Mapping[str, Any]) -> list[Column]:
    """Every column of a comparison; the bars of one column have one scale."""
    return [_column(one) for one in result["columns"]]


def _column(one: Mapping[str, Any]) -> Column:
    table, releases = one["shares"], one["releases"]
    every = [table, *(side["shares"] or [] for side in releases)]
    most = max([1e-9, *(share for side in every for share in side)])
    labels = one["labels"]
    sides = [Side(bars=_bars(table, most), words=_many(one["values"], "value"), said=_said(labels, table))]
    for side in releases:
        if side["shares"] is None:
            sides.append(Side(bars=(), words="nothing published", said="nothing published"))
            continue
        words = f"{_published(side['published'])} · TV {_apart(side)}"
        sides.append(Side(bars=_bars(side["shares"], most), words=words, said=_said(labels, side["shares"])))
    return Column(name=one["name"], role=one["role"], sides=tuple(sides), numbers=tuple(_numbers(one)))


def _bars(shares: Sequence[float], most: float) -> tuple[tuple[float, float, float, float], ...]:
    step = _WIDE / max(1, len(shares))
    found = []
    for at, share in enumerate(shares):
        tall = max(_TALL * share / most, _LEAST) if share > 0 else 0.0
        found.append((round(at * step, 1), round(_TALL - tall, 1), round(max(step - _GAP, 1.0), 1), round(tall, 1)))
    return tuple(found)


def _numbers(one: Mapping[str, Any]) -> list[tuple[str, ...]]:
    sides = [one["shares"], *(side["shares"] for side in one["releases"])]
    found = [
        (label, *("–" if side is None else _percent(side[at]) for side in sides))
        for at, label in enumerate(one["labels"])
    ]
    if one["rest"] and not one["set"]:
        rest = [one["rest_share"], *(side["rest"] for side in one["releases"])]
        found.append((f"{one['rest']:,} rarer values", *("–" if share is None else _percent(share) for share in rest)))
    return found


def _said(labels: Sequence[str], shares: Sequence[float]) -> str:
    """The three most frequent bins."""
    order = sorted(range(len(labels)), key=lambda at: -shares[at])[:3]
    return ", ".join(f"{labels[at]} {_percent(shares[at])}" for at in order)


def _apart(side: Mapping[str, Any]) -> str:
    spread = side["spread"]
    return f"{side['distance']:.2f}" if spread is None else f"{side['distance']:.2f} ± {spread['deviation']:.1g}"


def _published(count: int) -> str:
    """Published values are values of the table, nodes of a taxonomy or ranges."""
    return "1 value or range" if count == 1 else f"{count:,} values or ranges"


def _many(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _percent(share: float) -> str:
    return "< 0.1 %" if 0 < share < 0.0005 else f"{100 * share:.1f} %"  # noqa: PLR2004 - half of the last digit
