"""Answers from a release: how many records satisfy a condition, with an interval."""
