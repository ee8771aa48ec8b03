import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sfumato.errors import PublishError
from sfumato.release.bundle.atomic_files import claim_folder
from tests.raising import raises_code


def test_a_folder_is_made_with_its_parents(tmp_path):
    assert claim_folder(tmp_path / "a" / "b").is_dir()


def test_a_folder_that_exists_is_not_taken(tmp_path):
    with raises_code(PublishError, "SF-PUBLISH-009"):
        claim_folder(tmp_path)


def test_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "a").write_text("")
    with raises_code(PublishError, "SF-PUBLISH-009", match="exists already"):
        claim_folder(tmp_path / "a")
    with raises_code(PublishError, "SF-PUBLISH-012", match="is a file, not a folder"):
        claim_folder(tmp_path / "a" / "b")


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        (errno.EACCES, "cannot be written to. To fix: choose a folder you may write to"),
        (errno.EROFS, "cannot be written to"),
        (errno.ENOSPC, "is full"),
        (errno.EMFILE, "Too many open files"),
    ],
)
def test_a_folder_that_cannot_be_made_is_told(tmp_path, monkeypatch, number, problem):
    def failing(self, *args, **kwargs):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", failing)
    with pytest.raises(PublishError, match=problem):
        claim_folder(tmp_path / "a")


def test_of_many_only_one_gets_the_folder(tmp_path):
    def claim(_):
        try:
            return claim_folder(tmp_path / "one")
        except PublishError:
            return None

    with ThreadPoolExecutor(8) as pool:
        got = [path for path in pool.map(claim, range(64)) if path]
    assert got == [tmp_path / "one"]
