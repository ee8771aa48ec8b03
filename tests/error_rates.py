"""No test is red by chance: one that draws at random says how often it fails although the code is right.

    @pytest.mark.error_rate(1e-9, reason="a chi-square test with this alarm")
    @pytest.mark.error_rate(0, reason="holds for every draw")

A default test that draws without the mark fails here, and tests/contracts/test_error_rates.py adds the stated rates up.
What a wider fixture drew counts for every test that asks for the fixture. The global generators of `random` and numpy
start from the same seed in each test; hypothesis takes the same examples in each run (tests/conftest.py).
"""

import os
import random
import subprocess
import tempfile
from numbers import Real
from pathlib import Path

import numpy as np
import pytest

from tests import draws

MARK = "error_rate"
RATES = pytest.StashKey[dict[str, float]]()
HIGHEST = 1e-5  # of one test; a rate above it is repaired, not stated

# An example in a docstring cannot carry a mark. These draw, and what they show holds for every draw.
DOCTESTS_WITHOUT_RISK = frozenset({
    "sfumato.privacy.dp.sampling.random_below",
    "sfumato.privacy.dp.sampling.random_order",
    "sfumato.privacy.dp.sampling.random_subset",
})  # fmt: skip

MESSAGE = """\
this test draws at random and does not say how often it fails although the code is right.
  It drew by {what}.
  To fix: draw from a seed (InsecureSource(7), numpy.random.default_rng(7), --insecure-seed), or state the rate:
    @pytest.mark.error_rate(1e-9, reason="where the bound comes from")
    @pytest.mark.error_rate(0, reason="holds for every draw")
  On a class or as `pytestmark` of a module it speaks for each test there. See "Tests" in ARCHITECTURE.md."""


class Stated:
    """The mark of a test, checked."""

    def __init__(self, rate=None, *, reason=""):
        if isinstance(rate, bool) or not isinstance(rate, Real) or not 0 <= rate <= HIGHEST:
            raise pytest.UsageError(f"an error rate is a number from 0 to {HIGHEST:g}: error_rate(1e-9, reason=...)")
        if not isinstance(reason, str) or not reason.strip():
            raise pytest.UsageError("an error rate says where it comes from: error_rate(1e-9, reason=...)")
        self.rate = float(rate)

    @classmethod
    def of(cls, item):
        """What the test states, or nothing."""
        mark = item.get_closest_marker(MARK)
        if mark is None:
            return None
        try:
            return cls(*mark.args, **mark.kwargs)
        except (pytest.UsageError, TypeError) as wrong:
            raise pytest.UsageError(f"{item.nodeid}: {wrong}") from None


class Guard:
    """The plugin: watches each test draw, from the set-up of its fixtures to its last line."""

    def __init__(self):
        self.seen = None  # the first draw since the test began
        self.fixtures = {}  # what the wider fixtures drew that are still there
        self.notes = None

    def pytest_configure(self, config):
        handle, name = tempfile.mkstemp(prefix="draws-")
        os.close(handle)
        self.notes = Path(name)
        draws.watch(self.note)
        self.reach_children()

    def pytest_unconfigure(self):
        self.notes.unlink(missing_ok=True)

    def note(self, what):
        """A draw in this process."""
        if self.seen is None:
            self.seen = f"{what}, asked from {draws.asked_from()}"

    def reach_children(self):
        """Have every Python that is started from here write down its draws, whatever environment it is given."""
        ours = {draws.FILE: str(self.notes)}
        os.environ.update(ours, PYTHONPATH=_first(draws.IN_CHILDREN, os.environ))
        start = subprocess.Popen.__init__

        def started(process, *args, env=None, **more):
            if env is not None:
                env = {**env, **ours, "PYTHONPATH": _first(draws.IN_CHILDREN, env)}
            return start(process, *args, env=env, **more)

        subprocess.Popen.__init__ = started

    def drawn(self):
        """What was drawn first since the last `forget`, here or in a child."""
        return self.seen or self.notes.read_text(encoding="utf-8")

    def forget(self):
        self.seen = None
        if self.notes.stat().st_size:
            self.notes.write_text("", encoding="utf-8")

    def pytest_collection_modifyitems(self, items):
        for item in items:
            if item.name in DOCTESTS_WITHOUT_RISK:
                item.add_marker(pytest.mark.error_rate(0, reason="holds for every draw"))

    def pytest_collection_finish(self, session):
        stated = {item.nodeid: Stated.of(item) for item in session.items if item.get_closest_marker("slow") is None}
        session.config.stash[RATES] = {test: said.rate for test, said in stated.items() if said is not None}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.forget()
        random.seed(0)
        np.random.seed(0)  # noqa: NPY002 - the global state that libraries fall back on
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef):
        before, self.seen = self.drawn(), None
        self.forget()
        try:
            return (yield)
        finally:
            if drew := self.drawn():
                self.fixtures[fixturedef] = f"{drew} (fixture '{fixturedef.argname}')"
            else:
                self.fixtures.pop(fixturedef, None)
            self.seen = before or drew or None

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_runtest_call(self, item):
        found = yield  # a test that fails by itself is left to tell why
        drew = self.drawn() or next((self.fixtures[one] for one in _fixtures(item) if one in self.fixtures), None)
        if drew and Stated.of(item) is None and item.get_closest_marker("slow") is None:
            pytest.fail(MESSAGE.format(what=drew), pytrace=False)
        return found


def _first(folder, environment):
    return os.pathsep.join([str(folder), *filter(None, [environment.get("PYTHONPATH")])])


def _fixtures(item):
    """The definitions of all fixtures that a test asks for, directly or by others."""
    info = getattr(item, "_fixtureinfo", None)
    named = info.name2fixturedefs if info is not None else {}
    return [one for several in named.values() for one in several]
