"""Noisy counts of all groups of a cut, and their post-processing."""
