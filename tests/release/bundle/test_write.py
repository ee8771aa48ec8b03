import errno
import json
import os
import time
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import PublishError
from sfumato.release.bundle import atomic_files as files
from sfumato.release.bundle import owner_folder
from sfumato.release.bundle import write as bundle_module
from sfumato.release.bundle.owner_folder import write_owner
from sfumato.release.bundle.write import write_bundle
from sfumato.release.draft import Groups
from sfumato.release.forms.noisy_counts.count_table import in_order, put_in_order, same
from sfumato.release.guarantee import DpGuarantee
from sfumato.release.release import Release
from sfumato.release.storage.parquet_file import write_parquet
from sfumato.release.verify import verify_bundle
from tests.examples import examples
from tests.made_drafts import counts_draft
from tests.raising import raises_code
from tests.release.conftest import AGE, draft_of, drafts, facts_of, publish, small_draft, view_of


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_both_files_hold_the_groups_in_words(bundle):
    rows = pq.read_table(bundle / "data.parquet").to_pylist()
    assert rows[0] == {
        "age": "[0, 40)", "pay": "[0, 2)", "day": "[2004-01-01, 2004-04-10)", "job": "Professional", "income": "<=50K",
        "count": 7,
    }  # fmt: skip
    assert rows[-1]["age"] == "(missing)"
    assert rows[3]["job"] == "(other)"
    text = pa.csv.read_csv(bundle / "data.csv").to_pylist()
    assert text == rows


def test_csv_is_plain_utf_8_with_line_feeds_and_quotes_doubled(tmp_path):
    names = ['say "hi"', "two\nlines", "ünï", "a,b", "", " ", "NA", "=1+1"]
    domain = Categories(taxonomy=Taxonomy.of(Node("Any", tuple(Node(name) for name in names))))
    draft = draft_of({"x": domain}, [Cut.finest("x", 8)], [(i, 0, i + 1) for i in range(8)])
    path = publish(draft, tmp_path).path
    raw = (path / "data.csv").read_bytes()
    assert raw.decode().splitlines()[0] == '"x","income","count"'
    assert b'"say ""hi""","<=50K",1\n' in raw
    assert b"\r" not in raw
    assert [row["x"] for row in Release.open(path).to_arrow().to_pylist()] == names


def test_a_file_tells_nothing_about_how_it_was_made(bundle):
    metadata = pq.read_schema(bundle / "data.parquet").metadata
    assert metadata is None
    assert [str(field.type) for field in pq.read_schema(bundle / "data.parquet")] == ["string"] * 5 + ["int64"]


def test_the_same_draft_gives_the_same_bytes_whatever_its_order(tmp_path):
    draft = small_draft()
    groups = draft.groups
    turned = Groups(groups.cuts, groups.regions[::-1], groups.classes[::-1], groups.counts[::-1])
    one = publish(draft, tmp_path / "one")
    other = publish(replace(draft, content=turned), tmp_path / "other")
    assert one.sha256 == other.sha256
    for name in (
        "data.parquet",
        "data.csv",
        "README.md",
        "datapackage.json",
        "croissant.json",
        "index.html",
        "manifest.json",
    ):
        assert (one.path / name).read_bytes() == (other.path / name).read_bytes()


def test_the_bundle_s_hash_is_that_of_its_manifest(tmp_path):
    written = publish(small_draft(), tmp_path)
    assert written.path == tmp_path / "bundle"
    assert written.sha256 == files.file_facts(written.path / "manifest.json").sha256


def test_nothing_else_is_left_in_the_folder(tmp_path):
    publish(small_draft(), tmp_path)
    assert names_in(tmp_path) == ["bundle"]


def test_an_existing_bundle_is_never_overwritten(tmp_path):
    first = publish(small_draft(), tmp_path)
    before = (first.path / "manifest.json").read_bytes()
    with raises_code(PublishError, "SF-PUBLISH-017"):
        publish(small_draft(), tmp_path, release="another")
    assert (first.path / "manifest.json").read_bytes() == before
    assert names_in(tmp_path) == ["bundle"]


def test_a_bundle_that_appears_meanwhile_is_not_overwritten(tmp_path, monkeypatch):
    check = bundle_module._check

    def slow(*what):
        check(*what)
        (tmp_path / "bundle").mkdir()

    monkeypatch.setattr(bundle_module, "_check", slow)
    with raises_code(PublishError, "SF-PUBLISH-017"):
        publish(small_draft(), tmp_path)
    assert names_in(tmp_path / "bundle") == []


