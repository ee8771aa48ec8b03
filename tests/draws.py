"""Tells of every draw that no seed repeats: the operating system's bits, opendp's noise, generators without a seed.

A draw is noted where it is made, whoever asked for it. Modules that are not imported yet are watched once they are, so
that watching imports nothing: some tests look at what an import brings along. Child processes write their notes to a
file, see `tests/in_children/sitecustomize.py`.
"""

import functools
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder
from pathlib import Path

FILE = "SFUMATO_TESTS_DRAWS"  # the environment variable that names the file of a child's notes
IN_CHILDREN = Path(__file__).parent / "in_children"
ROOT = str(Path(__file__).parents[1])


def _always(*_, **__):
    return True


def _from_here(*_, **__):
    """Whether no library calls: those draw, when they are imported, what shows nowhere."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return not _of_a_library(frame.f_code.co_filename)


def _of_a_library(file):
    return file.startswith(("<frozen", os.path.dirname(os.__file__))) or "site-packages" in file  # noqa: PTH120 - quick


def _without_seed(seed=None, **_):
    return seed is None and _from_here()


# Module, the class in it (or none), what is called there, and whether the call draws what no seed repeats. The global
# generators are seeded for each test. Tokens are not watched: they name temporary files, and nothing is read off them.
WATCHED = (
    ("sfumato.privacy.dp.sampling", "SecureSource", ("bits", "uint64"), _always),
    ("opendp.mod", "Measurement", ("__call__", "invoke"), _always),
    ("numpy.random", None, ("default_rng",), _without_seed),
    ("random", "SystemRandom", ("random",), _from_here),
    ("secrets", None, ("randbelow", "choice"), _from_here),
)


def watch(note):
    """Call ``note`` with the name of the function at each draw from now on."""
    for module in {module for module, *_ in WATCHED}:
        if module in sys.modules:
            _watch_module(sys.modules[module], note)
    sys.meta_path.insert(0, _WatchedOnImport(note))


def _watch_module(module, note):
    for name, owner, calls, draws in WATCHED:
        if name == module.__name__:
            for call in calls:
                _watch_call(getattr(module, owner) if owner else module, call, draws, note)


def _watch_call(owner, name, draws, note):
    real = getattr(owner, name)

    @functools.wraps(real)
    def watched(*given, **more):
        if draws(*given, **more):
            note(f"{owner.__name__}.{name}")
        return real(*given, **more)

    setattr(owner, name, watched)


class _WatchedOnImport(MetaPathFinder):
    """Finds the modules to be watched as ever, and has them watched as soon as their code has run."""

    def __init__(self, note):
        self.note = note

    def find_spec(self, name, path=None, target=None):
        if all(name != module for module, *_ in WATCHED):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_and_watch(module):
                run(module)
                _watch_module(module, self.note)

            spec.loader.exec_module = run_and_watch
        return spec


def asked_from():
    """The file and line of the repository that asked for a draw: the nearest one that is not about watching."""
    watching = (__file__, str(Path(__file__).with_name("error_rates.py")))
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(ROOT) and not _of_a_library(file) and file not in watching:
            return f"{file[len(ROOT) + 1 :]}:{frame.f_lineno}"
        frame = frame.f_back
    return "outside the repository"


def write_notes(file):
    """In a child process: a line in ``file`` at the first draw. Who started the child empties it for the next test."""

    def note(what):
        try:
            if os.stat(file).st_size == 0:  # noqa: PTH116 - at every draw, so quickly
                Path(file).write_text(f"{what}, in a child process, asked from {asked_from()}", encoding="utf-8")
        except FileNotFoundError:  # the test that wanted to know is over
            return

    watch(note)
