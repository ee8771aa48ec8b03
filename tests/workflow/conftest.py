"""What several tests of the workflows look at."""

import pytest

from sfumato.workflow import sweep as running


@pytest.fixture
def made(monkeypatch):
    """The labels of the drafts that are made."""
    labels = []
    make = running.make_point

    def count(table, point):
        labels.append(point.label)
        return make(table, point)

    monkeypatch.setattr(running, "make_point", count)
    return labels
