"""Runs the blocks of a page in order, as somebody who follows it would, and compares what comes out with what is shown.

Languages: `python` (in one namespace; what stands on the last line is shown, as in a notebook; with `>>>` a doctest),
`sh` and `bash` (commands), `console` (commands after `$ `, each with its output), `yaml` (a study, a part of one, or a
taxonomy; with a first line `# name.yaml` it is a file from then on), `sql` (DuckDB), `json` and `csv` (must parse),
`output` (what the block before printed) and `text` (no code). `sfumato` runs in this process, unless a line needs a
shell.
"""

import ast
import contextlib
import csv
import doctest
import io
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest
from ruamel.yaml import YAML

from sfumato.cli import main
from sfumato.study.file import parse_taxonomy, study_from_text
from tests.pages.blocks import examples

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
TOGETHER = re.compile(r"<<|^\s*(?:cd|export|for|if|set|\w+=)\b", re.MULTILINE)
FILE_NAME = re.compile(r"# ([\w./-]+\.ya?ml)\n")
NO_CODE = {"text"}
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
PRINTED = " printed"  # in the namespace: what the last block printed; no name of Python's


def run_page(path, **names):
    """Run every block of a page in the working folder; how many ran, and how many say why they do not."""
    found = examples(path, evaluate=run_block)
    for example in found[:1]:
        example.namespace.update(names, __name__="__main__")
    ran = told = 0
    for example in found:
        if example.parsed.reason:
            told += 1
        else:
            example.evaluate()
            ran += example.parsed.language not in NO_CODE
    return ran, told


def run_block(example):
    """Run one block: Sybil's evaluator; what it returns is a fault."""
    block, place = example.parsed, f"{example.path}:{example.parsed.line}"
    run = RUNNERS.get(block.language)
    if run is None:
        return f"{place}: no block has the language '{block.language}'; there are {', '.join(sorted(RUNNERS))}"
    try:
        printed = run(block, place, example.namespace)
    except AssertionError as wrong:
        return f"{place}: {wrong}"
    except (Exception, SystemExit) as wrong:
        wrong.add_note(f"in the block at {place}")
        raise
    example.namespace[PRINTED] = printed
    return None


def same(shown, printed, drawn=()):
    """Whether an output is the one that the page shows; in lines that begin with ``drawn`` words any number is."""
    shown, printed = without_drawn(shown, drawn), without_drawn(printed, drawn)
    return doctest.OutputChecker().check_output(shown.replace("…", "..."), f"{printed.strip()}\n", FLAGS)


def without_drawn(text, drawn):
    """A text whose drawn numbers all look the same."""
    if not drawn:
        return text
    lines = text.splitlines(keepends=True)
    return "".join(NUMBER.sub("#", line) if line.lstrip().startswith(drawn) else line for line in lines)


def compare(shown, printed, drawn=()):
    assert shown.replace("…", "").strip(), "an output that is all … shows nothing"
    for word in drawn:
        lines = [line for line in shown.splitlines() if line.lstrip().startswith(word)]
        assert not lines or any(NUMBER.search(line) for line in lines), f"no number is drawn in lines with '{word}'"
    assert same(shown, printed, drawn), f"the page shows\n{shown}\nand this was printed\n{printed}"


def run_python(block, place, names):
    """Statements in the page's namespace; the value of a last expression is printed, as in a notebook."""
    if block.text.lstrip().startswith(">>>"):
        return run_doctest(block, place, names)
    tree = ast.parse("\n" * (block.line - 1) + block.text, place)  # so that a traceback has the line of the page
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(tree, place.rpartition(":")[0], "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), place.rpartition(":")[0], "eval"), names)
            if value is not None:
                printed.write(f"{value!r}\n")
    return printed.getvalue()


def run_doctest(block, place, names):
    test = doctest.DocTestParser().get_doctest(block.text.replace("…", "..."), names, place, place, block.line - 1)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        found = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.write, clear_globs=False)
    names.update(test.globs)
    assert found.attempted, "there is no example"
    assert not found.failed, said.getvalue()
    return ""


def run_commands(block, place, names):
    """Line by line, `sfumato` in this process; a block of lines that hang together is given to a shell as a whole."""
    if TOGETHER.search(block.text):
        return run_shell(block.text)
    joined = block.text.replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return "".join(run_shell(f"{line}\n") if needs_shell(line) else run_sfumato(line) for line in lines)


