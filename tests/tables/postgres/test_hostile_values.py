"""One record must change no other one's code and make no query fail, whatever PostgreSQL lets it hold."""

import datetime as dt

import psycopg
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import SourceError
from sfumato.study.unit import PersonUnit
from sfumato.tables import CodedTable, open_source
from tests.raising import raises_code
from tests.tables.attributes import attribute, categories, grid
from tests.tables.engines import PostgresTables
from tests.tables.postgres.test_postgres_engine import counted, run
from tests.tables.test_set_columns import TREE, sets

YEAR = grid(dt.date(2024, 1, 1).toordinal(), dt.date(2024, 12, 31).toordinal(), unit="day", missing=True)


@pytest.fixture
def server(postgres):
    return PostgresTables(postgres)


def codes(server, kind, values, domain):
    """The codes of values that the server reads itself."""
    run(server, "DROP TABLE IF EXISTS hostile", f"CREATE TABLE hostile (x {kind}, place serial)")
    with psycopg.connect(f"{server.address}/postgres") as connection:
        for value in values:
            connection.execute("INSERT INTO hostile (x) VALUES (%s)", [value])
    with open_source(f"{server.address}/postgres?table=hostile") as source:
        coded = CodedTable(source, [attribute("x", domain)])
        return source.fetch(coded.records.marked(keep=["place"]).order_by("k0"))["c0"].to_pylist()


EXTREME = ["1e308", "-1.7e308", "5e-324", "-5e-324", "1.7976931348623157e308", "0", "Infinity", "-Infinity"]


@pytest.mark.parametrize("kind", ["double precision", "text"])
@pytest.mark.parametrize(
    "domain", [grid(0, 9, "1/10"), grid(0, 90, 10), grid(10**11, 10**11 + 5, "1/10"), grid(-5, 5, "1/3")], ids=str
)
def test_floats_at_the_ends_are_coded_as_in_python(server, kind, domain):
    assert codes(server, kind, EXTREME, domain) == domain.encode([float(value) for value in EXTREME]).tolist()


def test_long_decimals_with_exponents(server):
    long = ["0." + "1" * 5000 + "e-9000", "1" * 5000 + "e9000", "0." + "0" * 5000 + "1e9000", "1" * 7000, "7"]
    found = codes(server, "text", long, grid(0, 9, missing=True))
    assert found == [0, 9, 9, 10, 7]  # more than 6,000 characters are no number


def test_late_years(server):
    days = ["294276-12-31", "294277-01-01", "5874897-12-31", "2024-03-01", "4713-01-01 BC"]
    assert codes(server, "date", days, YEAR) == [365, 365, 365, 60, 0]
    assert codes(server, "timestamp", ["294276-12-31 23:59", "2024-03-01 12:00"], YEAR) == [365, 60]


def test_decimals_with_zeros_are_one_value(server):
    assert codes(server, "numeric", ["1", "1.0", "1.00", "NaN", "10"], categories("1", "10", missing=True)) == [
        0, 0, 0, 2, 1,
    ]  # fmt: skip
    run(
        server,
        "CREATE TABLE people (who numeric, age int)",
        "INSERT INTO people VALUES (7, 1), (7.0, 2), (7.00, 3), (8, 4)",
    )
    with open_source(f"{server.address}/postgres?table=people") as source:
        age = attribute("age", grid(0, 9, unit="integer"))
        coded = CodedTable(source, [age], unit=PersonUnit(column="who", at_most=1))
        assert coded.rows() == 2


def test_very_long_text_is_read_up_to_a_million_characters(server):
    run(
        server,
        "CREATE TABLE long_text (x text)",
        "INSERT INTO long_text VALUES ('a'), (repeat('b', 270000000))",
    )
    with open_source(f"{server.address}/postgres?table=long_text") as source:
        assert counted(source, attribute("x", categories("a", other=True))) == {(0,): 1, (1,): 1}


LISTS = ["{a1,B}", "[0:1]={a1,B}", "[2:3]={a1,B}", "{{a1,B},{c1,a1}}", "{}", None, "{NULL,a1}"]


@pytest.mark.parametrize("kind", ["text[]", "varchar[]", 'text[] COLLATE "und-x-icu"'])
def test_a_list_changes_no_other_record(server, kind):
    run(server, "DROP TABLE IF EXISTS lists", f"CREATE TABLE lists (ills {kind})")
    attributes = [sets("ills", SetDomain(taxonomy=TREE, other=7))]
    with psycopg.connect(f"{server.address}/postgres", autocommit=True) as connection:
        for _ in range(10):
            connection.execute("INSERT INTO lists VALUES ('{a1,B}')")
        for many, value in enumerate(LISTS, start=1):
            connection.execute("INSERT INTO lists VALUES (%s)", [value])
            with open_source(f"{server.address}/postgres?table=lists") as source:
                assert CodedTable(source, attributes).rows() == 10 + many


