"""Mondrian: multidimensional partitioning, all groups of one depth at once."""
