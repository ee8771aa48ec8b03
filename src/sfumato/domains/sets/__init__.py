"""Attributes of which a record has several values at once: their domains, cuts, levels and regions."""
