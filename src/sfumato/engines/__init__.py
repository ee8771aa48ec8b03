"""Engines: whoever reads a table where it lies, and counts.

Ibis writes the queries in the engine's own dialect; the engine runs them. DuckDB is built in, see ``docs/sources.md``.
"""

from sfumato.engines.coded import CodedTable
from sfumato.engines.engine import ENGINES, Engine, Limits, Session, SourceTable
from sfumato.engines.left_out import count_left_out, count_replaced, stand_ins
from sfumato.engines.marks import find_marks, without_marks
from sfumato.engines.people import read_people
from sfumato.engines.profile import profile_table
from sfumato.engines.records import Records
from sfumato.engines.source import open_source, reads_once
from sfumato.engines.unfit import UnfitReport, consequences

__all__ = [
    "ENGINES",
    "CodedTable",
    "Engine",
    "Limits",
    "Records",
    "Session",
    "SourceTable",
    "UnfitReport",
    "consequences",
    "count_left_out",
    "count_replaced",
    "find_marks",
    "open_source",
    "profile_table",
    "read_people",
    "reads_once",
    "stand_ins",
    "without_marks",
]