@pytest.mark.parametrize(
    "name",
    ["data.parquet", "data.csv", "README.md", "datapackage.json", "croissant.json", "index.html", "manifest.json"],
)
@pytest.mark.parametrize(
    ("number", "problem"),
    [(errno.ENOSPC, "is full"), (errno.EROFS, "cannot be written to"), (errno.EIO, "Input/output error")],
)
def test_a_disk_that_fails_leaves_nothing(tmp_path, monkeypatch, name, number, problem):
    def failing(path, write):
        if path.name == name:
            path.write_bytes(b"half")
            raise OSError(number, "no")
        return files_write(path, write)

    files_write = bundle_module.write_file
    monkeypatch.setattr(bundle_module, "write_file", failing)
    with pytest.raises(PublishError, match=problem):
        publish(small_draft(), tmp_path)
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("at", range(1, 10))
def test_a_disk_that_fills_up_while_syncing_leaves_nothing(tmp_path, monkeypatch, at):
    calls = []

    def failing(handle):
        calls.append(handle)
        if len(calls) == at:
            raise OSError(errno.ENOSPC, "no")

    monkeypatch.setattr(os, "fsync", failing)
    if at < 9:
        with raises_code(PublishError, "SF-PUBLISH-010"):
            publish(small_draft(), tmp_path)
        assert names_in(tmp_path) == []
    else:  # the bundle is in place and only its name was not brought to the disk
        assert verify_bundle(publish(small_draft(), tmp_path).path).ok


def test_arrow_hands_on_what_the_disk_said(tmp_path, monkeypatch):
    class Full:
        def write(self, data):
            raise OSError(errno.ENOSPC, "no")

        closed = False

        def flush(self):
            pass

    for write in (write_parquet, pa.csv.write_csv):
        table = small_draft_table()
        with pytest.raises(OSError, match="no") as caught:
            write(table, Full())
        assert caught.value.errno == errno.ENOSPC


def small_draft_table():
    from sfumato.release.forms.noisy_counts.count_table import layout_of

    draft = small_draft()
    return layout_of(draft).table(draft.groups)


