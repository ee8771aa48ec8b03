"""Tables in PostgreSQL: rights, types, errors, and what is left behind."""

import datetime as dt

import psycopg
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import SourceError
from sfumato.tables import CodedTable, open_source
from tests.raising import raises_code
from tests.tables.attributes import attribute, categories, grid
from tests.tables.engines import PostgresTables

SECRET = "Mrs Dalloway"


@pytest.fixture
def server(postgres):
    return PostgresTables(postgres)


def run(server, *statements):
    with psycopg.connect(f"{server.address}/postgres", autocommit=True) as connection:
        for statement in statements:
            found = connection.execute(statement)
        return found.fetchall() if found.description else None


def left_behind(server):
    return run(server, "SELECT relname FROM pg_class WHERE relname LIKE 'sfumato%'")


def counted(source, *attributes):
    cells = CodedTable(source, attributes).full_cells()
    return dict(zip(map(tuple, cells.codes.tolist()), cells.counts.tolist(), strict=True))


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("postgresql://ann:secret@127.0.0.1/x?table=t", "SF-SOURCE-375"),
        ("postgresql://ann@127.0.0.1/x?table=t&password=secret", "SF-SOURCE-375"),
        ("postgresql://127.0.0.1/secret", "SF-SOURCE-373"),
        ("postgresql://[secret/x?table=t", "SF-SOURCE-374"),
        ("postgresql://secret@127.0.0.1:1/x?table=t", "SF-SOURCE-378"),
    ],
    ids=["password", "password option", "no table", "broken", "nobody there"],
)
def test_addresses_that_are_refused(address, code):
    with raises_code(SourceError, code) as caught:
        open_source(address)
    assert "secret" not in str(caught.value)


def test_a_connection_that_breaks_in_mid_work_is_lost(server):
    with open_source(server.store(pa.table({"a": [1, 2]}))) as source:
        source.session._connection.pgconn.finish()
        with raises_code(SourceError, "SF-SOURCE-400"):
            source.fetch(source.table)


def test_a_table_that_is_not_there(server):
    with raises_code(SourceError, "SF-SOURCE-403"):
        open_source(f"{server.address}/postgres?table=nothing")


def test_a_table_without_records(server):
    run(server, "CREATE TABLE empty_one (a int)", "CREATE TABLE no_columns ()")
    with raises_code(SourceError, "SF-SOURCE-371"):
        open_source(f"{server.address}/postgres?table=empty_one")
    with raises_code(SourceError, "SF-SOURCE-370"):
        open_source(f"{server.address}/postgres?table=no_columns")


def test_a_role_that_reads_one_table_and_writes_to_one_schema(server):
    place = server.store(pa.table({"age": [1, 2, 2], "job": ["a", "b", "b"]})).rpartition("=")[2]
    run(
        server,
        "CREATE ROLE reader LOGIN",
        "CREATE SCHEMA desk",
        "REVOKE TEMPORARY ON DATABASE postgres FROM PUBLIC",
        f"GRANT SELECT ON {place} TO reader",
        "GRANT USAGE, CREATE ON SCHEMA desk TO reader",
    )
    address = f"{server.address.replace('owner@', 'reader@')}/postgres?table={place}"
    many = attribute("job", categories("a", "b", *(f"x{n}" for n in range(40))))  # a lookup table is made for it
    age = attribute("age", grid(0, 9, unit="integer"))
    try:
        with open_source(f"{address}&scratch=desk") as source:
            assert counted(source, age, many) == {(1, 0): 1, (2, 1): 2}
        assert left_behind(server) == []
        with open_source(address) as source, raises_code(SourceError, "SF-SOURCE-376"):
            counted(source, age, many)
        run(server, f"REVOKE SELECT ON {place} FROM reader")
        with raises_code(SourceError, "SF-SOURCE-377"):
            open_source(address)
    finally:
        run(server, "GRANT TEMPORARY ON DATABASE postgres TO PUBLIC")


def test_nothing_is_left_behind_and_one_state_is_seen(server):
    place = server.store(pa.table({"age": [1, 2, 2]}))
    age = attribute("age", grid(0, 9, unit="integer"))
    with open_source(place) as source:
        before = counted(source, age)
        run(server, f"INSERT INTO {place.rpartition('=')[2]} VALUES (7)")
        assert counted(source, age) == before == {(1,): 1, (2,): 2}
    with open_source(place) as source:
        assert counted(source, age) == {(1,): 1, (2,): 2, (7,): 1}
        source.session.keep("SELECT 1 AS one", doing="keeping")
    assert left_behind(server) == []
    source.close()  # again: nothing happens


