"""Evidence that hypothesis likes: a small table, and a release with any regions, weights and pools beside it."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sfumato.evaluate.evidence import Evidence
from sfumato.release.shown import Shown, Values
from tests.methods.partition_tables import CHAIN, DECADES, DEEP, SEX, cells_of, partition_view
from tests.small_domains import JOB, grid

LOST = replace(grid(0, 4), missing=5)


def shown_of(view, rows, values, form="generalised", suppressed=0):
    """``rows`` are (regions, weight), ``values`` by name (pool of each row, counts of each pool)."""
    edges = np.array([region for region, _ in rows], np.int64).reshape(len(rows), len(view.quasi), 2)
    return Shown(
        tuple(a.name for a in view.quasi),
        edges[:, :, 0],
        edges[:, :, 1],
        np.array([weight for _, weight in rows], np.float64),
        {
            name: Values(np.array(pool, np.int64), csr_array(np.array(counts, np.float64)))
            for name, (pool, counts) in values.items()
        },
        form,
        suppressed=suppressed,
    )


@st.composite
def small_tables(draw, most=12):
    """A view with up to three quasi-identifiers of few values, and its records; not too many populations to list."""
    kinds = st.sampled_from([JOB, DEEP, SEX, CHAIN, DECADES, LOST, grid(0, 0), grid(0, 6)])
    view = partition_view(**{f"q{place}": draw(kinds) for place in range(draw(st.integers(1, 3)))})
    record = st.tuples(*(st.integers(0, view.domain(a.name).size - 1) for a in view.attributes))
    return view, draw(st.lists(record, min_size=1, max_size=most))


@st.composite
def releases(draw, most=12):
    """A table and any release over its attributes, related to it or not."""
    view, records = draw(small_tables(most=most))
    sizes = [view.domain(a.name).size for a in view.quasi]

    def region(size):
        return st.tuples(st.integers(0, size - 1), st.integers(1, size)).map(lambda r: (r[0], max(r[0] + 1, r[1])))

    row = st.tuples(st.tuples(*map(region, sizes)), st.floats(0.5, 20))
    rows = draw(st.lists(row, min_size=1, max_size=8))
    values = {}
    for attribute in (*view.sensitive, *view.others):
        size = view.domain(attribute.name).size
        pools = draw(st.integers(1, 3))
        count = st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any)
        values[attribute.name] = (
            draw(st.lists(st.integers(0, pools - 1), min_size=len(rows), max_size=len(rows))),
            draw(st.lists(count, min_size=pools, max_size=pools)),
        )
    return Evidence(view=view, raw=cells_of(view, records), shown=shown_of(view, rows, values))
