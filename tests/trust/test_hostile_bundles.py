"""Bundles that somebody made to break whoever checks them: an answer for each, no traceback, no hang, little memory."""

import io
import json
import os
import signal
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sfumato.errors import InternalError, SfumatoError, UsageError, VerifyError
from sfumato.release.release import Release
from sfumato.release.storage.parquet_file import ParquetLimits, read_parquet
from sfumato.release.storage.parquet_pages import read_footer, refuse_large_pages
from sfumato.release.storage.untrusted import MOST_JSON_BYTES, open_regular, parse_json, refuse_unexpected
from sfumato.release.verify import verify_bundle
from tests.raising import raises_code
from tests.trust.forged import FORMS, copy, files_of, forge, manifest, receive, write_manifest, write_sound

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

SECONDS = 60  # far above what any of these takes: a hang is an alarm, not a slow machine


@contextmanager
def alarm():
    """A hang ends as a failure."""

    def ring(*_):
        raise AssertionError("it hangs")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def sounds(tmp_path_factory):
    """The files of a sound bundle of each form."""
    found = {}
    for form in FORMS:
        bundle = write_sound(form, tmp_path_factory.mktemp(form))
        assert verify_bundle(bundle).ok
        assert all(isinstance(f, UsageError) for f in receive(bundle) if isinstance(f, Exception))
        found[form] = files_of(bundle)
    return found


@pytest.fixture(params=FORMS)
def bundle(request, sounds, tmp_path):
    return copy(sounds[request.param], tmp_path / "bundle")


@pytest.fixture
def counts(sounds, tmp_path):
    return copy(sounds["counts"], tmp_path / "bundle")


@pytest.fixture
def records(sounds, tmp_path):
    return copy(sounds["generalised"], tmp_path / "bundle")


@pytest.fixture
def anatomy(sounds, tmp_path):
    return copy(sounds["anatomy"], tmp_path / "bundle")


def refused(bundle, *, opens=False):
    """Neither verified nor opened, and every answer is one of ours; ``opens`` where only `verify` finds the fault."""
    with alarm():
        found = receive(bundle)
    strange = [
        f for f in found if isinstance(f, Exception) and (not isinstance(f, SfumatoError) or type(f) is InternalError)
    ]
    assert not strange, strange
    verified, opened = found[:2]
    assert isinstance(verified, VerifyError) or not verified.ok
    assert opens or isinstance(opened, VerifyError)
    return str(verified) if isinstance(verified, VerifyError) else str([c for c in verified.checks if not c.ok])


def test_what_json_does_not_allow_is_refused(bundle):
    raw = (bundle / "manifest.json").read_bytes()
    content = json.loads(raw)
    for value in (float("nan"), float("inf"), -float("inf"), "\ud800", 10**400):
        write_manifest(bundle, {**content, "method": {**content["method"], "facts": {"x": value}}})
        refused(bundle)
    for text in (b'{"format": 1e999}', b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b"", b"9" * 10_000, b"null"):
        (bundle / "manifest.json").write_bytes(text)
        refused(bundle)
    (bundle / "manifest.json").write_bytes(raw.replace(b'"format":', b'"study": "another", "format":', 1))
    assert "twice" in refused(bundle)


def test_a_manifest_nested_deeply_is_refused(bundle):
    deep = []
    for _ in range(400):
        deep = [deep]
    forge(bundle, lambda content: content["method"]["facts"].update(x=deep))
    assert "nested" in refused(bundle)


@pytest.mark.parametrize("sampled", ["1/0", "0", "2", "1/2/3", "...", "0.0", "9" * 60])
def test_a_sampling_rate_that_is_none_is_refused(records, sampled):
    forge(records, lambda content: content.update(sampled=sampled))
    assert "sampled" in refused(records)


