"""Every engine for tests that open tables in memory."""

import pyarrow as pa
import pytest

from sfumato.tables import ENGINES, open_source
from tests.tables.engines import PostgresTables


@pytest.fixture(scope="module", params=list(ENGINES))
def each_engine(request):
    """The tests of a module, once an engine: what they open lies in a table of the engine."""
    if request.param == "duckdb":
        yield
        return
    tables = PostgresTables(request.getfixturevalue("postgres"))

    def opened(source, **more):
        return open_source(tables.store(source) if isinstance(source, pa.Table) else source, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(request.module, "open_source", opened)
        yield
