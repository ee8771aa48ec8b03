"""What others made on a server, and what a role is set to: neither decides what is counted, or sees a record."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.release.verify import verify_bundle
from sfumato.tables import CodedTable, open_source
from sfumato.tables.postgres.server_errors import classify_number
from sfumato.tables.postgres.session import PostgresSession
from tests.tables.attributes import attribute, categories, grid
from tests.tables.engines import PostgresTables
from tests.tables.postgres.test_postgres_engine import counted, run
from tests.workflow.test_engines_agree import study, table

# Functions and operators that fit what is asked as well as the server's own, or better; none may ever run.
SNARES = (
    ('"unnest"(text[])', "SETOF text"),
    ("generate_series(integer, bigint)", "SETOF bigint"),
    ('"left"(text, integer)', "text"),
    ("length(text)", "integer"),
    ("btrim(text, text)", "text"),
    ("isfinite(timestamp with time zone)", "boolean"),
    ("trim_scale(numeric)", "numeric"),
    ("abs(integer)", "integer"),
    ("int4send(integer)", "bytea"),
    ("int8send(bigint)", "bytea"),
    ("to_regclass(text)", "regclass"),
    ("current_setting(text)", "text"),
    ("current_schema()", "name"),
    ("quote_ident(text)", "text"),
)
OPERATORS = (("=", "text"), ("~", "text"), ("||", "text"), (">=", "integer"), ("<", "integer"))


@pytest.fixture
def server(postgres):
    return PostgresTables(postgres)


@pytest.fixture
def snared(server):
    """The address of a server for a role that searches a schema of somebody else's."""
    made = [
        "CREATE ROLE careless LOGIN",
        "CREATE SCHEMA theirs",
        *(
            f"CREATE FUNCTION theirs.{function} RETURNS {kind} LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'snared'; END $$"
            for function, kind in SNARES
        ),
        *(
            f"CREATE FUNCTION theirs.answer_{number}({kind}, {kind}) RETURNS boolean LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION 'snared'; END $$; CREATE OPERATOR theirs.{sign} "
            f"(FUNCTION = theirs.answer_{number}, LEFTARG = {kind}, RIGHTARG = {kind})"
            for number, (sign, kind) in enumerate(OPERATORS)
        ),
        "GRANT USAGE ON SCHEMA theirs TO careless",
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO careless",
        "CREATE SCHEMA lent AUTHORIZATION careless",
    ]
    run(server, *made)
    yield server.address.replace("owner@", "careless@") + "/postgres"
    run(server, "DROP OWNED BY careless", "DROP ROLE careless", "DROP SCHEMA theirs CASCADE")


# The first is how roles are by default: of two functions that fit alike, the server's own is taken.
PATHS = ("theirs, public", "theirs, public, pg_catalog", "theirs, pg_catalog, lent, public")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("scratch", ["", "&scratch=lent"])
def test_no_function_of_others_sees_a_record_or_changes_a_count(server, snared, path, scratch):
    many = attribute("job", categories("a", "b", *(f"x{n}" for n in range(600))))  # a lookup table is stored for it
    numbers = attribute("pay", grid(0, 9, unit="integer"))
    sets = attribute("codes", SetDomain(taxonomy=categories("a1", "b1").taxonomy))
    rows = pa.table({"job": ["a", "b", "b"], "pay": ["1", "2", "2"], "codes": [["a1"], ["a1", "b1"], ["a1", "b1"]]})
    place = server.store(rows).rpartition("=")[2]
    run(server, f"GRANT SELECT ON {place} TO careless", f"ALTER ROLE careless SET search_path = {path}")
    with (
        open_source(f"{snared}?table={place}{scratch}") as found,
        open_source(f"{server.address}/postgres?table={place}") as expected,
    ):
        assert counted(found, many, numbers, sets) == counted(expected, many, numbers, sets)
        assert len(counted(found, many, numbers)) == 2


@pytest.mark.error_rate(0, reason="seeded")
@pytest.mark.parametrize("path", ["lent, theirs, public", "lent, theirs, public, pg_catalog"])
def test_no_function_of_others_is_run_by_publishing(server, snared, tmp_path, path):
    place = server.store(table()).rpartition("=")[2]
    run(server, f"GRANT SELECT ON {place} TO careless", f"ALTER ROLE careless SET search_path = {path}")
    to = f"{snared}?table=released"
    done = study(f"{snared}?table={place}", "record").release(sf.Mondrian(k=5), out=tmp_path / "out", to=to)
    assert run(server, "SELECT count(*) FROM lent.released") == [(400,)], "the first schema of the role's path"
    assert verify_bundle(done.bundle, data=to).ok
    assert not verify_bundle(done.bundle, data=f"{snared}?table={place}").ok


