"""Publishing: the bundle that goes out, its verification, and the release as its receiver uses it."""

from sfumato.publish.bundle import BundleWritten, write_bundle, write_owner
from sfumato.publish.files import claim_folder
from sfumato.publish.manifest import ManifestFacts
from sfumato.publish.query import Estimate
from sfumato.publish.release import Release
from sfumato.publish.verify import Check, Verification, verify_bundle

__all__ = [
    "BundleWritten",
    "Check",
    "Estimate",
    "ManifestFacts",
    "Release",
    "Verification",
    "claim_folder",
    "verify_bundle",
    "write_bundle",
    "write_owner",
]
