"""The two ends of every frontier: nothing published of the quasi-identifiers, and everything published.

Everything is everything that a release of the study could tell: of sets, their nodes at the declared level.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.counts import Cells
from sfumato.domains.sets.places import PublishedSets
from sfumato.domains.sets.set_cut import Sets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.shown import Shown, Values
from sfumato.study.view import View

Integers = NDArray[np.int64]


def everything_published(view: View, raw: Cells, sets: Mapping[str, Sets] | None = None) -> Shown:
    """The original table: every record with its exact values (Li & Li 2009, 4.3: the second special case)."""
    names = tuple(a.name for a in view.quasi)
    codes = raw.codes[:, [raw.attributes.index(name) for name in names]].astype(np.int64)
    weights = raw.counts.astype(np.float64)
    published = {name: PublishedSets.one_by_one(_sets(view, name), found) for name, found in (sets or {}).items()}
    values = _beside(view, raw, np.arange(len(raw)), sets or {})
    return Shown(names, codes, codes + 1, weights, values, "generalised", sets=published)


def nothing_published(view: View, raw: Cells, sets: Mapping[str, Sets] | None = None) -> Shown:
    """The trivial release: all quasi-identifiers suppressed, so one region holds all (the first special case)."""
    names = tuple(a.name for a in view.quasi)
    published = {name: PublishedSets.one_by_one(_sets(view, name), found) for name, found in (sets or {}).items()}
    for name in set(names) & set(published):
        published[name] = PublishedSets.by_cut(_sets(view, name), _sets(view, name).root(name), np.zeros(1, np.int64))
    sizes = [published[name].size if name in published else view.domain(name).size for name in names]
    stops = np.array([sizes], np.int64).reshape(1, len(names))
    weights = np.array([float(raw.counts.sum())])
    values = _beside(view, raw, np.zeros(len(raw), np.int64), sets or {})
    return Shown(names, np.zeros_like(stops), stops, weights, values, "generalised", sets=published)


def _beside(view: View, raw: Cells, row: Integers, sets: Mapping[str, Sets]) -> dict[str, Values]:
    """What stands beside the regions, as it is; ``row`` is that of each cell."""
    rows = int(row.max(initial=0)) + 1
    weights, found = raw.counts.astype(np.float64), {}
    for attribute in (*view.sensitive, *view.others):
        name = attribute.name
        size = len(sets[name]) + 1 if name in sets else view.domain(name).size
        codes = raw.codes[:, raw.attributes.index(name)].astype(np.int64)
        counts = csr_array((weights, (row, codes)), shape=(rows, size))
        found[name] = Values(np.arange(rows), counts, csr_array(counts[:, :-1]) if name in sets else None)
    return found


def _sets(view: View, name: str) -> SetDomain:
    domain = view.domain(name)
    assert isinstance(domain, SetDomain), "asked of sets alone"
    return domain
