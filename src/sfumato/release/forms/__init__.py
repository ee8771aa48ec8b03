"""The forms of releases, each a folder; importing this enters them into `release.form.FORMS`."""

from sfumato.release.forms.consistent_counts.form import ConsistentCounts
from sfumato.release.forms.marginals.form import MarginalsForm
from sfumato.release.forms.noisy_counts.form import NoisyCounts
from sfumato.release.forms.records.form import RecordForm
from sfumato.release.forms.tables.form import MeasuredTablesForm

__all__ = ["ConsistentCounts", "MarginalsForm", "MeasuredTablesForm", "NoisyCounts", "RecordForm"]
