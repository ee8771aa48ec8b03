"""The workload: which sets of attributes receivers are expected to look at together.

It is public: declared, or all pairs. Sets that are in many others, or have much in common with them, weigh more.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from math import gcd, prod
from typing import Any, Final

from sfumato.errors import StudyError
from sfumato.release.measured_marginals import MOST_TABLE_CELLS, MOST_WAYS

PAIRS: Final = "pairs"
TARGET: Final = "target"
MOST_SETS: Final = 20_000
"""Sets of attributes in a workload: each is compared with the model before every choice."""

Named = tuple[tuple[str, ...], ...]


def parse_workload(value: Any) -> str | Named | None:
    """A workload as it is kept: a word, or the sets as tuples; anything else is refused.

    >>> parse_workload([["age", "sex"], ["job"]])
    (('age', 'sex'), ('job',))
    """
    if value is None or (isinstance(value, str) and value in {PAIRS, TARGET}):
        return value
    sound = isinstance(value, (list, tuple)) and len(value) > 0
    for names in value if sound else ():
        whole = isinstance(names, (list, tuple)) and all(isinstance(name, str) for name in names)
        sound = sound and whole and 1 <= len(names) <= MOST_WAYS and len({*names}) == len(names)
    if not sound:
        raise StudyError(
            f"workload is neither `{PAIRS}`, nor `{TARGET}`, nor a list of lists of one to {MOST_WAYS} attributes",
            "write it as in `workload: [[age, sex], [age, job, income]]`, or leave it out",
            code="SF-STUDY-300",
        )
    return tuple(tuple(names) for names in value)


@dataclass(frozen=True)
class Workload:
    """The sets of a workload by the attributes' places, and what may be measured for it."""

    sets: tuple[tuple[int, ...], ...]
    candidates: tuple[tuple[int, ...], ...]  # of the sets those with few enough cells, and pairs of the others
    weights: tuple[int, ...]  # of the candidates


def workload_of(given: str | Named | None, names: Sequence[str], sizes: Sequence[int], *, targeted: bool) -> Workload:
    """The workload over attributes with so many groups each, the target last; attributes with one group say nothing.

    A candidate weighs as much as it has in common with all sets: Σ over the sets of how many attributes both have.
    """
    telling = [place for place, size in enumerate(sizes) if size > 1]
    target = len(names) - 1 if targeted else None
    _refuse_too_many(given, len(telling))
    if given is None:
        given = TARGET if targeted else PAIRS
    if isinstance(given, str):
        sets: list[tuple[int, ...]] = list(combinations(telling, 2))
        if given == TARGET:
            if target is None:
                raise StudyError(
                    f"the workload is `{TARGET}`, and the release has no class attribute",
                    f"write `workload: {PAIRS}`, or give one attribute the role `class` with its `values`",
                    code="SF-STUDY-301",
                )
            if target in telling:
                sets += [(*pair, target) for pair in combinations([a for a in telling if a != target], 2)]
    else:
        sets = _declared(given, {name: place for place, name in enumerate(names)}, telling)
    sets = sorted({*sets})
    small = {one for one in sets if prod(sizes[a] for a in one) <= MOST_TABLE_CELLS}
    parts = {pair for one in sets if one not in small for pair in combinations(one, 2)}
    small |= {pair for pair in parts if prod(sizes[a] for a in pair) <= MOST_TABLE_CELLS}
    candidates = tuple(sorted(small))
    degree = Counter(place for one in sets for place in one)
    found = [sum(degree[place] for place in one) for one in candidates]
    common = reduce(gcd, found, 0) or 1
    return Workload(tuple(sets), candidates, tuple(weight // common for weight in found))


def _declared(given: Named, places: Mapping[str, int], telling: Sequence[int]) -> list[tuple[int, ...]]:
    known = {*telling}
    found = []
    for names in given:
        for name in names:
            if name not in places:
                raise StudyError(
                    f"the workload names '{name}', which the release does not have",
                    f"use attributes of the release: {', '.join(places)}",
                    code="SF-STUDY-302",
                )
        one = tuple(sorted(places[name] for name in names if places[name] in known))
        if one:
            found.append(one)
    return found


def _refuse_too_many(given: str | Named | None, attributes: int) -> None:
    """Refuse a workload that no run would get through."""
    pairs = attributes * (attributes - 1) // 2
    sets = len(given) if isinstance(given, tuple) else pairs * (1 if given == PAIRS else 2)
    if sets > MOST_SETS:
        raise StudyError(
            f"the workload has {sets:,} sets of attributes, and at most {MOST_SETS:,} can be compared",
            f"write `workload: {PAIRS}` or a list of the sets that matter, or choose fewer attributes in a purpose",
            code="SF-STUDY-303",
        )
