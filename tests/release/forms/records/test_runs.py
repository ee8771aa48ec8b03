"""Rows and lines alike that follow each other: kept once, and nothing is lost or read otherwise."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import VerifyError
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.release.forms.records import data_files as record_files
from sfumato.release.forms.records.declared_layout import record_layout
from sfumato.release.forms.records.rows import records_of
from sfumato.release.forms.records.runs import Runs
from sfumato.release.storage import text_lines as lines
from sfumato.release.storage.text_lines import line_blocks, repeat_lines
from tests.release.partitions import drafts, publish, small_draft

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

VALUES = st.lists(st.sampled_from([None, "", "a", "b", 'say "so"', "ü"]), max_size=30)


@given(values=VALUES, numbers=st.lists(st.sampled_from([None, 0.0, 0.5, 2.0]), min_size=30, max_size=30))
def test_a_table_is_its_runs(values, numbers):
    table = pa.table(
        {
            "text": pa.array(values, pa.string()).dictionary_encode(),
            "plain": pa.array(values, pa.string()),
            "number": pa.array(numbers[: len(values)], pa.float64()),
        }
    )
    halves = pa.concat_tables([table.slice(0, len(table) // 2), table.slice(len(table) // 2)])
    runs = Runs.of(halves)
    rows = table.to_pylist()
    assert runs.whole().to_pylist() == rows
    assert len(runs.table) == sum(n == 0 or row != rows[n - 1] for n, row in enumerate(rows))
    again = Runs.of(runs.whole(), np.full(len(rows), 2))
    assert again.times.tolist() == (2 * runs.times).tolist()


@pytest.mark.parametrize("form", ["generalised", "bucketized", "anatomy"])
@given(data=st.data())
def test_folding_and_unfolding_records_change_nothing(form, data):
    draft = data.draw(drafts(form=form))
    records = records_of(draft, SecureSource())
    rows = records.unfold()
    assert len(rows) == len(records) == len(rows.times)
    assert rows.fold().same(records)
    layout = record_layout(replace(draft, suppression=True))
    tables = layout.arrow(rows)
    assert all(table.equals(tables[name]) for name, table in layout.arrow(records).items())


@pytest.mark.parametrize("size", [1, 3, 7, 1 << 20])
@given(data=st.data())
def test_lines_are_repeated_and_found_again(tmp_path_factory, size, data):
    texts = data.draw(st.lists(st.sampled_from(["a", "b", "", "längér", '"q"']), min_size=1, max_size=20))
    times = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(texts), max_size=len(texts))), np.int64)
    text = pa.py_buffer("".join(f"{line}\n" for line in ["names", *texts]).encode())
    whole = b"".join(piece.to_pybytes() for piece in repeat_lines(text, times))
    expected = ["names", *(line for line, n in zip(texts, times, strict=True) for _ in range(n))]
    assert whole.decode().split("\n") == [*expected, ""]
    path = tmp_path_factory.mktemp("lines") / "x.csv"
    path.write_bytes(whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "_CHUNK", size)
        patch.setattr(lines, "_BLOCK", 4 * size)
        blocks = list(line_blocks(path, most=1 << 20))
    found = []
    for block in blocks:
        names, *shown = block.text.to_pybytes().decode().splitlines()
        assert names == "names"
        found += [line for line, n in zip(shown, block.times, strict=True) for _ in range(n)]
    assert found == expected[1:]
    assert [block.start for block in blocks[:1]] in ([], [0])


def test_a_row_of_several_lines_is_not_repeated_by_lines():
    assert repeat_lines(pa.py_buffer(b'x\n"a\nb"\n'), np.array([2])) is None
    runs = Runs(pa.table({"x": ["a\nb", "c"]}), np.array([2, 1]))
    out = pa.BufferOutputStream()
    record_files.write_csv([runs], out)
    assert out.getvalue().to_pybytes() == b'"x"\n"a\nb"\n"a\nb"\n"c"\n'


def read_both(path, draft):
    """The records of the CSV file, by lines in one part and in several, and parsed whole, or the errors."""
    layout = record_layout(draft)
    found = []
    for size in (None, 100, 0):
        with pytest.MonkeyPatch.context() as patch:
            if size:
                patch.setattr(lines, "_CHUNK", size)
                patch.setattr(lines, "_BLOCK", size)
            elif size == 0:
                patch.setattr(record_files, "_line_by_line", lambda *_: None)
            try:
                found.append(record_files.read_records(path, layout, {}, "csv"))
            except (VerifyError, pa.ArrowException) as error:
                found.append(type(error))
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"", b""),
        (b"\n", b"\r\n"),
        (b'"flu"', b"flu"),
        (b'"flu"', b'"fl\nu"'),
        (b'"flu"', b'"fl\ru"'),
        (b'"flu"', b'"flu'),
        (b'"flu"', b'f"lu"'),
        (b'"Professional"', b'Prof"essional,"'),
        (b"\n", b"\n\n"),
        (b"\n", b","),
        (b'"age"', b'"Age"'),
        (b'"flu"', b'"fl\xffu"'),
    ],
    ids=repr,
)
@pytest.mark.parametrize("last", [False, True])
def test_a_strange_file_reads_by_lines_as_it_reads_whole(tmp_path, old, new, last):
    draft = small_draft()
    path = publish(draft, tmp_path).path
    data = (path / "data.csv").read_bytes()
    names, _, rows = data.partition(b"\n")
    rows = b"".join(line * 3 for line in rows.splitlines(keepends=True))
    data = names + b"\n" + rows
    if last and old:
        head, found, tail = data.rpartition(old)
        data = head + (new if found else b"") + tail
    else:
        data = data.replace(old, new) if old else data
    (path / "data.csv").write_bytes(data)
    short, parts, whole = read_both(path, draft)
    if isinstance(short, type) or isinstance(parts, type) or isinstance(whole, type):
        assert short == parts == whole
    else:
        assert short.same(whole) and parts.same(whole)
        assert len(short) == len(rows.splitlines()) or old == b"\n"