def test_a_lost_connection_is_an_error_of_ours_and_leaves_nothing(server):
    place = server.store(pa.table({"age": [1, 2, 2]}))
    with open_source(place) as source:
        source.session.keep("SELECT 1 AS one", doing="keeping")
        run(server, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid IS NOT NULL")
        with pytest.raises(SourceError):
            counted(source, attribute("age", grid(0, 9, unit="integer")))
    assert left_behind(server) == []


def test_an_error_quotes_no_value(server):
    place = server.store(pa.table({"name": ["1", SECRET]})).rpartition("=")[2]
    run(server, f"CREATE VIEW bad_{place} AS SELECT CAST(name AS INTEGER) AS n FROM {place}")
    address = f"{server.address}/postgres?table=bad_{place}"
    with raises_code(SourceError, "SF-SOURCE-405") as caught, open_source(address) as source:
        counted(source, attribute("n", grid(0, 9, unit="integer")))
    assert SECRET not in repr(caught.value) and caught.value.__cause__ is None and caught.value.__context__ is None


TYPES = [
    ("numeric", ["1.50", "NaN", "Infinity", "1e400", None], grid(0, 9, missing=True), [1, 10, 9, 9, 10]),
    ("real", ["1.5", "NaN", "-Infinity", None], grid(0, 9, missing=True), [1, 10, 0, 10]),
    ("char(4)", ["a", "b", "zz"], categories("a", "b", other=True), [0, 1, 2]),
    ("uuid", ["00000000-0000-0000-0000-000000000001"], categories("00000000-0000-0000-0000-000000000001"), [0]),
    ("mood", ["sad", "glad", None], categories("sad", "glad", missing=True), [0, 1, 2]),
    ("posint", ["3", "5"], grid(0, 9), [3, 5]),
    ("date", ["2024-02-29", "infinity", "-infinity", None, "0044-03-15 BC"], None, [59, 366, 366, 366, 0]),
    ("timestamptz", ["2024-01-01 01:00+03", "2024-01-02 00:00+00", "infinity"], None, [0, 1, 366]),
    ("text COLLATE blind", ["a", "A"], categories("a", "A"), [0, 1]),
    ("boolean", ["true", "false", None], categories("true", "false", missing=True), [0, 1, 2]),
]


@pytest.mark.parametrize(("kind", "values", "domain", "expected"), TYPES, ids=[kind for kind, *_ in TYPES])
def test_types_of_the_server(server, kind, values, domain, expected):
    if domain is None:
        year = dt.date(2024, 1, 1).toordinal(), dt.date(2024, 12, 31).toordinal()
        domain = grid(*year, unit="day", missing=True)
    with psycopg.connect(f"{server.address}/postgres") as connection:
        for statement in (
            "CREATE TYPE mood AS ENUM ('sad', 'glad')",
            "CREATE DOMAIN posint AS INTEGER CHECK (VALUE > 0)",
            "CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
        ):
            try:
                with connection.transaction():
                    connection.execute(statement)
            except psycopg.errors.DuplicateObject:
                pass
        name = "typed_" + "".join(filter(str.isalpha, kind)).lower()
        connection.execute(f"CREATE TABLE {name} (x {kind}, place serial)")
        for value in values:
            connection.execute(f"INSERT INTO {name} (x) VALUES (%s)", [value])
    with open_source(f"{server.address}/postgres?table={name}") as source:
        coded = CodedTable(source, [attribute("x", domain)])
        found = source.fetch(coded.records.marked(keep=["place"]).order_by("k0"))["c0"].to_pylist()
    assert found == expected


def test_columns_of_other_types_are_left_alone(server):
    run(
        server,
        "CREATE TABLE odd (age int, b bytea, j json, i interval, p point, r int4range, a int[])",
        r"INSERT INTO odd VALUES (3, '\x00ff', '{}', '1 day', '(1,2)', '[1,2)', '{1}')",
    )
    with open_source(f"{server.address}/postgres?table=odd&schema=public") as source:
        assert counted(source, attribute("age", grid(0, 9, unit="integer"))) == {(3,): 1}
        with raises_code(SourceError, "SF-SOURCE-004"):
            CodedTable(source, [attribute("b", categories("a"))])


def test_a_study_is_proposed(server):
    table = pa.table({"age": [str(n % 50) for n in range(200)], "town": ["?", "Ulm", "Bonn", "Jena"] * 50})
    place = server.store(table)
    proposal = sf.describe(place)
    assert proposal.name == place.rpartition("=")[2]
    written = proposal.to_yaml()
    assert '"?"' in written and "Bonn" in written


def test_an_ibis_table_is_read_through_a_connection_of_our_own(server):
    import ibis

    place = server.store(pa.table({"age": [1, 2, 2, 5], "job": ["a", "b", "b", "c"]})).rpartition("=")[2]
    run(server, f"CREATE SCHEMA IF NOT EXISTS aside; CREATE VIEW aside.v_{place} AS SELECT * FROM {place}")
    port = int(server.address.rpartition(":")[2])
    theirs = ibis.postgres.connect(host="127.0.0.1", port=port, user="owner", database="postgres", schema="aside")
    try:
        seen = theirs.table(f"v_{place}")
        jobs = ibis.memtable({"job": ["a", "b"], "kind": ["x", "y"]})
        joined = seen.filter(seen["age"] < 5).join(jobs, "job")
        kind, age = attribute("kind", categories("x", "y")), attribute("age", grid(0, 9, unit="integer"))
        with open_source(joined) as source:
            assert counted(source, age, kind) == {(1, 0): 1, (2, 1): 2}
            assert source.session.memory == 2 * 10**9
        assert left_behind(server) == []
        assert theirs.con.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
        assert theirs.table(f"v_{place}").count().execute() == 4  # their connection is open and as it was
    finally:
        theirs.disconnect()
