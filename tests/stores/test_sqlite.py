import multiprocessing
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from fractions import Fraction

import pytest

from sfumato.errors import BudgetError, PublishError, VerifyError
from sfumato.stores import open_ledger, sqlite
from tests.stores import race
from tests.stores.drafts import WHEN, draft

ONE = Fraction(1)


def raw(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        return [connection.execute(statement).fetchall() for statement in statements]


def test_processes_that_race_for_the_last_budget(tmp_path):
    path, rounds, names = tmp_path / "ledger.db", 10, ["a", "b", "c", "d"]
    context = multiprocessing.get_context("spawn")
    barrier, outcomes = context.Barrier(len(names)), context.Queue()
    processes = [context.Process(target=race.run, args=(path, name, rounds, barrier, outcomes)) for name in names]
    for process in processes:
        process.start()
    results = [outcomes.get(timeout=120) for _ in range(rounds * len(names))]
    for process in processes:
        process.join(timeout=60)
        assert process.exitcode == 0
    ledger = open_ledger(path)
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
from pathlib import Path
from sfumato.stores import chain, sqlite
from tests.stores.drafts import WHEN, draft

ledger, moment = sqlite.SqliteLedger(Path(sys.argv[1])), sys.argv[2]

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if moment == "before":
    sqlite.asdict = die            # the budget is checked, the row is not written
elif moment == "inside":
    keep = sqlite.asdict
    with ledger._writing() as connection:
        row = chain.opened(sqlite._rows(connection), draft("0.5"), budget=Fraction(1))
        connection.execute(sqlite.insert(sqlite._ROWS).values(keep(row)))
        die()                      # written, not committed
entry = ledger.reserve(draft("0.5"), budget=Fraction(1))
if moment == "opened":
    die()
if moment == "closing":
    sqlite.asdict = die
ledger.complete(entry.id, "sha256:abc", at=WHEN)
die()
"""


@pytest.mark.parametrize(
    ("moment", "states"),
    [("before", []), ("inside", []), ("opened", ["opened"]), ("closing", ["opened"]), ("done", ["done"])],
)
def test_a_killed_process_leaves_a_ledger_that_verifies(tmp_path, moment, states):
    path = tmp_path / "ledger.db"
    command = [sys.executable, "-c", KILLED, str(path), moment]
    ended = subprocess.run(
        command, check=False, capture_output=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    ledger = open_ledger(path)
    assert ledger.verify() == ()
    assert [entry.state for entry in ledger.entries("adult")] == states
    assert ledger.spent("adult") == len(states) * Fraction(1, 2)
    ledger.reserve(draft("0.5"), budget=ONE)  # no lock is left behind


def test_the_entry_is_on_the_disk_when_reserve_returns(tmp_path):
    path = tmp_path / "ledger.db"
    open_ledger(path).reserve(draft("1/10"), budget=ONE)
    (rows,) = raw(path, "SELECT seq, kind, entry, study, epsilon, at FROM ledger")
    assert rows == [(1, "opened", 1, "adult", "1/10", "2026-11-03T14:30:00+00:00")]
    with sqlite.SqliteLedger(path)._writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3  # EXTRA


def test_a_second_ledger_on_the_same_file_sees_everything(tmp_path):
    first = open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}").reserve(draft("0.7"), budget=ONE)
    second = open_ledger("ledger.db", base=tmp_path)
    assert second.entries("adult") == (first,)
    with pytest.raises(BudgetError):
        second.reserve(draft("0.7"), budget=ONE)


def test_looking_makes_no_file(tmp_path):
    ledger = open_ledger(tmp_path / "ledger.db")
    assert (ledger.entries("adult"), ledger.spent("adult"), ledger.verify()) == ((), 0, ())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("statement", ["UPDATE ledger SET epsilon = '1/1000'", "DELETE FROM ledger"])
def test_rows_are_neither_changed_nor_removed(tmp_path, statement):
    path = tmp_path / "ledger.db"
    open_ledger(path).reserve(draft("1/10"), budget=ONE)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        raw(path, statement)


def test_whoever_removes_the_triggers_breaks_the_chain(tmp_path):
    path = tmp_path / "ledger.db"
    ledger = open_ledger(path)
    ledger.complete(ledger.reserve(draft("1/10"), budget=ONE).id, "sha256:abc", at=WHEN)
    raw(path, "DROP TRIGGER ledger_no_update", "UPDATE ledger SET epsilon = '1/1000' WHERE seq = 1")
    assert ledger.verify() == ("row 1 was changed: its hash does not match",)
    with pytest.raises(VerifyError, match="does not verify"):
        ledger.reserve(draft("1/10"), budget=ONE)


def test_a_file_that_is_no_ledger(tmp_path):
    path = tmp_path / "ledger.db"
    path.write_text("age,job\n" * 1000)
    for act in (lambda ledger: ledger.entries("adult"), lambda ledger: ledger.reserve(draft("1"), budget=ONE)):
        with pytest.raises(
            VerifyError, match=r"damaged or no ledger at all.*restore it from a backup, or name another"
        ):
            act(open_ledger(path))
    assert path.read_text() == "age,job\n" * 1000


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(PublishError, match=r"cannot be used.*check that its folder exists and is writable"):
        open_ledger(tmp_path / "no" / "ledger.db").reserve(draft("1"), budget=ONE)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_that_cannot_be_written(tmp_path):
    path = tmp_path / "ledger.db"
    open_ledger(path).reserve(draft("1/10"), budget=ONE)
    path.chmod(stat.S_IRUSR)
    with pytest.raises(PublishError, match="cannot be used"):
        open_ledger(path).reserve(draft("1/10"), budget=ONE)


def test_a_ledger_that_another_program_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "WAIT", 0.1)
    path = tmp_path / "ledger.db"
    open_ledger(path).reserve(draft("1/10"), budget=ONE)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(PublishError, match=r"locked.*no other program holds it"):
            open_ledger(path).reserve(draft("1/10"), budget=ONE)
    assert open_ledger(path).spent("adult") == Fraction(1, 10)


def test_names_with_odd_characters(tmp_path):
    path = tmp_path / "a b?c%20#d.db"
    open_ledger(path).reserve(draft("1/10"), budget=ONE)
    assert path.exists()
    assert open_ledger(path).spent("adult") == Fraction(1, 10)
