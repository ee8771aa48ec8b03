"""How soon Chromium paints the pages of the workbench for a wide table.

    python -m bench.first_paint --columns 2000 --rows 100 --browser /usr/bin/chromium

A table is opened, described and confirmed as in `bench.workbench`. Then a browser opens every page twice, and says of
the second time when the first content was painted and when all was loaded (Performance entries), in milliseconds from
the start of the request; of the first time, when nothing is in its cache, only the paint. Printed as Markdown.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.workbench import PAGES, Server, write_wide

_PAINT = "performance.getEntriesByName('first-contentful-paint').map(entry => entry.startTime)"
_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
_ELEMENTS = "document.getElementsByTagName('*').length"
_PATIENCE = 5_000  # milliseconds
_LOOKS = 50


def painted(page: Page, address: str) -> float:
    """When the first content of a page was painted."""
    page.goto(address, wait_until="load")
    for _ in range(_LOOKS):
        found: list[Any] = page.evaluate(_PAINT)
        if found:
            return float(found[0])
        page.wait_for_timeout(_PATIENCE / _LOOKS)
    raise TimeoutError("the page was not painted")


def main() -> None:
    """Measure as the command line says."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--columns", type=int, default=2_000)
    options.add_argument("--rows", type=int, default=100)
    options.add_argument("--browser", default="/usr/bin/chromium")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        table = Path(name) / "wide.csv"
        write_wide(table, columns=asked.columns, rows=asked.rows)
        server = Server(table.parent)
        try:
            study = server.open_table(table)
            server.wait_for_job(f"{study}/columns", b"column-rows")
            server.ask("POST", f"{study}/columns/bulk", {"all": "1", "role": ""})
            browser = driver.chromium.launch(executable_path=asked.browser, args=["--no-sandbox", "--disable-gpu"])
            start = f"http://127.0.0.1:{server.port}"
            context = browser.new_context()
            cookie, _, value = server.headers["cookie"].partition("=")
            context.add_cookies([{"name": cookie, "value": value, "url": start}])
            page = context.new_page()
            print("| page | first paint, ms | again | all loaded, ms | elements |\n|---|---|---|---|---|")
            for path in ("/", *(f"{study}/{one}" for one in PAGES if one != "study.yaml")):
                first, again = (painted(page, start + path) for _ in range(2))
                shown = path.removeprefix(study).removeprefix("/") or "start"
                rest = f"{page.evaluate(_LOADED):.0f} | {page.evaluate(_ELEMENTS):,}"
                print(f"| {shown} | {first:.0f} | {again:.0f} | {rest} |", flush=True)
            browser.close()
        finally:
            server.close()


if __name__ == "__main__":
    main()
