"""Every command, option, method, parameter, score, post-processing and public name is documented."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
import typer.main

import sfumato
from sfumato import errors
from sfumato.cli.app import app
from sfumato.methods import METHODS, SCORES
from sfumato.methods.noise.post_processing import POSTS
from sfumato.study.recipe import Chosen

DOCS = Path(__file__).parents[2] / "docs" / "reference"


def text(name):
    return (DOCS / name).read_text(encoding="utf-8")


def sections(page, level="##"):
    """A page's sections by their heading."""
    parts = re.split(rf"^{level} (.+)$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands(command=None, path=()):
    """Every command of the program with the words that call it; the program itself has none."""
    command = command or typer.main.get_command(app)
    subs = getattr(command, "commands", {})
    if not path or not subs:
        yield " ".join(path), command
    for name, sub in subs.items():
        yield from commands(sub, (*path, name))


COMMANDS = dict(commands())


def test_the_commands_are_those_of_the_interface():
    assert set(COMMANDS) == {
        "",
        "demo",
        "init",
        "describe",
        "check",
        "plan",
        "release",
        "report",
        "ledger",
        "ask",
        "learn",
        "frontier",
        "serve",
        "evaluate measures",
        "evaluate compare",
        "evaluate accuracy",
        "evaluate link",
        "evaluate intersect",
        "evaluate audit",
        "evaluate max-k",
        "verify",
        "query",
        "document",
        "doctor",
        "run",
        "taxonomy show",
        "taxonomy check",
        "taxonomy convert",
        "taxonomy icd9",
    }


def test_there_are_at_most_20_commands_at_the_top_and_each_is_in_a_group():
    top = typer.main.get_command(app).commands
    assert len(top) <= 20
    assert {command.rich_help_panel for command in top.values()} == {
        "For the owner of a table",
        "The ledger",
        "For whoever has a bundle",
        "Help",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_all_it_takes(name):
    section = sections(text("cli.md"))[name or "sfumato"]
    assert f"sfumato {name}".strip() in section
    assert "```sh\nsfumato" in section, "an example"
    for parameter in COMMANDS[name].params:
        if parameter.param_type_name == "argument":
            assert f"`{parameter.metavar}`" in section, parameter.name
        else:
            for option in parameter.opts:
                assert f"`{option}`" in section, option


@pytest.mark.parametrize("name", COMMANDS)
def test_no_section_names_an_option_that_is_not_there(name):
    section = sections(text("cli.md"))[name or "sfumato"]
    known = {option for parameter in COMMANDS[name].params for option in parameter.opts} | {"--help", "-h"}
    assert set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", _tables(section))) <= known


def _tables(section):
    """The first cells of the tables of a section."""
    return "\n".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))


@pytest.mark.parametrize("name", [name for name in COMMANDS if name])
def test_every_command_has_json_and_help(name):
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert "--json" in options
    assert COMMANDS[name].help


def tree(kind=errors.SfumatoError):
    yield kind
    for below in kind.__subclasses__():
        if below.__module__ == errors.__name__:
            yield from tree(below)


def test_every_exit_code_is_documented():
    section = sections(text("cli.md"))["Exit codes"]
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)}
    assert told == {0, 130} | {kind.exit_code for kind in tree()}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_and_parameter_is_documented(name):
    page = text("methods.md")
    assert f"| `{name}` |" in page
    kind = METHODS[name]
    heading = {
        "anatomy": "Anatomy",
        "bucketization": "Bucketization",
        "capped-confidence": "Capped confidence",
        "contingency": "Contingency table",
        "diffgen": "DiffGen",
        "full-domain": "Full-domain recoding",
        "marginals": "Marginals",
        "mondrian": "Mondrian",
        "staged": "Staged tables",
        "tds": "TDS",
    }[name]
    section = sections(page)[heading]
    told = re.findall(r"^\| `(\w+)` \|", section.split("\n### ")[0], re.MULTILINE)
    assert told == [field.name for field in fields(kind)]


def test_every_score_post_processing_and_way_of_choosing_is_documented():
    page = text("methods.md")
    parts = sections(page, "###")
    assert set(re.findall(r"^\| `(\w+)` \|", parts["Scores"], re.MULTILINE)) == set(SCORES)
    assert set(re.findall(r"^\| `(\w+)` \|", parts["Post-processing"], re.MULTILINE)) == set(POSTS)
    for how in Chosen:
        assert f"`{how.value}`" in page


def test_every_public_name_is_documented():
    page = text("python.md")
    assert sorted(sfumato.__all__) == sfumato.__all__
    for name in sfumato.__all__:
        assert f"[`{name}`]" in page, name
        assert getattr(sfumato, name).__doc__, name


@pytest.mark.parametrize("name", ["Study", "Release"])
def test_every_public_member_is_documented(name):
    section = sections(text("python.md"))[name]
    for member in vars(getattr(sfumato, name)):
        if not member.startswith("_"):
            assert re.search(rf"`{member}\b|`{name}\.{member}\b", section), f"{name}.{member}"