@pytest.mark.parametrize("span", [[], ["x", "y"], ["2020-01-01"], ["2021-01-01", "2020-01-01"], ["2020-01-01"] * 3])
def test_a_span_that_is_none_is_refused(bundle, span):
    forge(bundle, lambda content: content.update(selection={"time": "day", "span": span, "where": None}))
    assert "span" in refused(bundle)


@pytest.mark.parametrize("epsilon", ["0", "9" * 400, "1/" + "9" * 400])
def test_a_privacy_loss_out_of_range_is_no_guarantee(counts, epsilon):
    forge(counts, lambda content: content["privacy"].update(epsilon=epsilon))
    refused(counts, opens=True)
    assert "guarantee" in [check.name for check in verify_bundle(counts).checks if not check.ok]


def grid_of(content):
    return next(entry for entry in content["attributes"] if entry["domain"]["kind"] == "grid")


@pytest.mark.parametrize(
    "change",
    [
        {"upper": str(10**30)},
        {"upper": str(10**300), "lower": str(-(10**300))},
        {"upper": "9" * 400},
        {"step": "1/" + "9" * 400},
        {"lower": "-" + "9" * 400},
        {"unit": "day", "lower": "0"},
        {"unit": "day", "upper": "3652060"},
        {"unit": "day", "lower": "-1/2"},
        {"taxonomy": {"labels": ["a"], "parents": [-1], "widths": [10**18]}},
        {"taxonomy": {"labels": ["a", "b"], "parents": [-1, 0], "widths": [2**70]}},
        {"formats": ["%d" * 4000]},
        {"formats": ["%Q"]},
        {"formats": [""]},
    ],
)
def test_a_grid_that_no_study_can_declare_is_refused(bundle, change):
    def forged(content):
        grid_of(content)["domain"].update(change)

    forge(bundle, forged)
    refused(bundle)


def test_a_wide_sensitive_attribute_takes_no_memory(records):
    """A model counts over the whole domain of a sensitive attribute, so that one is bounded."""

    def forged(content):
        ill = next(entry for entry in content["attributes"] if entry["role"] == "sensitive")
        ill["domain"] = {**grid_of(content)["domain"], "missing": None, "upper": str(2**50)}

    forge(records, forged)
    refused(records)


@pytest.mark.parametrize(
    "parameters",
    [{"t": "0.5", "distance": []}, {"t": "0.5", "distance": ["js"]}, {"t": "9" * 400}, {"t": 10**17, "attribute": {}}],
)
def test_parameters_of_a_wrong_type_are_no_promise(records, parameters):
    def forged(content):
        content["privacy"]["models"] = [{"model": "t-closeness", "parameters": parameters, "sentence": ""}]

    forge(records, forged)
    refused(records, opens=True)


@pytest.mark.parametrize(
    "name", ["data.parquet", "data.csv", "manifest.json", "README.md", "datapackage.json", "index.html"]
)
@pytest.mark.parametrize("kind", ["symlink", "dangling", "loop", "fifo", "folder", "device"])
def test_only_regular_files_are_opened(counts, tmp_path, name, kind):
    place = counts / name
    (tmp_path / "moved").write_bytes(place.read_bytes())
    place.unlink()
    if kind == "symlink":
        place.symlink_to(tmp_path / "moved")
    elif kind == "dangling":
        place.symlink_to(tmp_path / "nowhere")
    elif kind == "loop":
        place.symlink_to(place)
    elif kind == "fifo":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/zero")
    refused(counts, opens=name not in {"data.parquet", "manifest.json"})


