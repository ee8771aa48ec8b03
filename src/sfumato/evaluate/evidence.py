"""What a measure reads: a release next to the table it was made from. For the owner only."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.counts import Cells
from sfumato.domains.sets.set_cut import Sets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import StudyError
from sfumato.privacy.models import CappedConfidence
from sfumato.release.shown import Shown
from sfumato.study.attribute import Attribute, Role
from sfumato.study.view import View

Floats = NDArray[np.float64]
Places = NDArray[np.integer[Any]]  # as narrow as their number allows; see `narrow`
Integers = NDArray[np.int64]

_TERMS = 2_000_000  # of a product that is held at once: its sums, columns and orders take 100 bytes a term
_APART = 8  # how far codes may be apart, by their number, to be put in order by counting: memory goes by records


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A release (``shown``) and the records of the table (``raw``), over the same attributes of a view.

    ``sets`` has the sets of the table for attributes that are sets: theirs are sets of nodes at the declared level, or
    of codes where none is declared, and codes in ``raw`` are places in them. What lies below the level no release of
    the study tells, and nothing here looks at it.

    ``kept`` holds what does not depend on the release and is worth keeping between releases of one study, such as its
    large populations; measures put it there under their own name. ``found`` is the same for this release alone. ``cap``
    is the release's own capped confidence, if it says which statistics are public.
    """

    view: View
    raw: Cells  # over all attributes of the view, before anything was sampled or suppressed
    shown: Shown
    sets: Mapping[str, Sets] = field(default_factory=dict)
    kept: dict[str, Any] = field(default_factory=dict)
    cap: CappedConfidence | None = None
    found: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def records(self) -> int:
        """How many records the table has."""
        return int(self.raw.counts.sum())

    @property
    def target(self) -> Attribute | None:
        """The class, if there is one."""
        return _target(self.view)

    @property
    def protected(self) -> tuple[Attribute, ...]:
        """The sensitive attributes; where none is declared, the class is what one could learn of a person."""
        return protected(self.view)

    def chosen(self, name: str | None) -> tuple[Attribute, ...]:
        """The protected attribute of this name, or all of them."""
        found = tuple(a for a in self.protected if name in (None, a.name))
        if not found:
            raise StudyError(
                f"'{name}' is not a sensitive attribute of this release" if name else "no attribute is sensitive",
                f"name one of: {', '.join(a.name for a in self.protected)}"
                if self.protected
                else "give the attribute to protect `role: sensitive`",
                code="SF-STUDY-019",
            )
        return found

    def unpublished(self, name: str | None) -> str | None:
        """Why nothing can be read of protected attributes that the release does not have; None if it has them all."""
        lacking = [a.name for a in self.chosen(name) if a.name not in self.shown.values]
        return f"the release does not publish '{lacking[0]}'" if lacking else None

    def column(self, name: str) -> NDArray[np.int64]:
        """The codes of one attribute in the table, one a cell."""
        return self.raw.codes[:, self.raw.attributes.index(name)]

    def size(self, name: str) -> int:
        """How many codes one attribute has; of sets those of the table, and one for all other sets."""
        return len(self.sets[name]) + 1 if name in self.sets else self.view.domain(name).size

    def set_domain(self, name: str) -> SetDomain:
        """The domain of an attribute that is a set."""
        domain = self.view.domain(name)
        assert isinstance(domain, SetDomain), "asked of sets alone"
        return domain

    def set_places(self, name: str) -> NDArray[np.int64]:
        """The place that each code of a set has among the regions of the release; see `domains.sets.places`."""
        key = f"places of {name}"
        if key not in self.found:
            self.found[key] = self.shown.sets[name].places.of(self.sets[name])
        found: NDArray[np.int64] = self.found[key]
        return found

    def occurring(self, name: str) -> tuple[NDArray[np.int64], Places, Floats]:
        """The codes of one attribute that occur in the table, each cell's place among them, and records with each.

        Nothing here is as long as a domain: one of whole numbers may have billions of codes.
        """
        key = f"occurring {name}"
        if key not in self.found:
            codes, place = ranked(self.column(name))
            records = np.bincount(place, weights=self.raw.counts, minlength=len(codes)).astype(np.float64)
            self.found[key] = codes, narrow(place, len(codes)), records
        found: tuple[NDArray[np.int64], Places, Floats] = self.found[key]
        return found

    @cached_property
    def people(self) -> tuple[NDArray[np.int64], Cells]:
        """For each cell of the table its place among the distinct quasi-identifiers, and those with their counts."""
        names = tuple(a.name for a in self.view.quasi)
        place, first = distinct_rows([self.column(name) for name in names], len(self.raw))
        most = int(self.raw.codes.max(initial=0))
        codes = np.empty((len(first), len(names)), np.int64 if most >= np.iinfo(np.int32).max else np.int32)
        for at, name in enumerate(names):
            codes[:, at] = self.column(name)[first]
        counts = np.bincount(place, weights=self.raw.counts, minlength=len(first)).astype(np.int64)
        return place, Cells(names, codes, counts)  # codes in half the memory where they fit


