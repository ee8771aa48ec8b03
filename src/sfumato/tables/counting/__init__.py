"""Queries that count: marginals, classes, values, left-out records; and how many combinations may be fetched."""
