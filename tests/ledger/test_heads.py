"""Head files: what notices that a ledger has lost rows, and what lost rows count for."""

import errno
import json
import os
import shutil
from fractions import Fraction

import pytest

from sfumato.errors import PublishError, VerifyError
from sfumato.ledger import Adoption, heads, open_ledger, sqlite
from tests.ledger.drafts import WHEN, draft
from tests.raising import raises_code

ONE, TEN = Fraction(1), Fraction(10)


@pytest.fixture(params=["sqlite", "postgres"])
def lose(request, tmp_path):
    """A ledger with a head apart from it, and what makes it lose all its rows."""
    head = tmp_path / "apart" / "adult.ledger.head"
    head.parent.mkdir()
    if request.param == "sqlite":
        path = tmp_path / "book.sqlite"
        return lambda: open_ledger(path, head=head), path.unlink, head
    database = request.getfixturevalue("database")

    def drop():
        import psycopg

        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("DROP TABLE ledger")

    return lambda: open_ledger(database, head=head), drop, head


def test_a_lost_ledger_is_noticed_and_adopted(lose):
    opened, drop, head = lose
    ledger = opened()
    first = ledger.reserve(draft("1/3"), budget=TEN)
    ledger.complete(first.id, "sha256:abc", at=WHEN)
    ledger.reserve(draft("1/2", study="Adult"), budget=TEN)
    ledger.reserve(draft("1/2", study="bikes"), budget=TEN)
    said = json.loads(head.read_text(encoding="utf-8"))["accounts"]
    assert (said["adult"]["rows"], said["adult"]["epsilon"], said["bikes"]["rows"]) == (3, "5/6", 4)
    assert ledger.verify() == ledger.lost("adult") == ()
    drop()
    assert len(opened().verify()) >= 2, "of both accounts"
    assert "had 3 rows for the study 'adult' (ε = 5/6 in all)" in opened().lost("ADULT")[0]
    with raises_code(VerifyError, "SF-VERIFY-043"):
        opened().reserve(draft("1/3"), budget=TEN)
    lost = draft(None, purpose="lost")
    found = [Adoption(draft=draft("1/3"), hash=first.hash, bundle="b" * 64)]
    entered = opened().adopt(found, lost, reason="moved", budget=ONE)
    assert [(e.epsilon, e.adopts, e.bundle, e.reason, e.state) for e in entered] == [
        (Fraction(1, 3), first.hash, "b" * 64, "moved", "adopted"), (Fraction(1, 2), None, None, "moved", "adopted"),
    ]  # fmt: skip
    assert opened().spent("adult") == Fraction(5, 6)
    assert first.hash in opened().hashes()
    assert opened().adopt(found, lost, reason="again", budget=ONE) == []
    assert opened().lost("adult") == ()
    assert len(opened().lost("bikes")) >= 1, "the other account is still to be adopted"
    opened().reserve(draft("1/6"), budget=ONE)


@pytest.fixture
def branches(tmp_path):
    """A ledger file, and copies of two that were begun apart: 1/2 and 1/3 were spent in one, 1/2 in the other."""
    path, head = tmp_path / "book.sqlite", tmp_path / "book.head"
    copies = tmp_path / "a.copy", tmp_path / "b.copy"
    for copy, spends in zip(copies, (("1/2", "1/3"), ("1/2",)), strict=True):
        path.unlink(missing_ok=True)
        head.unlink(missing_ok=True)
        for epsilon in spends:
            open_ledger(path).reserve(draft(epsilon, who=copy.name), budget=TEN)
        shutil.copy(path, copy)
    return path, *copies


def test_spends_of_another_branch_do_not_cancel_out(branches):
    path, a, b = branches
    shutil.copy(a, path)
    [entry] = open_ledger(path).adopt([], draft(None), reason="copied back", budget=TEN)
    assert entry.epsilon == Fraction(1, 2)
    assert open_ledger(path).spent("adult") == Fraction(4, 3)
    shutil.copy(b, path)  # and the other way round: what was adopted is known by the hashes it covers
    [entry] = open_ledger(path).adopt([], draft(None), reason="copied back", budget=TEN)
    assert entry.epsilon == Fraction(5, 6)
    assert open_ledger(path).spent("adult") == Fraction(4, 3)
    path.unlink()
    [entry] = open_ledger(path).adopt([], draft(None), reason="lost at last", budget=TEN)
    assert entry.epsilon == Fraction(4, 3)
    assert open_ledger(path).verify() == ()


def test_a_release_of_another_branch_is_not_taken_off_what_the_head_lists(branches):
    path, a, _ = branches
    theirs = open_ledger(a).entries("adult")[0]
    path.unlink()
    found = [Adoption(draft=draft("1/2"), hash=theirs.hash, bundle="b" * 64)]
    entered = open_ledger(path).adopt(found, draft(None), reason="moved", budget=TEN)
    assert [entry.epsilon for entry in entered] == [Fraction(1, 2), Fraction(1, 2)]


def test_adopting_twice_where_the_head_could_not_be_written_counts_once(branches, monkeypatch):
    path, a, _ = branches
    shutil.copy(a, path)
    with monkeypatch.context() as patch:
        patch.setattr(heads.os, "fsync", lambda *_given: (_ for _ in ()).throw(OSError(errno.EIO, "no")))
        with pytest.raises(PublishError):
            open_ledger(path).adopt([], draft(None), reason="copied back", budget=TEN)
    open_ledger(path).adopt([], draft(None), reason="again", budget=TEN)
    assert open_ledger(path).spent("adult") == Fraction(4, 3)
    assert open_ledger(path).lost("adult") == ()


