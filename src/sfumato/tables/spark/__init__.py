"""Spark: a table is coded and counted by Spark, on this machine or on a cluster, and its records stay there."""
