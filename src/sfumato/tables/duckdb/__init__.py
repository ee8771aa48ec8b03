"""DuckDB, the engine that is built in."""
