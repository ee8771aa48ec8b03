"""What outlives a run: the ledger of every release of a study."""

from sfumato.stores.ledger import Entry, Ledger, NewEntry, check_budget
from sfumato.stores.open import open_ledger
from sfumato.stores.spending import RECORD, Stretch, spent_by, stretches

__all__ = [
    "RECORD",
    "Entry",
    "Ledger",
    "NewEntry",
    "Stretch",
    "check_budget",
    "open_ledger",
    "spent_by",
    "stretches",
]
