"""The columns of consistent counts: the table of counts, and the measured numbers that they were estimated from."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np

from sfumato.domains.domain import Domain, Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.privacy.dp.strategies import (
    MOST_CELLS,
    Hierarchical,
    Marginals,
    Strategy,
    Wavelet,
    marginals_from,
    strategy_from,
)
from sfumato.privacy.dp.strategies.strategy import Floats, Integers
from sfumato.release.draft import Draft, EstimatedGroups
from sfumato.release.forms.noisy_counts.count_table import Layout, free_name, layout_from, layout_of
from sfumato.release.forms.tables.table_layout import TableLayout
from sfumato.release.storage.seal import broken_bundle

MEASURED = "measured"


@dataclass(frozen=True)
class ConsistentLayout:
    """The counts, and what was measured: a strategy over one ordered attribute, in every cell of the other columns.

    Or over the whole table, where ``ordered`` is None: that is one row.
    """

    counts: Layout
    ordered: str | None
    strategy: Strategy
    scale: float

    @property
    def place(self) -> int:
        """Which of the attributes is the ordered one."""
        assert self.ordered is not None, "a strategy over one attribute"
        return self.counts.names.index(self.ordered)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many regions each attribute has, and how many classes there are."""
        return (*(cut.total for cut in self.counts.cuts), self.counts.class_domain.size)

    @cached_property
    def measured(self) -> TableLayout:
        """The table of measured numbers: every node, in every cell of the other attributes and the class."""
        layout = self.counts
        others = [number for number, name in enumerate(layout.names) if self.ordered not in {None, name}]
        in_rows = self.ordered is not None and layout.targeted
        return TableLayout(
            name=MEASURED,
            first=tuple(self._marginal_labels() if self.ordered is None else self._node_labels()),
            first_column=free_name(f"{self.ordered or 'cell'}_{MEASURED}", layout.columns),
            cuts=tuple(layout.cuts[number] for number in others),
            domains=tuple(layout.domains[number] for number in others),
            classes=layout.labels[-1].all if in_rows else None,
            class_column=layout.class_name,
            count=layout.count,
            scale=self.scale,
        )

    def estimates(self, measured: Integers) -> Floats:
        """The estimated count of every cell, in the shape of `sizes`; ``measured`` is as the table lists it."""
        rows = measured.reshape(self.strategy.measurements, -1).T.astype(np.float64)
        if self.ordered is None:
            return self.strategy.estimate(rows).reshape(self.sizes)
        others = tuple(size for number, size in enumerate(self.sizes) if number != self.place)
        table = self.strategy.estimate(rows).reshape(*others, self.strategy.size)
        return np.moveaxis(table, -1, self.place)

    def rows(self, table: Any) -> Any:
        """A table in the shape of `sizes` as rows of the strategy's cells."""
        if self.ordered is None:
            return np.asarray(table).reshape(1, -1)
        return np.moveaxis(np.asarray(table).reshape(self.sizes), self.place, -1).reshape(-1, self.strategy.size)

    def _node_labels(self) -> list[str]:
        cut, domain, strategy = self.counts.cuts[self.place], self.counts.domains[self.place], self.strategy

        def label(start: int, stop: int) -> str:
            return domain.label(cut.range_at(start)[0], cut.range_at(stop - 1)[1])

        if isinstance(strategy, Hierarchical):
            return [f"level {level}: {label(start, stop)}" for level, start, stop in strategy.nodes]
        assert isinstance(strategy, Wavelet), "there are two over one attribute"
        found = [f"all: {label(0, strategy.size)}"]
        for level, start, stop in strategy.nodes[1:]:
            middle = start + (1 << (strategy.depth - level))
            less = f" less {label(middle, stop)}" if middle < stop else ""
            found.append(f"level {level}: {label(start, min(middle, stop))}{less}")
        return found

    def _marginal_labels(self) -> list[str]:
        """The cells of all marginals: the values of their attributes, in order."""
        assert isinstance(self.strategy, Marginals), "the strategy over the whole table"
        texts = [
            [f"{name}: {value}" for value in labels.all]
            for (name, _), labels in zip(self.counts.attributes, self.counts.labels, strict=True)
        ]
        return [
            "; ".join(cell)
            for subset in self.strategy.subsets
            for cell in product(*(texts[number] for number in subset))
        ]


def layout_of_draft(draft: Draft) -> ConsistentLayout:
    """The columns that a draft is published in."""
    content = draft.groups
    assert isinstance(content, EstimatedGroups), "a draft of this form"
    return ConsistentLayout(layout_of(draft), content.ordered, content.strategy, content.scale)


def layout_from_manifest(manifest: Mapping[str, Any]) -> ConsistentLayout:
    """The columns that a manifest declares; refuses what no release says before anything large is made."""
    counts, stated = layout_from(manifest), manifest["measured"]
    if counts.combinations > MOST_CELLS or prod(cut.total for cut in counts.cuts) > MOST_CELLS:
        raise broken_bundle("the manifest declares more cells than a strategy is used on", code="SF-VERIFY-372")
    ordered = stated["attribute"]
    if ordered is None:
        if any(isinstance(domain, SetDomain) for domain in counts.domains):
            raise broken_bundle("the manifest declares marginals of sets", code="SF-VERIFY-373")
        marginals = marginals_from(stated["strategy"], table_sizes(counts))
        return ConsistentLayout(counts, None, marginals, stated["noise_scale"])
    domains: dict[str, Domain] = dict(zip(counts.names, counts.domains, strict=True))
    if not isinstance(domains.get(ordered), Grid):
        raise broken_bundle("the manifest names no attribute with an order as the measured one", code="SF-VERIFY-371")
    size = counts.cuts[counts.names.index(ordered)].total
    strategy = strategy_from(stated["strategy"], size)
    return ConsistentLayout(counts, ordered, strategy, stated["noise_scale"])


def table_sizes(counts: Layout) -> tuple[int, ...]:
    """How many values each published attribute has, the class too where there is one."""
    return tuple(labels.cut.total for labels in counts.labels)
