"""What holds for every command: one JSON document, one shape of errors, help and results that fit 80 columns."""

import io
import json
import re
import sys

import pytest
import typer.main
from rich.cells import cell_len
from rich.console import Console

from sfumato.cli import main, show
from sfumato.cli.app import app

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

WIDTH = 80
SHAPE = {"problem", "fix", "code", "exit_code"}


def leaves(command=None, path=()):
    """Every command that does something, with the words that call it."""
    command = command or typer.main.get_command(app)
    subs = getattr(command, "commands", {})
    if not subs:
        yield " ".join(path), command
    for name, sub in subs.items():
        yield from leaves(sub, (*path, name))


COMMANDS = dict(leaves())

# A call of each that succeeds, in this order, in a folder with the study and a release of it.
QUICK = {
    "init": "people.csv --out fresh",
    "describe": "people.csv",
    "check": "study.yaml",
    "plan": "study.yaml dp",
    "release": "study.yaml table --out out --no-report",
    "report": "out --against study.yaml",
    "ledger": "study.yaml",
    "ask": "study.yaml --epsilon 0.1 --by job",
    "learn": "study.yaml --epsilon 0.1 --depth 1",
    "verify": "out",
    "query": "out income='<=50K'",
    "document": "out",
    "doctor": "study.yaml",
    "evaluate measures": "out --against study.yaml --only uloss",
    "evaluate link": "grouped --against study.yaml",
    "evaluate intersect": "grouped again --against study.yaml",
    "taxonomy show": "study.yaml job",
    "taxonomy check": "jobs.yaml jobs.txt",
    "taxonomy convert": "jobs.yaml jobs.csv",
    "taxonomy icd9": "--out icd9.csv",
}
# Other tests call these, which take long: test_json.py, test_frontier.py, test_capped_confidence.py, tests/web.
LONG = {"demo", "run", "frontier", "serve", "evaluate compare", "evaluate accuracy", "evaluate audit", "evaluate max-k"}


@pytest.fixture
def ready(study, run):
    """The folder with what the commands above need."""
    text = study.read_text(encoding="utf-8")
    more = "  k5: {method: mondrian, k: 5}\n  k9: {method: mondrian, k: 9}\n"
    study.write_text(text.replace("income: {role: class", "income: {role: sensitive") + more, encoding="utf-8")
    for name, out in (("k5", "grouped"), ("k9", "again")):
        assert run("release", study, name, "--out", out, "--no-report").code == 0
    study.write_text(text, encoding="utf-8")
    (study.parent / "jobs.yaml").write_text("Any: {A: [x, y], B: [z]}\n", encoding="utf-8")
    (study.parent / "jobs.txt").write_text("x\ny\nz\n", encoding="utf-8")
    return study


def test_every_command_is_called_somewhere():
    assert set(COMMANDS) == set(QUICK) | LONG
    assert not set(QUICK) & LONG


def test_a_result_is_one_json_document_and_nothing_else(ready, run):
    for name, rest in QUICK.items():
        against = "study.yaml"
        if name in {"evaluate link", "evaluate intersect"}:
            against = _as_sensitive(ready)
        found = run(*name.split(), *rest.replace("--against study.yaml", f"--against {against}").split(), "--json")
        assert found.code == 0, f"{name}: {found.err}"
        assert isinstance(json.loads(found.out), dict | list), name
        assert found.out.endswith("\n") and found.out.count("\n\n") == 0, name


def _as_sensitive(study):
    """The study that the releases of records were made from."""
    text = study.read_text(encoding="utf-8").replace("income: {role: class", "income: {role: sensitive")
    (study.parent / "records.yaml").write_text(text, encoding="utf-8")
    return "records.yaml"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_option_has_the_shape_of_every_error(name, run):
    found = run(*name.split(), "--no-such-option", "--json")
    assert (found.code, found.out) == (2, "")
    told = json.loads(found.err)
    assert set(told) == SHAPE
    assert told["exit_code"] == 2 and told["code"] == "SF-USAGE-743" and told["fix"]
    assert "no-such-option" in told["problem"].lower()


REQUIRED = [name for name, command in COMMANDS.items() if any(p.required for p in command.params)]


