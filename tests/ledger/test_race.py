"""Real processes race for the last of a budget, and are killed on the way: on SQLite and on PostgreSQL."""

import multiprocessing
import os
import signal
import subprocess
import sys
from fractions import Fraction

import pytest

from sfumato.ledger import open_ledger
from tests.ledger import race
from tests.ledger.drafts import draft

ONE = Fraction(1)
NAMES = ("a", "b", "c", "d", "e", "f", "g", "h")


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    return request.getfixturevalue("database") if request.param == "postgres" else str(tmp_path / "ledger.db")


@pytest.mark.parametrize("rounds", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_of_eight_processes_one_gets_the_last_budget(address, rounds):
    context = multiprocessing.get_context("spawn")
    barrier, outcomes = context.Barrier(len(NAMES)), context.Queue()
    processes = [context.Process(target=race.run, args=(address, name, rounds, barrier, outcomes)) for name in NAMES]
    for process in processes:
        process.start()
    results = [outcomes.get(timeout=300) for _ in range(rounds * len(NAMES))]
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    ledger = open_ledger(address)
    for number in range(rounds):
        winners = [who for played, who, won in results if played == number and won]
        entries = ledger.entries(f"round {number}")
        assert len(winners) == 1
        assert [entry.who for entry in entries] == winners
        assert ledger.spent(f"round {number}") == Fraction(3, 5)
    assert ledger.verify() == ()


KILLED = """
import os, signal, sys
from fractions import Fraction
from sfumato.ledger import chain, open_ledger, sql
from tests.ledger.drafts import WHEN, draft

ledger, moment = open_ledger(sys.argv[1]), sys.argv[2]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if moment == "before":
    sql.asdict = die               # the budget is checked, the row is not written
elif moment == "inside":
    with ledger.writing() as connection:
        row = chain.open_row(sql.all_rows(connection), draft("0.5"), budget=Fraction(1))
        connection.execute(sql.insert(sql.ROWS).values(sql.asdict(row)))
        die()                      # written, not committed
elif moment == "noting":
    sql.SqlLedger._note = die      # committed, and the head does not know it
entry = ledger.reserve(draft("0.5"), budget=Fraction(1))
if moment == "opened":
    die()
if moment == "closing":
    sql.asdict = die
ledger.complete(entry.id, "sha256:abc", at=WHEN)
die()
"""


@pytest.mark.parametrize(
    ("moment", "states"),
    [
        ("before", []),
        ("inside", []),
        ("noting", ["opened"]),
        ("opened", ["opened"]),
        ("closing", ["opened"]),
        ("done", ["done"]),
    ],
)
def test_a_killed_process_leaves_a_ledger_that_verifies(address, moment, states):
    command = [sys.executable, "-c", KILLED, address, moment]
    ended = subprocess.run(
        command, check=False, capture_output=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    ledger = open_ledger(address)
    assert ledger.verify() == ()
    assert [entry.state for entry in ledger.entries("adult")] == states
    assert ledger.spent("adult") == len(states) * Fraction(1, 2)
    ledger.reserve(draft("0.5"), budget=ONE)  # no lock is left behind
