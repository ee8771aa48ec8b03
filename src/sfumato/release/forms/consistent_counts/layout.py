"""The columns of consistent counts: the table of counts, and the measured numbers that they were estimated from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from sfumato.domains.domain import Domain, Grid
from sfumato.privacy.dp.strategies import MOST_CELLS, Strategy, Wavelet, strategy_from
from sfumato.privacy.dp.strategies.strategy import Floats, Integers
from sfumato.release.draft import Draft, EstimatedGroups
from sfumato.release.forms.noisy_counts.count_table import Layout, free_name, layout_from, layout_of
from sfumato.release.forms.tables.layout import TableLayout
from sfumato.release.storage.seal import broken_bundle

MEASURED = "measured"


@dataclass(frozen=True)
class ConsistentLayout:
    """The counts, and what was measured: a strategy over one ordered attribute, in every cell of the other columns."""

    counts: Layout
    ordered: str
    strategy: Strategy
    scale: float

    @property
    def place(self) -> int:
        """Which of the attributes is the ordered one."""
        return self.counts.names.index(self.ordered)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many regions each attribute has, and how many classes there are."""
        return (*(cut.total for cut in self.counts.cuts), self.counts.class_domain.size)

    @cached_property
    def measured(self) -> TableLayout:
        """The table of measured numbers: every node, in every cell of the other attributes and the class."""
        layout, place = self.counts, self.place
        others = [number for number in range(len(layout.names)) if number != place]
        return TableLayout(
            name=MEASURED,
            first=tuple(self._node_labels()),
            first_column=free_name(f"{self.ordered}_{MEASURED}", layout.columns),
            cuts=tuple(layout.cuts[number] for number in others),
            domains=tuple(layout.domains[number] for number in others),
            classes=layout.labels[-1].all if layout.targeted else None,
            class_column=layout.class_name,
            count=layout.count,
            scale=self.scale,
        )

    def estimates(self, measured: Integers) -> Floats:
        """The estimated count of every cell, in the shape of `sizes`; ``measured`` is as the table lists it."""
        rows = measured.reshape(self.strategy.measurements, -1).T.astype(np.float64)
        others = tuple(size for number, size in enumerate(self.sizes) if number != self.place)
        table = self.strategy.estimate(rows).reshape(*others, self.strategy.size)
        return np.moveaxis(table, -1, self.place)

    def rows(self, table: Any) -> Any:
        """A table in the shape of `sizes` as rows of the ordered attribute's cells."""
        return np.moveaxis(np.asarray(table).reshape(self.sizes), self.place, -1).reshape(-1, self.strategy.size)

    def _node_labels(self) -> list[str]:
        cut, domain = self.counts.cuts[self.place], self.counts.domains[self.place]

        def label(start: int, stop: int) -> str:
            return domain.label(cut.range_at(start)[0], cut.range_at(stop - 1)[1])

        if not isinstance(self.strategy, Wavelet):
            return [f"level {level}: {label(start, stop)}" for level, start, stop in self.strategy.nodes]
        found = [f"all: {label(0, self.strategy.size)}"]
        for level, start, stop in self.strategy.nodes[1:]:
            middle = start + (1 << (self.strategy.depth - level))
            less = f" less {label(middle, stop)}" if middle < stop else ""
            found.append(f"level {level}: {label(start, min(middle, stop))}{less}")
        return found


def layout_of_draft(draft: Draft) -> ConsistentLayout:
    """The columns that a draft is published in."""
    content = draft.groups
    assert isinstance(content, EstimatedGroups), "a draft of this form"
    return ConsistentLayout(layout_of(draft), content.ordered, content.strategy, content.scale)


def layout_from_manifest(manifest: Mapping[str, Any]) -> ConsistentLayout:
    """The columns that a manifest declares; refuses what no release says before anything large is made."""
    counts, stated = layout_from(manifest), manifest["measured"]
    ordered = stated["attribute"]
    domains: dict[str, Domain] = dict(zip(counts.names, counts.domains, strict=True))
    if not isinstance(domains.get(ordered), Grid):
        raise broken_bundle("the manifest names no attribute with an order as the measured one", code="SF-VERIFY-371")
    if counts.combinations > MOST_CELLS or prod(cut.total for cut in counts.cuts) > MOST_CELLS:
        raise broken_bundle("the manifest declares more cells than a strategy is used on", code="SF-VERIFY-372")
    size = counts.cuts[counts.names.index(ordered)].total
    strategy = strategy_from(stated["strategy"], size)
    return ConsistentLayout(counts, ordered, strategy, stated["noise_scale"])