def test_a_regular_file_is_opened_and_nothing_else(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    with open_regular(tmp_path / "file") as file:
        assert file.read() == b"abc"
    (tmp_path / "link").symlink_to("file")
    os.mkfifo(tmp_path / "fifo")
    with alarm():
        for name in ("link", "fifo", "."):
            with raises_code(VerifyError, "SF-VERIFY-114"):
                open_regular(tmp_path / name)


def test_names_of_stray_files_do_not_reach_the_terminal_as_they_are(counts):
    """A name may hold bytes that are no text, or orders to a terminal."""
    (counts / "a\x1b[2Jb").write_bytes(b"")
    with open(os.fsencode(counts) + b"/\xff\xfe", "wb"):  # noqa: PTH123 - a path of bytes
        pass
    detail = verify_bundle(counts).checks[0].detail
    assert "\x1b" not in detail
    assert detail.encode()


def test_a_folder_of_many_files_is_not_listed_whole(counts):
    for number in range(300):
        (counts / f"{number}.txt").touch()
    assert len(verify_bundle(counts).checks[0].detail) < 2_000


def table_of(bundle, name="data.parquet"):
    return pq.read_table(bundle / name)


def write_table(bundle, table, **options):
    pq.write_table(table, bundle / "data.parquet", store_schema=False, **options)
    forge(bundle)


def repeat_row(bundle, times):
    """The first table with one row so many times: equal values take nearly no room in Parquet."""
    path = min(bundle.glob("*.parquet"))
    table = pq.read_table(path).take(pa.array(np.zeros(times, np.int8)))
    pq.write_table(table, path, compression="zstd", store_schema=False)
    return path.stat().st_size


def test_a_table_with_more_rows_than_the_manifest_says_is_not_read(bundle, monkeypatch):
    """The footer is compared before a page is read."""
    assert repeat_row(bundle, 300_000) < 100_000
    forge(bundle)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("the table was read"))
    assert "as many rows as" in refused(bundle)


def test_a_manifest_that_tells_more_rows_than_its_files_can_hold_is_refused(bundle, monkeypatch):
    """Each row takes a line in the CSV file, and that has to be there."""

    def forged(content):
        if "groups" in content:
            content["groups"]["listed"] = 300_000
        else:
            content["records"].update(published=300_000, suppressed=0)

    repeat_row(bundle, 300_000)
    forge(bundle, forged)
    monkeypatch.setattr(pq.ParquetFile, "read", lambda *_, **__: pytest.fail("the table was read"))
    assert "more rows than its CSV file" in refused(bundle)


def test_a_page_that_says_it_unpacks_to_two_gigabytes_is_not_unpacked(tmp_path):
    table = pa.table({"x": pa.array(["abc"] * 100)})
    path = tmp_path / "x.parquet"
    pq.write_table(table, path, compression="zstd", store_schema=False, use_dictionary=False)
    raw = bytearray(path.read_bytes())
    # The first page header begins behind the magic number: 0x15 is field 1 (i32), 0x15 field 2, whose varint follows.
    assert raw[4] == 0x15 and raw[6] == 0x15
    size = raw.index(0x15, 7)
    varint = bytes([0xFE, 0xFF, 0xFF, 0xFF, 0x0F])  # zigzag of 2**31 - 1
    forged = raw[:7] + varint + raw[size:]
    shifted = len(varint) - (size - 7)
    with open_regular(path) as file:
        chunk = read_footer(file, ["x"], ["x"]).chunks[0][0]
        assert refuse_large_pages(file, chunk, most=10_000) > 0
    with raises_code(VerifyError, "SF-VERIFY-099", match="unpacks to more"):
        refuse_large_pages(io.BytesIO(forged), replace(chunk, stop=chunk.stop + shifted), most=1 << 20)


def test_a_footer_that_contradicts_itself_does_not_end_the_process(records):
    """A column of numbers by the schema, with the length of its texts: asked for it, Arrow ends the process."""
    text, number = b"\x15\x0c\x25\x02\x18\x06income", b"\x15\x04\x25\x02\x18\x06income"  # thrift: BYTE_ARRAY, INT64
    raw = (records / "data.parquet").read_bytes()
    assert raw.count(text) == 1
    (records / "data.parquet").write_bytes(raw.replace(text, number))
    forge(records)
    assert "'income' is not a column of text" in refused(records)


