"""Two tables become one partition again, without a row for each record."""

from collections import Counter

import numpy as np
import pytest

import sfumato as sf
from sfumato.release.forms.records.rows import Records
from tests.workflow.test_memory_limits import a_study

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")


@pytest.mark.parametrize(
    "method", [sf.Anatomy(l=2), sf.Bucketization(k=40, privacy={"distinct-l-diversity": 2}, tables=2)], ids=str
)
def test_every_bucket_has_its_rows_and_its_values(method, tmp_path, monkeypatch):
    study = a_study()
    done = study.release(method, out=tmp_path / "one", report=False)
    release = done.open()
    monkeypatch.setattr(Records, "unfold", None)
    found = release.to_draft(done.draft.view).partition
    assert found.cells.counts.sum() == 400 and (found.cells.counts > 0).all()
    rows, tally = release.rows, release.rows.tallies["ill"]
    group, groups = rows.groups()
    for bucket in range(groups):
        here, mine = found.group == bucket, group == bucket
        own = Counter()
        for code, many in zip(found.column("ill")[here], found.cells.counts[here], strict=True):
            own[int(code)] += int(many)
        there = tally.group == np.unique(tally.group)[bucket]
        assert own == dict(zip(tally.codes[there].tolist(), tally.counts[there].tolist(), strict=True))
        for name in ("age", "sex"):
            column = rows.columns[name]
            codes = column.starts[column.places[mine]]
            assert np.array_equal(
                np.bincount(codes, rows.times[mine], 4),
                np.bincount(found.column(name)[here], found.cells.counts[here], 4),
            )