def test_ctrl_c_leaves_nothing(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(bundle_module, "datapackage", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish(small_draft(), tmp_path)
    assert names_in(tmp_path) == []


def test_the_remains_of_a_killed_run_are_in_nobody_s_way(tmp_path):
    (tmp_path / f".bundle.partial-{os.getpid()}-0").mkdir()
    assert verify_bundle(publish(small_draft(), tmp_path).path).ok


def test_what_the_disk_garbled_is_not_published(tmp_path, monkeypatch):
    write = bundle_module.write_file

    def garbled(path, content):
        found = write(path, content)
        if path.name == "data.csv":
            path.write_bytes(path.read_bytes().replace(b"12", b"21"))
        return found

    monkeypatch.setattr(bundle_module, "write_file", garbled)
    with raises_code(PublishError, "SF-PUBLISH-015", match=r"own check 'data.csv'"):
        publish(small_draft(), tmp_path)
    assert names_in(tmp_path) == []


def test_groups_under_the_threshold_are_not_published(tmp_path):
    with raises_code(PublishError, "SF-PUBLISH-015", match="a count is below 3"):
        publish(small_draft({"threshold": 3}), tmp_path)
    assert verify_bundle(publish(small_draft({"threshold": 3, "post": "scale"}), tmp_path).path).ok


def test_a_group_that_stands_twice_is_not_published(tmp_path):
    with raises_code(PublishError, "SF-PUBLISH-015", match="listed twice"):
        publish(draft_of({"age": AGE}, [Cut("age", (0, 5), 101)], [(0, 0, 4), (0, 0, 4)]), tmp_path)


def test_a_guarantee_without_a_checker_is_not_published(tmp_path, monkeypatch):
    stated = DpGuarantee.as_json
    wrong = {"epsilon": None, "model": "k-anonymity"}
    monkeypatch.setattr(DpGuarantee, "as_json", lambda self, **how: {**stated(self, **how), **wrong})
    with raises_code(PublishError, "SF-PUBLISH-015", match="no checker for 'k-anonymity'"):
        publish(small_draft(), tmp_path)


def test_regions_that_read_alike_are_not_published(tmp_path):
    domain = Grid(lower=Fraction(0), upper=Fraction(4), step=Fraction(1), unit="integer", missing=5, missing_label="3")
    with raises_code(PublishError, "SF-PUBLISH-018", match="two regions of 'x' read alike"):
        publish(draft_of({"x": domain}, [Cut.finest("x", 6)], [(3, 0, 4)]), tmp_path)


@pytest.mark.parametrize(
    ("names", "column"), [(["a"], "count"), (["count"], "count_1"), (["Count", "count_1"], "count_2")]
)
def test_the_count_column_has_a_name_of_its_own(tmp_path, names, column):
    draft = draft_of(dict.fromkeys(names, AGE), [Cut(name, (0,), 101) for name in names], [(*[0] * len(names), 0, 1)])
    path = publish(draft, tmp_path).path
    assert json.loads((path / "manifest.json").read_text())["count_column"] == column
    assert pq.read_schema(path / "data.parquet").names[-1] == column


def test_a_release_without_groups_is_a_release(tmp_path):
    path = publish(draft_of({"age": AGE}, [Cut("age", (0, 5), 101)], []), tmp_path).path
    assert verify_bundle(path).ok
    assert len(Release.open(path).groups) == 0


@given(draft=drafts())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(quick=16, slow=40))
def test_every_draft_comes_back_as_it_went(draft, tmp_path_factory):
    path = publish(draft, tmp_path_factory.mktemp("draft")).path
    found = Release.open(path)
    assert same(found.groups, put_in_order(draft.groups))
    assert in_order(found.groups)
    assert found.domains == {a.name: a.domain for a in draft.view.attributes}
    assert verify_bundle(path).ok


@pytest.mark.parametrize(
    "domain",
    [
        Grid(lower=Fraction(-5), upper=Fraction(10**6), step=Fraction(1), unit="integer"),
        Grid(lower=Fraction(-5), upper=Fraction(10**6), step=Fraction(1), unit="integer", missing=10**6 + 6),
        Grid(lower=Fraction(1), upper=Fraction(10**6), step=Fraction(1), unit="day"),
        Grid(lower=Fraction(0), upper=Fraction(10**4), step=Fraction(1, 100)),
        Grid(lower=Fraction(-7, 3), upper=Fraction(10**5), step=Fraction(1, 3), missing=300008),
    ],
)
def test_a_grid_too_fine_to_list_comes_back_as_it_went(tmp_path, domain):
    rng = np.random.default_rng(0)
    codes = sorted({0, domain.size - 2, domain.size - 1, *rng.integers(0, domain.size, 500).tolist()})
    coarse = [Cut("x", tuple(range(0, domain.size, 2)), domain.size)] if domain.size < 500_000 else []
    for cut in (Cut.finest("x", domain.size), *coarse):
        regions = sorted(set(cut.regions(np.array(codes)).tolist()))
        draft = draft_of({"x": domain}, [cut], [(region, 0, 1) for region in regions])
        path = publish(draft, tmp_path / str(len(cut))).path
        assert same(Release.open(path).groups, draft.groups)
        labels = Release.open(path).to_arrow().column("x").to_pylist()
        assert labels == [domain.label(*cut.range_at(region)) for region in regions]


@pytest.mark.parametrize("groups", [200_000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_a_million_groups_take_seconds(tmp_path, groups):
    rng = np.random.default_rng(1)
    jobs = Categories(taxonomy=Taxonomy.of(Node("Any", tuple(Node(f"job {i}") for i in range(30)))))
    domains = {f"a{i}": AGE if i % 2 else jobs for i in range(8)}
    cuts = [Cut(n, tuple(range(0, 100, 5)), 101) if d is AGE else Cut.finest(n, 30) for n, d in domains.items()]
    sizes = [*(len(cut) for cut in cuts), 2]
    flat = np.unique(rng.integers(0, np.prod(sizes), groups))
    rows = np.stack(np.unravel_index(flat, sizes), axis=1)
    made = Groups(tuple(cuts), rows[:, :-1], rows[:, -1], rng.integers(1, 50, len(rows)))
    draft = counts_draft(view_of(domains), made, {"threshold": 1})
    start = time.process_time()
    path = write_bundle(draft, facts_of(), tmp_path).path
    took = time.process_time() - start
    assert took < 20  # of a processor; about three seconds are usual
    assert (path / "data.parquet").stat().st_size < 20 * groups


def test_the_owner_s_folder_is_for_the_owner(tmp_path):
    place = write_owner(tmp_path, {"epsilon": Fraction(1, 3)}, ["one", "two"])
    assert json.loads((place / "draft.json").read_text()) == {"epsilon": "1/3"}
    assert (place / "log.txt").read_text() == "one\ntwo\n"
    assert place.stat().st_mode & 0o077 == 0


def test_an_owner_s_folder_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    def full(path, write):
        raise OSError(errno.ENOSPC, "no")

    monkeypatch.setattr(owner_folder, "write_file", full)
    with raises_code(PublishError, "SF-PUBLISH-010", match="is full"):
        write_owner(tmp_path, {}, [])
