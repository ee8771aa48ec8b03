"""From an empty environment to a verified release of a CSV file of one's own: the commands, and the seconds of each.

    python -m bench.first_release            # every library from requirements.lock, with its hash
    python -m bench.first_release --core     # `pip install .`: the core alone

It runs in a new folder with a new environment, and installs this working tree. The table is invented. Between `init`
and `check` the owner edits the study: confirms roles, declares domains, a budget and a release. Here the file is
written; the minutes that a person needs for it are not measured. Nothing of the environment that runs this program is
used: pip downloads what it needs, from wherever it is configured to, and may have it in its cache.
"""

import argparse
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

from papers.machine import machine

ROOT = Path(__file__).parents[1]
LOCKED = (
    "python3 -m venv .venv && .venv/bin/pip install --require-hashes -r CLONE/requirements.lock",
    ".venv/bin/pip install --no-deps --no-build-isolation CLONE",
)
CORE = ("python3 -m venv .venv", ".venv/bin/pip install CLONE")
RELEASE = (
    ".venv/bin/sfumato init visits.csv --class returned",
    ".venv/bin/sfumato check study.yaml",
    ".venv/bin/sfumato release study.yaml",
    ".venv/bin/sfumato verify releases/first-1/bundle",
)
MOST = 6
STUDY = """\
name: visits
source: visits.csv
privacy: {unit: record, budget: 2}
attributes:
  age:      {role: quasi_identifier, type: integer, bounds: [0, 120], step: 1}
  sex:      {role: quasi_identifier, values: [f, m]}
  ward:     {role: quasi_identifier, values: [children, heart, surgery]}
  returned: {role: class, values: ["no", "yes"]}
releases:
  first: {method: staged, epsilon: 1}
"""


def write_table(path: Path, records: int = 5_000) -> None:
    """An invented table of visits."""
    draw = random.Random(7)  # noqa: S311 - a made-up table
    lines = ["age,sex,ward,returned"]
    for _ in range(records):
        age = draw.randrange(100)
        back = "yes" if draw.random() < age / 200 else "no"
        lines.append(f"{age},{draw.choice('fm')},{draw.choice(['children', 'heart', 'surgery'])},{back}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(command: str, folder: Path, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    """A line as somebody types it into a shell."""
    return subprocess.run(  # noqa: S603 - our own
        ["/bin/sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def main() -> None:
    """Run the commands and print a table of them."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--core", action="store_true", help="install the core alone, by `pip install .`")
    commands = (*(CORE if options.parse_args().core else LOCKED), *RELEASE)
    assert len(commands) <= MOST
    own = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    print(f"{machine()}, load {os.getloadavg()[0]:.1f} at the start\n")
    print("| command | seconds |\n|---|---|")
    total, verified = 0.0, False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder / "visits.csv")
        for command in commands:
            if " check " in command:
                (folder / "study.yaml").write_text(STUDY, encoding="utf-8")  # the owner's edit
            began = time.perf_counter()
            done = run(command.replace("CLONE", f"'{ROOT}'"), folder, own)
            took = time.perf_counter() - began
            if done.returncode:
                raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
            total += took
            print(
                f"| `{command.replace('CLONE', '.').replace('./requirements', 'requirements')}` | {took:.1f} |",
                flush=True,
            )
            verified = "the bundle verifies" in done.stdout
        assert verified
    print(f"| all {len(commands)} | {total:.1f} |")


if __name__ == "__main__":
    main()
