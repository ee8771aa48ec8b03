"""The Python examples of the documentation are correct for a type checker, and its names have types."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sfumato

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "python.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_every_public_name_has_a_type():
    """What `__getattr__` gives is Any to a type checker; names that it imports by themselves have their types."""
    tree = ast.parse(Path(sfumato.__file__).read_text(encoding="utf-8"))
    checked = next(n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == "TYPE_CHECKING")
    imported = {alias.name for one in checked.body if isinstance(one, ast.ImportFrom) for alias in one.names}
    assert imported == set(sfumato.__all__)


@pytest.fixture(scope="module")
def checked(tmp_path_factory):
    """Checks some code as part of a program that uses Sfumato; gives what mypy says."""

    def check(code):
        file = tmp_path_factory.mktemp("typed") / "examples.py"
        file.write_text(code, encoding="utf-8")
        command = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--strict"]
        # An example asserts what it expects; it does not also rule out None and refusals one by one.
        more = [
            "--disable-error-code",
            "union-attr",
            "--disable-error-code",
            "no-untyped-def",
            "--disable-error-code",
            "no-untyped-call",
        ]
        ran = subprocess.run([*command, *more, str(file)], cwd=ROOT, capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr

    return check


@pytest.mark.slow
def test_the_examples_are_correct_for_a_type_checker(checked):
    code = "\n".join(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    assert code.count("sf.") > 30
    found, said = checked(code)
    assert found == 0, said


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        "sf.release(1, epsilon=1, domain={})",
        "sf.Staged(epsilon=1).nothing",
        "sf.Study.load('x').plan('a', chek=True)",
        "x: str = sf.verify_bundle('b').ok",
    ],
)
def test_what_is_wrong_is_noticed(checked, wrong):
    found, said = checked(f"import sfumato as sf\n\n{wrong}\n")
    assert found == 1 and "error" in said, said