def test_an_encoding_of_the_environment_changes_nothing(server, monkeypatch):
    place = server.store(pa.table({"ill": ["€", "ł", "a"]}))
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    with open_source(place) as source:
        assert counted(source, attribute("ill", categories("€", "ł", "a"))) == {(0,): 1, (1,): 1, (2,): 1}


def test_a_database_that_does_not_store_unicode_is_refused(server):
    run(server, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    with psycopg.connect(f"{server.address}/latin", autocommit=True) as connection:
        connection.execute("CREATE TABLE t (x int)")
    with raises_code(SourceError, "SF-SOURCE-398"):
        open_source(f"{server.address}/latin?table=t")


def test_a_message_does_not_follow_a_value(server):
    place = server.store(pa.table({"x": ["permission denied for Mrs Dalloway"]})).rpartition("=")[2]
    run(server, f"CREATE VIEW steered_{place} AS SELECT x::int AS x FROM {place}")
    with open_source(f"{server.address}/postgres?table=steered_{place}") as source:
        with raises_code(SourceError, "SF-SOURCE-405") as caught:
            counted(source, attribute("x", grid(0, 9, unit="integer")))
        assert "Dalloway" not in repr(caught.value)


def test_settings_of_the_role_do_not_decide(server):
    place = server.store(pa.table({"age": [1, 2]})).rpartition("=")[2]
    run(
        server,
        "CREATE ROLE strict_one LOGIN",
        f"GRANT SELECT ON {place} TO strict_one",
        "ALTER ROLE strict_one SET default_transaction_read_only = on",
        "ALTER ROLE strict_one SET idle_in_transaction_session_timeout = 1",
    )
    address = f"{server.address.replace('owner@', 'strict_one@')}/postgres?table={place}"
    with open_source(address) as source:
        assert counted(source, attribute("age", grid(0, 9, unit="integer"))) == {(1,): 1, (2,): 1}


def test_a_connection_that_acts_as_another_role_is_refused(server):
    import ibis

    place = server.store(pa.table({"age": [1]})).rpartition("=")[2]
    port = int(server.address.rpartition(":")[2])
    theirs = ibis.postgres.connect(host="127.0.0.1", port=port, user="owner", database="postgres")
    try:
        seen = theirs.table(place)
        theirs.con.execute("CREATE ROLE tenant")
        theirs.con.execute("SET ROLE tenant")
        with raises_code(SourceError, "SF-SOURCE-406"):
            open_source(seen)
    finally:
        theirs.disconnect()


@pytest.mark.parametrize(
    ("tail", "code"),
    [
        ("postgres?table=t#1", "SF-SOURCE-374"),
        ("postgres?table=t&table=u", "SF-SOURCE-374"),
        (f"postgres?table={'t' * 64}", "SF-SOURCE-374"),
        ("postgres?table=t&sslpassword=secret", "SF-SOURCE-375"),
        ("postgres?table=t&scratch=nowhere", "SF-SOURCE-399"),
    ],
)
def test_addresses_that_say_too_much(server, tail, code):
    with raises_code(SourceError, code) as caught:
        open_source(f"{server.address}/{tail}")
    assert "secret" not in str(caught.value)


def test_options_of_the_server_reach_it(server):
    place = server.store(pa.table({"age": [1]})).rpartition("=")[2]
    host = server.address.removeprefix("postgresql://owner@")
    name, _, port = host.partition(":")
    for address in (
        f"postgresql:///postgres?host={name}&port={port}&user=owner&table={place}",
        f"{server.address}/postgres?options=-c%20geqo%3Doff&table={place}",
    ):
        with open_source(address) as source:
            assert source.columns == ("age",)


def test_tables_of_the_scratch_schema_hide_no_other(server):
    run(
        server,
        "CREATE SCHEMA bench",
        "CREATE TABLE bench.both_have_it (age int)",
        "INSERT INTO bench.both_have_it VALUES (9)",
        "CREATE TABLE both_have_it (age int)",
        "INSERT INTO both_have_it VALUES (1)",
    )
    with open_source(f"{server.address}/postgres?table=both_have_it&scratch=bench") as source:
        assert counted(source, attribute("age", grid(0, 9, unit="integer"))) == {(1,): 1}


def test_columns_without_plain_values_are_described(server):
    run(
        server,
        "CREATE TABLE odd_ones (age int, b bytea, a text[], i int[], name text)",
        r"INSERT INTO odd_ones VALUES (3, '\x00', '{a,b}', '{1}', 'ınf'), (4, '\x01', '{a}', '{2}', '1')",
    )
    written = sf.describe(f"{server.address}/postgres?table=odd_ones").to_yaml()
    assert "age" in written
