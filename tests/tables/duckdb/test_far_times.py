"""A time that is hundreds of thousands of years away makes no query fail: one record may not stop a release."""

import pyarrow as pa
import pytest

from sfumato.study.file import study_from_mapping
from sfumato.tables import CodedTable, open_source

DAYS = {"role": "quasi_identifier", "type": "date", "bounds": ["1900-01-01", "2020-01-01"]}
WORDS = {"role": "quasi_identifier", "values": ["a", "b"], "outside": "keep"}


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("declared", [DAYS, WORDS], ids=["days", "words"])
@pytest.mark.parametrize("far", [2**63 - 1, -(2**63) + 1, 2**63 - 2, 9 * 10**18, -9 * 10**18])
def test_a_far_time_is_no_value(far, declared, zone):
    table = pa.table({"when": pa.array([0, 10**15, far], pa.timestamp("us", zone))})
    study = study_from_mapping({"name": "far", "source": table, "attributes": {"when": declared}})
    with open_source(table) as source:
        found = CodedTable(source, [study.attribute("when")]).full_cells()
    assert int(found.counts.sum()) == 2
