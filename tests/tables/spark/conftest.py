"""Where tests of Spark store their tables."""

import tempfile

import pytest

from tests.tables.engines import SparkTables


@pytest.fixture
def tables(spark, tmp_path, monkeypatch):
    """Where files are stored for Spark; temporary folders are made beside them, to be looked at."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return SparkTables(tmp_path)
