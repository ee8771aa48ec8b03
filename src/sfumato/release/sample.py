"""Synthetic records for receivers who cannot use regions: drawn uniformly within each group.

This looks at published groups alone, so it is post-processing and costs no privacy. Its randomness protects nothing
either: a NumPy generator with a seed will do.
"""

from operator import index
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.domains.cut import Cut, plain_numbers
from sfumato.domains.domain import Categories, Domain, Grid
from sfumato.domains.sets.regions import SetRegions
from sfumato.domains.sets.set_cut import SetCut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import InternalError, UsageError
from sfumato.release.draft import Groups
from sfumato.release.forms.noisy_counts.count_table import Layout

MOST_DRAWN: Final = 10**8
"""Records of one sample."""

_EPOCH: Final = 719_163  # the ordinal of 1970-01-01, which Arrow counts days from


def sample(layout: Layout, groups: Groups, *, n: int | None = None, seed: int | None = None) -> pa.Table:
    """Records with plain values: points of the grid for numbers and dates, leaves for categories, null for missing.

    Without ``n`` one record for every count; with it ``n`` records, each from a group drawn in proportion to its count.
    Within a group attributes are drawn independently and uniformly over the codes of their region. Records stand in the
    order of their groups: shuffle them before you cut the table in parts. A set gets one code under each of its nodes.
    """
    rng = random_numbers(int(groups.counts.sum()) if n is None else n, seed)
    return plain_records(layout, groups, _rows(groups.counts, n, rng), rng)


def plain_records(layout: Layout, groups: Groups, rows: NDArray[np.int64], rng: np.random.Generator) -> pa.Table:
    """A record with plain values for each of these rows, drawn uniformly within its group."""
    columns = [
        set_texts(domain, SetRegions.of_cut(cut, groups.regions[rows, place]), rng)
        if isinstance(domain, SetDomain) and isinstance(cut, SetCut)
        else plain_values(domain, _codes(cut, plain_numbers(cut, groups.regions[rows, place]), rng))
        for place, (domain, cut) in enumerate(zip(layout.domains, layout.cuts, strict=True))
    ]
    if layout.targeted:
        columns.append(plain_values(layout.class_domain, groups.classes[rows]))
    return pa.table(columns, names=list(layout.columns[:-1]))


def random_numbers(n: int, seed: int | None) -> np.random.Generator:
    """Where the numbers of a sample of ``n`` records come from; refuses a sample that nobody can hold."""
    try:
        n = index(n)
    except TypeError:
        raise UsageError(
            "the size of a sample is not a whole number", "ask for 0 records or more", code="SF-USAGE-064"
        ) from None
    if n < 0:
        raise UsageError(f"a sample of {n} records was asked for", "ask for 0 or more", code="SF-USAGE-065")
    if n > MOST_DRAWN:
        raise UsageError(
            f"a sample of {n:,} records does not fit into memory",
            f"ask for fewer: {MOST_DRAWN:,} or less",
            code="SF-USAGE-066",
        )
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise UsageError(
            "the seed of a sample is not a whole number of at least 0", "give one, or omit it", code="SF-USAGE-067"
        ) from None


def _rows(counts: NDArray[np.int64], n: int | None, rng: np.random.Generator) -> NDArray[np.int64]:
    """Which group each record comes from."""
    if n is None:
        return np.repeat(np.arange(len(counts)), counts)
    if n and not len(counts):
        raise UsageError(
            "the release lists no group, so there is nothing to sample from", "ask for 0 records", code="SF-USAGE-068"
        )
    return np.repeat(np.arange(len(counts)), rng.multinomial(n, counts / counts.sum())) if n else np.arange(0)


def _codes(cut: Cut, regions: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    if cut.is_finest:
        return regions
    edges = np.array([*cut.starts, cut.size], dtype=np.int64)
    return rng.integers(edges[regions], edges[regions + 1])


def set_texts(domain: SetDomain, regions: SetRegions, rng: np.random.Generator) -> pa.Array:
    """A code under each node of each region, as text; how many more a record had there is not known."""
    coded = regions.starts < regions.size  # beyond are records without codes
    rows, starts, stops = regions.owner[coded], regions.starts[coded], regions.stops[coded]
    leaves = domain.taxonomy.leaves
    held: list[list[str]] = [[] for _ in range(len(regions))]
    for row, code in zip(rows.tolist(), rng.integers(starts, stops).tolist(), strict=True):
        held[row].append(leaves[code])
    return pa.array([domain.writes.join(codes) or None for codes in held], pa.string())


def plain_values(domain: Domain, codes: NDArray[np.int64]) -> pa.Array:
    """Codes as raw values, the way a table would hold them."""
    lost = codes == (-1 if domain.missing is None else domain.missing)
    if isinstance(domain, Categories):
        leaves = pa.array(domain.taxonomy.leaves, pa.string())
        return leaves.take(pa.array(codes, mask=lost))
    if not isinstance(domain, Grid):
        raise InternalError(f"a domain of kind {type(domain).__name__} has no plain values")
    if domain.unit != "number" and domain.lower.denominator == domain.step.denominator == 1:
        whole = int(domain.lower) + codes * int(domain.step)
        if domain.unit == "integer":
            return pa.array(whole, pa.int64(), mask=lost)
        return pa.array((whole - _EPOCH).astype(np.int32), pa.int32(), mask=lost).cast(pa.date32())
    # (lower·q + code·(step·q)) / q with whole numbers above: one rounding, so 3 steps of 0.1 are 0.3.
    scale = domain.lower.denominator * domain.step.denominator
    numbers = (int(domain.lower * scale) + codes * int(domain.step * scale)) / scale
    return pa.array(numbers, pa.float64(), mask=lost)