def test_encodings_that_unpack_without_bound_are_refused(tmp_path):
    """With prefixes a value may repeat the one before at no cost: n values take n² bytes."""
    path = tmp_path / "x.parquet"
    table = pa.table({"x": pa.array(["a" * n for n in range(100)])})
    pq.write_table(table, path, store_schema=False, use_dictionary=False, column_encoding="DELTA_BYTE_ARRAY")
    with raises_code(VerifyError, "SF-VERIFY-105"):
        read_parquet(path, {"x": pa.dictionary(pa.int32(), pa.string())}, ParquetLimits(rows=100, text_bytes=1 << 20))


def test_nested_columns_are_refused(tmp_path):
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": pa.array([[1] * 1000])}), path)
    with raises_code(VerifyError, "SF-VERIFY-056"):
        read_parquet(path, {"x": pa.int64()}, ParquetLimits(rows=1, text_bytes=1 << 20))


def test_a_place_outside_a_dictionary_is_found(counts):
    """Arrow does not look whether the numbers of a dictionary column are numbers of its dictionary."""
    write_table(counts, table_of(counts), compression="none", use_dictionary=True)
    raw = bytearray((counts / "data.parquet").read_bytes())
    with open_regular(counts / "data.parquet") as file:
        chunk = pq.ParquetFile(file).metadata.row_group(0).column(0)
        end = chunk.data_page_offset + (
            chunk.total_compressed_size - (chunk.data_page_offset - chunk.dictionary_page_offset)
        )
    for place in range(end - 6, end):
        changed = bytearray(raw)
        changed[place] = 0xFF
        (counts / "data.parquet").write_bytes(changed)
        forge(counts)
        with alarm():
            found = receive(counts)
        assert all(isinstance(f, SfumatoError) for f in found if isinstance(f, Exception)), found


def test_text_that_is_no_utf8_is_refused(counts):
    table = table_of(counts)
    texts = [b"\xff\xfe" if place == 0 else text.encode() for place, text in enumerate(table.column(0).to_pylist())]
    raw = pa.array(texts, pa.binary())
    broken = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
    write_table(counts, table.set_column(0, table.column_names[0], broken))
    refused(counts)


def test_csv_text_that_is_no_utf8_is_refused(bundle):
    for path in bundle.glob("*.csv"):
        path.write_bytes(path.read_bytes()[:-2] + b"\xff\xfe\n")
    forge(bundle)
    refused(bundle, opens=True)


def test_a_csv_line_without_end_is_refused(bundle):
    """Read in parts, a line that does not end would be copied again for each part."""
    path = next(iter(sorted(bundle.glob("*.csv"))))
    path.write_bytes(path.read_bytes() + b"a" * (24 << 20))
    forge(bundle)
    refused(bundle, opens=True)


def test_a_csv_header_of_very_many_columns_is_refused(bundle):
    path = next(iter(sorted(bundle.glob("*.csv"))))
    path.write_bytes(b"a" + b"," * 2_000_000 + b"\n" + path.read_bytes())
    forge(bundle)
    assert "columns" in refused(bundle, opens=True)


def test_counts_that_overflow_are_refused(counts):
    table = table_of(counts)
    for number in (2**63 - 1, -(2**63), -1, 0):
        changed = table.set_column(len(table.column_names) - 1, "count", pa.array([number] * len(table), pa.int64()))
        pq.write_table(changed, counts / "data.parquet", store_schema=False)
        pa.csv.write_csv(changed, counts / "data.csv")
        forge(counts)
        refused(counts)


def test_tallies_that_wrap_around_to_the_right_sum_are_refused(anatomy):
    """2⁶³ − 1 twice and n + 2 are n in 64 bits: the sum is that of the bucket, and the shares are none of it."""
    bundle = anatomy
    table = pq.read_table(bundle / "data_st.parquet")
    rows = table.to_pylist()
    bucket = next(r["group"] for r in rows if sum(o["group"] == r["group"] for o in rows) == 3)
    size = sum(r["count"] for r in rows if r["group"] == bucket)
    forged = iter([2**63 - 1, 2**63 - 1, size + 2])
    rows = [{**r, "count": next(forged)} if r["group"] == bucket else r for r in rows]
    changed = pa.Table.from_pylist(rows, schema=table.schema)
    pq.write_table(changed, bundle / "data_st.parquet", store_schema=False)
    pa.csv.write_csv(changed, bundle / "data_st.csv")
    forge(bundle)
    assert "count" in refused(bundle)