@pytest.mark.parametrize("name", REQUIRED)
def test_a_missing_argument_has_the_shape_of_every_error(name, run):
    found = run(*name.split(), "--json")
    assert (found.code, found.out) == (2, "")
    assert set(json.loads(found.err)) == SHAPE and "Missing" in json.loads(found.err)["problem"]


FILES = [
    name
    for name, command in COMMANDS.items()
    if next((p for p in command.params if p.param_type_name == "argument" and p.required), None) is not None
]


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_not_there_has_the_shape_of_every_error(name, folder, run):
    command = COMMANDS[name]
    given = ["none.yaml" for p in command.params if p.param_type_name == "argument" and p.required]
    for option in (p for p in command.params if p.param_type_name == "option" and p.required):
        given += [option.opts[0], "0.1" if option.name == "epsilon" else "none.yaml"]
    found = run(*name.split(), *given, "--json")
    assert found.out == "" and found.code in {2, 3, 4, 8}, found.err
    told = json.loads(found.err.splitlines()[-1])
    assert set(told) == SHAPE and told["code"].startswith("SF-") and told["exit_code"] == found.code


def test_an_interruption_has_the_shape_of_every_error(study, run, monkeypatch):
    def stop(*_args, **_kwargs):
        error = KeyboardInterrupt()
        error.add_note("this was told")
        raise error

    monkeypatch.setattr("sfumato.api.study.load_study", stop)
    found = run("plan", study, "dp", "--json")
    told = json.loads(found.err)
    assert (found.code, set(told), told["code"]) == (130, SHAPE, "SF-STOPPED-741")
    assert "this was told" in told["problem"]
    assert run("plan", study, "dp").err == "stopped: this was told.\n"


def test_an_error_that_nobody_foresaw_shows_no_message_of_it(study, run, monkeypatch):
    """A message of a library may quote a value of a record."""
    quoted = "could not convert " + str(["zebra-774"])

    def fail(*_args, **_kwargs):
        raise ValueError(quoted)

    monkeypatch.setattr("sfumato.api.study.load_study", fail)
    told = run("plan", study, "dp", "--json")
    assert (told.code, json.loads(told.err)["code"]) == (70, "SF-INTERNAL-001")
    said = run("plan", study, "dp")
    assert said.code == 70 and "ValueError" in said.err and "line " in said.err, "what a report of the bug needs"
    assert "zebra-774" not in told.err + said.err


@pytest.mark.parametrize("name", ["", "evaluate", "taxonomy", *COMMANDS])
def test_help_fits_80_columns(name, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "argv", ["sfumato", *name.split(), "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 8
    assert max(map(cell_len, lines)) <= WIDTH
    assert not any("…" in line.replace("=…", "") for line in lines), "something was cut off"


def said_in_a_terminal(monkeypatch, run, *args):
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=WIDTH, highlight=False, soft_wrap=True)
    monkeypatch.setattr(show, "out", console)
    found = run(*args)
    return found, re.sub("\x1b\\[[0-9;]*m", "", stream.getvalue()).splitlines()


KEPT = {"describe", "taxonomy show", "learn", "document"}  # files and trees: no line of them is broken


def test_results_fit_80_columns(ready, run, monkeypatch):
    """No line is wider than the terminal, but for a single word such as a path."""
    for name, rest in QUICK.items():
        against = _as_sensitive(ready) if name in {"evaluate link", "evaluate intersect"} else "study.yaml"
        args = rest.replace("--against study.yaml", f"--against {against}").split()
        found, lines = said_in_a_terminal(monkeypatch, run, *name.split(), *args)
        assert found.code == 0, f"{name}: {found.err}"
        assert lines, name
        wide = [line for line in lines if cell_len(line) > WIDTH and " " in line.strip()]
        assert name in KEPT or wide == [], name


def test_no_color_and_pipes_are_plain(ready, run, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("ledger", "doctor", "verify", "plan"):
        if name == "verify":
            assert run("release", "study.yaml", "table", "--out", "out", "--no-report").code == 0
        found = run(name, *QUICK[name].split())
        assert found.code == 0 and "\x1b" not in found.out + found.err, name
