"""Draws of one candidate averaged: a release with noise or a sample is random, and so is every number about it."""

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sfumato.frontier.point import Point, Spread

_PLACES = 12  # of a mean, as of single numbers: last bits make no release better than another


def average_draws(draws: Sequence[Point]) -> Point:
    """One point for several draws of the same candidate: the mean of every number, and how far the draws lie apart.

    If one of them could not be made, there is no point; if a measure does not apply to one of them, there is no number.
    Seconds and facts are means, too.

    >>> one = Point(label="a", series="", family="", numbers={"p": 1.0})
    >>> both = average_draws([one, replace(one, numbers={"p": 3.0})])
    >>> both.numbers, both.draws, both.spread["p"].most
    ({'p': 2.0}, 2, 3.0)
    """
    first, many = draws[0], len(draws)
    if many == 1:
        return first
    whole = replace(first, draws=many, seconds=statistics.fmean(draw.seconds for draw in draws))
    why = [draw.failure for draw in draws if draw.failure is not None]
    if why:
        return replace(whole, numbers={}, refused={}, facts={}, failure=_of(why, many))
    refused = {
        name: _of([draw.refused[name] for draw in draws if name in draw.refused], many)
        for name in dict.fromkeys(name for draw in draws for name in draw.refused)
    }
    names = [name for name in first.numbers if all(name in draw.numbers for draw in draws)]
    values = {name: [draw.numbers[name] for draw in draws] for name in names}
    return replace(
        whole,
        numbers={name: round(statistics.fmean(found), _PLACES) for name, found in values.items()},
        refused=refused,
        facts={name: _fact([draw.facts.get(name) for draw in draws]) for name in first.facts},
        spread={name: _spread(found) for name, found in values.items()},
    )


def _of(why: Sequence[str], many: int) -> str:
    """The reason of all draws, or of some of them."""
    return why[0] if len(why) == many else f"{len(why)} of {many} draws: {why[0]}"


def _spread(values: Sequence[float]) -> Spread:
    least, most = min(values), max(values)
    known = most - least < float("inf")  # not where a number is infinite
    return Spread(deviation=round(statistics.stdev(values), _PLACES) if known else float("inf"), least=least, most=most)


def _fact(values: Sequence[Any]) -> Any:
    numbers = [value for value in values if isinstance(value, (int, float))]
    return round(statistics.fmean(numbers)) if len(numbers) == len(values) else values[0]
