"""Measured marginals and synthetic records: the form of private releases for whatever receivers do."""
