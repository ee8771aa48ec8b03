"""The owner's report: one page about a published release."""

from sfumato.report.assemble import report_page
from sfumato.report.measure_sentences import MeasureResult
from sfumato.report.report_page import Provenance

__all__ = ["MeasureResult", "Provenance", "report_page"]
