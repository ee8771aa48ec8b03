"""What the tour says on each step, and which one follows."""

from collections.abc import Sequence
from typing import Any, Final

from sfumato.web.workspace import OpenStudy

_SAID: Final = {
    "columns": "Every column of the census table has a role and a domain already. Look at a quasi-identifier such as "
    "age: its bounds are round public numbers, never the smallest and largest value of the table.",
    "taxonomies": "Open education and see how its values are grouped. Move a node, look at the level preview, and "
    "undo it: nothing is saved before you save it.",
    "plan": "Choose the release dp, which uses DiffGen with ε = 1, and read what it will do and cost before anything "
    "is spent.",
    "frontier": "Start the sweep few. It compares six candidates by privacy loss and utility loss. The result is "
    "computed from raw records, so it is for the owner only.",
    "release": "Release dp. It spends ε = 1 of the budget of 4 of this tour, and writes a bundle that a receiver can "
    "verify.",
    "ledger": "See what was spent and what is left. Each entry is chained to the one before it: changes are noticed.",
    "risk": "Attack the release as an adversary would. Then end the tour, and open a table of your own.",
}


def tour_of(opened: OpenStudy | None, step: str, steps: Sequence[tuple[str, str]]) -> dict[str, Any] | None:
    """What the banner of a step says; None where there is no tour."""
    names = [name for name, _ in steps]
    if opened is None or not opened.tour or step not in names:
        return None
    place = names.index(step)
    last = place + 1 == len(steps)
    following = (None, None) if last else steps[place + 1]
    return {
        "number": place + 1,
        "of": len(steps),
        "text": _SAID.get(step, ""),
        "next": following[0],
        "next_title": f"Next: {following[1]}",
    }
