"""At which addresses and by which names the workbench answers; every server here listens on loopback alone."""

import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys

import pytest

from sfumato.errors import UsageError
from sfumato.web.server.serving import is_this_machine, serve
from sfumato.web.server.settings import Settings
from tests.web.conftest import serving


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """The files of a certificate for this test."""
    if shutil.which("openssl") is None:
        pytest.skip("makes a certificate with openssl")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    names = "subjectAltName=DNS:localhost,DNS:desk.example,IP:127.0.0.1,IP:::1"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", names, "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key


def status(workbench, host, *, trusted=None, path="/start?token=x"):
    """The answer to a request for a page of this Host: 403 with the reason, and whether the Host was the reason."""
    if trusted is None:
        connection = http.client.HTTPConnection(workbench.ip, workbench.port, timeout=60)
    else:
        context = ssl.create_default_context(cafile=str(trusted))
        context.check_hostname = False  # the name is in the header here
        connection = http.client.HTTPSConnection(workbench.ip, workbench.port, context=context, timeout=60)
    connection.request("GET", path, headers={"host": host})
    answer = connection.getresponse()
    said = answer.read().decode()
    connection.close()
    return "refused" if "not that of the workbench" in said else answer.status


@pytest.mark.parametrize(
    ("host", "ip", "said"),
    [
        ("LOCALHOST", "127.0.0.1", "localhost"),
        ("0:0:0:0:0:0:0:1", "::1", "[::1]"),
        ("127.0.0.2", "127.0.0.2", "127.0.0.2"),
    ],
)
def test_it_is_opened_by_the_address_that_it_prints(tmp_path, host, ip, said):
    with serving(tmp_path, "--host", host) as found:
        found.ip = ip
        assert found.origin == f"http://{said}:{found.port}"
        assert status(found, f"{said}:{found.port}", path=f"/start?token={found.token}") == 303
        assert status(found, f"{said.upper()}:{found.port}") == 403
        assert status(found, f"evil.example:{found.port}") == "refused"


def test_it_speaks_tls_by_the_names_that_were_given(tmp_path, tls):
    certificate, key = tls
    more = ["--certificate", str(certificate), "--key", str(key), "--name", "Desk.Example", "--name", "fd00::7"]
    with serving(tmp_path, *more) as found:
        found.ip = "127.0.0.1"
        assert found.origin == f"https://desk.example:{found.port}"
        token = f"/start?token={found.token}"
        for name in ("desk.example", "DESK.EXAMPLE", "127.0.0.1", "localhost", "[::1]", "[fd00::7]"):
            assert status(found, f"{name}:{found.port}", trusted=certificate, path=token) == 303
        for name in ("evil.example", "other.desk.example", "0.0.0.0", "[::]"):
            assert status(found, f"{name}:{found.port}", trusted=certificate) == "refused"
        assert status(found, "desk.example", trusted=certificate) == "refused"  # that is port 443


@pytest.mark.parametrize(
    ("given", "address", "accepted"),
    [
        ({"port": 443, "tls": True, "host": "::", "names": ("desk.example",)}, "https://desk.example", "desk.example"),
        ({"port": 80}, "http://127.0.0.1", "localhost"),
        ({"port": 443}, "http://127.0.0.1:443", "127.0.0.1:443"),
        ({"port": 80, "tls": True}, "https://127.0.0.1:80", "[::1]:80"),
        ({"port": 9, "tls": True, "host": "Büro.example"}, "https://xn--bro-hoa.example:9", "xn--bro-hoa.example:9"),
        ({"port": 9, "tls": True, "host": "FE80::1"}, "https://[fe80::1]:9", "[fe80::1]:9"),
    ],
)  # fmt: skip
def test_browsers_leave_the_usual_port_out(tmp_path, given, address, accepted):
    settings = Settings(folders=(tmp_path,), **given)
    assert settings.address.partition("/start")[0] == address
    assert accepted in settings.hosts
    assert address in settings.origins
    assert ("localhost" in settings.hosts) == (
        ":" not in address.removeprefix("http").removeprefix("s").removeprefix(":")
    )


def refused(code, tmp_path, **given):
    with pytest.raises(UsageError) as caught:
        serve((tmp_path,), ready=lambda *_: pytest.fail("it was announced"), **given)
    assert caught.value.code == code


def test_what_would_not_work_is_refused_before_it_is_announced(tmp_path, tls):
    certificate, key = tls
    both = {"certificate": certificate, "key": key}
    refused("SF-USAGE-418", tmp_path, host="0.0.0.0")
    refused("SF-USAGE-418", tmp_path, host="::")
    refused("SF-USAGE-924", tmp_path, certificate=certificate)
    refused("SF-USAGE-924", tmp_path, key=key)
    refused("SF-USAGE-925", tmp_path, host="0.0.0.0", **both)
    for name in ("https://desk.example", "desk.example:8765", "desk/x", "", "0.0.0.0", "a b"):
        refused("SF-USAGE-928", tmp_path, names=(name,))
    refused("SF-USAGE-927", tmp_path, host="no such host.invalid", **both)
    refused("SF-USAGE-926", tmp_path, certificate=certificate, key=certificate)
    refused("SF-USAGE-926", tmp_path, certificate=tmp_path / "none.pem", key=key)
    refused("SF-USAGE-077", tmp_path, memory_limit="plenty")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused("SF-USAGE-419", tmp_path, port=taken.getsockname()[1])


def test_only_loopback_addresses_are_this_machine():
    assert all(map(is_this_machine, ("127.0.0.1", "127.8.9.1", "::1", "localhost")))
    assert not any(map(is_this_machine, ("0.0.0.0", "::", "", "192.0.2.1", "fe80::1")))


def test_tls_without_its_key_is_an_error_of_the_command(tmp_path, tls):
    said = subprocess.run(
        [sys.executable, "-m", "sfumato", "serve", "--certificate", tls[0], "--no-browser", "--json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert said.returncode == 2 and json.loads(said.stderr.splitlines()[-1])["code"] == "SF-USAGE-924"
