"""What the owner's report is told beyond the draft: the release beside the table, and what measures say of it.

Only measures that are quick at the table's size are taken; `sfumato measure` takes all of them. Everything here comes
after the bundle is out, so nothing that fails here can take it back: a measure that fails is one that says so.
"""

from dataclasses import dataclass
from typing import Any, Final

from sfumato.core.attribute import Role
from sfumato.core.counts import Cells
from sfumato.core.draft import Draft
from sfumato.core.partition import PartitionDraft, PartitionView
from sfumato.core.progress import Progress
from sfumato.core.shown import shown_counts, shown_records
from sfumato.core.unit import RecordUnit
from sfumato.core.view import View
from sfumato.errors import SfumatoError
from sfumato.measure import MEASURES, Evidence
from sfumato.publish import Told

MOST_ROWS: Final = 300_000  # records up to which a table is counted again for the report of noisy counts
_MOST_CELLS: Final = 100_000  # distinct records up to which every measure is quick
_QUICK: Final = frozenset({"ploss", "mean-ploss", "suppressed", "average-group-size", "discernibility", "general-loss"})


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What measures say, and a sentence on those that were not taken."""

    told: tuple[Told, ...] = ()
    unmeasured: str = ""


def as_measured(view: View) -> PartitionView:
    """The attributes of noisy counts as measures see them: by their roles, the class among the others."""

    def having(role: Role) -> tuple[Any, ...]:
        return tuple(a for a in view.predictors if a.role is role)

    return PartitionView(
        quasi=having(Role.QUASI_IDENTIFIER),
        sensitive=having(Role.SENSITIVE),
        others=(*having(Role.INSENSITIVE), view.target),
        unit=RecordUnit(),
    )


def evidence(view: PartitionView, cells: Cells, draft: Draft | PartitionDraft) -> Evidence:
    """A draft beside the records of the table."""
    if isinstance(draft, PartitionDraft):
        return Evidence(view=view, raw=cells, shown=shown_records(draft))
    return Evidence(view=view, raw=cells, shown=shown_counts(draft, tuple(a.name for a in view.quasi)))


def quick_measures(looked: Evidence, progress: Progress) -> Measured:
    """What every measure says that is quick at this size."""
    small = len(looked.raw) <= _MOST_CELLS
    names = [name for name in MEASURES if small or name in _QUICK]
    told = []
    for done, name in enumerate(names):
        progress("measuring for your report", done, len(names))
        told.append(_told(MEASURES[name](), looked))
    return Measured(told=tuple(told), unmeasured="" if small else too_large(len(looked.raw)))


def too_large(size: int) -> str:
    """Why some measures are left out."""
    return (
        f"The table has {size:,} distinct records, so measures that take long were left out; the command “sfumato "
        "measure” takes them."
    )


def _told(measure: Any, looked: Evidence) -> Told:
    said: dict[str, Any] = {
        "name": measure.name, "title": measure.title, "summary": measure.summary, "kind": measure.kind,
        "unit": measure.unit, "better": measure.better, "bounds": measure.bounds,
    }  # fmt: skip
    reason = measure.refuses(looked)
    if reason is not None:
        return Told(**said, reason=reason)
    try:
        reading = measure.read(looked)
    except SfumatoError as error:
        return Told(**said, reason=error.problem)
    return Told(**said, value=reading.value, details=reading.details)
