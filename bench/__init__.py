"""Benchmarks: programs that print the numbers of docs/explanation/benchmarks.md: python -m bench.run, and others."""
