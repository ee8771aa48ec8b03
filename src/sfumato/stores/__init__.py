"""What outlives a run: the ledger of every release of a study."""

from sfumato.stores.ledger import Entry, Ledger, NewEntry
from sfumato.stores.open import open_ledger

__all__ = ["Entry", "Ledger", "NewEntry", "open_ledger"]
