"""Mutated manifests, data files, studies, taxonomies, promises and models: a result or an error of ours, each time.

Each batch runs in a process with 2 GiB of memory beyond what it begins with and an alarm for every input, so
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

ROOT = Path(__file__).parents[2]
FEW = {"manifest": 50, "data": 50, "study": 100}
BATCH = 10_000


def tried(*batches):
    """What is told of each batch (target, start, count)."""
    environment = {
        **os.environ,
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
    }
    command = [sys.executable, "-m", "tests.trust.fuzzing", *(str(one) for batch in batches for one in batch)]
    found = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, (found.returncode, found.stdout[-3000:], found.stderr[-3000:])
    told = [json.loads(line) for line in found.stdout.splitlines() if line.startswith("{")]
    assert [(one["target"], one["tried"]) for one in told] == [(target, count) for target, _, count in batches]
    return told


def test_a_mutated_input_gets_an_answer():
    """None of these needs the net: each is refused by a check that knows what is wrong."""
    assert set(FEW) == set(TARGETS)
    told = tried(*((target, 0, count) for target, count in FEW.items()))
    assert [one["net"] for one in told] == [{}] * len(FEW)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 100_000, BATCH))
@pytest.mark.parametrize("target", TARGETS)
def test_a_hundred_thousand_mutated_inputs_get_an_answer(target, start):
    [told] = tried((target, start, BATCH))
    assert told["wrong"] == 0
