"""The command that each page shows can be pasted into a shell, whatever the names in it are."""

import re
import shlex
from html import unescape

import pytest
from typer.main import get_command

import sfumato as sf
from sfumato.cli.app import app
from tests.web.conftest import serving
from tests.web.http_client import Client
from tests.web.stopped_process import wait_until

FILE, ODD = "-my study; ls.yaml", '-it\'s "odd" $HOME'
STUDY = f"""\
name: odd
source: t.csv
attributes:
  sfumato: {{role: quasi_identifier, values: [a, b]}}
  '{ODD.replace("'", "''")}': {{role: quasi_identifier, values: [x, y]}}
releases:
  k2: {{method: mondrian, k: 2}}
"""


def read(words):
    """The parameters that a command understands from the words of a shell."""
    command, words, context = get_command(app), list(words[1:]), None
    while hasattr(command, "commands"):
        command = command.commands[words.pop(0)]
    context = command.make_context("sfumato", words, resilient_parsing=False)
    return {name: value for name, value in context.params.items() if value not in (None, False, ())}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    (folder / FILE).write_text(STUDY)
    rows = [("sfumato", ODD), *([("a", "x"), ("b", "y")] * 20)]
    (folder / "t.csv").write_text(
        "".join(",".join('"' + v.replace('"', '""') + '"' for v in row) + "\n" for row in rows)
    )
    sf.Study.load(folder / FILE).release("k2", report=False)
    with serving(folder, f"./{FILE}") as found:
        yield found


@pytest.fixture(scope="module")
def client(bench):
    return Client(bench)


@pytest.fixture(scope="module")
def address(client):
    found = re.search(r'href="(/s/\w+)/', client.get("/")[1])[1]
    wait_until(lambda: "column-rows" in client.get(f"{found}/columns")[1])
    return found


def commands_of(text):
    """The commands of a page: in the drawer, and below what they found."""
    found = re.findall(r"<code[^>]*>(sfumato .*?)</code>", text)
    return [shlex.split(unescape(one)) for one in found]


@pytest.mark.parametrize(
    ("page", "command", "expected"),
    [
        ("columns", "check", {}),
        ("taxonomies", "check", {}),
        ("taxonomies/1", "taxonomy show", {"attribute": ODD}),
        ("plan", "plan", {"release": "k2"}),
        ("frontier", "frontier", {}),
        ("release", "release", {"release": "k2"}),
        ("ledger", "ledger", {}),
        ("risk", "evaluate link", {"bundle": "releases/k2-1", "attributes": True}),
    ],
)
def test_a_page_of_a_study_shows_a_command_that_reads_the_study(client, address, page, command, expected):
    status, text = client.get(f"{address}/{page}")
    assert status == 200
    words = commands_of(text)[0]
    assert " ".join(words[1:]).startswith(command)
    found = read(words)
    assert f"{FILE}" in {str(value).removeprefix("./") for value in found.values()}, found
    assert {name: str(found[name]) for name in expected} == {name: str(value) for name, value in expected.items()}


def test_the_pages_of_a_bundle_show_commands_that_read_the_bundle(client):
    answer = client.ask("POST", "/open/bundle", "bundle=releases/k2-1", client.ours)
    page = answer.getheader("hx-redirect")
    wait_until(lambda: "sfumato verify" in client.get(page)[1])
    assert str(read(commands_of(client.get(page)[1])[0])["bundle"]) == "releases/k2-1/bundle"
    query = "sfumato = 'a'"
    status, text = client.post(f"{page}/query", {"predicate": query})
    assert status == 200
    found = read(commands_of(text)[0])
    assert {str(value) for value in found.values()} >= {"releases/k2-1/bundle", query}
