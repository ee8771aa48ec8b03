"""The part of an owner's report that shows a release among the candidates of its study's frontier."""

from typing import Final

from sfumato.report.chart import Plane, plane
from sfumato.report.report_page import Provenance
from sfumato.report.table_rows import Rows

_MOST: Final = 25  # candidates that are listed by name
_LISTED: Final = ("this", "efficient")


def frontier_plane(made: Provenance) -> Plane | None:
    """Every candidate of the study's frontier as a point, this release among them; None if there is none to draw."""
    if not made.frontier:
        return None
    return plane(
        made.frontier, title="Candidate releases of this study", across="← better · privacy loss (nats)",
        up="↓ better · utility loss (nats)",
    )  # fmt: skip


def own_record_plane(made: Provenance) -> Plane | None:
    """The same over own-record loss; None if no candidate has one."""
    if not made.frontier_own:
        return None
    return plane(
        made.frontier_own, title="The same releases by own-record loss", across="← better · own-record loss (nats)",
        up="↓ better · utility loss (nats)",
    )  # fmt: skip


def frontier_rows(made: Provenance) -> Rows | None:
    """The release and the candidates on the frontier by name, since tooltips are not printed."""
    kept = sorted((one for one in made.frontier if one[0] in _LISTED), key=lambda one: (one[2], one[3]))
    if not kept:
        return None
    shown = [one for place, one in enumerate(kept) if place < _MOST or one[0] == "this"]
    lines = [(name, f"{x:.4g}", f"{y:.4g}") for _, name, x, y in shown]
    heads = ("release", "privacy loss", "utility loss")
    caption = "This release and the candidates on the frontier"
    caption += f", the first {_MOST} of {len(kept)}" if len(kept) > len(shown) else ""
    return Rows(caption, heads, lines, (1, 2))
