"""The records that take no part, counted by the engine as one would by hand."""

from dataclasses import replace

import pyarrow as pa
import pytest

from sfumato.study.attribute import InvalidValuePolicy
from sfumato.study.left_out import ReplacedValues
from sfumato.study.selection import parse_selection
from sfumato.study.unit import PersonUnit
from sfumato.tables import CodedTable, Records, count_left_out, open_source, reads_once
from tests.tables.attributes import attribute, categories, grid

pytestmark = pytest.mark.usefixtures("each_engine")

TABLE = pa.table(
    {
        "age": ["1", "2", "old", "", "99", "3", "4", "5"],
        "job": ["a", "b", "a", "b", "a", "z", None, "b"],
        "who": ["p", "p", "q", "q", "r", "r", "", "s"],
    }
)
ATTRIBUTES = [
    attribute("age", grid(0, 10), outside=InvalidValuePolicy.SUPPRESS),
    attribute("job", categories("a", "b")),
]


@pytest.mark.parametrize(
    ("unit", "left_out", "shares"),
    [
        (None, 5, {"age": 3 / 8, "job": 2 / 8}),
        (PersonUnit(column="who", at_most=1), 5, {"age": 3 / 8, "job": 2 / 8, "who": 1 / 8}),
    ],
)
def test_a_record_counts_once_and_every_attribute_by_itself(unit, left_out, shares):
    with open_source(TABLE) as source:
        for found in (
            CodedTable(source, ATTRIBUTES, unit=unit).left_out(),
            count_left_out(Records(source, ATTRIBUTES, unit=unit)),
        ):
            assert (found.records, found.left_out, dict(found.attributes)) == (8, left_out, shares)


def test_what_the_engine_keeps_names_no_person():
    """It lies in a scratch folder of Spark, in a table of PostgreSQL, or in TMPDIR."""
    attributes, unit, stored = ATTRIBUTES, PersonUnit(column="who", at_most=1), []
    with open_source(TABLE) as source:
        keep = source.session.keep

        def watched(sql, **more):
            name = keep(sql, **more)
            stored.append(source.session.fetch(f"SELECT * FROM {name}", doing="looking at what is kept"))
            return name

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(source.session, "keep", watched)
            count_left_out(Records(source, attributes, unit=unit))
            coded = CodedTable(source, attributes, unit=unit)
            coded.left_out()
            coded.full_cells()
    assert len(stored) == 3
    for table in stored:
        assert {"c0", "c1"} <= set(table.column_names) <= {"c0", "c1", "fits", "nobody"}
        assert all(pa.types.is_integer(kind) or pa.types.is_boolean(kind) for kind in table.schema.types)


def test_many_attributes_are_counted_by_several_queries(monkeypatch):
    monkeypatch.setattr("sfumato.tables.counting.left_out_counts._TOGETHER", 1)
    with open_source(TABLE) as source:
        assert count_left_out(Records(source, ATTRIBUTES)).attributes == {"age": 3 / 8, "job": 2 / 8}


def test_what_can_be_read_only_once():
    frame = TABLE.to_pandas()
    assert not any(reads_once(source) for source in ("a.csv", TABLE, frame, TABLE.to_batches()[0]))
    assert reads_once(TABLE.to_reader())
    with open_source(TABLE) as source:
        assert reads_once(source)


@pytest.mark.parametrize("unit", [None, PersonUnit(column="who", at_most=1)])
def test_replaced_values_are_counted_by_what_replaces_them(unit):
    """A blank is missing and no replaced value; a value at a bound is not moved there."""
    age = replace(attribute("age", grid(0, 5, missing=True)), missing=InvalidValuePolicy.KEEP)
    kept = [age, attribute("job", categories("a", "b", other=True))]
    with open_source(TABLE) as source:
        assert CodedTable(source, kept, unit=unit).left_out().replaced == {
            "age": ReplacedValues(of=8, nearer_bound=1, unreadable=1),
            "job": ReplacedValues(of=8, other=1),
        }
        assert count_left_out(Records(source, ATTRIBUTES)).replaced == {}


def test_many_attributes_are_looked_at_by_several_queries(monkeypatch):
    """Also where a column that selects the records is in none of them."""
    age = replace(attribute("age", grid(0, 5, missing=True)), missing=InvalidValuePolicy.KEEP)
    job, who = attribute("job", categories("a", "b", other=True)), attribute("who", categories("p", "q", other=True))
    chosen = parse_selection("job = a or job = b", {"job": job})
    with open_source(TABLE) as source:
        kept = CodedTable(source, [age, who], selection=chosen)
        violations, replaced = kept.domain_violations(), kept.left_out().replaced
        assert [(one.missing, one.outside, one.unreadable, one.values) for one in violations] == [
            (2, 1, 1, ("99", "old")),
            (0, 2, 0, ("r", "s")),
        ]
        assert replaced == {
            "age": ReplacedValues(of=6, nearer_bound=1, unreadable=1),
            "who": ReplacedValues(of=6, other=2),
        }
        monkeypatch.setattr("sfumato.tables.invalid_values._TOGETHER", 1)
        monkeypatch.setattr("sfumato.tables.counting.left_out_counts._BESIDE", 1)
        assert kept.domain_violations() == violations
        assert kept.left_out().replaced == replaced
