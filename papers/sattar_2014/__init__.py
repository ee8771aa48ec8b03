"""Sattar, Li, Ding, Liu & Vincent, *A general framework for privacy preserving data publishing*, 2014."""
