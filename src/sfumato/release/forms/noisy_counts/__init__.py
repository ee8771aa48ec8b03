"""Noisy counts of groups: the form of differentially private releases."""
