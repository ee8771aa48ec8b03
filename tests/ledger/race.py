"""What the processes of the race run, and those that are killed."""

import os
import signal
from fractions import Fraction

from sfumato.errors import BudgetError
from sfumato.ledger import chain, open_ledger, sql
from tests.ledger.drafts import WHEN, draft


def run(path, who, rounds, barrier, outcomes):
    """In every round ask for the last of a study's budget, at the same moment as the others."""
    ledger = open_ledger(path)
    for number in range(rounds):
        barrier.wait(timeout=60)
        try:
            ledger.reserve(draft("0.6", study=f"round {number}", who=who), budget=Fraction(1))
        except BudgetError:
            outcomes.put((number, who, False))
        else:
            outcomes.put((number, who, True))


def be_killed(path, moment):
    """Enter a spend and complete it, and die at a moment on the way."""
    ledger = open_ledger(path)

    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    if moment == "before":
        sql.asdict = die  # the budget is checked, the row is not written
    elif moment == "inside":
        with ledger.writing() as connection:
            row = chain.open_row(sql.all_rows(connection), draft("0.5"), budget=Fraction(1))
            connection.execute(sql.insert(sql.ROWS).values(sql.asdict(row)))
            die()  # written, not committed
    elif moment == "noting":
        sql.SqlLedger._note = die  # committed, and the head does not know it
    entry = ledger.reserve(draft("0.5"), budget=Fraction(1))
    if moment == "opened":
        die()
    if moment == "closing":
        sql.asdict = die
    ledger.complete(entry.id, "sha256:abc", at=WHEN)
    die()
