"""What outlives a run: the ledger of every release of a study."""

from sfumato.ledger.addresses import open_ledger
from sfumato.ledger.heads import ENDING, accounts_that_paid, lost_entries_error
from sfumato.ledger.ledger import Adoption, Entry, Ledger, NewEntry, RaisedBudget, check_budget, raised_budgets
from sfumato.ledger.ledger_display import spent_words
from sfumato.ledger.spending import RECORD, Stretch, stretches, total_spent
from sfumato.ledger.summary import LedgerSummary

__all__ = [
    "ENDING",
    "RECORD",
    "Adoption",
    "Entry",
    "Ledger",
    "LedgerSummary",
    "NewEntry",
    "RaisedBudget",
    "Stretch",
    "accounts_that_paid",
    "check_budget",
    "lost_entries_error",
    "open_ledger",
    "raised_budgets",
    "spent_words",
    "stretches",
    "total_spent",
]
