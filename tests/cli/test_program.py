"""How the program's process ends: with the command's code, its output written, what waits for the end done."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

BEFORE = """
import atexit, sys, tempfile, threading, time

class Left:
    def __del__(self):
        print("the interpreter was taken apart", flush=True)

left = Left()
left.itself = left  # only taking modules apart lets go of it

from sfumato.cli import program as edge

def main():
    global folder
    folder = tempfile.TemporaryDirectory()
    threading.Thread(target=lambda: (time.sleep(0.3), print("the thread was waited for"))).start()
    atexit.register(lambda: print("registered work was done"))
    print(folder.name)
    {then}

edge.main = main
edge.program()
"""


def ended(then):
    done = subprocess.run(
        [sys.executable, "-c", BEFORE.format(then=then)], capture_output=True, text=True, check=False, timeout=120
    )
    return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize(
    ("then", "code"),
    [("pass", 0), ("sys.exit(0)", 0), ("sys.exit(None)", 0), ("sys.exit(8)", 8), ("sys.exit('no')", 1)],
)
def test_the_process_ends_with_the_code_and_everything_done(then, code):
    found, said, wrong = ended(then)
    assert found == code
    assert said[1:] == ["the thread was waited for", "registered work was done"]
    assert wrong.strip() == ("no" if "no" in then else "")


def test_an_unforeseen_error_is_no_success():
    found, said, wrong = ended("raise ValueError")
    assert found != 0
    assert "ValueError" in wrong
    assert said[-1] == "registered work was done"


def test_both_ways_to_start_the_program_end_like_this():
    assert 'sfumato = "sfumato.cli.program:program"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "program()" in (ROOT / "src" / "sfumato" / "__main__.py").read_text(encoding="utf-8")
