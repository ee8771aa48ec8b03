"""How often the values that privacy models look at occur in a table that does not fit here, one attribute each."""

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.domains.counts import TableParts
from sfumato.domains.domain import Domain
from sfumato.memory_limit import collecting
from sfumato.methods.grouping.partitioning import needed_attributes, no_boxes
from sfumato.privacy.groups.statistics import Statistics, ValueCounts, ValueTotals
from sfumato.privacy.models import GroupModel
from sfumato.release.partition import people_in
from sfumato.study.view import View


def table_totals(counts: TableParts, domains: Mapping[str, Domain]) -> dict[str, ValueTotals]:
    """The totals of some attributes; values are as many as their domain has at most, and refused if they do not fit."""
    found: dict[str, ValueTotals] = {}
    with collecting("for privacy models, the values of a sensitive attribute are compared with those of each group"):
        for name, domain in domains.items():
            cells = counts.cells([name], {}, limited=True)
            found[name] = ValueTotals.of(cells.codes[:, 0], cells.counts, domain.size)
    return found


def whole_statistics(view: View, counts: TableParts, models: Sequence[GroupModel]) -> Statistics:
    """What these models see of the whole table as one group, as `statistics_of` says it of cells."""
    domains = {name: view.domain(name) for name in needed_attributes(view, models)}
    totals, boxes = table_totals(counts, domains), no_boxes(1)
    counted = {
        name: ValueCounts.of(np.zeros(len(one), np.int64), one.values, one.counts, groups=1, size=one.size)
        for name, one in totals.items()
    }
    return Statistics(
        np.array([counts.records]),
        counted,
        {**{a.name: view.domain(a.name) for a in view.quasi}, **domains},
        totals,
        population=None if view.people is None else people_in(boxes, view.people),
        boxes=boxes,
    )
