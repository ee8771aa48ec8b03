"""Real processes race for the last of a budget, and are killed on the way: on SQLite and on PostgreSQL."""

import multiprocessing
import signal
from fractions import Fraction

import pytest

from sfumato.ledger import open_ledger
from tests.ledger import race
from tests.ledger.drafts import draft

ONE = Fraction(1)
NAMES = ("a", "b", "c", "d", "e", "f", "g", "h")
PROCESSES = multiprocessing.get_context("forkserver")  # of new processes: what they import is imported once for all
PROCESSES.set_forkserver_preload(["sfumato.ledger", "sfumato.ledger.sqlite", "sfumato.ledger.postgres", "psycopg"])


@pytest.fixture(params=["sqlite", "postgres"])
def address(request, tmp_path):
    return request.getfixturevalue("database") if request.param == "postgres" else str(tmp_path / "ledger.db")


@pytest.mark.parametrize("rounds", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_of_eight_processes_one_gets_the_last_budget(address, rounds):
    barrier, outcomes = PROCESSES.Barrier(len(NAMES)), PROCESSES.Queue()
    processes = [PROCESSES.Process(target=race.run, args=(address, name, rounds, barrier, outcomes)) for name in NAMES]
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
    killed = PROCESSES.Process(target=race.be_killed, args=(address, moment))
    killed.start()
    killed.join(timeout=60)
    assert killed.exitcode == -signal.SIGKILL
    ledger = open_ledger(address)
    assert ledger.verify() == ()
    assert [entry.state for entry in ledger.entries("adult")] == states
    assert ledger.spent("adult") == len(states) * Fraction(1, 2)
    ledger.reserve(draft("0.5"), budget=ONE)  # no lock is left behind
