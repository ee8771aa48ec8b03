"""Evaluate a release: measures, attacks that are run, classifiers that learn from it, and audits."""
