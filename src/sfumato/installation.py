"""What is installed and whether the files here can be worked with: what `sfumato doctor` looks at.

It uses the standard library alone, so that it can say what is missing of an installation that does not work. Nothing is
read but names, versions and permissions: no table, no study, no ledger.
"""

import os
import platform
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Final

from sfumato.errors import SfumatoError

EXTRAS: Final = {
    "plots": "the plot of a frontier, as a page or a picture",
    "postgres": "a table or a ledger in PostgreSQL",
    "spark": "a table of Spark",
    "web": "the workbench, `sfumato serve`",
}
"""The optional parts, and what each is for."""

OLDEST: Final = (3, 11)
_OTHERS: Final = 0o022  # who is not the owner of a file may write it
_NOT_OWNER: Final = 0o077  # who is not the owner may read, write or enter it
_REPOSITORY: Final = ("pyproject.toml", "tests", "src")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at. Not being ``ok`` is a problem, and ``fix`` says what to do."""

    area: str
    name: str
    said: str
    ok: bool = True
    there: bool = True  # whether what may be missing is there
    fix: str = ""

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "area": self.area,
            "name": self.name,
            "ok": self.ok,
            "there": self.there,
            "said": self.said,
            "fix": self.fix or None,
        }


def examine(folder: Path) -> list[Finding]:
    """Versions, optional parts, programs of the system where they matter, and the permissions of files in a folder."""
    return [*_versions(), *_extras(), *_programs(), *_permissions(folder)]


def how_to_install(extra: str) -> str:
    """How to get an optional part. Sfumato is on no package index, so not by its name alone.

    >>> how_to_install("spark")
    "install the extra `spark`: pip install '.[spark]' in a clone of Sfumato"
    """
    return f"install the extra `{extra}`: pip install '.[{extra}]' in a clone of Sfumato"


def ledger_findings(*paths: Path) -> list[Finding]:
    """Permissions of the files of a ledger that is not in the folder that was looked at."""
    return [_ledger(path) for path in paths if path.exists()]


def _versions() -> Iterator[Finding]:
    running = platform.python_version()
    yield Finding(
        area="versions", name="python", said=running, ok=sys.version_info >= OLDEST,
        fix="" if sys.version_info >= OLDEST else f"install Python {OLDEST[0]}.{OLDEST[1]} or newer",
    )  # fmt: skip
    yield Finding(area="versions", name="sfumato", said=_version("sfumato") or "runs from a folder, not installed")
    for name, wanted in _required(None):
        yield _required_finding(name, wanted)


def _required_finding(name: str, wanted: str) -> Finding:
    found = _version(name)
    if found is None:
        return Finding(
            area="versions", name=name, said="not installed, and nothing works without it", ok=False,
            fix=f"pip install '{name}{wanted}'",
        )  # fmt: skip
    fits = _fits(found, wanted)
    return Finding(
        area="versions", name=name, said=found if fits else f"{found}, and {wanted} is needed", ok=fits,
        fix="" if fits else f"pip install '{name}{wanted}'",
    )  # fmt: skip


def _extras() -> Iterator[Finding]:
    for extra, purpose in EXTRAS.items():
        parts = {name: _version(name) for name, _ in _required(extra)}
        lacking = [name for name, found in parts.items() if found is None]
        if lacking or not parts:
            said = f"not installed; for {purpose}: {how_to_install(extra)}"
        else:
            said = f"{', '.join(f'{name} {found}' for name, found in parts.items())}; for {purpose}"
        yield Finding(area="optional parts", name=extra, said=said, there=not lacking and bool(parts))


def _programs() -> Iterator[Finding]:
    """Programs that the installed parts need; in a clone of the repository also those that the tests start."""
    if _version("pyspark") is not None:
        java = _java()
        yield Finding(
            area="programs", name="java", said=java or "not found, and Spark needs it", ok=java is not None,
            fix="" if java else "install Java 17, or set JAVA_HOME to where it is",
        )  # fmt: skip
    root = Path(__file__).parents[2]
    if all((root / name).exists() for name in _REPOSITORY):
        servers = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin/postgres")))
        server = next(iter([*_in_path("postgres"), *servers]), None)
        browser = next(iter(_in_path("chromium", "chromium-browser", "google-chrome")), None)
        for name, found in (("postgresql", server), ("chromium", browser)):
            said = found or "not found: the tests that start it are skipped"
            yield Finding(area="programs", name=f"{name} (for tests)", said=said, there=found is not None)


def _in_path(*names: str) -> list[str]:
    return [found for name in names if (found := shutil.which(name)) is not None]


def _java() -> str | None:
    """The version of Java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if java is None or not Path(java).exists():
        return None
    try:
        ran = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603 - the system's own
    except (OSError, subprocess.TimeoutExpired):
        return None
    return (ran.stderr or ran.stdout).partition("\n")[0].strip() or "found"