def test_a_head_of_an_earlier_version_is_charged_in_full(branches):
    path, a, _ = branches
    head = path.with_name("book.head")
    said = json.loads(head.read_text())
    del said["accounts"]["adult"]["paid"]
    head.write_text(json.dumps(said))
    assert open_ledger(path).verify() == ()
    shutil.copy(a, path)
    [entry] = open_ledger(path).adopt([], draft(None), reason="copied back", budget=TEN)
    assert entry.epsilon == Fraction(1, 2)
    assert json.loads(head.read_text())["accounts"]["adult"]["paid"]
    assert open_ledger(path).adopt([], draft(None), reason="again", budget=TEN) == []


def test_an_adopted_release_is_known_by_its_first_hash_when_the_ledger_is_lost_again(tmp_path):
    path = tmp_path / "book.sqlite"
    first = open_ledger(path).reserve(draft("1/3"), budget=TEN)
    found = [Adoption(draft=draft("1/3"), hash=first.hash, bundle="b" * 64)]
    for _ in range(2):
        path.unlink()
        open_ledger(path).adopt(found, draft(None), reason="lost", budget=TEN)
        assert open_ledger(path).spent("adult") == Fraction(1, 3)


def test_closing_an_entry_does_not_overwrite_the_head_of_another_ledger(branches):
    path, a, _ = branches
    shutil.copy(a, path)
    ledger = open_ledger(path)
    ledger.complete(1, "x", at=WHEN)
    assert len(ledger.lost("adult")) == 1


def test_a_head_whose_list_does_not_add_up_cannot_be_read(branches):
    path, *_ = branches
    head = path.with_name("book.head")
    head.write_text(head.read_text().replace('"epsilon": "1/2"', '"epsilon": "1/3"'))
    assert "cannot be read" in open_ledger(path).verify()[0]


def test_an_entry_of_another_process_while_the_ledger_is_read_is_no_loss(tmp_path, monkeypatch):
    path = tmp_path / "book.db"
    ledger, real = open_ledger(path), sqlite.SqliteLedger.read
    ledger.reserve(draft("1"), budget=TEN)

    def slow(book):
        rows = real(book)
        open_ledger(path).reserve(draft("1"), budget=TEN)  # enters without reading through here
        return rows

    monkeypatch.setattr(sqlite.SqliteLedger, "read", slow)
    assert ledger.lost("adult") == ledger.verify() == ()


def test_a_head_never_falls_back(tmp_path):
    path = tmp_path / "book.db"
    ledger = open_ledger(path)
    entry = ledger.reserve(draft("1"), budget=TEN)
    before = ledger.read()
    ledger.complete(entry.id, "x", at=WHEN)
    ledger.heads.write("adult", heads.head_of(before, "adult"))
    assert json.loads((tmp_path / "book.db.head").read_text())["accounts"]["adult"]["rows"] == 2


def test_a_head_that_cannot_be_written_stops_the_entry_before_it_is_made(tmp_path, monkeypatch):
    ledger = open_ledger(tmp_path / "book.db")

    def full(*_given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(heads.os, "fsync", full)
    with raises_code(
        PublishError, "SF-PUBLISH-005", match=r"the head of the ledger cannot be kept in '.*book.db.head'"
    ):
        ledger.reserve(draft("1"), budget=TEN)
    assert ledger.spent("adult") == 0
    assert {path.name for path in tmp_path.iterdir()} <= {"book.db"}


def test_a_head_that_cannot_be_written_after_the_entry_lags(tmp_path, monkeypatch):
    ledger = open_ledger(tmp_path / "book.db")
    entry = ledger.reserve(draft("1"), budget=TEN)
    monkeypatch.setattr(heads.os, "fsync", lambda *_given: (_ for _ in ()).throw(OSError(errno.EIO, "no")))
    ledger.complete(entry.id, "x", at=WHEN)
    assert [entry.state for entry in ledger.entries("adult")] == ["done"]
    assert ledger.verify() == ()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"version": 2, "accounts": {}}', '{"version": 1, "accounts": {"a": 1}}']
)
def test_a_head_that_cannot_be_read(tmp_path, text):
    ledger = open_ledger(tmp_path / "book.db")
    (tmp_path / "book.db.head").write_text(text)
    assert ledger.verify() == (f"the head of the ledger in '{tmp_path / 'book.db.head'}' cannot be read",)


def test_a_ledger_in_memory_has_no_head():
    assert not open_ledger("memory:").lasting
    assert open_ledger("memory:").lost("adult") == ()


def test_a_larger_budget_at_a_later_entry_is_a_raised_one(tmp_path):
    from sfumato.ledger import raised_budgets

    ledger = open_ledger(tmp_path / "book.db")
    for budget in (2, 2, 4, 3):
        ledger.reserve(draft("1/10"), budget=Fraction(budget))
    found = raised_budgets(ledger.entries("adult"), now=Fraction(5))
    assert [(r.before, r.after, r.entry and r.entry.id) for r in found] == [(2, 4, 3), (3, 5, None)]
