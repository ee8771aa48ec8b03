"""Groups under finer and finer cuts, against a plain count."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.methods.specialization.regrouping import Regrouping

ROWS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(1, 5)), min_size=1, max_size=30)


@given(rows=ROWS, steps=st.lists(st.tuples(st.booleans(), st.integers(1, 8)), max_size=6))
def test_each_specialization_splits_what_it_says(rows, steps):
    codes = {"a": np.array([r[0] for r in rows]), "b": np.array([r[1] for r in rows])}
    counts = np.array([r[2] for r in rows])
    found = Regrouping(codes, counts)
    cuts = {"a": {0, 10}, "b": {0, 10}}
    for first, point in steps:
        name = "a" if first else "b"
        start = max(edge for edge in cuts[name] if edge <= point)
        stop = min(edge for edge in cuts[name] if edge > point)
        inside = [i for i, code in enumerate(codes[name].tolist()) if start <= code < stop]
        if start == point or not inside:
            continue
        parts = [(start, point), (point, stop)]
        made = Counter()
        for i in inside:
            made[found.group[i], codes[name][i] >= point] += int(counts[i])
        assert found.smallest_after(name, parts) == min(made.values())
        touched, group, groups = found.after(name, parts)
        assert sorted(touched.tolist()) == inside
        assert sorted(np.bincount(group, weights=counts[touched], minlength=groups)) == sorted(made.values())
        found.specialize(name, parts)
        cuts[name].add(point)
        keys = [tuple(sum(edge <= codes[n][i] for edge in cuts[n]) for n in "ab") for i in range(len(rows))]
        assert len(set(zip(keys, found.group.tolist(), strict=True))) == len(set(keys)) == len(found.sizes)
        assert np.array_equal(np.bincount(found.group, weights=counts), found.sizes)
        assert found.smallest == found.sizes.min()
