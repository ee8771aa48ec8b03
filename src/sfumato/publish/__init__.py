"""Publishing: the bundle that goes out, its verification, and the release as its receiver uses it."""

from sfumato.publish.bundle import (
    BUNDLE,
    OWNER,
    REPORT,
    BundleWritten,
    read_notes,
    write_bundle,
    write_owner,
    write_report,
)
from sfumato.publish.files import claim_folder
from sfumato.publish.manifest import ManifestFacts
from sfumato.publish.query import Estimate
from sfumato.publish.record_bundle import write_records
from sfumato.publish.record_manifest import LIMITS, RecordFacts, models_from
from sfumato.publish.record_release import RecordsRelease
from sfumato.publish.release import CountsRelease, Release
from sfumato.publish.report import partition_report
from sfumato.publish.report_counts import counts_report
from sfumato.publish.report_page import Made
from sfumato.publish.report_told import Told
from sfumato.publish.verify import Check, Verification, verify_bundle

__all__ = [
    "BUNDLE",
    "LIMITS",
    "OWNER",
    "REPORT",
    "BundleWritten",
    "Check",
    "CountsRelease",
    "Estimate",
    "Made",
    "ManifestFacts",
    "RecordFacts",
    "RecordsRelease",
    "Release",
    "Told",
    "Verification",
    "claim_folder",
    "counts_report",
    "models_from",
    "partition_report",
    "read_notes",
    "verify_bundle",
    "write_bundle",
    "write_owner",
    "write_records",
    "write_report",
]
