"""A real PostgreSQL server for tests: its own data folder, on loopback, gone with the tests."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

_PLACES = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
_USERS = ("postgres", "nobody")  # who runs the server where we are root, which the server refuses


def missing():
    """Why there can be no server here, in words; nothing if there can."""
    try:
        import psycopg  # noqa: F401
    except ImportError:
        return "psycopg is not installed: pip install 'psycopg[binary]'"
    if binary("initdb") is None or binary("pg_ctl") is None:
        return "no PostgreSQL server here (initdb, pg_ctl): install postgresql, see tools/postgres.sh"
    if os.geteuid() == 0 and runner() is None:
        return f"PostgreSQL does not run as root, and there is no user {' or '.join(_USERS)} to run it as"
    return ""


def binary(name):
    """A program of the server, from PATH or where distributions put it."""
    found = shutil.which(name)
    if found is None:
        places = [p for pattern in _PLACES for p in sorted(Path("/").glob(f"{pattern[1:]}/{name}"))]
        found = str(places[-1]) if places else None
    return found


def runner():
    """The user to run the server as: ourselves, or another if we are root."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    for name in _USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None


@contextmanager
def running():
    """Start a server; its address up to the name of a database."""
    user = runner()
    folder = Path(tempfile.mkdtemp(prefix="sfumato-pg-"))  # short: sockets lie in it, and their paths are limited
    try:
        os.chown(folder, user.pw_uid, user.pw_gid)
        data = folder / "data"
        _run(user, folder, binary("initdb"), "-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--no-sync")
        port = _start(user, folder, data)
        try:
            yield f"postgresql://owner@127.0.0.1:{port}"
        finally:
            _run(user, folder, binary("pg_ctl"), "-D", data, "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _start(user, folder, data):
    """The port that the server listens on: a free one, unless another program takes it just then."""
    for last in (False, False, True):
        port = _free_port()
        settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
        try:
            _run(user, folder, binary("pg_ctl"), "-D", data, "-w", "-l", folder / "log", "-o", settings, "start")
        except subprocess.CalledProcessError:
            if last or "Address already in use" not in (folder / "log").read_text():
                raise
        else:
            return port
    raise AssertionError("the last failure is raised")


def _run(user, folder, *command):
    same = user.pw_uid == os.geteuid()
    who = {} if same else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    with (folder / "said").open("a") as said:  # no pipe: the server would keep it open
        subprocess.run(
            [str(part) for part in command], check=True, cwd=folder, stdout=said, stderr=said,
            env={**os.environ, "LC_ALL": "C", "HOME": str(folder)}, timeout=120, **who,
        )  # fmt: skip


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
