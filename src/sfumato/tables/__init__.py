"""Engines: whoever reads a table where it lies, and counts.

Ibis writes the queries in the engine's own dialect; the engine runs them. DuckDB is built in: see
``docs/reference/sources.md``.
"""

from sfumato.memory_limit import ManyCellsError, collecting, refuse_many_records
from sfumato.tables.coded import CodedTable
from sfumato.tables.coded_records import Records
from sfumato.tables.counting.left_out_counts import count_left_out, count_replaced, replacement_codes
from sfumato.tables.counting.value_counts import count_values
from sfumato.tables.duckdb.long_table import settled_if_wide
from sfumato.tables.engine import ENGINES, Engine, Limits, Session, SourceTable
from sfumato.tables.invalid_values import DomainViolations, consequences
from sfumato.tables.missing_tokens import find_missing_tokens, without_missing_tokens
from sfumato.tables.open_table import open_source, reads_once
from sfumato.tables.population import read_people
from sfumato.tables.profile import profile_table
from sfumato.tables.same_table import is_same_table

__all__ = [
    "ENGINES",
    "CodedTable",
    "DomainViolations",
    "Engine",
    "Limits",
    "ManyCellsError",
    "Records",
    "Session",
    "SourceTable",
    "collecting",
    "consequences",
    "count_left_out",
    "count_replaced",
    "count_values",
    "find_missing_tokens",
    "is_same_table",
    "open_source",
    "profile_table",
    "read_people",
    "reads_once",
    "refuse_many_records",
    "replacement_codes",
    "settled_if_wide",
    "without_missing_tokens",
]
