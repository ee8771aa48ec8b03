"""A real workbench in a process of its own, and a real browser that looks at it."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.web.stopped_process import STOP, stop_file

FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
UNREADY = "html:has(meta[name=htmx-config]):not([data-ready])"  # a page of ours whose scripts have not run yet

CACHE = Path(__file__).parents[2] / ".pytest_cache"  # what servers keep for the next start, and not in a home


class Workbench:
    """A running server: its addresses, and its folder."""

    def __init__(self, address, folder, process):
        self.address, self.folder, self.process = address, Path(folder), process
        parts = urlsplit(address)
        self.origin, self.token = f"{parts.scheme}://{parts.netloc}", parts.query.removeprefix("token=")
        self.port = parts.port


@contextmanager
def serving(folder, *more, program=("-m", "sfumato"), errors=os.devnull):
    """`sfumato serve` in a folder, until the block ends. ``errors`` gets what it writes to standard error."""
    out = Path(folder) / ".serve.json"
    with out.open("w") as said, Path(errors).open("w") as wrong:
        process = subprocess.Popen(
            [sys.executable, *program, "serve", *more, "--no-browser", "--json"],
            cwd=folder, stdout=said, stderr=wrong,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # not the folder it works in
                "XDG_CACHE_HOME": str(CACHE),
                STOP: str(stop_file(folder)),
            },
        )  # fmt: skip
    try:
        for _ in range(1_200):
            try:
                address = json.loads(out.read_text())["address"]
                break
            except ValueError:
                assert process.poll() is None, "the workbench did not start"
                time.sleep(0.1)
        else:
            raise AssertionError("the workbench did not start")
        yield Workbench(address, folder, process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@pytest.fixture
def workbench(tmp_path):
    with serving(tmp_path) as found:
        yield found


@pytest.fixture(scope="session")
def chromium():
    """A browser; one for all tests of a process."""
    playwright = pytest.importorskip("playwright.sync_api")
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("no Chromium here: install it, see tools/chromium.sh")
    playwright.expect.set_options(timeout=30_000)  # a busy machine answers late, and right
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(chromium, workbench, *, width=1280, height=900, **more):
    """A page of the workbench; requests that leave this machine, and errors of scripts, fail the test."""
    context = chromium.new_context(viewport={"width": width, "height": height}, **more)
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.add_locator_handler(page.locator(UNREADY), lambda: None)  # nothing is done before a page says that it works
    outside, broken = [], []
    page.on("request", lambda request: outside.append(request.url) if not _inside(request.url, workbench) else None)
    page.on("pageerror", lambda error: broken.append(str(error)))
    page.on("console", lambda said: broken.append(said.text) if "Content Security Policy" in said.text else None)
    page.goto(workbench.address)
    try:
        yield page
    finally:
        context.close()
    assert outside == []
    assert broken == []


def _inside(url, workbench):
    return url.startswith((workbench.origin + "/", "data:", "blob:", "about:"))


@pytest.fixture
def page(chromium, workbench):
    with opened(chromium, workbench) as found:
        yield found