def test_a_sample_of_more_records_than_fit_is_refused(counts):
    table = table_of(counts)
    changed = table.set_column(len(table.column_names) - 1, "count", pa.array([2**50] * len(table), pa.int64()))
    pq.write_table(changed, counts / "data.parquet", store_schema=False)
    pa.csv.write_csv(changed, counts / "data.csv")
    forge(counts)
    with raises_code(UsageError, "SF-USAGE-066"):
        Release.open(counts).sample()
    assert len(Release.open(counts).sample(5, seed=1)) == 5


@pytest.mark.parametrize("data", [False, True])
def test_open_refuses_changed_data(bundle, data):
    names = sorted(path.name for path in bundle.glob("*.parquet"))
    for name in names if data else ["manifest.json"]:
        raw = bytearray((bundle / name).read_bytes())
        raw[len(raw) // 2] ^= 1
        (bundle / name).write_bytes(raw)
        with pytest.raises(VerifyError):
            Release.open(bundle)


def test_sizes_are_compared_before_a_file_is_read(counts, monkeypatch):
    """A sparse file of a terabyte takes no room, and reading it takes hours."""
    os.truncate(counts / "README.md", 2**40)
    os.truncate(counts / "data.csv", 2**40)
    refused(counts, opens=True)
    forged = manifest(counts)
    forged["files"]["data.csv"]["size"] = forged["files"]["README.md"]["size"] = 2**40
    write_manifest(counts, forged)
    refused(counts, opens=True)


def test_the_manifest_itself_is_bounded(counts):
    os.truncate(counts / "manifest.json", MOST_JSON_BYTES + 1)
    assert "larger" in refused(counts)


def test_the_net_turns_anything_into_one_answer_that_shows_nothing():
    for error in (ValueError("of a record"), MemoryError(), RecursionError(), OverflowError(), InternalError("inside")):
        with pytest.raises(VerifyError, match="damaged or hostile") as caught, refuse_unexpected():
            raise error
        assert "of a record" not in str(caught.value) and "inside" not in str(caught.value)
    for error in (UsageError("a", "b"), VerifyError("a", "b")):
        with pytest.raises(type(error), match=r"a\. To fix"), refuse_unexpected():
            raise error
    with pytest.raises(KeyboardInterrupt), refuse_unexpected():
        raise KeyboardInterrupt


def test_json_of_others_is_read_strictly():
    assert parse_json(b'{"a": [1, 2.5, "x", null, true]}', "x") == {"a": [1, 2.5, "x", None, True]}
    for raw in (b"NaN", b"1e999", b'{"a": 1, "a": 1}', b"[" * 200 + b"]" * 200, b"1" * 30, b'"\\ud800"', b"\xff", b"{"):
        with pytest.raises(VerifyError):
            parse_json(raw, "x")


def test_records_that_claim_differential_privacy_are_refused(records, tmp_path):
    """No form of records can satisfy it, so a manifest that says so is wrong whatever else it says."""
    claim = manifest(write_sound("counts", tmp_path / "other"))

    def forged(content):
        content["privacy"], content["guarantee"] = claim["privacy"], claim["guarantee"]

    forge(records, forged)
    refused(records)


def test_noisy_counts_that_claim_a_model_of_classes_are_refused(counts, tmp_path):
    claim = manifest(write_sound("generalised", tmp_path / "other"))

    def forged(content):
        content["privacy"], content["guarantee"] = claim["privacy"], claim["guarantee"]

    forge(counts, forged)
    refused(counts)
