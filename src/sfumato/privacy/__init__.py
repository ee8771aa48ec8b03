"""Privacy: models, which a release provably satisfies, and the mechanisms and budgets of differential privacy."""
