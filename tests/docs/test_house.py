"""The repository tells nobody's machine and names no package index."""

import hashlib
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADULT = ROOT / "src" / "sfumato" / "data" / "adult"
LOCK = ROOT / "requirements.lock"

INDEX = rb"pypi\.org|pythonhosted|npmjs|debian\.org|(?:extra-)?index-url|extra-index|find-links"
MACHINE = rb"(?<![\w.])/(?:root|work)/|(?<![\w.])/home/\w"


def files():
    """Every file that is tracked or would be: all but the ignored ones and this one, which has to spell them out."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout, so nobody can say which files belong to the repository")
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.is_file() and path != Path(__file__)]


def mentions(pattern, paths):
    found = []
    for path in paths:
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            found += [
                f"{path.relative_to(ROOT)}:{number}: {hit.group().decode()}" for hit in re.finditer(pattern, line)
            ]
    return found


def test_no_file_names_a_package_index():
    assert mentions(INDEX, files()) == []


def test_no_file_names_a_place_on_a_machine():
    assert mentions(MACHINE, files()) == []


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (INDEX, b"see https://pypi.org/simple"),
        (INDEX, b"--extra-index-url x"),
        (INDEX, b"--find-links=wheels"),
        (MACHINE, b'open("/work/main/a.csv")'),
        (MACHINE, b"cd /home/ada/sfumato"),
    ],
)
def test_the_patterns_notice(pattern, text):
    assert re.search(pattern, text)


@pytest.mark.parametrize("text", [b"src/work/x.py", b"www.example.com/home/ada", b"/homeless", b"root/leaf"])
def test_the_patterns_let_innocent_text_pass(text):
    assert not re.search(MACHINE, text)


def requirements():
    """The lock, one logical line a requirement, without comments."""
    lines = [line for line in LOCK.read_text(encoding="utf-8").splitlines() if not re.match(r"\s*(#|$)", line)]
    return "\n".join(lines).replace("\\\n", " ").splitlines()


def test_the_lock_holds_names_versions_and_hashes_alone():
    one = re.compile(r"[a-z0-9-]+==[\w.+!-]+(\s+--hash=sha256:[0-9a-f]{64})+\s*")
    assert len(requirements()) > 30
    assert [line for line in requirements() if not one.fullmatch(line)] == []


def test_the_lock_holds_every_dependency_once():
    names = [line.split("==")[0] for line in requirements()]
    assert len(names) == len(set(names))
    declared = re.findall(r'^    "([\w.-]+)(?:\[\w+\])?>=', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert len(declared) > 15
    assert {re.sub(r"[._]", "-", name) for name in declared} <= set(names)


def test_the_locked_sqlglot_is_one_that_ibis_can_work_with():
    """From 30.18 on it drops the name from the `DROP … IF EXISTS` that Ibis 12 builds."""
    [version] = [line.split("==")[1].split()[0] for line in requirements() if line.startswith("sqlglot==")]
    assert [int(part) for part in version.split(".")[:2]] < [30, 18]


def test_the_packaged_table_is_the_one_its_readme_describes():
    quoted = dict(
        re.findall(r"^\| `(\S+)` \| `([0-9a-f]{64})` \|$", (ADULT / "README.md").read_text("utf-8"), re.MULTILINE)
    )
    found = {
        p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in ADULT.iterdir() if p.suffix in {".csv", ".parquet"}
    }
    assert quoted == found
    assert len(found) == 9


def test_no_ledger_is_packaged():
    assert not list(ADULT.rglob("*.sqlite*")), "the demo would start with what a test has entered"
