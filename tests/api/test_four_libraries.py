"""pandas, polars, Arrow and Ibis, in and out: an equal table is an equal release, and a release an equal table."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import UsageError
from tests.raising import raises_code

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

JOBS = ["Engineer", "Dancer", "Lawyer", "Writer"]
COUNT = 60
TABLE = pa.table(
    {
        "age": pa.array([None if n == 7 else 20 + n % 41 for n in range(COUNT)], pa.int64()),
        "job": pa.array([JOBS[n % 4] for n in range(COUNT)]),
        "day": pa.array([11_000 + n for n in range(COUNT)], pa.int32()).cast(pa.date32()),
        "rate": pa.array([n / 8 for n in range(COUNT)], pa.float64()),
        "member": pa.array([n % 3 == 0 for n in range(COUNT)]),
    }
)
DOMAINS = {
    "age": {"type": "integer", "bounds": [0, 120], "missing": "keep"},
    "job": JOBS,
    "day": {"type": "date", "bounds": ["2000-01-01", "2001-01-01"]},
    "rate": (0.0, 8.0),
    "member": [False, True],
}


def as_pandas(table):
    pytest.importorskip("pandas")
    return table.to_pandas()


def as_polars(table):
    return pytest.importorskip("polars").from_arrow(table)


def as_ibis(table):
    import ibis

    return ibis.memtable(table)


class Stream:
    """Any other library: it knows the Arrow PyCapsule interface and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


IN = {"arrow": lambda table: table, "pandas": as_pandas, "polars": as_polars, "ibis": as_ibis, "capsule": Stream}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def release_of(table, out, method):
    """The release of a table with the noise of a seed, which makes releases of equal tables equal."""
    study = sf.study_of(table, domains=DOMAINS, budget=10, name=out, ledger=None)
    return study.release(method, out=out, report=False, insecure_seed=3).open()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("arrow")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        opened = release_of(TABLE, "arrow", sf.Mondrian(k=3))
        return opened.to_arrow(), folder / "arrow"


@pytest.mark.parametrize("library", IN)
def test_in_the_same_table_gives_the_same_release(library, expected):
    found = release_of(IN[library](TABLE), "made", sf.Mondrian(k=3))
    assert found.to_arrow().equals(expected[0])
    assert found.to_arrow().num_rows == COUNT


@pytest.mark.parametrize("library", IN)
def test_in_the_same_noise_gives_the_same_private_release(library):
    method = sf.Marginals(epsilon=1)
    one, other = release_of(TABLE, "one", method), release_of(IN[library](TABLE), "other", method)
    assert one.to_arrow().equals(other.to_arrow())


def plain(table):
    """Rows as plain values, categories as their text."""
    return table.to_pylist()


def test_out_all_have_the_same_rows(expected):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow, folder = expected
    release = sf.Release.open(folder)
    rows = plain(arrow)
    assert len(rows) == COUNT
    for found in (release.to_pandas(), release.to_polars(), release.to_ibis(), polars.DataFrame(release)):
        if isinstance(found, pandas.DataFrame):
            back = pa.Table.from_pandas(found, preserve_index=False)
        else:
            back = found.to_arrow() if isinstance(found, polars.DataFrame) else found.to_pyarrow()
        assert sorted(map(str, plain(back))) == sorted(map(str, rows))
    assert plain(pa.table(release)) == rows


def test_what_a_form_does_not_have_is_said(expected):
    release = sf.Release.open(expected[1])
    with raises_code(UsageError, "SF-USAGE-745", match="no measured tables"):
        _ = release.tables
    with raises_code(UsageError, "SF-USAGE-746", match="no classifier"):
        release.classifier()
