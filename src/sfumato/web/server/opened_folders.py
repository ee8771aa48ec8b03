"""Paths that pages name: each is held to the folders that the owner opened, whatever a command makes of it later.

A command reads more into a path than is written there: a leading `~` is a home folder, and a pattern stands for files
that may be links. So nothing is passed on that a command would read differently from what was checked here. A part of a
path that starts with `~` is refused, because relative to some folder it comes first. A pattern is expanded here, and
each file that it matches has to be below an opened folder after its links are followed. An error names no file that was
found: what lies outside of the folders is not told.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from glob import escape, glob, has_magic
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from sfumato.errors import UsageError

_MARKS: Final = frozenset("*?[]{}\\")  # with a meaning in patterns of some engine


@dataclass(frozen=True)
class OpenedFolders:
    """The folders that a workbench was started for; relative paths start at the first."""

    folders: tuple[Path, ...]

    @property
    def home(self) -> Path:
        """Where relative paths start."""
        return self.folders[0]

    def resolve(self, named: str) -> Path:
        """A path that a page names, or a pattern; neither it nor a link that it follows leads out of the folders."""
        if not named.strip() or "\0" in named:
            raise UsageError("no path is named", "type a path", code="SF-USAGE-412")
        try:
            path = (self.home / os.path.expanduser(named.strip())).resolve()  # noqa: PTH111 - of nobody: as it stands
            there = _exists(path)
        except (OSError, RuntimeError, ValueError):  # links in a circle, a name that no file can have
            raise _unreadable() from None
        self._refuse_outside(path)
        if not there and has_magic(str(path)):
            for found in self._matches(path):
                self._refuse_outside(found)
        return path

    def source(self, named: str) -> str:
        """The source that a page names: an address as it is, or a path, relative to the first folder.

        An address may name a file as well, and that is held to the opened folders like any path.
        """
        if "://" not in named:
            return file_argument(self.resolve(named), self.home)
        parts = urlsplit(named)
        files = [unquote(parts.path).removeprefix("/")] if parts.scheme.lower() == "duckdb" else []
        files += [path for path in parse_qs(parts.query).get("path", []) if not parts.netloc]
        files += [path for path in parse_qs(parts.query).get("scratch", []) if not parts.netloc]
        if parts.scheme.lower() == "file":
            files += [unquote(parts.path)]
        for file in files:
            self._refuse_address(unquote(urlsplit(file).path) if "://" in file else file)
        return named

    def _refuse_address(self, file: str) -> None:
        """An engine reads the text itself, by rules of its own: nothing in it may have a meaning but that of a path."""
        if _MARKS.intersection(file):
            raise UsageError(
                "the file in this address is a pattern",
                "name one file or folder, or open the files by their path",
                code="SF-USAGE-921",
            )
        path = self.resolve(file)
        if file.startswith("~"):
            self._refuse_outside(self.home / file)  # to some engines this is a plain name
        if path.is_dir():
            for inner in path.rglob("*"):
                if inner.is_symlink():
                    self._refuse_outside(inner)

    def _matches(self, path: Path) -> Iterator[Path]:
        """What a command may find by a pattern, from the folder of a study or from the first folder."""
        patterns = {os.path.join(escape(str(self.home)), os.path.relpath(path, self.home))}  # noqa: PTH118 - no path
        for folder in self.folders:
            if path.is_relative_to(folder.resolve()):
                inner = path.relative_to(folder.resolve())
                patterns.add(os.path.join(escape(str(folder.resolve())), inner))  # noqa: PTH118
        for pattern in patterns:
            yield from map(Path, glob(pattern, recursive=True))  # noqa: PTH207 - of any root

    def _refuse_outside(self, path: Path) -> None:
        try:
            real = path.resolve()
        except (OSError, RuntimeError):
            raise _unreadable() from None
        inside = [real.relative_to(top) for top in map(Path.resolve, self.folders) if real.is_relative_to(top)]
        if not inside:
            raise UsageError(
                "the path is not below a folder that the workbench was started for",
                "start it with `sfumato serve --folder FOLDER`, or choose another file",
                code="SF-USAGE-413",
            )
        if any(part.startswith("~") for one in inside for part in one.parts):
            raise UsageError(
                "a part of the path starts with '~', which commands may take for a home folder",
                "rename that file or folder, or open another one",
                code="SF-USAGE-922",
            )


def file_argument(path: Path, folder: Path) -> str:
    """A file as a command that works in a folder takes it: one that is called `duckdb:x` is no address to it.

    >>> file_argument(Path("/data/visits.csv"), Path("/data")), file_argument(Path("/data/a:b.csv"), Path("/data"))
    ('visits.csv', './a:b.csv')
    """
    relative = Path(os.path.relpath(path, folder)).as_posix()
    return f"./{relative}" if ":" in relative else relative


def _exists(path: Path) -> bool:
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _unreadable() -> UsageError:
    return UsageError("the path cannot be followed", "check the path, and the links in it", code="SF-USAGE-923")
