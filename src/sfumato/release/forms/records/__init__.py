"""Records: generalised, in buckets, or in two tables."""
