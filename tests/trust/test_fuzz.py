"""Mutated manifests, data files, studies, taxonomies, promises and models: a result or an error of ours, each time.

Each batch runs in a process of its own with 2 GiB of memory beyond what it begins with and an alarm for every input, so
that a crash of a library, a hang and a full memory are found too. Inputs are numbered, so a failure can be run again:
`python -m tests.trust.fuzzing TARGET NUMBER 1`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trust.fuzzing import TARGETS

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

ROOT = Path(__file__).parents[2]
FEW = {"manifest": 100, "data": 100, "study": 200}
BATCH = 10_000


def tried(target, start, count):
    environment = {
        **os.environ,
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }
    command = [sys.executable, "-m", "tests.trust.fuzzing", target, str(start), str(count)]
    found = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, (found.returncode, found.stdout[-3000:], found.stderr[-3000:])
    told = json.loads(found.stdout.splitlines()[-1])
    assert told["tried"] == count
    return told


@pytest.mark.parametrize("target", TARGETS)
def test_a_mutated_input_gets_an_answer(target):
    """None of these needs the net: each is refused by a check that knows what is wrong."""
    assert tried(target, 0, FEW[target])["net"] == {}


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100_000, BATCH))
@pytest.mark.parametrize("target", TARGETS)
def test_a_hundred_thousand_mutated_inputs_get_an_answer(target, start):
    assert tried(target, start, BATCH)["wrong"] == 0
