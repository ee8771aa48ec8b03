"""What the owner's report needs beyond the draft: the release beside the table, and what measures say of it.

Only measures that are quick at the table's size are computed; `sfumato evaluate measures` computes all of them. A
measure that fails says so: a report lacks a number rather than fail.
"""

from dataclasses import dataclass
from typing import Any, Final

from sfumato.errors import SfumatoError
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES
from sfumato.progress import Progress
from sfumato.report import MeasureText

MOST_ROWS: Final = 300_000  # records up to which a table is counted again for the report of noisy counts
_FEW: Final = 5_000  # distinct records up to which every measure is quick
_SOME: Final = 50_000  # up to which all but the slow ones are
_WIDE: Final = 50  # attributes up to which pairs of them are few
_SLOW: Final = frozenset({"histogram-city-block", "histogram-kl", "marginals-2", "uloss"})
# These take memory or time for every record, or class of records, × value of a sensitive attribute.
_LARGE: Final = frozenset({"cell-kl", "guessed-values", "histogram-city-block", "histogram-kl", "linked-people"})
_MOST_CELLS: Final = 20_000_000
_QUICK: Final = frozenset(
    {
        "average-group-size", "confidence-excess", "discernibility", "general-loss", "journalist-risk",
        "marketer-risk", "mean-ploss", "ploss", "prosecutor-risk", "records-at-risk", "records-over-confidence",
        "sample-uniques", "suppressed",
    }
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ReportMeasures:
    """What measures say, and a sentence about those that were not computed."""

    readings: tuple[MeasureText, ...] = ()
    unmeasured: str = ""


def quick_measures(looked: Evidence, progress: Progress) -> ReportMeasures:
    """What every measure says that is quick at this size."""
    size, width = len(looked.raw), len(looked.view.attributes)
    small = size <= _FEW and width <= _WIDE
    names = [name for name in MEASURES if small or name in _QUICK or (size <= _SOME and name not in _SLOW)]
    if size * max((len(looked.occurring(a.name)[0]) for a in looked.protected), default=1) > _MOST_CELLS:
        names = [name for name in names if name not in _LARGE]
    readings = []
    for done, name in enumerate(names):
        progress("measuring for your report", done, len(names))
        readings.append(_read_measure(MEASURES[name](), looked))
    return ReportMeasures(
        readings=tuple(readings), unmeasured="" if len(names) == len(MEASURES) else too_large(size, width)
    )


def too_large(size: int, width: int) -> str:
    """Why some measures are left out."""
    return (
        f"The table has {size:,} distinct records of {width:,} attributes, so measures that take long or much memory "
        "were not computed; the command “sfumato evaluate measures” computes them."
    )


def _read_measure(measure: Any, looked: Evidence) -> MeasureText:
    said: dict[str, Any] = {
        "name": measure.name, "title": measure.title, "summary": measure.summary, "kind": measure.kind,
        "unit": measure.unit, "better": measure.better, "bounds": measure.bounds,
    }  # fmt: skip
    try:
        reason = measure.refuses(looked)
        if reason is not None:
            return MeasureText(**said, reason=reason)
        reading = measure.read(looked)
    except SfumatoError as error:
        return MeasureText(**said, reason=error.problem)
    except Exception as error:  # noqa: BLE001 - a report lacks a number rather than fail
        return MeasureText(**said, reason=f"it could not be measured ({type(error).__name__})")
    return MeasureText(**said, value=reading.value, details=reading.details)
