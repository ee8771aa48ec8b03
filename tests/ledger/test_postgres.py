from fractions import Fraction

import pytest

from sfumato.errors import PublishError, StudyError, VerifyError
from sfumato.ledger import open_ledger, sql
from sfumato.study.file import study_from_mapping
from sfumato.workflow import ledger_of
from tests.ledger.drafts import WHEN, draft
from tests.raising import raises_code

ONE = Fraction(1)


def raw(address, *statements):
    import psycopg

    with psycopg.connect(address, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def test_looking_makes_no_table(database):
    ledger = open_ledger(database)
    assert (ledger.entries("adult"), ledger.spent("adult"), ledger.verify(), ledger.rows()) == ((), 0, (), [])
    with pytest.raises(Exception, match='relation "ledger" does not exist'):
        raw(database, "SELECT * FROM ledger")


@pytest.mark.parametrize(
    "statement", ["UPDATE ledger SET epsilon = '1/1000'", "DELETE FROM ledger", "TRUNCATE TABLE ledger"]
)
def test_rows_are_neither_changed_nor_removed(database, statement):
    open_ledger(database).reserve(draft("1/10"), budget=ONE)
    with pytest.raises(Exception, match="append-only"):
        raw(database, statement)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE ledger SET epsilon = '1/1000' WHERE seq = 1", "row 1 was changed: its hash does not match"),
        ("DELETE FROM ledger WHERE seq = 2", "row 2 is missing: the next one is 3"),
        (
            "UPDATE ledger SET seq = 13 - seq WHERE seq < 3; UPDATE ledger SET seq = seq - 10 WHERE seq > 10",
            "row 1 does not follow the row before it",
        ),
    ],
)
def test_whoever_removes_the_triggers_breaks_the_chain(database, statement, problem):
    ledger = open_ledger(database)
    ledger.complete(ledger.reserve(draft("1/10"), budget=ONE).id, "sha256:abc", at=WHEN)
    ledger.reserve(draft("1/10"), budget=ONE)
    raw(database, "DROP TRIGGER ledger_no_change ON ledger", *statement.split("; "))
    assert problem in ledger.verify()
    with raises_code(VerifyError, "SF-VERIFY-042"):
        ledger.reserve(draft("1/10"), budget=ONE)


def test_a_ledger_that_another_program_holds(database, monkeypatch):
    monkeypatch.setattr(sql, "WAIT", 0.1)
    ledger = open_ledger(database)
    ledger.reserve(draft("1/10"), budget=ONE)
    with (
        open_ledger(database).writing(),
        raises_code(PublishError, "SF-PUBLISH-006", match=r"lock timeout.*no other program holds"),
    ):
        ledger.reserve(draft("1/10"), budget=ONE)
    assert ledger.spent("adult") == Fraction(1, 10)


def test_a_role_that_may_only_look_and_add(database, postgres):
    ledger = open_ledger(database)
    ledger.reserve(draft("1/10"), budget=ONE)
    place = database.partition("%3D")[2]
    raw(
        database,
        "CREATE ROLE clerk LOGIN",
        f"GRANT USAGE ON SCHEMA {place} TO clerk",
        "GRANT SELECT, INSERT ON ledger TO clerk",
    )
    try:
        clerk = open_ledger(database.replace("owner@", "clerk@"))
        clerk.reserve(draft("1/10"), budget=ONE)
        assert clerk.spent("adult") == Fraction(2, 10)
        empty = open_ledger(f"{postgres.replace('owner@', 'clerk@')}/postgres")
        with raises_code(PublishError, "SF-PUBLISH-007", match=r"permission denied.*let the role create a table"):
            empty.reserve(draft("1/10"), budget=ONE)
    finally:
        raw(database, "DROP OWNED BY clerk", "DROP ROLE clerk")


def test_a_server_that_is_not_there_is_told_without_the_password(postgres):
    ledger = open_ledger("postgresql://owner:secret@127.0.0.1:1/book")
    with raises_code(
        PublishError, "SF-PUBLISH-006", match=r"'postgresql://owner:\*\*\*@127.0.0.1:1/book' cannot be used"
    ) as told:
        ledger.entries("adult")
    assert "secret" not in str(told.value)


def test_an_address_without_a_database_is_refused():
    for address in ("postgresql://host", "postgresql:book", "postgres://u:secret@h:notaport/b"):
        with raises_code(StudyError, "SF-STUDY-030") as told:
            open_ledger(address)
        assert "secret" not in str(told.value)


def test_without_the_driver_the_way_out_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "psycopg", None)
    with raises_code(StudyError, "SF-STUDY-031", match=r"needs psycopg.*pip install '\.\[postgres\]'"):
        open_ledger("postgresql://host/book")


def test_the_head_of_a_ledger_in_postgresql_lies_beside_the_study(database, tmp_path):
    fields = {"name": "adult", "source": "t.csv", "ledger": database}
    fields["attributes"] = {"sex": {"role": "class", "values": ["f", "m"]}}
    declared = study_from_mapping(fields, tmp_path)
    ledger_of(declared).reserve(draft("1/10"), budget=ONE)
    assert [path.name for path in tmp_path.iterdir()] == ["adult.ledger.head"]
    raw(database, "DROP TABLE ledger")
    assert "adult.ledger.head' says that the ledger had 1 rows" in ledger_of(declared).lost("Adult")[0]
    with raises_code(VerifyError, "SF-VERIFY-043"):
        ledger_of(declared).reserve(draft("1/10"), budget=ONE)
