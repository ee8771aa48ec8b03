"""What is alike may stand in an array once."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.cut import Cut
from sfumato.domains.domain import DROP
from sfumato.tables.arrays.array_counter import ArrayCounter

ROW = st.tuples(st.integers(DROP, 3), st.integers(0, 1), st.integers(1, 4))


@given(st.lists(ROW, min_size=1))
def test_counted_rows_are_records(rows):
    job, target, times = np.array(rows, np.int64).T
    folded = ArrayCounter({"job": job, "class": target}, {"class": 2}, times=times)
    spread = ArrayCounter({"job": np.repeat(job, times), "class": np.repeat(target, times)}, {"class": 2})
    for name in ("job", "class"):
        one, two = (counter.marginals([name], "class")[name] for counter in (folded, spread))
        assert np.array_equal(one.codes, two.codes) and np.array_equal(one.counts, two.counts)
        assert one.counts.dtype == np.int64
    cuts = [Cut("job", (0, 2), 4), Cut.finest("class", 2)]
    one, two = (counter.cells(cuts) for counter in (folded, spread))
    assert np.array_equal(one.codes, two.codes) and np.array_equal(one.counts, two.counts)
