"""Capped confidence: sampling and generalisation until no record tells more than public statistics."""