def needs_shell(line):
    """Whether more than the words of a line matters: pipes, variables, programs that are not ours."""
    plain = re.sub(r"'[^']*'|\"[^\"$`]*\"|(^|\s)#.*", "", line)
    return not plain.startswith("sfumato ") or bool(re.search(r"[|<>&;`*?]|\$[\w({]", plain))


def run_sfumato(line):
    """One command, in this process; it has to succeed and to say something."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
        with contextlib.redirect_stderr(io.StringIO()) as err:
            patch.setattr(sys, "argv", shlex.split(line, comments=True))
            code = 0
            try:
                main()
            except SystemExit as stop:
                code = stop.code or 0
        assert code == 0, f"{line}: exit code {code}: {err.getvalue()}"
        assert out.getvalue(), f"{line}: it printed nothing"
    return out.getvalue()


def run_shell(text):
    """A block in bash, stopped at the first command that fails."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["bash", "-euo", "pipefail", "-c", text]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{text}exit code {done.returncode}: {done.stderr}"
    return done.stdout


def run_session(block, place, names):
    """Commands after `$ `, each with what it prints; `[exit code 5]` at the end of an output if it is not 0."""
    parts = re.split(r"^\$ ((?:.*\\\n)*.*)\n?", block.text, flags=re.MULTILINE)
    assert not parts[0].strip() and len(parts) > 1, "a console block begins with `$ `"
    for command, shown in zip(parts[1::2], parts[2::2], strict=True):
        block_of_one = type(block)(language="sh", text=f"{command}\n", line=block.line, reason=None)
        expected = re.search(r"\n?\[exit code (\d+)\]\s*\Z", shown)
        if expected:
            compare(shown[: expected.start()], run_refused(command, int(expected[1])))
            continue
        printed = run_commands(block_of_one, place, names)
        if shown.strip():
            compare(shown, printed, block.drawn)
    return ""


def run_refused(command, code):
    """The output and the message of a command that is refused with a code."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        patch.setattr(sys, "argv", shlex.split(command, comments=True))
        with pytest.raises(SystemExit) as stop:
            main()
    assert stop.value.code == code, f"{command}: exit code {stop.value.code}, not {code}: {out.getvalue()}"
    return out.getvalue()


def load_yaml(block, place, names):
    """Studies, parts of one put into the study of the folder, or a taxonomy; alternatives stand between lines `---`."""
    named = FILE_NAME.match(block.text)
    if named:
        Path(named[1]).write_text(block.text, encoding="utf-8")
    for text in re.split(r"^---\n", block.text, flags=re.MULTILINE):
        load_declaration(text)
    return ""


def load_declaration(text):
    round_trip = YAML()  # keeps what is written: 0.1 is not made a float on the way
    fields = round_trip.load(text)
    if {"name", "source", "attributes"} <= set(fields):
        study_from_text(text, base=Path.cwd())
    elif set(fields) <= PARTS:
        whole = round_trip.load(Path("study.yaml").read_text(encoding="utf-8"))
        for part, value in fields.items():
            whole[part] = {**whole.get(part, {}), **value} if part in MAPPINGS else value
        written = io.StringIO()
        round_trip.dump(whole, written)
        study_from_text(written.getvalue(), base=Path.cwd())
    else:
        assert len(fields) == 1, f"neither a study, nor a part of one, nor a taxonomy: {', '.join(fields)}"
        parse_taxonomy(text, "taxonomy.yaml")


MAPPINGS = {"attributes", "purposes", "releases", "sweeps"}
PARTS = {*MAPPINGS, "name", "source", "privacy", "ledger", "most_invalid"}


def run_sql(block, place, names):
    """A query of DuckDB in the folder; what it gives is printed, a row a line."""
    with duckdb.connect() as connection:
        connection.execute(block.text)
        return "".join(f"{' | '.join(map(str, row))}\n" for row in connection.fetchall())


def parse_csv(block, place, names):
    sample = block.text.split("\n", 1)[0]
    rows = list(csv.reader(io.StringIO(block.text), delimiter=";" if ";" in sample else ","))
    assert rows and all(rows), "a row is empty"
    return ""


def parse_json(block, place, names):
    json.loads(block.text)
    return ""


def compare_output(block, place, names):
    assert PRINTED in names, "an output follows the block that it comes out of"
    compare(block.text, names[PRINTED], block.drawn)
    return ""


RUNNERS = {
    "bash": run_commands,
    "console": run_session,
    "csv": parse_csv,
    "json": parse_json,
    "output": compare_output,
    "python": run_python,
    "sh": run_commands,
    "sql": run_sql,
    "text": lambda block, place, names: "",
    "yaml": load_yaml,
}
