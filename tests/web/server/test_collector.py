"""The workbench looks for garbage seldom, still frees it, and leaves the process as it was."""

import gc
import weakref

from sfumato.web.server.collector import keep_imports, seldom_collected


class Ring:
    """An object that refers to itself: only the collector frees it."""

    def __init__(self):
        self.itself = self


def test_the_collector_is_as_before_once_the_workbench_has_ended():
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with seldom_collected():
        keep_imports()
        assert gc.get_threshold()[0] > before[0]
        assert gc.get_freeze_count() > frozen
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0


def test_garbage_is_freed_while_the_workbench_runs():
    with seldom_collected():
        keep_imports()
        ring = weakref.ref(Ring())
        kept = [[] for _ in range(2 * gc.get_threshold()[0])]  # an edit makes as many objects: nobody asks to collect
        assert ring() is None
    assert kept
