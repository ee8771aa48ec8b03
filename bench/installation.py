"""How large an installation is and how quickly it starts: the table of docs/how-to/install.md.

    python -m bench.installation

Sizes are those of the files that the installed distributions list, by the requirements of pyproject.toml, so the locked
versions are measured; compiled modules that Python writes later are not counted. Times are the least of five runs, each
in an interpreter of its own.
"""

import subprocess
import sys
import tempfile
import time
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
EXTRAS = ("plots", "postgres", "spark", "web")
MEGABYTE = 10**6
_RUNS = 5


def closure(requirements: list[str], known: frozenset[str] = frozenset()) -> set[str]:
    """The names of all distributions that requirements bring, with those that they need themselves."""
    found: set[str] = set()
    todo = [(Requirement(text), "") for text in requirements]
    while todo:
        one, extra = todo.pop()
        if one.marker is not None and not one.marker.evaluate({"extra": extra}):
            continue
        name = one.name.lower().replace("_", "-")
        if name == "sfumato":
            todo += [(Requirement(text), "") for each in one.extras for text in _declared()[1][each]]
            continue
        new = name not in found
        found.add(name)
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        if new or one.extras:
            todo += [(Requirement(text), asked) for text in needs for asked in (*one.extras, "")]
    return found - known


def size(names: set[str]) -> int:
    """The bytes of the files of some distributions, without compiled modules."""
    total = 0
    for name in names:
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:
            continue
        total += sum(file.size or 0 for file in files if not str(file).endswith(".pyc"))
    return total


def fastest(*command: str) -> float:
    """The least seconds of some runs of a command."""
    times = []
    for _ in range(_RUNS):
        began = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True, capture_output=True)  # noqa: S603 - our own
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    """Print the table."""
    core, extras = _declared()
    base = closure(core)
    rows = [("core", len(base), size(base) / MEGABYTE)]
    for extra in EXTRAS:
        more = closure(extras[extra], frozenset(base))
        rows.append((f"with `{extra}`, more", len(more), size(more) / MEGABYTE))
    print("| part | libraries | MB, unpacked |\n|---|---|---|")
    for name, count, megabytes in rows:
        print(f"| {name} | {count} | {megabytes:,.0f} |")
    largest = sorted(((size({name}) / MEGABYTE, name) for name in base), reverse=True)[:6]
    print("\nlargest of the core:", ", ".join(f"{name} {megabytes:.0f}" for megabytes, name in largest))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-d", folder]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)  # noqa: S603 - our own
        for file in sorted(Path(folder).iterdir()):
            print(f"{file.name}: {file.stat().st_size / MEGABYTE:.1f} MB")
    bare = fastest("-c", "pass")
    print(f"an interpreter that does nothing: {bare:.2f} s")
    print(f"import sfumato: {fastest('-c', 'import sfumato') - bare:.2f} s more")
    print(f"sfumato --help: {fastest('-m', 'sfumato', '--help'):.2f} s")


def _declared() -> tuple[list[str], dict[str, list[str]]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return project["dependencies"], project["optional-dependencies"]


if __name__ == "__main__":
    main()
