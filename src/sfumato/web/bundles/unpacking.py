"""A bundle in a ZIP file from anybody: only the files of one folder are unpacked, counted byte by byte."""

import shutil
import stat
import tempfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from sfumato.errors import SourceError, VerifyError
from sfumato.release.bundle.atomic_files import MANIFEST

_MOST_FILES: Final = 10_000
_LONGEST_ENTRY: Final = 400  # bytes in the directory of a ZIP file, on average
_CHUNK: Final = 1 << 20
_AGAIN: Final = "do not use it, and get the bundle again from who published it"


def unpack_bundle(archive: Path, into: Path, *, most: int, left_free: int = 0) -> Path:
    """Unpack the folder of a ZIP file that holds manifest.json into a new folder, and return that.

    ``most`` bounds the bytes that are written, whatever sizes the archive states; ``left_free`` are bytes of the disk
    that are left to others. Names that are not those of a plain
    file in that one folder are not unpacked; links, and encrypted files, are refused.
    """
    into.mkdir(mode=0o700, exist_ok=True, parents=True)
    target = Path(tempfile.mkdtemp(dir=into))
    try:
        _unpack(archive, target, most, left_free)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    return target


def _unpack(archive: Path, target: Path, most: int, left_free: int) -> None:
    try:
        _refuse_many(archive)
        with ZipFile(archive) as opened:
            left = most
            for name, info in _wanted(opened).items():
                left = _write(opened, info, target / name, left, left_free)
    except (BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error):
        raise VerifyError("the ZIP file cannot be read", _AGAIN, code="SF-VERIFY-431") from None


def _refuse_many(archive: Path) -> None:
    """Look at the end of the file, where the size of its directory stands: all of that is read into memory."""
    with archive.open("rb") as file:
        found = zipfile._EndRecData(file)  # type: ignore[attr-defined]  # noqa: SLF001 - it is there in every version
    if found is None:
        raise BadZipFile
    if found[zipfile._ECD_SIZE] > _MOST_FILES * _LONGEST_ENTRY:  # type: ignore[attr-defined]  # noqa: SLF001
        raise _too_many()


def _too_many() -> VerifyError:
    return VerifyError(f"the ZIP file has more than {_MOST_FILES:,} files", _AGAIN, code="SF-VERIFY-432")


def _wanted(opened: ZipFile) -> dict[str, ZipInfo]:
    """The files of the one folder with manifest.json, by their names in it."""
    every = opened.infolist()
    if len(every) > _MOST_FILES:
        raise _too_many()
    homes = sorted({str(PurePosixPath(info.filename).parent) for info in every if _name(info) == MANIFEST})
    if len(homes) != 1:
        found = "no" if not homes else "more than one"
        raise VerifyError(
            f"the ZIP file holds {found} {MANIFEST}", "give one bundle in a ZIP file", code="SF-VERIFY-433"
        )
    inside = {_name(info): info for info in every if str(PurePosixPath(info.filename).parent) == homes[0]}
    for name, info in inside.items():
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) and not info.is_dir():
            raise VerifyError("the ZIP file holds a link or a device", _AGAIN, code="SF-VERIFY-434")
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # others take as much memory as the file asks for
            raise VerifyError(
                "the ZIP file is packed in an unusual way",
                "unpack it by another program, and open the folder",
                code="SF-VERIFY-641",
            )
        assert "/" not in name, "the last part of a path"
    return {name: info for name, info in inside.items() if not info.is_dir() and _plain(name)}


def _name(info: ZipInfo) -> str:
    return PurePosixPath(info.filename).name


def _plain(name: str) -> bool:
    """Whether a name is that of a file in a folder, on every system."""
    return bool(name) and name not in {".", ".."} and not any(c in name for c in '/\\:\0<>|"?*')


def _write(opened: ZipFile, info: ZipInfo, place: Path, left: int, left_free: int) -> int:
    """Unpack one file; an error once more bytes come out than may, or than the disk has room for."""
    with opened.open(info) as source, place.open("xb") as out:
        while chunk := source.read(_CHUNK):
            left -= len(chunk)
            if left < 0:
                raise VerifyError("the ZIP file unpacks to too many bytes", _AGAIN, code="SF-VERIFY-435")
            if shutil.disk_usage(place.parent).free < left_free + len(chunk):
                raise SourceError(
                    "there is too little space on the disk to unpack the ZIP file",
                    "unpack it where there is room, and open the folder",
                    code="SF-SOURCE-921",
                )
            out.write(chunk)
    return left
