"""What pages share stays within bounds: bundles that were unpacked, and manifests that were read."""

import os
import shutil
import zipfile
from types import SimpleNamespace

import pytest

from sfumato.errors import SourceError, UsageError, VerifyError
from sfumato.web.bundles import unpacking
from sfumato.web.pages import risk
from sfumato.web.server.settings import Settings
from sfumato.web.workspace import OpenStudy, Workspace
from tests.web.adult_study import make_study


@pytest.fixture
def workspace(tmp_path):
    found = Workspace(Settings(folders=(tmp_path,), port=8765))
    yield found
    found.discard()


def zipped(folder, name, text="{}"):
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        archive.writestr("b/manifest.json", text)
    return folder / f"{name}.zip"


def test_few_zip_files_stay_unpacked_and_an_older_bundle_says_that_it_is_not_open(workspace, tmp_path):
    archives = [zipped(tmp_path, name) for name in "abcd"]
    keys = [workspace.open_bundle(workspace.unpack(archive)) for archive in archives]
    assert len(list((workspace.private / "bundles").iterdir())) == 2
    for key in keys[:2]:
        with pytest.raises(UsageError) as caught:
            workspace.bundle(key)
        assert caught.value.code == "SF-USAGE-416"
    assert all((workspace.bundle(key) / "manifest.json").is_file() for key in keys[2:])


def test_a_zip_file_is_unpacked_once_until_it_is_another_one(workspace, tmp_path):
    archive = zipped(tmp_path, "a")
    first = workspace.unpack(archive)
    assert workspace.unpack(archive) == first
    zipped(tmp_path, "a", '{"other": 1}')
    second = workspace.unpack(archive)
    assert second != first and (second / "manifest.json").read_text() == '{"other": 1}'


def test_a_zip_file_that_would_fill_the_disk_is_refused_and_leaves_nothing(workspace, tmp_path, monkeypatch):
    archive = zipped(tmp_path, "a", "x" * 2_000_000)
    full = SimpleNamespace(total=2**40, used=0, free=(1 << 29) + 1_000)
    monkeypatch.setattr(unpacking.shutil, "disk_usage", lambda _: full)
    with pytest.raises(SourceError) as caught:
        workspace.unpack(archive)
    assert caught.value.code == "SF-SOURCE-921"
    assert not list((workspace.private / "bundles").iterdir())


def test_a_zip_file_whose_packed_bytes_are_damaged_is_refused_in_words(workspace, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b/manifest.json", "{}" * 1_000)
    raw = bytearray((tmp_path / "a.zip").read_bytes())
    begin = raw.index(b"manifest.json") + len("manifest.json")
    raw[begin : begin + 4] = b"\xff" * 4
    (tmp_path / "a.zip").write_bytes(raw)
    with pytest.raises(VerifyError) as caught:
        workspace.unpack(tmp_path / "a.zip")
    assert caught.value.code == "SF-VERIFY-431"
    assert not list((workspace.private / "bundles").iterdir())


def test_each_manifest_is_read_once_until_it_changes(tmp_path, monkeypatch):
    opened = OpenStudy("s", make_study(tmp_path, "k5", "k9", rows=200))
    read = []
    parse = risk.parse_manifest
    monkeypatch.setattr(risk, "parse_manifest", lambda text: read.append(1) or parse(text))
    assert [one["folder"] for one in risk._bundles(opened).values()] == ["k9-1", "k5-1"]
    assert risk._bundles(opened).keys() == risk._bundles(opened).keys()
    assert len(read) == 2
    manifest = tmp_path / "releases" / "k5-1" / "bundle" / "manifest.json"
    os.utime(manifest, (1, 1))
    assert len(risk._bundles(opened)) == 2 and len(read) == 3
    shutil.rmtree(tmp_path / "releases" / "k9-1")
    assert [one["folder"] for one in risk._bundles(opened).values()] == ["k5-1"]
    assert len(opened.cache["risk manifests"]) == 1
