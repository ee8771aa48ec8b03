"""The walk of a release through the code: which files take part, in call order, and which file calls which.

    python tools/walk.py diffgen [--pairs] [--report]

The release is of the packaged table. A file takes part when one of its functions is called; what runs while modules are
imported does not count. A pair is a file that calls a function of another one, with libraries between them skipped.
Files that are first called after the ledger entry is completed are marked: a release should need none.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import sfumato

SOURCE = str(Path(sfumato.__file__).parent) + "/"
METHODS: dict[str, Callable[[], Any]] = {
    "diffgen": lambda: sfumato.DiffGen(epsilon=1, h=10),
    "mondrian": lambda: sfumato.Mondrian(k=10),
}
_IMPORTING = {"<module>", "<lambda>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}


class Walk:
    """Files in the order of their first call, pairs of caller and callee, and what was first called when it was out."""

    def __init__(self, completes: str) -> None:
        self.files: dict[str, bool] = {}
        self.pairs: set[tuple[str, str]] = set()
        self._completes = completes
        self._out = False

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """A profiling function, called by the interpreter."""
        code = frame.f_code
        if not code.co_filename.startswith(SOURCE) or code.co_name == "<module>" or _builds_class(frame):
            return
        if event == "return" and code.co_name == self._completes:
            self._out = True
        if event != "call":
            return
        here = code.co_filename.removeprefix(SOURCE)
        self.files.setdefault(here, self._out)
        caller = _caller(frame)
        if caller not in {None, here}:
            self.pairs.add((str(caller), here))


def _builds_class(frame: FrameType) -> bool:
    """Whether this is the body of a class, which runs once, when its module is imported."""
    return "__qualname__" in frame.f_locals and "__module__" in frame.f_locals


def _caller(frame: FrameType) -> str | None:
    back = frame.f_back
    while back is not None:
        code = back.f_code
        if code.co_filename.startswith(SOURCE) and code.co_name not in _IMPORTING:
            return code.co_filename.removeprefix(SOURCE)
        back = back.f_back
    return None


def walk(method: str, *, report: bool) -> Walk:
    """Make the release and watch it."""
    found = Walk(completes="complete")
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(Path(SOURCE) / "data" / "adult", Path(folder) / "adult")
        study = sfumato.Study.load(copy / "study.yaml")
        chosen = METHODS[method]()
        sys.setprofile(found)
        try:
            study.release(chosen, out=Path(folder) / "out", report=report)
        finally:
            sys.setprofile(None)
    return found


def main() -> None:
    """Print the walk."""
    parser = argparse.ArgumentParser(description="The walk of a release through the code.")
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("--pairs", action="store_true", help="print which file calls which")
    parser.add_argument("--report", action="store_true", help="with the owner's report")
    asked = parser.parse_args()
    found = walk(asked.method, report=asked.report)
    for number, (name, late) in enumerate(found.files.items(), 1):
        print(f"{number:>4}  {name}{'   first called when the entry was complete' if late else ''}")
    if asked.pairs:
        for caller, callee in sorted(found.pairs):
            print(f"      {caller} -> {callee}")
    after = sum(found.files.values())
    print(f"{len(found.files)} files, {len(found.pairs)} pairs; {after} files first called when the entry was complete")


if __name__ == "__main__":
    main()
