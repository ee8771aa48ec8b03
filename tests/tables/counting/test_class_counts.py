"""Classes counted by every engine, beside a count record by record: any kind of cuts, and parts of a table."""

import numpy as np
import pyarrow as pa
import pytest

from sfumato.domains.cut import Cut
from sfumato.tables import CodedTable, open_source
from sfumato.tables.counting import class_counts
from tests.methods.plain_counter import PlainCounter
from tests.tables.attributes import attribute, categories, grid
from tests.tables.engines import TESTED, loader

SIZE = 2_000
ROWS = 3_000
JOBS = list("abcdefgh")
ATTRIBUTES = [
    attribute("pay", grid(0, SIZE - 1, unit="integer")),
    attribute("age", grid(0, 99, unit="integer")),
    attribute("job", categories(*JOBS)),
]
ROOT = Cut("job", (0,), len(JOBS))
COARSE = Cut("age", (0, 7, 20, 21, 60), 100)
FINE = Cut("pay", tuple(range(0, SIZE, 3)), SIZE)  # too many regions for comparisons
FINER = Cut("pay", tuple(sorted({*range(0, SIZE, 3), 1, 2, 400, 401, 640, 1999})), SIZE)
EXACT = Cut.finest("job", len(JOBS))
CASES = {
    "one class": [ROOT],
    "coarse": [COARSE, ROOT],
    "fine": [FINE, COARSE],
    "finer": [FINER, COARSE],
    "exact": [COARSE, EXACT],
    "all": [FINE, COARSE, EXACT],
}
WITHIN = {"pay": (300, 900), "job": (2, 5)}


def records():
    rng = np.random.default_rng(5)
    return np.stack([(rng.random(ROWS) ** 3 * SIZE).astype(int), rng.integers(0, 100, ROWS), rng.integers(0, 8, ROWS)])


SLOW = {"spark+local": pytest.mark.slow}  # a query there takes most of a second


@pytest.fixture(scope="module", params=[pytest.param(name, marks=SLOW.get(name, ())) for name in TESTED])
def counters(request):
    """An engine with the table, and the same records to count by hand."""
    pay, age, job = records()
    table = pa.table({"pay": pay, "age": age, "job": [JOBS[code] for code in job]})
    engine = loader(request)
    source = table if request.param == "duckdb" else engine.store(table)
    with open_source(source) as opened:
        yield (
            CodedTable(opened, ATTRIBUTES),
            PlainCounter(["pay", "age", "job"], list(zip(*records().tolist(), strict=True))),
        )


@pytest.mark.parametrize("width", [1, 7, 64, SIZE, 10 * SIZE])
@pytest.mark.parametrize("within", [{}, WITHIN, {"pay": (1998, 2000)}, {"age": (95, 96), "pay": (5, 5)}], ids=str)
def test_an_engine_counts_bins_as_one_would_by_hand(counters, within, width):
    found, expected = (who.binned_within("pay", within, width) for who in counters)
    assert found.attributes == ("pay",)
    assert (found.codes.tolist(), found.counts.tolist()) == (expected.codes.tolist(), expected.counts.tolist())


@pytest.mark.parametrize("within", [{}, WITHIN, {"age": (95, 96), "pay": (1999, 2000)}], ids=["all", "part", "nobody"])
@pytest.mark.parametrize("cuts", CASES.values(), ids=CASES)
def test_an_engine_counts_classes_as_one_would_by_hand(counters, cuts, within):
    here, plain = counters
    found, expected = here.regions_within(cuts, within), plain.regions_within(cuts, within)
    assert found.attributes == expected.attributes
    assert (found.codes.tolist(), found.counts.tolist()) == (expected.codes.tolist(), expected.counts.tolist())
    for by in (None, *cuts):
        one, two = (who.distinct_regions_within(cuts, within, by=by) for who in (here, plain))
        assert (one.codes.tolist(), one.counts.tolist()) == (two.codes.tolist(), two.counts.tolist())
    sizes, wanted = here.class_sizes_within(cuts, within), plain.class_sizes_within(cuts, within)
    assert sizes.sizes.tolist() == wanted.sizes.tolist()
    assert sizes.classes.tolist() == wanted.classes.tolist()
    assert sizes.spans.tolist() == wanted.spans.reshape(len(cuts), -1).tolist()


def test_cuts_that_differ_in_few_regions_share_a_lookup_table(monkeypatch):
    pay, age, job = records()
    table = pa.table({"pay": pay, "age": age, "job": [JOBS[code] for code in job]})
    plain = PlainCounter(["pay", "age", "job"], list(zip(*records().tolist(), strict=True)))
    monkeypatch.setattr(class_counts, "_FURTHER", 5)
    with open_source(table) as opened:
        counter, stored, put = CodedTable(opened, ATTRIBUTES), [], opened.session.put
        monkeypatch.setattr(opened.session, "put", lambda rows: stored.append(rows.num_rows) or put(rows))
        cut = FINE
        for start in range(1, 31, 3):
            cut = Cut("pay", tuple(sorted({*cut.starts, start})), SIZE)
            tried = Cut("pay", tuple(sorted({*cut.starts, SIZE - start - 1})), SIZE)  # a candidate that is not taken
            for one in (cut, tried):
                assert counter.class_sizes_within([one], {}).sizes is not None
        assert len(stored) <= 3, "ten specializations, and twenty cuts"
        here, by_hand = (who.class_sizes_within([cut, COARSE], {}) for who in (counter, plain))
        assert here.sizes.tolist() == by_hand.sizes.tolist() and here.spans.tolist() == by_hand.spans.tolist()
        unlike = Cut("pay", tuple(range(0, SIZE, 2)), SIZE)
        assert counter.regions_within([unlike], {}).codes.tolist() == plain.regions_within([unlike], {}).codes.tolist()
        assert len(stored) <= 4
