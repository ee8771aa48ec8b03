"""CSV files: how one is written, and the records in it."""
