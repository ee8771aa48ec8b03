"""Releases: drafts, guarantees, forms, manifests, bundles, verification, and reading a release."""

from sfumato.release import forms

__all__ = ["forms"]
