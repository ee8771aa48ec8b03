"""The owner's report: one page about a published release."""

from sfumato.report.build import report_page
from sfumato.report.measure_sentences import MeasureText
from sfumato.report.page import Provenance

__all__ = ["MeasureText", "Provenance", "report_page"]
