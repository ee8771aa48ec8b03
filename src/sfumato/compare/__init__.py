"""Compare: many candidate releases of one study as points, the efficient ones among them, and the choice of one."""

from sfumato.compare.choose import Choice, choose, parse_rule
from sfumato.compare.draws import together
from sfumato.compare.efficient import efficient
from sfumato.compare.frontier import Frontier
from sfumato.compare.point import Axis, Point, Spread
from sfumato.compare.sweep import Sweep, default_sweep, families, label, sweep, sweep_from_settings

__all__ = [
    "Axis",
    "Choice",
    "Frontier",
    "Point",
    "Spread",
    "Sweep",
    "choose",
    "default_sweep",
    "efficient",
    "families",
    "label",
    "parse_rule",
    "sweep",
    "sweep_from_settings",
    "together",
]
