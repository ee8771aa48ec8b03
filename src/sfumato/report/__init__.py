"""The owner's report: one page about a published release."""

from sfumato.report.build import report_page
from sfumato.report.measure_sentences import MeasureResult
from sfumato.report.page import Made

__all__ = ["Made", "MeasureResult", "report_page"]
