"""Strategies for tables of counts: what is measured with noise, what is estimated from it, and with which error."""

from sfumato.privacy.dp.strategies.cells import Cells
from sfumato.privacy.dp.strategies.choose_strategy import (
    ALL_RANGES,
    AUTO,
    MARGINALS,
    MOST_CELLS,
    MOST_MARGINALS,
    ORDERED,
    SINGLE_CELLS,
    STRATEGIES,
    Comparison,
    Queries,
    check_strategy,
    marginals_from,
    strategy_from,
)
from sfumato.privacy.dp.strategies.consistent_marginals import Marginals
from sfumato.privacy.dp.strategies.hierarchical import Hierarchical
from sfumato.privacy.dp.strategies.strategy import OrderedStrategy, Strategy, draw_measurements
from sfumato.privacy.dp.strategies.wavelet import Wavelet

__all__ = [
    "ALL_RANGES", "AUTO", "MARGINALS", "MOST_CELLS", "MOST_MARGINALS", "ORDERED", "SINGLE_CELLS", "STRATEGIES", "Cells",
    "Comparison", "Hierarchical", "Marginals", "OrderedStrategy", "Queries", "Strategy", "Wavelet", "check_strategy",
    "draw_measurements", "marginals_from", "strategy_from",
]  # fmt: skip
