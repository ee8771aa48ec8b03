"""What the owner's report shows beyond the draft: the release beside the table, and what measures say of it.

Only measures that are affordable at the table's size are taken; `sfumato evaluate measures` takes all of them. If a
measure fails, the report says so in place of its number.
"""

from dataclasses import dataclass
from typing import Final

from sfumato.errors import SfumatoError
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES, Measure
from sfumato.progress import Progress
from sfumato.report import MeasureResult

MOST_ROWS: Final = 300_000  # records up to which a table is counted again for the report of noisy counts
_FEW: Final = 5_000  # distinct records up to which slow measures are affordable
_SOME: Final = 50_000  # distinct records up to which medium measures are
_MANY_ATTRIBUTES: Final = 50  # beyond which pairs of attributes are too many for slow measures
_MOST_CELLS: Final = 20_000_000  # distinct records × sensitive values up to which wide measures are affordable


@dataclass(frozen=True, kw_only=True)
class ReportMeasures:
    """What measures say, and a sentence about those that were not computed."""

    results: tuple[MeasureResult, ...] = ()
    unmeasured: str = ""


def affordable_measures(records: int, attributes: int, cells: int) -> list[str]:
    """The names of the measures that take little time and memory for a table of this size.

    ``records`` are distinct ones; ``cells`` is their number times that of the sensitive values.
    """
    speeds = {"quick"}
    if records <= _SOME:
        speeds.add("medium")
    if records <= _FEW and attributes <= _MANY_ATTRIBUTES:
        speeds.add("slow")
    return [one.name for one in MEASURES.values() if one.speed in speeds and (cells <= _MOST_CELLS or not one.wide)]


def quick_measures(looked: Evidence, progress: Progress) -> ReportMeasures:
    """What every measure says that is affordable at this size."""
    size, width = len(looked.raw), len(looked.view.attributes)
    values = max((len(looked.occurring(a.name)[0]) for a in looked.protected), default=1)
    names = affordable_measures(size, width, size * values)
    results = []
    for done, name in enumerate(names):
        progress("measuring for your report", done, len(names))
        results.append(_result(MEASURES[name](), looked))
    return ReportMeasures(
        results=tuple(results), unmeasured="" if len(names) == len(MEASURES) else too_large(size, width)
    )


def too_large(size: int, width: int) -> str:
    """Why some measures are left out."""
    return (
        f"The table has {size:,} distinct records of {width:,} attributes, so measures that take long or much memory "
        "were not computed; the command “sfumato evaluate measures” computes them."
    )


def _result(measure: Measure, looked: Evidence) -> MeasureResult:
    try:
        reason = measure.refuses(looked)
        if reason is not None:
            return MeasureResult(measure=measure, reason=reason)
        reading = measure.read(looked)
    except SfumatoError as error:
        return MeasureResult(measure=measure, reason=error.problem)
    except Exception as error:  # noqa: BLE001 - a report lacks a number rather than fail
        return MeasureResult(measure=measure, reason=f"it could not be measured ({type(error).__name__})")
    return MeasureResult(measure=measure, value=reading.value, details=reading.details)
