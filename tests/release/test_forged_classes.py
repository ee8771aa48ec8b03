"""Forged tables of records: a class that was divided, doubled or renamed is refused, in whatever pieces it is read."""

import csv
import json
from collections import Counter
from itertools import groupby
from unittest.mock import patch

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.privacy.models import KAnonymity
from sfumato.release.bundle.atomic_files import file_facts
from sfumato.release.forms.records import record_store
from sfumato.release.storage import text_lines
from sfumato.release.storage.seal import render, seal
from sfumato.release.verify import verify_bundle
from tests.examples import examples
from tests.release.partitions import draft_of, drafts, publish

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

LOOKED = {"values", "data files", "order", "numbers", "privacy model"}
PIECES = (1, 2, 1 << 18)
QUASI = ("age", "job")


def class_of(row):
    return tuple(row[name] for name in QUASI)


def kept(rows):
    return [row for row in rows if not row["suppressed"]]


# What a forger does to the rows; ``n`` says to which.


def leave(rows, n):
    return rows


def move_a_record(rows, n):
    """Another class gains a record, and one loses it."""
    one, other = rows[n % len(rows)], rows[(n // 7) % len(rows)]
    return [row if row is not one else {**row, **{name: other[name] for name in QUASI}} for row in rows]


def swap(rows, n):
    found = list(rows)
    one, other = n % len(rows), (n // 7) % len(rows)
    found[one], found[other] = found[other], found[one]
    return found


def turn(rows, n):
    return rows[n % len(rows) :] + rows[: n % len(rows)]


def double(rows, n):
    return [*rows, rows[n % len(rows)]]


def drop(rows, n):
    return rows[: n % len(rows)] + rows[n % len(rows) + 1 :]


def rename(rows, n):
    """Another name for a range that has one: two names would make two classes of one."""
    other = {"Professional": "Engineer … Lawyer", "Artist": 'Dancer … Writer, "poet"', "Any": "Engineer … (missing)"}
    at = n % len(rows)
    return [row if i != at else {**row, "job": other.get(row["job"], row["job"])} for i, row in enumerate(rows)]


FORGERIES = (leave, move_a_record, swap, turn, double, drop, rename)


def write(path, rows, schema, *, csv_rows=None, k, group_rows):
    """Both files, the numbers that the rows of one of them have, and a new seal."""
    whole = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(whole, path / "data.parquet", store_schema=False, row_group_size=group_rows)
    pa.csv.write_csv(pa.Table.from_pylist(rows if csv_rows is None else csv_rows, schema=schema), path / "data.csv")
    content = json.loads((path / "manifest.json").read_text(encoding="utf-8"))
    model = KAnonymity(k=k)
    content["privacy"]["models"][0] = {"model": model.name, "parameters": {"k": k}, "sentence": model.sentence()}
    content["guarantee"] = " ".join([model.sentence(), content["privacy"]["limits"]])
    sizes = Counter(map(class_of, kept(rows)))
    content["records"] = {
        "published": len(kept(rows)), "suppressed": len(rows) - len(kept(rows)),
        "groups": len(sizes), "smallest_group": min(sizes.values(), default=0),
    }  # fmt: skip
    for name in content["files"]:
        facts = file_facts(path / name)
        content["files"][name] = {"size": facts.size, "sha256": facts.sha256}
    content["seal"] = seal(content)
    (path / "manifest.json").write_bytes(render(content))


def refused(path, piece):
    small = [patch.object(text_lines, name, size) for name, size in (("_BLOCK", 64), ("_CHUNK", 32))]
    with patch.object(record_store, "PIECE", piece), small[0], small[1]:
        return {c.name: c.detail for c in verify_bundle(path).checks if not c.ok and c.name in LOOKED}


def read_plainly(path):
    """The rows of the CSV file, by the standard library."""
    with (path / "data.csv").open(encoding="utf-8", newline="") as file:
        return [{**row, "suppressed": row["suppressed"] == "true"} for row in csv.DictReader(file)]


def is_wrong(path, k):
    """Whether anybody can see that the table is not what it should be: by its texts alone, not by our code."""
    rows = read_plainly(path)
    there = pq.read_table(path / "data.parquet").to_pylist()
    if [class_of(row) for row in kept(rows)] != [class_of(row) for row in kept(there)] or len(rows) != len(there):
        return True
    runs = [name for name, _ in groupby(map(class_of, kept(rows)))]
    sizes = Counter(map(class_of, kept(rows)))
    return len(runs) > len(set(runs)) or any(size < k for size in sizes.values())


def check(path, rows, schema, forge, n, where, k, group_rows):
    other = forge(rows, n)
    in_parquet, in_csv = (other if where != "csv" else rows), (other if where != "parquet" else rows)
    if not in_parquet or not in_csv:
        return
    write(path, in_parquet, schema, csv_rows=in_csv, k=k, group_rows=group_rows)
    found = {piece: refused(path, piece) for piece in PIECES}
    for piece, one in found.items():
        if is_wrong(path, k):
            assert one, f"{forge.__name__} in {where}, pieces of {piece}"
        if forge is leave:
            assert not one, f"nothing was forged, pieces of {piece}"
        if "order" not in found[1]:
            assert one == found[1], "pieces are judged as the whole"
        else:
            assert "order" in one


@pytest.mark.parametrize("where", ["both", "csv", "parquet"])
@pytest.mark.parametrize("forge", FORGERIES)
def test_a_forged_table_is_refused(tmp_path, forge, where):
    boxes = [((20, 30), (0, 2)), ((20, 30), (2, 4)), ((40, 50), (0, 5))]
    cells = [(20, 0, 0, 0, 1, 0, 1), (21, 1, 1, 0, 2, 0, 2), (20, 2, 0, 0, 3, 0, 3), (40, 4, 0, 0, 4, 0, 1),
             (41, 3, 2, 1, 5, 0, 2)]  # fmt: skip
    path = publish(draft_of(cells, [0, 0, 1, 2, 2], boxes), tmp_path, suppression=True).path
    whole = pq.read_table(path / "data.parquet")
    for n in (5, 24, 50):
        check(path, whole.to_pylist(), whole.schema, forge, n, where, 3, 1 + n % 4)


@settings(max_examples=examples(quick=12, slow=300), deadline=None)
@given(draft=drafts(), forge=st.sampled_from(FORGERIES), where=st.sampled_from(["both", "csv", "parquet"]),
       n=st.integers(0, 500), group_rows=st.integers(1, 4))  # fmt: skip
def test_whatever_was_forged_is_refused(tmp_path_factory, draft, forge, where, n, group_rows):
    path = publish(draft, tmp_path_factory.mktemp("out"), suppression=True).path
    whole = pq.read_table(path / "data.parquet")
    rows = whole.to_pylist()
    least = min(Counter(map(class_of, kept(rows))).values())
    check(path, rows, whole.schema, forge, n, where, least, group_rows)
