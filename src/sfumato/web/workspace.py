"""What the owner has opened: studies by short keys, bundles, and tables that were dropped on the page."""

import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from starlette.concurrency import run_in_threadpool

from sfumato.errors import SourceError, UsageError, unwritable
from sfumato.file_names import file_stem
from sfumato.web.bundles.bundle_reader import BundleReaders
from sfumato.web.bundles.unpacking import unpack_bundle
from sfumato.web.editing.study_document import StudyDocument
from sfumato.web.jobs import Job, Jobs, path_argument
from sfumato.web.server.opened_folders import OpenedFolders
from sfumato.web.server.private_folder import PrivateFolder
from sfumato.web.server.settings import Settings
from sfumato.web.session_options import SessionOptions

_AT_ONCE: Final = 1 << 20  # bytes of an upload that are written at once
_LEFT_FREE: Final = 1 << 29  # bytes of the disk that uploads leave to others
_MOST_UNPACKED: Final = 2  # bundles of ZIP files that are kept unpacked


@dataclass(eq=False)
class OpenStudy:
    """A study file that is open on the page, and the job that described its table."""

    key: str
    path: Path
    options: SessionOptions = field(default_factory=SessionOptions)
    described: Job | None = None
    cache: dict[str, Any] = field(default_factory=dict)  # what pages computed for one version of the file
    editing: threading.Lock = field(default_factory=threading.Lock, repr=False)  # edits of pages go one after another
    tour: bool = False  # whether pages say what to do next

    def document(self) -> StudyDocument:
        """The file as it is now."""
        return StudyDocument.read(self.path)

    @property
    def profile(self) -> dict[str, Any] | None:
        """What `describe` found in the table, for the owner's eyes; None while it runs, or if it failed."""
        return self.described.result if self.described is not None and self.described.state == "done" else None


