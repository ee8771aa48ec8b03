"""PostgreSQL: a table is counted where it lies, and its records stay there."""
