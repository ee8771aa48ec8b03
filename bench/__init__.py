"""Benchmarks: programs that print the numbers of docs/benchmarks.md, run from the repository: python -m bench.run."""
