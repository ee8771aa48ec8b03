"""Differential privacy: exact budgets, single-use grants, one source of randomness, and the mechanisms."""
