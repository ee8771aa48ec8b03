import threading
from contextlib import suppress

import duckdb
import numpy as np
import pytest

from sfumato.domains.cut import Cut
from sfumato.errors import SourceError
from sfumato.study.unit import PersonUnit
from sfumato.tables import CodedTable, open_source
from tests.tables.attributes import attribute, categories, grid

ROWS = 2_000_000
MEMORY = "60MB"


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Over 200 MB once unpacked: several times what the engine may use."""
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT range % 1000003 AS code, (range * 7919) % 120 AS age, 'ward number ' || range % 7 AS ward, "
            f"md5((range // 4)::VARCHAR) || md5((range // 8)::VARCHAR) AS person "
            f"FROM range({ROWS})) TO '{path}' (FORMAT parquet)"
        )
    return path


ATTRIBUTES = [
    attribute("code", grid(0, 1_000_002, unit="integer")),
    attribute("age", grid(0, 119, unit="integer")),
    attribute("ward", categories(*(f"ward number {n}" for n in range(7)))),
]


def spilled(source) -> int:
    """How many bytes the engine has moved out of memory, to its private folder."""
    found = 0
    for file in source.session.folder.iterdir():
        with suppress(FileNotFoundError):  # read back meanwhile
            found += file.stat().st_size
    return found


def test_a_table_larger_than_memory_is_counted(large):
    with open_source(large, memory_limit=MEMORY, threads=2) as source:
        coded = CodedTable(source, ATTRIBUTES)
        marginals = coded.marginals(["code", "age"], by="ward")
        cells = coded.cells([Cut("code", (0, 500_000), 1_000_003), Cut("ward", tuple(range(7)), 7)])
    assert len(marginals["code"].codes) == 1_000_003
    assert marginals["code"].counts.sum() == marginals["age"].counts.sum() == cells.counts.sum() == ROWS
    assert len(cells) == 14


def test_a_table_larger_than_memory_is_counted_in_one_pass(large):
    few = [a for a in ATTRIBUTES if a.name != "code"]
    with open_source(large, memory_limit=MEMORY, threads=2) as source:
        cells, rows = CodedTable(source, few).cells_and_rows()
        whole = CodedTable(source, few).full_cells()
    assert rows == cells.counts.sum() == ROWS
    assert np.array_equal(cells.codes, whole.codes) and np.array_equal(cells.counts, whole.counts)


def test_a_table_larger_than_memory_is_sorted_by_person(large):
    with open_source(large, memory_limit=MEMORY, threads=2) as source:
        most: list[int] = []
        done = threading.Event()

        def watch() -> None:
            while not done.wait(0.02):
                most.append(spilled(source))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            rows = CodedTable(source, ATTRIBUTES, unit=PersonUnit("person", 3)).rows()
        finally:
            done.set()
            watcher.join()
    assert rows == ROWS * 3 // 4
    assert max(most) > 50_000_000, "the table did not fit into memory"


def test_memory_that_is_not_enough_is_said_so(large):
    with pytest.raises(SourceError) as caught, open_source(large, memory_limit="5MB", threads=1) as source:
        CodedTable(source, ATTRIBUTES).full_cells()
    assert "the memory allowed is not enough" in caught.value.problem
    assert "raise the memory limit" in caught.value.fix
    assert "ward number" not in str(caught.value)