def _permissions(folder: Path) -> Iterator[Finding]:
    """Whether the folder takes new files, its owner alone can write its ledgers, and owners' files are private."""
    writable = os.access(folder, os.W_OK | os.X_OK)
    yield Finding(
        area="files", name=str(folder), said="files can be made here" if writable else "no file can be made here",
        ok=writable, fix="" if writable else "work in a folder of your own, or change its permissions",
    )  # fmt: skip
    for ledger in sorted((*folder.glob("*.ledger.sqlite"), *folder.glob("*.ledger*.head"))):
        yield _ledger(ledger)
    if os.name != "nt":  # where these bits say nothing
        for private in sorted((*folder.glob("releases/*/owner"), *folder.glob("*/owner"), *folder.glob("frontier"))):
            if private.is_dir():
                yield _private(private)


def _ledger(path: Path) -> Finding:
    name = path.name
    if not os.access(path, os.R_OK | os.W_OK):
        return Finding(
            area="files", name=name, said="cannot be read and written, so nothing can be spent", ok=False,
            fix=f"chmod u+rw '{path}', or ask its owner",
        )  # fmt: skip
    if os.name != "nt" and stat.S_IMODE(path.stat().st_mode) & _OTHERS:
        return Finding(
            area="files", name=name, said="others may change it: whoever does can hide what was spent", ok=False,
            fix=f"chmod go-w '{path}'",
        )  # fmt: skip
    return Finding(area="files", name=name, said="can be read and written by you, and changed by nobody else")


def _private(path: Path) -> Finding:
    name = str(path.relative_to(path.parents[2] if path.parent.parent.name == "releases" else path.parents[1]))
    if stat.S_IMODE(path.stat().st_mode) & _NOT_OWNER:
        return Finding(
            area="files", name=name, said="others may look into it, and it holds what was computed from raw records",
            ok=False, fix=f"chmod -R go-rwx '{path}'",
        )  # fmt: skip
    return Finding(area="files", name=name, said="only you may look into it")


def _required(extra: str | None) -> list[tuple[str, str]]:
    """The requirements of an optional part, or those that every installation has: each with its versions."""
    try:
        from packaging.requirements import Requirement  # noqa: PLC0415 - it may be what is missing

        written = [Requirement(text) for text in requires("sfumato") or ()]
    except (ImportError, PackageNotFoundError):
        return []
    found = []
    for one in written:
        always = one.marker is None or one.marker.evaluate({"extra": ""})
        asked = extra is not None and one.marker is not None and one.marker.evaluate({"extra": extra})
        if one.name != "sfumato" and (always if extra is None else asked and not always):
            found.append((one.name, str(one.specifier)))
    return found


def _fits(found: str, wanted: str) -> bool:
    from packaging.specifiers import SpecifierSet  # noqa: PLC0415 - `_required` has found it

    return SpecifierSet(wanted).contains(found, prereleases=True)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def problem_of(error: SfumatoError, *, area: str, name: str) -> Finding:
    """An error of ours as a finding."""
    return Finding(area=area, name=name, said=error.problem, ok=False, fix=error.fix)
