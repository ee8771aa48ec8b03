"""The memory limit of a session: every command that takes it gets it, and nothing else does."""

import re
import shlex
from html import unescape

import pytest
from typer.main import get_command

from sfumato.cli.app import app
from sfumato.errors import UsageError
from sfumato.web.jobs import Jobs
from sfumato.web.session_options import LIMITED, SessionOptions
from tests.web.conftest import serving
from tests.web.http_client import Client
from tests.web.small_study import write_adult
from tests.web.stopped_process import wait_until


def commands(command=None, words=()):
    """Each command by its words."""
    command = command or get_command(app)
    for name, sub in getattr(command, "commands", {}).items():
        yield from commands(sub, (*words, name))
    if not hasattr(command, "commands"):
        yield " ".join(words), command


def test_the_commands_with_a_limit_are_those_of_the_command_line():
    limited = {name for name, one in commands() if any("--memory-limit" in option.opts for option in one.params)}
    assert limited - {"serve"} == LIMITED


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("check study.yaml", "check study.yaml --memory-limit 2GB"),
        ("evaluate link out --against s.yaml", "evaluate link out --against s.yaml --memory-limit 2GB"),
        ("query out -- -x", "query out --memory-limit 2GB -- -x"),
        ("check study.yaml --memory-limit 1GB", "check study.yaml --memory-limit 1GB"),
        ("describe check", "describe check"),
        ("ledger study.yaml verify", "ledger study.yaml verify"),
        ("evaluate audit study.yaml", "evaluate audit study.yaml"),
    ],
)
def test_the_limit_stands_where_the_command_reads_it(given, asked):
    assert SessionOptions("2GB").applied(given.split()) == tuple(asked.split())
    assert SessionOptions().applied(given.split()) == tuple(given.split())


@pytest.mark.parametrize("text", ["plenty", "500", "80%", "-1", "--json", "2 GB; DROP"])
def test_what_a_command_would_refuse_is_refused_when_it_is_set(text):
    options = SessionOptions("2GB")
    with pytest.raises(UsageError) as caught:
        options.set_memory_limit(text)
    assert caught.value.code in {"SF-USAGE-077", "SF-USAGE-379"}
    assert options.memory_limit == "2GB"


def test_an_empty_text_takes_the_limit_away():
    options = SessionOptions("2GB")
    options.set_memory_limit(" ")
    assert options.memory_limit is None
    options.set_memory_limit(" 500MB ")
    assert options.memory_limit == "500MB"


def test_a_question_with_another_limit_is_another_question(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(Jobs, "_start", lambda _, kind, arguments, cwd, study: asked.append(arguments))
    options = SessionOptions()
    jobs = Jobs(tmp_path, options=options)
    for text in ("", "1GB"):
        options.set_memory_limit(text)
        jobs.start("check", ["check", "s.yaml"], cwd=tmp_path)
        jobs.start_anew("check", ["check", "s.yaml"], cwd=tmp_path, study="s")
    assert asked == [("check", "s.yaml")] * 2 + [("check", "s.yaml", "--memory-limit", "1GB")] * 2


def shown(client, path):
    """The command in the drawer of a page, as words."""
    status, text = client.get(path)
    assert status == 200
    return shlex.split(unescape(re.search(r'<code id="drawer-command">(.*?)</code>', text)[1]))


def test_it_is_set_when_the_workbench_starts_and_on_the_start_page(tmp_path):
    write_adult(tmp_path)
    with serving(tmp_path, "study.yaml", "--memory-limit", "900MB") as bench:
        client = Client(bench)
        text = client.get("/")[1]
        address = re.search(r'href="(/s/\w+)/', text)[1]
        assert 'value="900MB"' in text
        wait_until(lambda: "column-rows" in client.get(f"{address}/columns")[1])
        assert shown(client, f"{address}/columns")[-2:] == ["--memory-limit", "900MB"]
        status, text = client.post("/memory-limit", {"memory_limit": "<b>much</b>"})
        assert status == 422 and "SF-USAGE-077" in text and "<b>much" not in text
        assert shown(client, f"{address}/plan")[-2:] == ["--memory-limit", "900MB"]
        status, text = client.post("/memory-limit", {"memory_limit": "1GB"})
        assert status == 200 and 'value="1GB"' in text
        for page in ("plan", "release", "frontier"):
            assert shown(client, f"{address}/{page}")[-2:] == ["--memory-limit", "1GB"]
        assert "--memory-limit" not in shown(client, f"{address}/ledger")
        client.post(f"{address}/plan/check", {"was": "k5"})
        wait_until(lambda: "progress" not in client.get(f"{address}/plan/checked?release=k5")[1])
        assert (
            "Records left out" in client.get(f"{address}/plan/checked?release=k5")[1]
        )  # the command has taken the option
        assert client.post("/memory-limit", {"memory_limit": ""})[0] == 200
        assert "--memory-limit" not in shown(client, f"{address}/plan")
