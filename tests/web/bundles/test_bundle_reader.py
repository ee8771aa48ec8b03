"""A bundle is read by a process of its own: what ends that process is an error about the bundle, and no more."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from sfumato.errors import SfumatoError, VerifyError
from sfumato.web.bundles import bundle_reader
from sfumato.web.bundles.bundle_reader import BundleReader, BundleReaders
from tests.web.adult_study import make_study
from tests.web.stopped_process import wait_until


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("read")
    make_study(folder, "k5")
    return folder / "releases" / "k5-1" / "bundle"


@pytest.fixture
def reader(bundle):
    found = BundleReader(bundle)
    yield found
    found.close()


def test_a_bundle_is_read_elsewhere_and_quickly_once_it_is_open(reader):
    assert reader.view(patience=0) is None  # it has just begun
    wait_until(lambda: reader.view(patience=0.1) is not None)
    assert reader.view().manifest.release == "k5"
    assert reader.query("sex = Male").estimate.count == 1_373
    spent = []
    for number in range(3):
        began = time.thread_time()
        assert [bar.label for bar in reader.marginal(number).bars]
        spent.append(time.thread_time() - began)
    assert min(spent) < 0.1  # of this thread: nothing is read here
    assert reader._process.pid != os.getpid()


def test_a_reader_that_is_killed_costs_one_answer(reader):
    assert reader.view() is not None
    os.kill(reader._process.pid, signal.SIGKILL)
    with pytest.raises(VerifyError, match="damaged or hostile"):
        reader.query("sex = Male")
    assert reader.query("sex = Male").estimate.count == 1_373


def test_a_reader_that_hangs_is_ended(reader, monkeypatch):
    assert reader.query("sex = Male").estimate.count == 1_373
    pid = reader._process.pid
    monkeypatch.setattr(bundle_reader, "_PATIENCE", 0.5)
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(VerifyError, match="took too long"):
        reader.query("sex = Female")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_memory_and_core_files_of_a_reader_are_bounded(reader):
    assert reader.view() is not None
    limits = Path(f"/proc/{reader._process.pid}/limits").read_text()
    (space,) = [line for line in limits.splitlines() if line.startswith("Max address space")]
    assert str(8 << 30) in space


def test_what_is_wrong_with_a_bundle_is_said_as_ever(bundle, tmp_path):
    damaged = tmp_path / "damaged"
    shutil.copytree(bundle, damaged)
    reader = BundleReader(damaged)
    try:
        assert reader.view() is not None
        with pytest.raises(SfumatoError) as wrong:
            reader.query("wages > 3")
        assert "wages" in wrong.value.problem
        (damaged / "manifest.json").write_text("{}")
        with pytest.raises(SfumatoError):
            reader.view()
    finally:
        reader.close()


def test_only_a_few_bundles_have_a_process(bundle, tmp_path):
    readers = BundleReaders()
    try:
        opened = []
        for n in range(6):
            place = tmp_path / str(n)
            shutil.copytree(bundle, place)
            opened.append(readers.of(place))
            opened[-1].view(patience=0)
        assert sum(one._process is not None for one in opened) == 4
    finally:
        readers.close()
    assert all(one._process is None for one in opened)
