"""Records in pieces of whole classes: the same bytes, verdicts and numbers as of all records at once."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.domains.boxes import Boxes
from sfumato.domains.counts import Cells
from sfumato.errors import StudyError, VerifyError
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.privacy.models import MODELS, DistinctLDiversity, broken_records, parse_models
from sfumato.release.forms.records import data_files, form, record_store
from sfumato.release.forms.records.data_files import read_records, write_parquet_runs
from sfumato.release.forms.records.declared_layout import record_layout
from sfumato.release.forms.records.read_pieces import store_of
from sfumato.release.forms.records.record_store import RecordStore, StoreBuilder
from sfumato.release.forms.records.rows import records_of
from sfumato.release.forms.records.runs import Runs
from sfumato.release.forms.records.sorted_rows import UnsortedRows
from sfumato.release.partition import Crowd
from sfumato.release.storage import parquet_file, text_lines
from sfumato.release.verify import verify_bundle
from tests.examples import examples
from tests.raising import raises_code
from tests.release.partitions import VIEW, draft_of, drafts, publish, small_draft

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

MODELS_OF_ILLNESS = {
    "k-anonymity": 2,
    "distinct-l-diversity": 2,
    "entropy-l-diversity": "1.5",
    "recursive-l-diversity": {"c": 1, "l": 2},
    "probabilistic-l-diversity": "1.5",
    "alpha-k-anonymity": {"alpha": "0.5", "k": 2},
    "t-closeness": {"t": "0.3", "distance": "js"},
    "delta-disclosure": "0.7",
    "capped-confidence": "0.9",
    "basic-beta-likeness": "0.5",
    "enhanced-beta-likeness": "0.5",
    "template": {"bounds": {"flu": "0.5"}},
}


def in_pieces(rows):
    """Pieces of so few rows."""
    return patch.object(record_store, "PIECE", rows)


def stored(draft, rows):
    """The records of a draft, built from batches of some rows each."""
    records = records_of(draft, SecureSource())
    builder = StoreBuilder(list(records.columns), records.quasi)
    columns = [column.places for column in records.columns.values()]
    for start in range(0, len(records.times), rows):
        builder.add([places[start : start + rows] for places in columns], records.times[start : start + rows])
    return records, builder.finish([(c.starts, c.stops) for c in records.columns.values()], records.suppressed)


def files_of(path):
    return {file.name: file.read_bytes() for file in path.iterdir()}


@settings(max_examples=examples(quick=10, slow=60), deadline=None)
@given(draft=drafts(), rows=st.integers(1, 4), data=st.data())
def test_pieces_are_published_with_the_bytes_of_the_whole(tmp_path_factory, draft, rows, data):
    at_once = files_of(publish(draft, tmp_path_factory.mktemp("at once"), suppression=True).path)
    small = [patch.object(text_lines, name, size) for name, size in (("_BLOCK", 64), ("_CHUNK", 32))]
    with in_pieces(rows), small[0], small[1]:
        path = publish(draft, tmp_path_factory.mktemp("pieces"), suppression=True).path
        assert files_of(path) == at_once
        _, store = stored(draft, data.draw(st.integers(1, 5)))
        with patch.object(RecordStore, "join", side_effect=AssertionError("all records at once")):
            kept = publish(replace(draft, content=store), tmp_path_factory.mktemp("stored"), suppression=True).path
            assert files_of(kept) == at_once
            assert verify_bundle(kept).ok


@settings(max_examples=examples(quick=30, slow=200), deadline=None)
@given(draft=drafts(), rows=st.integers(1, 4), batch=st.integers(1, 5))
def test_a_piece_ends_with_a_class_and_nothing_is_lost(draft, rows, batch):
    with in_pieces(rows):
        records, store = stored(draft, batch)
        found = list(store.pieces())
        assert store.same(RecordStore.of(records)) and RecordStore.of(records).same(store)
        assert store.join().same(records)
        classes = [{tuple(p.columns[n].places[r] for n in p.quasi) for r in range(len(p.times))} for p in found]
        assert sum(map(len, classes)) == len(set().union(*classes)), "no class is in two pieces"
        assert all(len(piece.times) >= rows for piece in found[:-1])
        assert store.group_sizes == (records.groups()[1], int(records.statistics({}).sizes.min(initial=10**9)) % 10**9)
        assert store.is_sorted()


@pytest.mark.parametrize("batch", [1, 3, 8])
@pytest.mark.parametrize("rows", [1, 4, 5, 8])
def test_a_class_is_not_divided(rows, batch):
    boxes = [((20, 30), (0, 2)), ((30, 50), (2, 4))]
    draft = draft_of([(20, 0, n % 3, 0, n, 0, 1) for n in range(8)], [0] * 4 + [1] * 4, boxes)
    with in_pieces(rows):
        records, store = stored(draft, batch)
        expected = [4, 4] if rows <= 4 else [8]
        assert [len(piece.times) for piece in store.pieces()] == expected
        assert [len(piece.times) for piece in RecordStore.of(records).pieces()] == expected


@settings(max_examples=examples(quick=30, slow=200), deadline=None)
@given(draft=drafts(), rows=st.integers(1, 3))
def test_a_model_says_of_pieces_what_it_says_of_the_whole(draft, rows):
    judged = record_layout(draft).judged
    records = records_of(draft, SecureSource())
    whole = records.statistics(judged)
    with in_pieces(rows):
        pieces = list(RecordStore.of(records).classes(judged))
    for name, parameters in MODELS_OF_ILLNESS.items():
        [model] = parse_models({name: parameters})
        expected = broken_records(model, whole).tolist()
        assert [n for piece in pieces for n in broken_records(model, piece).tolist()] == expected, name


def test_every_model_is_asked_about_pieces():
    """But δ-presence, which counts people: see below."""
    assert sorted([*MODELS_OF_ILLNESS, "delta-presence"]) == [name for name in MODELS if MODELS[name].checkable]


def test_nobody_lives_in_regions_of_two_pieces():
    crowd = Crowd(Cells(("age",), np.array([[3], [7]]), np.array([2, 5])))

    def region(start, stop):
        return Boxes(("age",), np.array([[start]]), np.array([[stop]]))

    assert crowd.inside(region(0, 5)).tolist() == [2]
    assert crowd.inside(region(5, 9)).tolist() == [5]
    with raises_code(StudyError, "SF-STUDY-110"):
        crowd.inside(region(7, 8))


@settings(max_examples=examples(quick=15, slow=100), deadline=None)
@given(draft=drafts(), data=st.data(), rows=st.integers(1, 4))
def test_rows_in_any_order_are_put_in_that_of_publication(draft, data, rows):
    records = records_of(draft, SecureSource())
    order = np.array(data.draw(st.permutations(range(len(records.times)))), np.int64)
    sizes = {a.name: VIEW.domain(a.name).size for a in VIEW.attributes}
    ends = [(c.starts[c.places][order], c.stops[c.places][order]) for c in records.columns.values()]
    with in_pieces(rows), UnsortedRows(sizes, records.quasi, records.quasi) as unsorted:
        for some in np.array_split(np.arange(len(order)), 2):
            unsorted.add([(starts[some], stops[some]) for starts, stops in ends], records.times[order][some])
        assert unsorted.sort(records.suppressed).same(RecordStore.of(records))


@pytest.mark.parametrize("suppressed", [False, True])
@pytest.mark.parametrize("rows", [1, 4, 100])
def test_row_groups_are_those_of_the_whole_table(monkeypatch, suppressed, rows):
    draft = replace(small_draft(suppressed=suppressed), suppression=suppressed)
    layout, records = record_layout(draft), records_of(draft, SecureSource())
    expected, found = pa.BufferOutputStream(), pa.BufferOutputStream()
    whole = layout.arrow(records)["data"]
    pq.write_table(whole, expected, row_group_size=rows, compression="zstd", store_schema=False, write_statistics=False)
    monkeypatch.setattr(data_files, "GROUP_ROWS", rows)
    monkeypatch.setattr(parquet_file, "GROUP_ROWS", rows)
    with in_pieces(2):
        write_parquet_runs(form.WrittenPieces(layout, RecordStore.of(records)), found)
    assert found.getvalue() == expected.getvalue()


def test_suppressed_records_of_one_piece_before_others_of_the_next_are_refused(tmp_path):
    layout = record_layout(replace(small_draft(suppressed=True), suppression=True))
    path = publish(small_draft(suppressed=True), tmp_path).path
    table = pq.read_table(path / "data.parquet", read_dictionary=["age", "job", "ill", "income"])
    last, first = Runs.of(table.slice(len(table) - 3)), Runs.of(table.slice(0, len(table) - 3))
    assert len(store_of(layout, [first, last])) == 6
    with raises_code(VerifyError, "SF-VERIFY-076"):
        store_of(layout, [last, first])


def test_rows_of_two_pieces_out_of_order_are_seen(tmp_path):
    draft = small_draft()
    path = publish(draft, tmp_path).path
    rows = (path / "data.csv").read_bytes().splitlines(keepends=True)
    (path / "data.csv").write_bytes(b"".join([rows[0], *rows[4:], *rows[1:4]]))
    with in_pieces(1):
        store = read_records(path, record_layout(draft), {}, "csv")
        assert store.whole is None and not store.is_sorted()


def test_buckets_stay_one_piece():
    draft = small_draft(form="bucketized", models=(DistinctLDiversity(l=1),))
    with in_pieces(1):
        assert len(list(RecordStore.of(records_of(draft, SecureSource())).pieces())) == 1
