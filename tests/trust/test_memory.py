"""Memory does not grow with a domain: whole commands, in a process of their own, under 1 GiB whatever is declared."""

import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.error_rate(0, reason="holds for every draw")

MOST = 1024  # MiB
STARTER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, used = os.wait4(process.pid, 0)
print(used.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
COMMANDS = """
import json, sys
from sfumato.cli import main
for command in json.loads(sys.argv[1]):
    sys.argv = ["sfumato", *command]
    try:
        main()
    except SystemExit as stop:
        if stop.code:
            raise
"""
STUDY = """\
name: wide
source: table.parquet
privacy: {{budget: 10}}
attributes:
  age: {{role: quasi_identifier, type: integer, bounds: [0, 120], step: 1}}
  pay: {{role: {role}, type: integer, bounds: [0, 1000000], step: 1}}
  debt: {{role: insensitive, type: integer, bounds: [0, 1000000], step: 1}}
  ill: {{role: class, values: ["no", "yes"]}}
releases:
  diffgen: {{method: diffgen, epsilon: 1, h: 6}}
  mondrian: {{method: mondrian, k: 10}}
"""


def peak(folder, *commands):
    """The peak memory of commands one after the other in MiB; they must come through.

    A small process starts them: Linux counts the memory of whoever starts a process as the process's own.
    """
    command = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
    told = subprocess.run([sys.executable, "-c", STARTER, *command], cwd=folder, capture_output=True, check=True)
    return int(told.stdout) / 1024


def prepare(folder, records, role):
    rng = np.random.default_rng(0)
    table = {
        "age": rng.integers(17, 91, records),
        "pay": np.minimum(rng.lognormal(10.5, 0.7, records).astype(np.int64), 1_000_000),
        "debt": rng.integers(0, 1_000_001, records),
        "ill": rng.choice(["no", "yes"], records),
    }
    pq.write_table(pa.table(table), folder / "table.parquet")
    (folder / "study.yaml").write_text(STUDY.format(role=role), encoding="utf-8")


@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in KiB on Linux")
@pytest.mark.parametrize(
    ("records", "role", "method"),
    [
        (1_000, "sensitive", "diffgen"),
        *(
            pytest.param(30_000, role, method, marks=pytest.mark.slow)
            for role in ("sensitive", "insensitive", "quasi_identifier")
            for method in ("diffgen", "mondrian")
        ),
    ],
)
def test_a_domain_of_a_million_values_takes_no_memory(tmp_path, records, role, method):
    prepare(tmp_path, records, role)
    release = ["release", "study.yaml", method, "--out", "out"]
    measures = ["evaluate", "measures", "out", "--against", "study.yaml", "--json"]
    assert peak(tmp_path, release, measures) < MOST
    assert (tmp_path / "out" / "owner" / "report.html").exists()
