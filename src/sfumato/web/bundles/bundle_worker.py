"""The process that reads one bundle for the receiver's page, with bounds (`python -m`, and a folder).

Anybody may have written the bundle, and a reader of Parquet files is a large program: what brings it down, or makes it
take memory or time without end, brings down this process and not the workbench. It writes lines of JSON: what the page
shows of the bundle as soon as that is known, then the answer to each line that it reads.
"""

import json
import os
import resource
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

MOST_MEMORY: Final = 8 << 30
"""Bytes that the process may map; the libraries alone map two of these gigabytes."""


def main() -> None:
    """Read, and answer until the workbench has nothing more to ask."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a library prints is no answer
    from sfumato.errors import SfumatoError  # noqa: PLC0415 - after the bounds are set
    from sfumato.web.bundles.bundle_view import open_cached, read_view, view_values  # noqa: PLC0415

    path = Path(sys.argv[1])

    def answer(found: Any) -> None:
        out.write(json.dumps(found) + "\n")
        out.flush()

    try:
        answer({"view": view_values(read_view(path))})
    except SfumatoError as error:
        answer({"error": error.as_json()})
    with suppress(SfumatoError):  # it is said when something is asked
        open_cached(path)  # the first question need not wait for it
    for line in sys.stdin:
        try:
            answer({"answer": _answer(path, json.loads(line))})
        except SfumatoError as error:
            answer({"error": error.as_json()})


def _answer(path: Path, asked: Mapping[str, Any]) -> Any:
    from sfumato.release.answer.words import estimate_words  # noqa: PLC0415 - after the bounds are set
    from sfumato.release.storage.untrusted import refuse_unexpected  # noqa: PLC0415
    from sfumato.web.bundles.bundle_view import marginal_of, open_cached  # noqa: PLC0415

    if "marginal" in asked:
        found, bars, confidence = marginal_of(path, int(asked["marginal"]))
        return {"attribute": found.attribute, "of": found.of, "bars": bars, "confidence": confidence}
    with refuse_unexpected():
        estimate = open_cached(path).query(str(asked["query"]))
        return {"estimate": asdict(estimate), "words": estimate_words(estimate)}


if __name__ == "__main__":
    main()