SETTINGS = (
    "DateStyle = 'German'",
    "IntervalStyle = 'sql_standard'",
    "TimeZone = 'Asia/Tokyo'",
    "extra_float_digits = -15",
    "standard_conforming_strings = off",
    "default_transaction_read_only = on",
    "transform_null_equals = on",
    "quote_all_identifiers = on",
    "default_transaction_isolation = 'read uncommitted'",
    "row_security = off",
    "client_encoding = 'LATIN1'",
    "gin_fuzzy_search_limit = 1",
    "idle_in_transaction_session_timeout = 1",
    "synchronize_seqscans = off",
    "enable_hashagg = off",
)


def test_no_setting_of_a_role_changes_a_value(server):
    run(
        server,
        "CREATE TABLE moments (stay interval, day date, at timestamptz, share float8, note text)",
        "INSERT INTO moments VALUES ('1 year 2 days 03:00', '2024-02-03', '2024-01-01 23:30+00', 0.1, 'it''s \\u00fc'),"
        " ('2 mons', '2024-11-01', '2024-06-01 12:00+00', 1e-7, NULL)",
        "CREATE ROLE odd LOGIN",
        "GRANT SELECT ON moments TO odd",
    )
    asked = [
        attribute("stay", categories("1 year 2 days 03:00:00", "2 mons")),
        attribute("day", categories("2024-02-03", "2024-11-01")),
        attribute("at", categories("2024-01-01 23:30:00+00", "2024-06-01 12:00:00+00")),
        attribute("share", categories("0.1", "1e-07")),
        attribute("note", categories("it's \\u00fc", missing=True)),
    ]
    try:
        for setting in SETTINGS:
            run(server, f"ALTER ROLE odd SET {setting}")
        with open_source(f"{server.address.replace('owner@', 'odd@')}/postgres?table=moments") as source:
            assert counted(source, *asked) == {(0, 0, 0, 0, 0): 1, (1, 1, 1, 1, 1): 1}
    finally:
        run(server, "DROP OWNED BY odd", "DROP ROLE odd", "DROP TABLE moments")


def test_values_of_records_are_in_no_query(server, monkeypatch):
    """An administrator sees queries, and the server may log them; few declared values stand in them."""
    import psycopg

    written = []
    for kind in (psycopg.Cursor, psycopg.ServerCursor):

        def watched(self, query, *given, real=kind.execute, **more):
            written.append(str(query))
            return real(self, query, *given, **more)

        monkeypatch.setattr(kind, "execute", watched)
    values = ["a1;b1", "a2;secret", "b2", None]
    tree = Taxonomy.of(Node("any", (Node("A", (Node("a1"), Node("a2"))), Node("B", (Node("b1"), Node("b2"))))))
    codes = SetDomain(taxonomy=tree.with_leaf("(other)"), separator=";", other=4)
    with open_source(server.store(pa.table({"x": values}))) as source:
        coded = CodedTable(source, [attribute("x", codes)])
        assert int(coded.full_cells().counts.sum()) == 4 and coded.domain_violations()
    assert written and not [query for query in written if "secret" in query or "a1;b1" in query]


def test_no_limit_of_a_role_ends_the_transaction(server, monkeypatch):
    """`transaction_timeout` is known from PostgreSQL 17 on; here the server is asked as if it were one."""
    asked, run = [], PostgresSession.run

    def watched(self, sql, **more):
        asked.append(sql)
        if "transaction_timeout = 0" not in sql or "idle" in sql:
            run(self, sql, **more)

    monkeypatch.setattr(PostgresSession, "run", watched)
    monkeypatch.setattr("sfumato.tables.postgres.session._ALL_LIMITS", 90000)
    address = server.store(pa.table({"age": [1]}))
    open_source(address).close()
    assert "SET transaction_timeout = 0" in asked[:2]
    monkeypatch.setattr("sfumato.tables.postgres.session._ALL_LIMITS", 10**9)
    asked.clear()
    open_source(address).close()
    assert not [sql for sql in asked if sql.startswith("SET transaction_timeout")]


def test_a_transaction_that_takes_too_long_is_said_to():
    import psycopg

    class Ended(psycopg.OperationalError):
        sqlstate = "25P04"

    found = classify_number(Ended(), creating=False, connected=True)
    assert found.code == "SF-SOURCE-402" and "transaction_timeout" in found.fix
