"""Entries for tests of the ledgers."""

from datetime import UTC, datetime
from fractions import Fraction

from sfumato.ledger import NewEntry

WHEN = datetime(2026, 11, 3, 14, 30, tzinfo=UTC)


def draft(epsilon=None, *, study="adult", purpose="research", who="anna", span=None, unit="record", where=""):
    return NewEntry(
        study=study,
        at=WHEN,
        who=who,
        purpose=purpose,
        method="diffgen",
        recipe='{"h": 10}',
        guarantee="ε-differential privacy" if epsilon else "k-anonymity",
        epsilon=None if epsilon is None else Fraction(epsilon),
        span=span,
        unit=unit,
        where=where,
    )
