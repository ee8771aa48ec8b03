"""What is kept for the next start: made once, only whole, and only where nobody else may write."""

import os
import stat

import pytest

from sfumato.web.server import plot_script, user_cache
from sfumato.web.server.user_cache import kept


class Maker:
    """Makes something else each time, and counts."""

    def __init__(self):
        self.times = 0

    def __call__(self):
        self.times += 1
        return b"script %d" % self.times


@pytest.fixture
def make():
    return Maker()


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files(home):
    return sorted((home / "sfumato").iterdir())


def test_it_is_made_once_and_again_of_something_else(home, make):
    assert [kept("plots", "v1", make) for _ in range(3)] == [b"script 1"] * 3
    assert kept("plots", "v2", make) == b"script 2"
    assert kept("plots", "v1", make) == b"script 1"
    assert kept("tables", "v1", make) == b"script 3"


def test_nobody_else_may_look_or_write(home, make):
    before = os.umask(0)
    try:
        kept("plots", "v1", make)
    finally:
        os.umask(before)
    (file,) = files(home)
    assert [stat.S_IMODE(one.stat().st_mode) for one in (home, home / "sfumato", file)] == [0o700, 0o700, 0o600]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda file: file.write_bytes(b""),
        lambda file: file.write_bytes(file.read_bytes()[:-1]),
        lambda file: file.write_bytes(file.read_bytes() + b"alert(1)"),
        lambda file: file.write_bytes(file.read_bytes().replace(b"script", b"attack")),
        lambda file: file.chmod(0o620),
        lambda file: file.chmod(0o602),
        lambda file: (file.unlink(), file.mkdir()),
        lambda file: (file.unlink(), os.mkfifo(file)),
        lambda file: (file.rename(file.with_name("moved")), file.symlink_to(file.with_name("moved"))),
    ],
    ids=["empty", "torn", "longer", "changed", "group", "everybody", "folder", "pipe", "link"],
)
def test_a_file_that_is_not_ours_alone_or_not_whole_is_made_anew(home, make, spoil):
    kept("plots", "v1", make)
    spoil(*files(home))
    assert kept("plots", "v1", make) == b"script 2"


def test_what_was_spoilt_is_whole_again(home, make):
    kept("plots", "v1", make)
    files(home)[0].write_bytes(b"torn")
    assert [kept("plots", "v1", make) for _ in range(2)] == [b"script 2"] * 2


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o722, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(home, make, mode):
    (home / "sfumato").mkdir(parents=True)
    (home / "sfumato").chmod(mode)
    assert [kept("plots", "v1", make) for _ in range(2)] == [b"script 1", b"script 2"]
    assert files(home) == []


@pytest.mark.parametrize(("mode", "times"), [(0o777, 2), (0o770, 2), (0o1777, 1), (0o755, 1)])
def test_nor_one_that_others_may_put_another_in_the_place_of(tmp_path, make, monkeypatch, mode, times):
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(mode)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared" / "cache"))
    for _ in range(2):
        kept("plots", "v1", make)
    assert make.times == times
    assert (tmp_path / "shared" / "cache").exists() == (times == 1)


def test_a_link_leads_to_where_the_rights_count(home, make, tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    home.mkdir()
    (home / "sfumato").symlink_to(tmp_path / "open")
    assert [kept("plots", "v1", make) for _ in range(2)] == [b"script 1", b"script 2"]
    assert not list((tmp_path / "open").iterdir())


def test_a_folder_of_somebody_else_is_not_used(home, make, monkeypatch):
    kept("plots", "v1", make)
    monkeypatch.setattr(user_cache.os, "geteuid", lambda: os.getuid() + 1)
    assert kept("plots", "v1", make) == b"script 2"


@pytest.mark.parametrize("named", ["cache", "/dev/null/cache", "/proc/none/cache", "~nobody-of-that-name/cache"])
def test_without_a_place_it_is_made_each_time(make, monkeypatch, tmp_path, named):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    assert [kept("plots", "v1", make) for _ in range(2)] == [b"script 1", b"script 2"]
    assert not list(tmp_path.iterdir())


def test_a_disk_that_takes_nothing_is_no_error(home, make, monkeypatch):
    monkeypatch.setattr(user_cache, "_write", lambda *_: (_ for _ in ()).throw(OSError(28, "no space")))
    assert [kept("plots", "v1", make) for _ in range(2)] == [b"script 1", b"script 2"]


def test_few_versions_are_kept(home, make):
    for n in range(6):
        kept("plots", f"v{n}", make)
        for file in files(home):
            os.utime(file, (file.stat().st_mtime - 10,) * 2)
    assert len(files(home)) == 4
    assert kept("plots", "v5", make) == b"script 6"


def test_the_script_for_plots_is_put_together_at_the_first_start_alone(home, monkeypatch):
    made = []
    monkeypatch.setattr(plot_script, "_put_together", lambda: made.append(1) or b"plots")
    for _ in range(3):  # starts
        monkeypatch.setattr(plot_script, "_MADE", [])
        assert plot_script.plot_script() == plot_script.plot_script() == b"plots"
    assert made == [1]
    monkeypatch.setattr(plot_script, "_MADE", [])
    monkeypatch.setattr(plot_script, "version", lambda _: "another")
    plot_script.plot_script()
    assert made == [1, 1]