class Workspace:
    """Everything that pages share. Paths come from pages, so each is held to the folders that were opened."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.opened = OpenedFolders(settings.folders)
        self._folder = PrivateFolder()
        self.private = self._folder.path
        self.options = SessionOptions(settings.memory_limit)
        self.jobs = Jobs(self.private, hold=self._folder.handle, options=self.options)
        self.readers = BundleReaders(temporary=self.private)
        self._lock = threading.Lock()  # pages are made in threads
        self._studies: dict[str, OpenStudy] = {}
        self._bundles: dict[str, Path] = {}
        self._unpacked: dict[tuple[Path, int, int], Path] = {}  # ZIP files as they were, the oldest first
        self._unpacking = threading.Lock()
        if settings.begin is not None:
            self.open_study(settings.begin)

    @property
    def home(self) -> Path:
        """The folder that relative paths start at, and that new studies are written to."""
        return self.opened.home

    def resolve(self, named: str) -> Path:
        """A path that a page names, below an opened folder; links that lead out of it are refused."""
        return self.opened.resolve(named)

    def resolve_source(self, named: str) -> str:
        """The source that a page names: an address as it is, or a path, relative to the folder of new studies."""
        return self.opened.source(named)

    def open_study(self, path: Path) -> OpenStudy:
        """A study file by its path."""
        if not path.is_file():
            raise UsageError(f"there is no file '{path.name}' there", "check the path", code="SF-USAGE-414")
        key = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
        with self._lock:
            if key not in self._studies:
                self._studies[key] = OpenStudy(key, path, self.options)
            return self._studies[key]

    def study(self, key: str) -> OpenStudy:
        """An open study by its key."""
        if key not in self._studies:
            raise UsageError("this study is not open", "open it on the start page", code="SF-USAGE-415")
        return self._studies[key]

    @property
    def studies(self) -> list[OpenStudy]:
        """All open studies, the newest first."""
        return list(self._studies.values())[::-1]

    def describe(self, study: OpenStudy, source: str) -> Job:
        """Start to describe the table of a study; the result is for the owner's eyes."""
        with self._lock:
            if study.described is not None and study.described.state == "running":
                return study.described
            return self._describe(study, source)

    def _describe(self, study: OpenStudy, source: str) -> Job:
        study.described = self.jobs.start(
            "describe", ["describe", path_argument(source)], cwd=study.path.parent, study=study.key
        )
        return study.described

    def new_study(self, source: str, *, name: str) -> OpenStudy:
        """A new study file for a table, with nothing declared yet."""
        stem = file_stem(name) or "study"
        for path in _numbered(self.home, stem):
            text = (
                "# Made on the workbench. A column is released only with a role that you confirmed.\n"
                f"name: {path.stem}\nsource: {_quoted(source)}\nprivacy: {{unit: record}}\nattributes: {{}}\n"
            )
            try:
                with path.open("x", encoding="utf-8") as file:  # two pages at once get two studies
                    file.write(text)
            except FileExistsError:
                continue
            except OSError as error:
                raise unwritable(path, error) from None
            break
        return self.open_study(path)

    def begin_study(self, source: str, *, name: str) -> OpenStudy:
        """A new study for a table that is described from now on; if that is refused, no file of it stays."""
        study = self.new_study(source, name=name)
        try:
            self.describe(study, source)
        except BaseException:
            self.close_study(study)
            study.path.unlink(missing_ok=True)
            raise
        return study

    def close_study(self, study: OpenStudy) -> None:
        """Let go of a study; its file stays."""
        with self._lock:
            self._studies.pop(study.key, None)

    def open_bundle(self, path: Path) -> str:
        """The key of a bundle by its folder."""
        key = hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
        self._bundles[key] = path
        return key

    def unpack(self, archive: Path) -> Path:
        """The folder that a ZIP file was unpacked to. Few are kept, since each may be as large as a table."""
        facts = archive.stat()
        stamp = (archive, facts.st_mtime_ns, facts.st_size)
        with self._unpacking:
            folder = self._unpacked.pop(stamp, None)
            if folder is None:
                while len(self._unpacked) >= _MOST_UNPACKED:
                    self._remove_unpacked(self._unpacked.pop(next(iter(self._unpacked))))
                into, most = self.private / "bundles", self.settings.most_uploaded
                folder = unpack_bundle(archive, into, most=most, left_free=_LEFT_FREE)
            self._unpacked[stamp] = folder
        return folder

    def _remove_unpacked(self, folder: Path) -> None:
        for key, path in list(self._bundles.items()):
            if path.is_relative_to(folder):
                del self._bundles[key]
                for job in self.jobs.of(key):
                    job.cancel()
                self.readers.forget(path)
        shutil.rmtree(folder, ignore_errors=True)

    def bundle(self, key: str) -> Path:
        """The folder of an open bundle."""
        if key not in self._bundles:
            raise UsageError("this bundle is not open", "open it on the start page", code="SF-USAGE-416")
        return self._bundles[key]

    async def store_upload(self, name: str, chunks: AsyncIterator[bytes], *, stated: int | None = None) -> Path:
        """Keep a table that was dropped on the page until the workbench ends.

        One that is too large is refused: at once if it says how large it is, else when too many bytes have come. So is
        one that would fill the disk.
        """
        if stated is not None:
            self._refuse_large(stated)
        folder = self.private / "uploads"
        folder.mkdir(mode=0o700, exist_ok=True)
        safe = file_stem(Path(name).stem) or "table"
        ending = "".join(
            s for s in Path(name).suffixes[-2:] if s.lower() in {".csv", ".tsv", ".txt", ".gz", ".parquet"}
        )
        path = Path(tempfile.mkdtemp(dir=folder)) / f"{safe}{ending.lower() or '.csv'}"
        size, held = 0, bytearray()
        try:
            with path.open("xb") as out:
                async for chunk in chunks:
                    size += len(chunk)
                    held += chunk
                    if len(held) >= _AT_ONCE or size > self.settings.most_uploaded:
                        self._refuse_large(size)
                        await run_in_threadpool(out.write, bytes(held))  # a slow disk holds up no other page
                        held.clear()
                out.write(held)
        except BaseException:
            shutil.rmtree(path.parent, ignore_errors=True)
            raise
        return path

    def _refuse_large(self, size: int) -> None:
        if size > self.settings.most_uploaded:
            raise SourceError(
                f"the file is larger than {self.settings.most_uploaded // 2**20:,} MiB",
                "open it by its path in place of dropping it here",
                code="SF-SOURCE-420",
            )
        if shutil.disk_usage(self.private).free < _LEFT_FREE:
            raise SourceError(
                "there is too little space on the disk for a copy of the file",
                "open it by its path in place of dropping it here",
                code="SF-SOURCE-641",
            )

    async def close(self) -> None:
        """End jobs that publish nothing, and remove what was uploaded, unless a release that goes on may need it."""
        await self.jobs.close()
        await run_in_threadpool(self.discard)

    def discard(self) -> None:
        """The same where no job has begun."""
        self.readers.close()
        self._folder.let_go()


def _numbered(folder: Path, stem: str) -> Iterator[Path]:
    yield folder / f"{stem}.yaml"
    number = 2
    while True:
        yield folder / f"{stem}-{number}.yaml"
        number += 1


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
