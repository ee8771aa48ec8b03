import csv
import threading

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from sfumato.domains.cut import Cut
from sfumato.errors import InternalError, SourceError
from sfumato.study.unit import PersonUnit
from sfumato.tables import CodedTable, open_source
from tests.raising import raises_code
from tests.tables.attributes import attribute, categories, grid

TABLE = pa.table(
    {
        "age": ["17", "39", "40", "x", "200", ""],
        "sex": ["f", "m", "m", "f", "d", "m"],
        "free text": ["a", "b", "c", "d", "e", "f"],
    }
)
AGE = attribute("age", grid(0, 120, unit="integer"))
SEX = attribute("sex", categories("f", "m", other=True))


def test_columns_that_are_not_there_are_named_with_what_is_close():
    with open_source(TABLE) as source:
        with pytest.raises(SourceError) as caught:
            CodedTable(source, [AGE, attribute("sexx", categories("f")), attribute("income", categories("f"))])
        assert "has no column 'sexx', 'income'" in caught.value.problem
        assert "'sexx' may be 'sex'" in caught.value.fix
        with raises_code(SourceError, "SF-SOURCE-003", match="no column 'patient'"):
            CodedTable(source, [AGE], unit=PersonUnit("patient", 1))
        with raises_code(SourceError, "SF-SOURCE-003", match="no column 'Age'"):
            CodedTable(source, [attribute("Age", grid(0, 1))])


def test_the_owner_sees_what_does_not_fit():
    with open_source(TABLE) as source:
        age, sex = CodedTable(source, [AGE, SEX]).domain_violations()
    assert (age.attribute, age.missing, age.outside, age.values) == ("age", 2, 1, ("200", "x"))
    assert (sex.missing, sex.outside, sex.values, sex.fits) == (0, 1, ("d",), False)
    counts = {"missing": 2, "outside": 1, "unreadable": 1, "records": age.records}
    assert age.as_json() == {"attribute": "age", **counts, "values": ["200", "x"]}
    assert sex.sentences() == ["'sex': 1 values are outside the declared domain", "'sex': such as 'd'"]


def test_at_most_twenty_values_are_shown():
    with open_source(pa.table({"sex": [f"v{n:02}" for n in range(50)] * 2})) as source:
        (report,) = CodedTable(source, [SEX]).domain_violations()
    assert report.outside == 100
    assert report.values == tuple(f"v{n:02}" for n in range(20))


CUTS = [Cut("age", (0, 18, 40), 121), Cut("sex", (0, 1, 2), 3)]


def test_of_a_person_at_most_as_many_records_are_counted():
    table = TABLE.append_column("who", pa.array(["a", "a", "a", "b", "b", None]))
    with open_source(table) as source:
        coded = CodedTable(source, [AGE, SEX], unit=PersonUnit("who", 2))
        assert int(coded.cells(CUTS).counts.sum()) == coded.rows() == 3


def test_what_only_our_own_code_can_get_wrong():
    with open_source(TABLE) as source:
        coded = CodedTable(source, [AGE, SEX])
        with pytest.raises(InternalError):
            coded.cells([Cut("age", (0,), 5)])
        with pytest.raises(InternalError):
            coded.marginals(["free text"], by="sex")
        with pytest.raises(InternalError):
            CodedTable(source, [AGE, AGE])


def test_every_count_is_of_the_same_records_also_if_the_file_changes(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("age,sex\n17,f\n39,m\n", encoding="utf-8")
    with open_source(path) as source:
        coded = CodedTable(source, [AGE, SEX])
        assert coded.marginals(["age"], by="sex")["age"].codes.tolist() == [17, 39]
        path.write_text("age,sex\n1,f\n2,m\n", encoding="utf-8")
        assert coded.full_cells().codes[:, 0].tolist() == [17, 39]


def test_all_records_dropped_gives_empty_counts():
    with open_source(pa.table({"age": ["x"], "sex": ["f"]})) as source:
        coded = CodedTable(source, [AGE, SEX])
        assert coded.rows() == 0
        assert len(coded.cells(CUTS)) == 0
        assert coded.marginals(["age"], by="sex")["age"].counts.shape == (0, 3)


def test_several_threads_may_count_at_once():
    with open_source(pa.table({"age": [str(n % 90) for n in range(5_000)], "sex": ["f", "m"] * 2_500})) as source:
        coded = CodedTable(source, [AGE, SEX])
        coded.rows()
        found: list[int] = []
        threads = [threading.Thread(target=lambda: found.append(len(coded.full_cells()))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [90] * 8


def test_two_thousand_columns_of_which_a_few_are_coded(tmp_path):
    names = [f"column {n}" for n in range(2_000)]
    path = tmp_path / "wide.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([f"v{(r + n) % 3}" for n in range(2_000)] for r in range(9))
    with open_source(path) as source:
        coded = CodedTable(source, [attribute(name, categories("v0", "v1", "v2")) for name in names[1990:]])
        cells = coded.full_cells()
    assert cells.codes.shape == (3, 10)
    assert np.array_equal(cells.counts, [3, 3, 3])


def test_all_rows_counts_also_what_does_not_take_part():
    table = pa.table({"sex": ["f", None, "x", "m"], "id": ["1", "2", "2", "2"]})
    sex = attribute("sex", categories("f", "m"))
    for unit in (None, PersonUnit("id", 1)):
        with open_source(table) as source:
            coded = CodedTable(source, [sex], unit=unit)
            assert (coded.rows(), coded.all_rows()) == (2, 4)


@pytest.mark.parametrize("unit", [None, PersonUnit("who", 2)], ids=["records", "persons"])
def test_one_pass_that_keeps_nothing_gives_the_same_cells_from_any_source(tmp_path, unit):
    rng = np.random.default_rng(5)
    texts = {
        "age": np.array(["", "x", "7", "39", "200"])[rng.integers(0, 5, 3000)].tolist(),
        "sex": np.array(["f", "m", "", "odd"])[rng.integers(0, 4, 3000)].tolist(),
        "who": [str(n) for n in rng.integers(0, 900, 3000)],
    }
    with (tmp_path / "x.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(texts), *zip(*texts.values(), strict=True)])
    parquet.write_table(pa.table(texts), tmp_path / "x.parquet")
    found = []
    for place in (tmp_path / "x.csv", tmp_path / "x.parquet", pa.table(texts)):
        with open_source(place) as source:
            cells, rows = CodedTable(source, [AGE, SEX], unit=unit).cells_and_rows()
            kept = CodedTable(source, [AGE, SEX], unit=unit)
            whole = kept.full_cells()
            again, rows_again = kept.cells_and_rows()  # of what is kept already
        assert rows == rows_again == 3000
        assert cells.attributes == whole.attributes == ("age", "sex")
        for one in (cells, again):
            assert np.array_equal(one.codes, whole.codes)
            assert np.array_equal(one.counts, whole.counts)
        found.append((cells.codes.tolist(), cells.counts.tolist()))
    assert found[0] == found[1] == found[2]


def test_one_pass_over_records_that_all_drop_out():
    with open_source(pa.table({"sex": ["x", None]})) as source:
        cells, rows = CodedTable(source, [attribute("sex", categories("f", "m"))]).cells_and_rows()
    assert (len(cells), cells.codes.shape, rows) == (0, (0, 1), 2)
