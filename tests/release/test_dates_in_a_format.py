"""A date whose raw values have a format of their own is published as every date is, and reads back."""

import datetime as dt

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.release.verify import verify_bundle

pytestmark = pytest.mark.usefixtures("seeded")

DAYS = [dt.date(2004, 1, 1) + dt.timedelta(days=130 * (n % 12)) for n in range(120)]


def study(upper="2009-12-31"):
    table = pa.table(
        {
            "seen": [f"{day:%d/%m/%Y}" for day in DAYS[:-5]] + [""] * 5,
            "sex": ["f", "m"] * 60,
            "ill": ["no", "no", "yes"] * 40,
        }
    )
    seen = {"role": "quasi_identifier", "type": "date", "format": "%d/%m/%Y", "bounds": ["2004-01-01", upper]}
    return sf.Study.from_mapping(
        {
            "name": "clinic",
            "source": table,
            "privacy": {"budget": 50},
            "attributes": {
                "seen": {**seen, "missing": "keep"},
                "sex": {"role": "quasi_identifier", "values": ["f", "m"]},
                "ill": {"role": "class", "values": ["no", "yes"]},
            },
        }
    )


@pytest.mark.parametrize(
    "method", [sf.Mondrian(k=5), sf.DiffGen(epsilon=50, h=4), sf.ContingencyTable(epsilon=50)], ids=str
)
def test_it_is_released_and_verifies(tmp_path, method):
    done = study().release(method, out=tmp_path / "out")
    assert verify_bundle(done.bundle).ok
    found = done.open().query("seen >= 2004-01-01")  # 115 have a date; regions with the missing ones add some of 5
    assert 100 < found.count < 130, "at this ε there is next to no noise"


def test_a_grid_too_large_to_list_reads_back(tmp_path):
    """More than a hundred thousand days: labels are searched by where they begin."""
    done = study(upper="2399-12-31").release(sf.ContingencyTable(epsilon=5, threshold=4), out=tmp_path / "out")
    assert done.rows > 3
    assert verify_bundle(done.bundle).ok
