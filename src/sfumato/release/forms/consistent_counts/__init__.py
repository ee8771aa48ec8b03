"""Counts that were estimated from noisy sums of neighbouring cells, with these sums."""
