"""Releases that other tools made, read so that every measure can look at them."""

from sfumato.evaluate.foreign.foreign_table import ForeignTable, foreign_table
from sfumato.evaluate.foreign.read_rows import ReadTable, read_foreign

__all__ = ["ForeignTable", "ReadTable", "foreign_table", "read_foreign"]
