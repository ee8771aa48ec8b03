"""The owner's report: one page about a published release."""

from sfumato.report.build import report_page
from sfumato.report.measure_sentences import MeasureResult
from sfumato.report.page import Provenance

__all__ = ["MeasureResult", "Provenance", "report_page"]
