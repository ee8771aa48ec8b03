"""The intersection attack, run: two releases of one study, each harmless alone (Ganta et al., KDD 2008).

Somebody who knows a person's quasi-identifiers, and that she is in both releases, looks her up in both. Her sensitive
value is among the values of her candidates in one, and among those in the other; so it is in the intersection.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.counts import Cells
from sfumato.domains.sets.set_cut import Sets
from sfumato.errors import StudyError, UsageError
from sfumato.evaluate.equivalence_classes import by_row, containing
from sfumato.release.shown import Integers, Shown
from sfumato.wording import count_of

Booleans = NDArray[np.bool_]

_SLACK = 1e-9  # numbers of candidates are sums of shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Intersection:
    """The outcome of the attack: shares are of the people in the table who have candidates in both releases.

    ``candidates`` of a person are counted value by value, the smaller number of both releases each time: no more of
    them can be her. Who has exactly one value left has lost it.
    """

    attribute: str
    k: int
    people: int  # in the table
    in_both: int  # of them with candidates in both releases
    contradicted: int  # of those with no value in common: one of the releases does not have them
    one_value: float  # share with one value left
    one_value_alone: tuple[float, float]  # the same in each release by itself
    newly_exposed: float  # one value left, and in neither release by itself
    rightly_exposed: float  # one value left, and it is theirs
    below_k: float  # fewer than k candidates left
    below_k_alone: tuple[float, float]
    newly_below_k: float
    values_left: float  # mean
    values_alone: tuple[float, float]

    def sentences(self) -> list[str]:
        """The findings in words."""
        said = partial(count_of, total=self.in_both)
        one, two = map(said, self.one_value_alone)
        few, less = map(said, self.below_k_alone)
        first, second = self.values_alone
        name = self.attribute
        return [
            f"{self.people:,} people were looked up; {self.in_both:,} have candidates in both releases",
            f"{said(self.one_value)} have a single possible value of '{name}'; in each release alone {one} and {two}",
            f"{said(self.newly_exposed)} are exposed only by the combination of both",
            f"{said(self.below_k)} have fewer than {self.k} candidates; in each release alone {few} and {less}",
            f"{self.values_left:.2f} values are possible on average; in each alone {first:.2f} and {second:.2f}",
        ]

    def as_json(self) -> dict[str, Any]:
        """The findings as plain values."""
        return {
            "attribute": self.attribute,
            "k": self.k,
            "people": self.people,
            "in_both": self.in_both,
            "contradicted": self.contradicted,
            "one_value": self.one_value,
            "one_value_alone": list(self.one_value_alone),
            "newly_exposed": self.newly_exposed,
            "rightly_exposed": self.rightly_exposed,
            "below_k": self.below_k,
            "below_k_alone": list(self.below_k_alone),
            "newly_below_k": self.newly_below_k,
            "values_left": self.values_left,
            "values_alone": list(self.values_alone),
        }


def intersect(
    one: Shown, two: Shown, raw: Cells, *, attribute: str, k: int = 5, sets: Mapping[str, Sets] | None = None
) -> Intersection:
    """Look up everybody of the table in two releases of it, and keep what both allow.

    The releases may have different quasi-identifiers: somebody who knows all of them looks up in each release what it
    has. ``raw`` has those of both, and the sensitive ``attribute``, which both publish. Its codes of sets are places in
    ``sets``, and so are the values that both releases show.
    """
    _refuse(one, two, raw, attribute, k)
    names = tuple(dict.fromkeys((*one.attributes, *two.attributes)))
    codes, place = np.unique(raw.codes[:, [raw.attributes.index(n) for n in names]], axis=0, return_inverse=True)
    place = place.ravel()
    counts = np.bincount(place, weights=raw.counts, minlength=len(codes)).astype(np.float64)
    there = np.unique(np.concatenate([shown.values[attribute].over_ranges().starts for shown in (one, two)]))
    alone = [_values(shown, _placed(shown, names, codes, sets or {}), attribute, there) for shown in (one, two)]
    together = csr_array(alone[0].minimum(alone[1]))
    together.eliminate_zeros()
    many = [np.asarray(table.sum(axis=1)).ravel() for table in alone]
    values = [np.diff(table.indptr) for table in alone]
    left = np.diff(together.indptr)
    both = (many[0] > 0) & (many[1] > 0)
    within = counts * both
    total = max(1.0, float(within.sum()))

    def share(which: Booleans) -> float:
        return float(within[which].sum()) / total

    exposed = left == 1
    few, few_alone = np.asarray(together.sum(axis=1)).ravel() < k - _SLACK, [each < k - _SLACK for each in many]
    only = np.full(len(codes), -1)
    only[exposed] = there[together.indices[together.indptr[:-1][exposed]]]
    hers = both[place] & (raw.codes[:, raw.attributes.index(attribute)] == only[place])
    return Intersection(
        attribute=attribute,
        k=k,
        people=int(counts.sum()),
        in_both=int(within.sum()),
        contradicted=int(within[left == 0].sum()),
        one_value=share(exposed),
        one_value_alone=(share(values[0] == 1), share(values[1] == 1)),
        newly_exposed=share(exposed & (values[0] > 1) & (values[1] > 1)),
        rightly_exposed=float(raw.counts[hers].sum()) / total,
        below_k=share(few),
        below_k_alone=(share(few_alone[0]), share(few_alone[1])),
        newly_below_k=share(few & ~few_alone[0] & ~few_alone[1]),
        values_left=float(within @ left) / total,
        values_alone=(float(within @ values[0]) / total, float(within @ values[1]) / total),
    )


def _placed(shown: Shown, names: tuple[str, ...], codes: Integers, sets: Mapping[str, Sets]) -> Integers:
    """What one release has of the people's codes; of sets their places in it."""
    columns = [codes[:, names.index(name)] for name in shown.attributes]
    for place, name in enumerate(shown.attributes):
        if name in shown.sets:
            columns[place] = shown.sets[name].places.of(sets[name])[columns[place]]
    return np.stack(columns, axis=1) if columns else np.zeros((len(codes), 0), np.int64)


def _values(shown: Shown, codes: Integers, attribute: str, there: Integers) -> csr_array:
    """How many candidates of each person have each of the values that are ``there``: (people, values)."""
    over = by_row(shown, attribute)  # records are published with their values, not with ranges of them
    rows = over.shares
    at = np.searchsorted(there, over.starts)[rows.indices]
    found = csr_array(containing(shown, codes) @ csr_array((rows.data, at, rows.indptr), (rows.shape[0], len(there))))
    found.eliminate_zeros()
    found.sort_indices()
    return found


def _refuse(one: Shown, two: Shown, raw: Cells, attribute: str, k: int) -> None:
    if k < 1:
        raise UsageError(f"k = {k} is below 1", "give k of at least 1", code="SF-USAGE-026")
    for shown in (one, two):
        if shown.noisy:
            raise UsageError(
                "one of the releases has noisy counts; an intersection attack needs two releases of records",
                "give two bundles of records; the ε of noisy counts composes, and the ledger keeps the sum",
                code="SF-USAGE-027",
            )
        if attribute not in shown.values:
            raise StudyError(
                f"one of the releases does not publish '{attribute}'",
                "name a sensitive attribute that both have",
                code="SF-STUDY-020",
            )
        assert {*shown.attributes, attribute} <= set(raw.attributes), "the table has what the releases have"
