import os
import sqlite3
import stat
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import pytest

from sfumato.errors import BudgetError, PublishError, VerifyError
from sfumato.ledger import open_ledger, sqlite
from tests.ledger.drafts import WHEN, draft
from tests.raising import raises_code

ONE = Fraction(1)


def raw(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        return [connection.execute(statement).fetchall() for statement in statements]


def test_the_entry_is_on_the_disk_when_reserve_returns(tmp_path):
    path = tmp_path / "ledger.db"
    open_ledger(path).reserve(draft("1/10"), budget=ONE)
    (rows,) = raw(path, "SELECT seq, kind, entry, study, epsilon, at FROM ledger")
    assert rows == [(1, "opened", 1, "adult", "1/10", "2026-11-03T14:30:00+00:00")]
    with sqlite.SqliteLedger(path).writing() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 3  # EXTRA


def test_a_second_ledger_on_the_same_file_sees_everything(tmp_path):
    first = open_ledger(f"sqlite:///{tmp_path / 'ledger.db'}").reserve(draft("0.7"), budget=ONE)
    second = open_ledger("ledger.db", base=tmp_path)
    assert second.entries("adult") == (first,)
    with pytest.raises(BudgetError):
        second.reserve(draft("0.7"), budget=ONE)


def test_a_relative_path_stays_where_it_was_when_the_program_goes_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    ledger = open_ledger("ledger.db", head=Path("study.head"))
    entry = ledger.reserve(draft("0.7"), budget=ONE)
    monkeypatch.chdir("other")
    assert ledger.spent("adult") == Fraction(7, 10)
    ledger.complete(entry.id, "sha256:abc", at=WHEN)
    assert list(Path().iterdir()) == [], "no second ledger or head begins"
    (tmp_path / "ledger.db").unlink()
    with raises_code(VerifyError, "SF-VERIFY-043"):
        ledger.reserve(draft("0.7"), budget=ONE)


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
    with raises_code(VerifyError, "SF-VERIFY-042"):
        ledger.reserve(draft("1/10"), budget=ONE)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM ledger WHERE seq = 1", "row 1 is missing: the next one is 2"),
        (
            "UPDATE ledger SET seq = 13 - seq WHERE seq < 3; UPDATE ledger SET seq = seq - 10 WHERE seq > 10",
            "row 1 does not follow the row before it",
        ),
    ],
)
def test_a_removed_or_reordered_row_is_found(tmp_path, statement, problem):
    path = tmp_path / "ledger.db"
    ledger = open_ledger(path)
    ledger.complete(ledger.reserve(draft("1/10"), budget=ONE).id, "sha256:abc", at=WHEN)
    raw(path, "DROP TRIGGER ledger_no_update", "DROP TRIGGER ledger_no_delete", *statement.split("; "))
    assert problem in ledger.verify()


def test_a_file_that_is_no_ledger(tmp_path):
    path = tmp_path / "ledger.db"
    path.write_text("age,job\n" * 1000)
    for act in (lambda ledger: ledger.entries("adult"), lambda ledger: ledger.reserve(draft("1"), budget=ONE)):
        with raises_code(VerifyError, "SF-VERIFY-046"):
            act(open_ledger(path))
    assert path.read_text() == "age,job\n" * 1000


def test_a_folder_that_does_not_exist(tmp_path):
    with raises_code(PublishError, "SF-PUBLISH-008"):
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
        with raises_code(PublishError, "SF-PUBLISH-008", match=r"locked.*no other program holds it"):
            open_ledger(path).reserve(draft("1/10"), budget=ONE)
    assert open_ledger(path).spent("adult") == Fraction(1, 10)


def test_names_with_odd_characters(tmp_path):
    path = tmp_path / "a b?c%20#d.db"
    open_ledger(path).reserve(draft("1/10"), budget=ONE)
    assert path.exists()
    assert open_ledger(path).spent("adult") == Fraction(1, 10)
