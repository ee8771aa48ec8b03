"""What the owner learns about a release under a cap: how far records had to go, which were lost, how close it was."""

from typing import Any

import numpy as np

from sfumato.domains.range_text import range_text
from sfumato.methods.capped_confidence.climb import ROOT_FAILED, TOO_DISTORTED, Climb
from sfumato.methods.grouping.partitioning import statistics_of
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import CappedConfidence, GroupModel
from sfumato.privacy.models.capped_confidence import Confidences
from sfumato.release.partition import Partition
from sfumato.study.view import View

_CELLS = 50  # of the picture, each way
_WORST = 20
_DIGITS = 4


def owner_facts(view: View, partition: Partition, climb: Climb, models: tuple[GroupModel, ...]) -> dict[str, Any]:
    """Numbers from the raw table, for the owner's report and nowhere else; their size does not grow with the table."""
    live = np.flatnonzero(climb.sizes)
    steps, place = np.unique(climb.distortions(live).round(_DIGITS), return_inverse=True)
    records = np.bincount(place.ravel(), weights=climb.sizes[live], minlength=len(steps))
    model = models[0]
    assert isinstance(model, CappedConfidence), "the cap by the shares that the release shows"
    groups = statistics_of(view, partition, (model,))
    return {
        "distortion": [
            {"distortion": float(step), "records": int(count)} for step, count in zip(steps, records, strict=True)
        ],
        "suppressed": {
            "nothing left to generalise": climb.suppressed[ROOT_FAILED],
            "more distortion than allowed": climb.suppressed[TOO_DISTORTED],
        },
        "confidence": [_pictured(view, groups, of, climb.rate) for of in model.confidences(groups)],
    }


def _pictured(view: View, groups: Statistics, of: Confidences, rate: float) -> dict[str, Any]:
    """Records by expected (across) and observed confidence (up), and the pairs that are closest to the cap."""
    cells, _, _ = np.histogram2d(
        of.expected, of.observed, bins=_CELLS, range=((0.0, 1.0), (0.0, 1.0)), weights=of.counts
    )
    across, up = np.nonzero(cells)
    room = of.expected - of.observed
    worst = np.argsort(room, kind="stable")[:_WORST]
    return {
        "attribute": of.attribute,
        "uncapped": int(of.counts[of.expected >= rate].sum()),  # whatever their share of a group, it would do
        "cells": _CELLS,
        "records": [[int(x), int(y), int(cells[x, y])] for x, y in zip(across, up, strict=True)],
        "closest": [_closest(view, groups, of, int(pair)) for pair in worst],
    }


def _closest(view: View, groups: Statistics, of: Confidences, pair: int) -> dict[str, Any]:
    boxes, group, code = groups.boxes, int(of.group[pair]), int(of.values[pair])
    assert boxes is not None, "the groups of a partition have regions"
    regions = {
        name: range_text(view.domain(name), int(boxes.starts[group, n]), int(boxes.stops[group, n]))
        for n, name in enumerate(boxes.attributes)
    }
    return {
        "value": range_text(view.domain(of.attribute), code, code + 1),
        "records": int(of.counts[pair]),
        "group": int(groups.sizes[group]),
        "observed": round(float(of.observed[pair]), _DIGITS),
        "expected": round(float(of.expected[pair]), _DIGITS),
        "regions": regions,
    }
