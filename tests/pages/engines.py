"""Pages that need a PostgreSQL server and Spark: a reader has them; here they are those of the tests."""

from urllib.parse import urlsplit

ENGINES_NEEDED = {"in-a-database-and-on-spark.md"}


def reach_engines(request, patch):
    """Start both (the test is skipped where one is missing), and let `psql` and the study find the server."""
    request.getfixturevalue("spark")
    server = urlsplit(request.getfixturevalue("postgres"))
    patch.setenv("PGHOST", server.hostname)
    patch.setenv("PGPORT", str(server.port))
    patch.setenv("PGUSER", server.username)
