"""What an adversary who knows the noise believes of the people of a group, and how far that is from the table's shares.

Q_r = E[n_r | y] / Σ E[n | y] over the regions r of the protected attribute. A coarse region is one value: spread by the
table's own shares within it, it adds to the divergence what it adds as a whole, since the ratio of the two is the same
for each of its codes. Regions with cells that look alike are one term where nothing of them is published.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.beliefs.group_posterior import GroupPosterior, blocks

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_NOBODY: Final = 1e-200


def js_terms(p: Floats, q: Floats) -> Floats:
    """What values with these shares add to JS(P, Q)."""
    middle = p + q
    one = p * np.log(np.divide(2 * p, middle, out=np.ones_like(middle), where=(p > 0) & (middle > 0)))
    two = q * np.log(np.divide(2 * q, middle, out=np.ones_like(middle), where=(q > 0) & (middle > 0)))
    return np.asarray((one + two) / 2)


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions of one protected attribute: their shares of the table, and which have cells that look alike."""

    region: Integers  # (cells,)
    shares: Floats  # (regions,)
    kind: Integers  # (regions,)
    kind_shares: Floats  # (kinds of regions,)
    times: Floats  # (kinds of regions,): regions of each
    without: Floats  # (components, kinds of regions): E[n] of a region of which nothing is published

    @classmethod
    def of(cls, posterior: GroupPosterior, name: str) -> "Regions":
        """Those of an attribute."""
        table, cells = posterior.table, posterior.kinds.kind
        region = table.regions[name]
        many = int(region.max(initial=-1)) + 1
        shares = np.bincount(region, weights=table.shares, minlength=many).astype(np.float64)
        order = np.lexsort((cells, region))
        ends = np.searchsorted(region[order], np.arange(many + 1))
        profiles: dict[bytes, int] = {}
        kind = np.empty(many, np.int64)
        for number in range(many):
            profile = cells[order[ends[number] : ends[number + 1]]].tobytes()
            kind[number] = profiles.setdefault(profile, len(profiles))
        without = np.stack(
            [posterior.expected_without[np.frombuffer(profile, np.int64)].sum(axis=0) for profile in profiles],
            axis=1,
        )
        first = np.unique(kind, return_index=True)[1]
        times = np.bincount(kind, minlength=len(profiles)).astype(np.float64)
        return cls(region, shares, kind, shares[first], times, without)


def group_losses(posterior: GroupPosterior, name: str) -> Floats:
    """JS(P, Q) of each group that is known by name, for one protected attribute."""
    table, regions = posterior.table, Regions.of(posterior, name)
    found = np.zeros(table.groups)
    if len(regions.shares) <= 1:
        return found
    pattern, _, _ = posterior.patterns
    order = np.argsort(table.group, kind="stable")
    first = np.searchsorted(table.group[order], np.arange(table.groups + 1))
    for some in blocks(table.groups, len(posterior.parts) + len(regions.times)):
        stop = min(some.stop, table.groups)
        weights = posterior.components(posterior.log_likelihood[pattern[some]])
        without = weights @ regions.without
        here = order[first[some.start] : first[stop]]
        entry, row = posterior.entry[here], table.group[here] - some.start
        more = np.empty(len(here))
        for part in blocks(len(here), len(posterior.parts)):
            kinds = posterior.entry_kind[entry[part]]
            gain = posterior.expected[entry[part]] - posterior.expected_without[kinds]
            more[part] = np.einsum("ij,ij->i", weights[row[part]], gain)
        pair, place = np.unique(row * len(regions.shares) + regions.region[table.cell[here]], return_inverse=True)
        added = np.bincount(place.ravel(), weights=more, minlength=len(pair))
        at, region = pair // len(regions.shares), pair % len(regions.shares)
        kind = regions.kind[region]
        whole = without @ regions.times + np.bincount(at, weights=added, minlength=len(without))
        nobody = whole < _NOBODY  # surely an empty group: there is nobody to believe anything of
        whole = np.where(nobody, 1.0, whole)
        q = without / whole[:, None]
        loss = js_terms(np.broadcast_to(regions.kind_shares, q.shape), q) @ regions.times
        p, before = regions.shares[region], without[at, kind]
        changed = js_terms(p, np.maximum(before + added, 0) / whole[at]) - js_terms(p, before / whole[at])
        found[some] = np.where(nobody, 0.0, loss + np.bincount(at, weights=changed, minlength=len(loss)))
    return np.clip(found, 0.0, np.log(2.0))
