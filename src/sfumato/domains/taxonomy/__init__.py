"""Taxonomies: generalisation hierarchies, read, built by rule, checked and shown."""
