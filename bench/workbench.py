"""How long the workbench takes to answer on wide and on long tables, how much it sends, and how much memory it takes.

    python -m bench.workbench --columns 2000 --rows 10000 --table adult_20000000.parquet

A wide CSV file is made, and each table is opened by its path in a workbench of its own. It is described (a job), all
columns are confirmed at once, and every page is fetched twice: the second time is printed. Then the table is checked
(a job too). Times are from asking to the last byte, beside them the processor time of the server meanwhile. While jobs
run, the page of the columns is fetched again and again, and the longest answer is printed. Memory is the highest of the
server, and of a job with its processes. Printed as Markdown.
"""

import argparse
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

PAGES = (
    "columns",
    "columns/0",
    "taxonomies",
    "taxonomies/0",
    "plan",
    "frontier",
    "release",
    "ledger",
    "risk",
    "study.yaml",
)
_TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """A workbench over some folders, asked as a browser asks."""

    def __init__(self, folder: Path, *others: Path) -> None:
        said = folder / ".serve.json"
        asked = [sys.executable, "-m", "sfumato", "serve", "--no-browser", "--json"]
        for one in (folder, *others):
            asked += ["--folder", str(one)]
        with said.open("w") as out:
            self.process = subprocess.Popen(asked, cwd=folder, stdout=out)  # noqa: S603 - our own command
        while not said.read_text().endswith("}\n"):
            time.sleep(0.1)
        address = json.loads(said.read_text())["address"]
        self.port = int(re.search(r":(\d+)/", address)[1])  # type: ignore[index]
        self.headers: dict[str, str] = {}
        answer = self._ask("GET", address[address.index("/start") :])
        self.headers["cookie"] = str(answer[0].getheader("set-cookie")).split(";")[0]
        page = self._ask("GET", "/")[1].decode().replace("&#34;", '"')
        self.headers["x-sfumato-token"] = re.search(r'"x-sfumato-token": "([^"]+)"', page)[1]  # type: ignore[index]
        self.headers["hx-request"] = "true"
        self.headers["content-type"] = "application/x-www-form-urlencoded"

    def _ask(
        self, method: str, path: str, form: dict[str, str] | None = None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        connection.request(method, path, None if form is None else urlencode(form), self.headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer, body

    def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, float, float, bytes]:
        """Status, seconds, processor seconds of the server, and the answer."""
        before, began = self._processor(), time.perf_counter()
        answer, body = self._ask(method, path, form)
        return answer.status, time.perf_counter() - began, self._processor() - before, body

    def open_table(self, path: Path) -> str:
        """The address of the study of a table."""
        answer, _ = self._ask("POST", "/open/table", {"path": str(path)})
        return str(answer.getheader("hx-redirect")).removesuffix("/columns")

    def _processor(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    @property
    def peak(self) -> int:
        """MiB."""
        return _highest(self.process.pid)

    def wait_for_job(self, page: str, until: bytes) -> tuple[float, float, int]:
        """Seconds until a page says that a job has ended, the longest answer meanwhile, and the job's MiB."""
        began, longest, most = time.perf_counter(), 0.0, 0
        while True:
            status, seconds, _, body = self.ask("GET", page)
            assert status == http.client.OK, body
            longest = max(longest, seconds)
            if until in body:
                return time.perf_counter() - began, longest, most
            most = max(most, sum(map(_highest, _below(self.process.pid))))
            time.sleep(0.2)

    def close(self) -> None:
        """End it."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)


def _highest(process: int) -> int:
    """The most memory that a process has had, in MiB; nothing of one that has ended."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0) // 1024


def _below(process: int) -> list[int]:
    """The processes that a process started, and those that they started."""
    found: list[int] = []
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = [int(one) for one in file.read_text().split()]
        except OSError:
            continue
        found += [one for child in children for one in (child, *_below(child))]
    return found


def write_wide(path: Path, *, columns: int, rows: int) -> None:
    """A CSV file of numbers, words, amounts, codes with missing values, and dates; from a seed."""
    random = np.random.default_rng(7)
    words = np.array(["alpha", "beta", "gamma", "delta", "north", "south", "east", "west", "yes", "no"])
    days = np.array([f"2004-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)])

    def column(number: int) -> np.ndarray:
        kinds = (
            lambda: random.integers(0, 100, rows).astype(str),
            lambda: words[random.integers(0, len(words), rows)],
            lambda: np.char.mod("%.2f", random.normal(50, 10, rows)),
            lambda: np.where(random.integers(0, 10, rows) == 0, "?", random.integers(0, 7, rows).astype(str)),
            lambda: days[random.integers(0, len(days), rows)],
        )
        return kinds[number % len(kinds)]()

    cells = [column(number) for number in range(columns)]
    with path.open("w") as out:
        out.write(",".join(f"c{number}" for number in range(columns)) + "\n")
        for row in zip(*cells, strict=True):
            out.write(",".join(row) + "\n")


def measure(title: str, table: Path, folder: Path) -> None:
    """Open a table, and print what its pages cost."""
    server = Server(folder, table.parent)
    try:
        study = server.open_table(table)
        described = server.wait_for_job(f"{study}/columns", b"column-rows")
        edits = [
            ("confirm all columns", "POST", f"{study}/columns/bulk", {"all": "1", "role": ""}),
            ("change one role", "POST", f"{study}/columns/1/role", {"role": "sensitive"}),
            ("change all columns", "POST", f"{study}/columns/bulk", {"all": "1", "role": "", "missing": "suppress"}),
            ("filter by name", "POST", f"{study}/columns/rows", {"find": "1"}),
            (
                "preview of a release",
                "POST",
                f"{study}/plan/preview",
                {"name": "r", "method": "marginals", "p.epsilon": "1"},
            ),
        ]
        rows = [(name, *server.ask(method, path, form)) for name, method, path, form in edits]
        for path in ("/", *(f"{study}/{name}" for name in PAGES)):
            server.ask("GET", path)
            rows.append((path.removeprefix(study).removeprefix("/") or "start", *server.ask("GET", path)))
        server.ask("POST", f"{study}/columns/check", {})
        jobs = [("describe", described), ("check", server.wait_for_job(f"{study}/columns", b'/columns/check"'))]
        assert b"Check again" in server.ask("GET", f"{study}/columns")[3], "the check failed"
        print(f"\n**{title}.** The server's memory: at most {server.peak:,} MiB.\n")
        print("| job | s | longest answer meanwhile, ms | MiB |\n|---|---|---|---|")
        for name, (seconds, longest, most) in jobs:
            print(f"| {name} | {seconds:.0f} | {1000 * longest:.0f} | {most:,} |")
        print()
        print("| request | ms | ms of processor | KB |\n|---|---|---|---|")
        for name, status, seconds, own, body in rows:
            failed = "" if status < 400 else f" ({status})"  # noqa: PLR2004 - an error
            print(f"| {name}{failed} | {1000 * seconds:.0f} | {1000 * own:.0f} | {len(body) / 1000:,.0f} |")
    finally:
        server.close()


def main() -> None:
    """Measure as the command line says."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--columns", type=int, default=2_000)
    options.add_argument("--rows", type=int, default=10_000)
    options.add_argument("--table", type=Path, action="append", default=[], help="Another table, by its path.")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        wide = Path(name) / "wide.csv"
        write_wide(wide, columns=asked.columns, rows=asked.rows)
        measure(f"{asked.columns:,} columns, {asked.rows:,} records (CSV)", wide, Path(name))
        for number, table in enumerate(asked.table):
            folder = Path(name) / str(number)
            folder.mkdir()
            measure(f"`{table.name}`", table.resolve(), folder)


if __name__ == "__main__":
    main()
