"""Many candidate releases of one study as points, the efficient ones among them, and the choice of one."""

from sfumato.frontier.choose import Choice, choose, parse_rule
from sfumato.frontier.draws import average_draws
from sfumato.frontier.efficient import NO_BETTER, WHY_NO_BETTER, efficient, no_better_than_nothing
from sfumato.frontier.frontier import Frontier
from sfumato.frontier.grid import Sweep, default_sweep, families, label, sweep, sweep_from_settings
from sfumato.frontier.point import FOREIGN, NOTHING, Axis, Point, Spread

__all__ = [
    "FOREIGN",
    "NOTHING",
    "NO_BETTER",
    "WHY_NO_BETTER",
    "Axis",
    "Choice",
    "Frontier",
    "Point",
    "Spread",
    "Sweep",
    "average_draws",
    "choose",
    "default_sweep",
    "efficient",
    "families",
    "label",
    "no_better_than_nothing",
    "parse_rule",
    "sweep",
    "sweep_from_settings",
]
