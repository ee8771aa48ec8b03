"""What every engine must do: give the counts that plain Python gives on the same table."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.cut import Cut
from sfumato.study.attribute import Role
from sfumato.study.unit import PersonUnit
from sfumato.tables import CodedTable, Limits, profile_table
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.examples import examples
from tests.tables.attributes import attribute, categories, counted, encoded, grid
from tests.tables.engines import TESTED, loader

JOB = attribute("job", categories("cook", "baker", "clerk", missing=True))
TOWN = attribute('the town\'s "name"', categories(*(f"t{n}" for n in range(30)), other=True))
AGE = attribute("select", grid(0, 9, unit="integer"))
PAY = attribute("c0", grid(0, 2, "1/4", missing=True))
CLASS = attribute("class", categories("no", "yes"), role=Role.CLASS)
ATTRIBUTES = (JOB, TOWN, AGE, PAY, CLASS)

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["cook", "baker", "clerk", "", None, "pilot"]),
        st.sampled_from(["t0", "t1", "t29", "elsewhere", None]),
        st.sampled_from(["0", "3", "3.7", "9", "-1", "1e9", "inf", "x"] * 3 + [None]),
        st.one_of(st.none(), st.sampled_from([0.0, 0.25, 1.99, 2.0, -5.0, float("nan"), float("inf")])),
        st.sampled_from(["no", "yes", "yes", "maybe"]),
        st.sampled_from(["p1", "p2", "", None]),
    ),
    min_size=1,
    max_size=40,
)


def arrow(rows) -> pa.Table:
    columns = list(zip(*rows, strict=True))
    kinds = [pa.string(), pa.string(), pa.string(), pa.float64(), pa.string(), pa.string()]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return pa.table(arrays, names=[*(a.name for a in ATTRIBUTES), "person"])


def reference(table: pa.Table) -> np.ndarray:
    return encoded(table.to_pydict(), ATTRIBUTES)


@pytest.fixture(scope="module", params=TESTED)
def engine(request):
    return loader(request)


@settings(max_examples=examples(quick=5, slow=12), deadline=None)
@given(rows=ROWS, data=st.data())
def test_counts_are_those_of_plain_python(engine, rows, data):
    cuts = [
        Cut(a.name, (0, *sorted(data.draw(st.sets(st.integers(1, a.domain.size - 1), max_size=4)))), a.domain.size)
        for a in ATTRIBUTES
    ]
    check_counts(engine, rows, cuts)


def test_counts_of_one_table_are_those_of_plain_python(engine):
    """With all values, for engines on which searching for examples is slow."""
    jobs, towns = ["cook", "baker", "clerk", "", None, "pilot"], ["t0", "t1", "t29", "elsewhere", None]
    ages, pays = ["0", "3", "3.7", "9", "-1", "1e9", "inf", "x", None], [None, 0.0, 0.25, 1.99, -5.0, float("nan")]
    rows = [
        (jobs[n % 6], towns[n % 5], ages[n % 9], pays[n // 2 % 6], ["no", "yes", "maybe"][n // 3 % 3], f"p{n % 7}")
        for n in range(300)
    ]
    check_counts(engine, rows, [Cut(a.name, (0, a.domain.size - 1), a.domain.size) for a in ATTRIBUTES])


def check_counts(engine, rows, cuts):
    table = arrow(rows)
    codes = reference(table)
    with engine.load(table, name="a table", limits=Limits(threads=2)) as source:
        coded = CodedTable(source, ATTRIBUTES)
        marginals = coded.marginals([a.name for a in ATTRIBUTES], by="class")
        cells = coded.cells(cuts)
        full = coded.full_cells()
        part = coded.full_cells(["c0", "job"])
        nothing = coded.cells([])
        assert coded.rows() == len(codes)
    for place, a in enumerate(ATTRIBUTES):
        expected = counted(codes[:, [place, 4]])
        marginal = marginals[a.name]
        rows_, classes = np.nonzero(marginal.counts)
        found = {
            (int(marginal.codes[r]), int(c)): int(marginal.counts[r, c]) for r, c in zip(rows_, classes, strict=True)
        }
        assert found == expected
        assert marginal.classes == 2
    regions = np.column_stack([cut.regions(codes[:, place]) for place, cut in enumerate(cuts)])
    assert cells.attributes == tuple(a.name for a in ATTRIBUTES)
    for given_, expected in ((cells, regions), (full, codes), (part, codes[:, [3, 0]])):
        assert dict(zip(map(tuple, given_.codes.tolist()), given_.counts.tolist(), strict=True)) == counted(expected)
        assert given_.codes.tolist() == sorted(given_.codes.tolist()), "cells come in the order of their codes"
    assert nothing.counts.tolist() == ([len(codes)] if len(codes) else [])


@settings(max_examples=examples(quick=30, slow=300), deadline=None)
@given(rows=ROWS, data=st.data())
def test_arrays_in_memory_are_counted_like_tables(rows, data):
    """The fourth engine: it takes codes, and what counts them must not show."""
    codes = reference(arrow(rows))
    names = [a.name for a in ATTRIBUTES]
    counter = ArrayCounter(dict(zip(names, codes.T, strict=True)), {"class": 2})
    cuts = [
        Cut(a.name, (0, *sorted(data.draw(st.sets(st.integers(1, a.domain.size - 1), max_size=4)))), a.domain.size)
        for a in ATTRIBUTES
    ]
    regions = np.column_stack([cut.regions(codes[:, place]) for place, cut in enumerate(cuts)])
    cells = counter.cells(cuts)
    assert dict(zip(map(tuple, cells.codes.tolist()), cells.counts.tolist(), strict=True)) == counted(regions)
    narrow = counter.cell_columns(cuts)
    assert Counter(
        {
            key: int(n)
            for key, n in zip(zip(*(c.tolist() for c in narrow.columns), strict=True), narrow.counts, strict=True)
        }
    ) == counted(regions)
    for place, marginal in enumerate(counter.marginals(names, by="class").values()):
        found = {
            (int(code), one): int(n)
            for code, row in zip(marginal.codes, marginal.counts, strict=True)
            for one, n in enumerate(row)
            if n
        }
        assert found == counted(codes[:, [place, 4]])


@settings(max_examples=examples(quick=5, slow=12), deadline=None)
@given(rows=ROWS, at_most=st.integers(1, 3))
def test_a_person_contributes_at_most_so_many_records(engine, rows, at_most):
    table = arrow(rows)
    persons = ["" if p in ("", None) else p for p in table["person"].to_pylist()]
    with engine.load(table, name="a table", limits=Limits()) as source:
        found = CodedTable(source, ATTRIBUTES, unit=PersonUnit("person", at_most)).full_cells()
    expected = []
    for person in set(persons) - {""}:  # a record without a person takes no part
        own = reference(table.filter(pa.array([p == person for p in persons])))
        expected += sorted(own.tolist())[:at_most]
    assert dict(zip(map(tuple, found.codes.tolist()), found.counts.tolist(), strict=True)) == counted(expected)


def test_one_person_more_changes_only_that_persons_records(engine):
    rows = [("cook", "t0", str(n % 7), 0.25, "no", f"p{n % 5}") for n in range(40)]
    counts = []
    for kept in (rows, [row for row in rows if row[5] != "p3"]):
        with engine.load(arrow(kept), name="a table", limits=Limits()) as source:
            full = CodedTable(source, ATTRIBUTES, unit=PersonUnit("person", 2)).full_cells()
            counts.append(dict(zip(map(tuple, full.codes.tolist()), full.counts.tolist(), strict=True)))
    more, less = counts
    difference = sum(abs(more.get(cell, 0) - less.get(cell, 0)) for cell in more.keys() | less.keys())
    assert difference == 2


def test_a_fine_cut_is_counted_like_a_coarse_one(engine):
    income = attribute("income", grid(0, 9_999, unit="integer"))
    values = [(n * 7919) % 10_000 for n in range(5_000)]
    cut = Cut("income", tuple(range(0, 10_000, 3)), 10_000)
    with engine.load(pa.table({"income": values}), name="a table", limits=Limits()) as source:
        cells = CodedTable(source, [income]).cells([cut])
    assert dict(zip(cells.codes[:, 0].tolist(), cells.counts.tolist(), strict=True)) == {
        key[0]: count for key, count in counted(np.array(values)[:, None] // 3).items()
    }


def test_more_attributes_than_one_query_takes(engine):
    wide = {f"x{n}": [str((n + r) % 3) for r in range(9)] for n in range(70)}
    attributes = [attribute(name, categories("0", "1", "2")) for name in wide]
    with engine.load(pa.table(wide), name="a table", limits=Limits()) as source:
        marginals = CodedTable(source, attributes).marginals(list(wide), by="x5")
    assert list(marginals) == list(wide)
    assert all(marginal.counts.sum() == 9 for marginal in marginals.values())
    assert marginals["x5"].counts.tolist() == [[3, 0, 0], [0, 3, 0], [0, 0, 3]]
    assert marginals["x6"].counts.tolist() == [[0, 0, 3], [3, 0, 0], [0, 3, 0]]


def test_sets_are_found_with_all_their_codes(engine):
    """Codes that only late records have are found, too; a category with blanks is none."""
    baskets = [" ".join(str(n * 7 % 30) for n in range(m, m + m % 4 + 1)) for m in range(300)]
    table = pa.table(
        {"items": [*baskets, "777 778", None], "town": ["New York", "Los Angeles", "a b c"] * 100 + ["x"] * 2}
    )
    with engine.load(table, name="baskets", limits=Limits()) as source:
        items, town = profile_table(source).columns
    assert (items.kind, items.separator, items.missing) == ("set", " ", 1)
    assert set(items.codes) == {code for basket in baskets for code in basket.split()} | {"777", "778"}
    assert (town.kind, town.codes) == ("category", ())
