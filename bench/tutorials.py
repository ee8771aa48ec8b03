"""How long each tutorial takes by the clock: all blocks of its page, run as the tests run them, on all records.

    python -m bench.tutorials              # every tutorial, printed as Markdown
    python -m bench.tutorials --only learn-from-a-release

Each page runs in a process of its own, in a new folder; imports count, starting the process does not. What the page
shows is compared with what comes out, so a page that does not run has no time. The tutorial of PostgreSQL and Spark
gets a server of the tests, which is started before the clock; Spark is started by the page. Reading and typing are not
measured: the minutes that a page states are for these.
"""

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, redirect_stderr
from pathlib import Path
from urllib.parse import urlsplit

from papers.machine import machine

ROOT = Path(__file__).parents[1]
TUTORIALS = sorted(path for path in (ROOT / "docs" / "tutorials").glob("*.md") if path.stem != "index")
_ASKED = "--page"


def seconds_of(page: Path) -> float:
    """Run the blocks of a page in this process, in a new folder."""
    running = importlib.import_module("tests.pages.running")
    census = importlib.import_module("tests.census")
    engines = importlib.import_module("tests.pages.engines")
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        census.census_study(folder / "census")
        os.environ.update(COLUMNS="100", NO_COLOR="1")
        if page.name in engines.ENGINES_NEEDED:
            server = urlsplit(held.enter_context(importlib.import_module("tests.postgres_server").running()))
            os.environ.update(PGHOST=str(server.hostname), PGPORT=str(server.port), PGUSER=str(server.username))
        held.callback(os.chdir, ROOT)
        os.chdir(folder / "census")
        held.enter_context(redirect_stderr(held.enter_context(Path(os.devnull).open("w", encoding="utf-8"))))
        began = time.perf_counter()
        running.run_page(page)
        return time.perf_counter() - began


def measured(page: Path) -> str:
    """The seconds of a page in a process of its own, as text."""
    command = [sys.executable, "-m", "bench.tutorials", _ASKED, str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if done.returncode:
        sys.stderr.write(done.stderr)
        return "did not run"
    return done.stdout.splitlines()[-1]


def main() -> None:
    """Time what the command line asks for."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--only", help="a tutorial by the name of its file, without .md")
    options.add_argument(_ASKED, type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.page is not None:
        print(f"{seconds_of(given.page):.1f}")
        return
    print(f"{machine()}, load {os.getloadavg()[0]:.1f} at the start\n")
    print("| tutorial | seconds | load after it |\n|---|---|---|")
    for page in TUTORIALS:
        if given.only in {None, page.stem}:
            print(f"| {page.stem} | {measured(page)} | {os.getloadavg()[0]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
