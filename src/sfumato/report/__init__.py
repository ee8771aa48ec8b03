"""The owner's report: one page about a published release."""

from sfumato.report.grouped_records import partition_report
from sfumato.report.measure_sentences import Told
from sfumato.report.noisy_counts import counts_report
from sfumato.report.page import Made

__all__ = ["Made", "Told", "counts_report", "partition_report"]
