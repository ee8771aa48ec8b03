"""CONTRIBUTING's worked examples run, in order, as somebody who follows them would run them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.mark.error_rate(0, reason="the releases that are made draw nothing that is asserted")
def test_the_examples_run_in_a_fresh_process(tmp_path):
    """In a process of their own: they register parts, which no other test should see."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 6
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_folder_of_the_walk_exists_and_none_is_left_out():
    walk = PAGE.split("## A walk through the code")[1].split("## Rules")[0]
    told = set(re.findall(r"`(\w+)(?:/|\.py)`", walk))
    real = {path.stem for path in (ROOT / "src" / "sfumato").iterdir() if path.is_dir() and path.stem[0] != "_"}
    assert real - {"data"} == told
