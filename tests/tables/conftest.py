"""Every engine for tests that open tables in memory."""

import pyarrow as pa
import pytest

from sfumato.tables import open_source
from tests.tables.engines import TESTED, loader


@pytest.hookimpl(tryfirst=True)  # before what is slow is left out
def pytest_collection_modifyitems(items):
    """A query on Spark takes most of a second: what searches for examples is slow there, what has its own is not."""
    for item in items:
        given = item.callspec.params if hasattr(item, "callspec") else {}
        spark = any(given.get(fixture) == "spark+local" for fixture in ("engine", "each_engine"))
        if spark and getattr(item.obj, "is_hypothesis_test", False):
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="module", params=TESTED)
def each_engine(request):
    """The tests of a module, once an engine: what they open lies in a table of the engine."""
    if request.param == "duckdb":
        yield
        return
    tables = loader(request)

    def opened(source, **more):
        return open_source(tables.store(source) if isinstance(source, pa.Table) else source, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request.module, "open_source", opened)
        yield
