"""Strategies for tables of counts: what is measured with noise, what is estimated from it, and with which error."""

from sfumato.privacy.dp.strategies.cells import Cells
from sfumato.privacy.dp.strategies.choose import (
    ALL_RANGES,
    AUTO,
    MARGINALS,
    MOST_CELLS,
    ORDERED,
    SINGLE_CELLS,
    STRATEGIES,
    Comparison,
    Queries,
    check_strategy,
    strategy_from,
)
from sfumato.privacy.dp.strategies.hierarchical import Hierarchical
from sfumato.privacy.dp.strategies.strategy import Strategy, draw_measurements
from sfumato.privacy.dp.strategies.wavelet import Wavelet

__all__ = [
    "ALL_RANGES", "AUTO", "MARGINALS", "MOST_CELLS", "ORDERED", "SINGLE_CELLS", "STRATEGIES", "Cells", "Comparison",
    "Hierarchical", "Queries", "Strategy", "Wavelet", "check_strategy", "draw_measurements", "strategy_from",
]  # fmt: skip