def bounded(left: csr_array, right: csr_array) -> Iterator[slice]:
    """Rows of ``left`` in parts whose product with ``right`` fits into memory; a row is never divided.

    A product has at most as many numbers as terms are added for it.
    """
    terms = np.concatenate([[0], np.cumsum(np.diff(right.indptr)[left.indices], dtype=np.int64)])[left.indptr[1:]]
    start = 0
    while start < left.shape[0]:
        before = 0 if start == 0 else int(terms[start - 1])
        stop = max(start + 1, int(np.searchsorted(terms, before + _TERMS, side="right")))
        yield slice(start, stop)
        start = stop


def protected(view: View) -> tuple[Attribute, ...]:
    """The sensitive attributes of a view; where none is declared, its class, if it has one."""
    target = _target(view)
    return view.sensitive or (() if target is None else (target,))


def _target(view: View) -> Attribute | None:
    return next((a for a in view.others if a.role is Role.CLASS), None)


def distinct_rows(columns: Sequence[NDArray[np.int64]], rows: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each row its place among the distinct ones, which stand in order, and the first row of each of those.

    Column by column, which is much faster than `np.unique` of whole rows.

    >>> place, first = distinct_rows([np.array([2, 0, 2]), np.array([1, 1, 1])], 3)
    >>> place.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    place = np.zeros(rows, np.int64)
    many = min(rows, 1)
    for column in columns:
        distinct, code = ranked(column)
        if len(distinct) > 1 or not rows:
            kinds, place = ranked(place * len(distinct) + code)
            many = len(kinds)
    first = np.empty(many, np.int64)
    first[place[::-1]] = np.arange(rows)[::-1]
    return place, first


def ranked(codes: Places) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct codes in order, and the place of each among them; by counting where they are not far apart.

    >>> distinct, place = ranked(np.array([7, 3, 7]))
    >>> distinct.tolist(), place.tolist()
    ([3, 7], [1, 0, 1])
    """
    wide: Integers = codes.astype(np.int64)
    least, most = int(wide.min(initial=0)), int(wide.max(initial=0))
    if least < 0 or most > _APART * len(wide):
        distinct, place = np.unique(wide, return_inverse=True)
        return distinct, place.ravel()
    there = np.zeros(most + 1, np.bool_)
    there[wide] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[wide]


def narrow(places: NDArray[np.int64], many: int) -> Places:
    """Places among so ``many``, in the narrowest type that has them: of millions of rows they are kept for long.

    >>> narrow(np.array([0, 255]), 256).dtype, narrow(np.array([0, 256]), 257).dtype
    (dtype('uint8'), dtype('uint16'))
    """
    return places.astype(np.min_scalar_type(max(0, many - 1)))


def dense(table: csr_array) -> Floats:
    """A sparse table as a full one."""
    return np.asarray(table.todense(), dtype=np.float64)
