"""Products of large tables are worked out in parts, and come out the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sfumato.evaluate import evidence
from sfumato.evaluate.evidence import bounded
from sfumato.evaluate.measures import LinkedPeople
from sfumato.evaluate.measures.linkage import link
from tests.evaluate.evidences import evidences


@given(st.integers(0, 12), st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**32), st.sampled_from([1, 5, 10**6]))
def test_parts_follow_each_other_and_are_small_or_one_row(rows, inner, columns, seed, most):
    rng = np.random.default_rng(seed)
    left = csr_array((rng.random((rows, inner)) < 0.5).astype(float))
    right = csr_array((rng.random((inner, columns)) < 0.5).astype(float))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "_TERMS", most)
        parts = list(bounded(left, right))
    assert [row for part in parts for row in range(part.start, part.stop)] == list(range(rows))
    for part in parts:
        assert part.stop - part.start == 1 or (left[part] @ right).nnz <= most


@given(evidences())
def test_what_is_found_does_not_hang_on_the_parts(found):
    if LinkedPeople().refuses(found) is not None:
        return
    whole = link(found)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evidence, "_TERMS", 1)
        assert link(found).as_json() == whole.as_json()
