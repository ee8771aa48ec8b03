"""How much of a table in another process may come here."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.domains.cut import Cut
from sfumato.errors import SourceError, UsageError
from sfumato.memory_limit import BYTES_PER_CODE, most_cells, parse_memory
from sfumato.tables import CodedTable, open_source
from tests.raising import raises_code
from tests.tables.attributes import attribute, grid
from tests.tables.engines import PostgresTables

AGE, PAY = attribute("age", grid(0, 99, unit="integer")), attribute("pay", grid(0, 99, unit="integer"))
TABLE = pa.table({"age": [n % 50 for n in range(400)], "pay": [n % 7 for n in range(400)]})  # 350 combinations


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("500MB", 5 * 10**8), ("2GiB", 2**31), ("1.5 gb", 1_500_000_000), ("7", 7), ("1TB", 10**12), ("3k", 3000)],
)
def test_amounts_of_memory(text, bytes_):
    assert parse_memory(text) == bytes_


@pytest.mark.parametrize("text", ["plenty", "", "-1GB", "1e9", "9" * 400, "GB", "1 GB of it"])
def test_amounts_that_are_none(text):
    with raises_code(UsageError, "SF-USAGE-379"):
        parse_memory(text)


def test_cells_that_fit_are_counted_and_one_more_is_refused_without_a_number(postgres):
    place = PostgresTables(postgres).store(TABLE)
    enough = 350 * 3 * BYTES_PER_CODE
    assert most_cells(enough, 2) == 350
    for both in (CodedTable.full_cells, lambda coded: coded.cells_and_rows()[0]):
        with open_source(place, memory_limit=f"{enough}B") as source:
            assert len(both(CodedTable(source, [AGE, PAY]))) == 350
        with open_source(place, memory_limit=f"{enough - 1}B") as source:
            with raises_code(SourceError, "SF-SOURCE-397") as caught:
                both(CodedTable(source, [AGE, PAY]))
            assert "350" not in str(caught.value)
            assert len(CodedTable(source, [AGE, PAY]).full_cells(["age"])) == 50  # fewer attributes fit


def test_a_private_release_never_fails_by_how_many_cells_there_are(postgres, tmp_path):
    attributes = {
        name: {"role": "quasi_identifier", "type": "integer", "bounds": [0, 99], "step": 1}
        for name in TABLE.column_names
    }
    study = sf.Study.from_mapping(
        {
            "name": "limited",
            "source": PostgresTables(postgres).store(TABLE),
            "privacy": {"budget": 10},
            "attributes": attributes,
        }
    )
    given = {"memory_limit": "1KB", "report": False, "insecure_seed": 3}
    assert study.release(sf.ContingencyTable(epsilon=1), out=tmp_path / "private", **given).rows > 0
    with raises_code(SourceError, "SF-SOURCE-397"):
        study.release(sf.Mondrian(k=2, strict=False), out=tmp_path / "groups", **given)
    assert study.release(sf.Mondrian(k=2), out=tmp_path / "parts", **given).rows > 0
    assert not (tmp_path / "groups").exists()


def test_the_built_in_engine_refuses_nothing_and_works_in_parts_where_a_method_can(monkeypatch):
    monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 10)
    with open_source(TABLE, memory_limit="100MB") as source:
        coded = CodedTable(source, [AGE, PAY])
        assert len(coded.full_cells()) == len(coded.cells_and_rows()[0]) == 350
        with raises_code(SourceError, "SF-SOURCE-397"):
            coded.cells_and_rows(in_parts=True)
    with open_source(TABLE) as source:
        assert len(CodedTable(source, [AGE, PAY]).cells_and_rows(in_parts=True)[0]) == 350  # no limit is stated


def test_nothing_is_kept_where_all_combinations_there_can_be_fit(monkeypatch):
    monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 101 * 101)
    with open_source(TABLE, memory_limit="100MB") as source:
        monkeypatch.setattr(source.session, "keep", None)
        assert len(CodedTable(source, [AGE, PAY]).cells_and_rows(in_parts=True)[0]) == 350


def test_only_the_codes_are_kept_where_parts_follow(monkeypatch):
    monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 300)
    with open_source(TABLE, memory_limit="100MB") as source:
        kept, keep = [], source.session.keep
        monkeypatch.setattr(source.session, "keep", lambda sql, *, doing: kept.append(doing) or keep(sql, doing=doing))
        coded = CodedTable(source, [AGE, PAY])
        with raises_code(SourceError, "SF-SOURCE-397") as caught:
            coded.cells_and_rows(in_parts=True)
        assert (caught.value.limit, caught.value.cells) == (300, 350)
        assert coded.distinct_within(["age", "pay"], {"age": (0, 25)}) == 175
        assert len(kept) == 1


ASKED = {
    "values": lambda coded, within: coded.cells_within(["age"], within, limited=True),
    "regions": lambda coded, within: coded.regions_within([Cut.finest("age", 100)], within, limited=True),
    "regions that others are counted by": lambda coded, within: coded.distinct_regions_within(
        [Cut.finest("age", 100), Cut("pay", (0, 50), 100)], within, by=Cut.finest("age", 100)
    ),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_nobody_has_counted_is_counted_first(monkeypatch, name):
    with open_source(TABLE, memory_limit="100MB") as source:
        coded = CodedTable(source, [AGE, PAY])
        monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 49)
        with raises_code(SourceError, "SF-SOURCE-397") as caught:
            ASKED[name](coded, {})
        assert "more than 49 distinct values of an attribute" in caught.value.problem
        assert "50" not in caught.value.problem, "how many there are is not said"
        monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 50)
        assert len(ASKED[name](coded, {})) == 50


def test_values_are_not_counted_where_all_there_can_be_fit(monkeypatch):
    with open_source(TABLE, memory_limit="100MB") as source:
        coded = CodedTable(source, [AGE, PAY])
        monkeypatch.setattr(CodedTable, "distinct_within", None)
        monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 20)
        assert len(coded.cells_within(["age"], {"age": (10, 30)}, limited=True)) == 20
    with open_source(TABLE) as source:
        assert len(CodedTable(source, [AGE, PAY]).cells_within(["age"], {}, limited=True)) == 50, "no limit is stated"


def test_a_lookup_of_a_fine_cut_is_refused_where_its_values_do_not_fit(monkeypatch):
    wide = attribute("age", grid(0, 1999, unit="integer"))
    table = pa.table({"age": list(range(1500)), "pay": [n % 7 for n in range(1500)]})
    fine = Cut("age", tuple(range(0, 2000, 2)), 2000)
    with open_source(table, memory_limit="100MB") as source:
        monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 1499)
        with raises_code(SourceError, "SF-SOURCE-397") as caught:
            CodedTable(source, [wide, PAY]).class_sizes_within([fine], {})
        assert "its values are looked up" in caught.value.problem
        monkeypatch.setattr("sfumato.tables.coded.most_cells", lambda *_: 1500)
        assert len(CodedTable(source, [wide, PAY]).class_sizes_within([fine], {})) == 750
