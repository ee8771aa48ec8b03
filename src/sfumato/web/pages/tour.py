"""The tour: the packaged census table from start to end, in a study with a ledger of its own."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import unwritable
from sfumato.web.handling import go
from sfumato.web.rendering import open_study, workspace


def begin(request: Request) -> Response:
    """Copy the packaged study into a new folder, open it, and describe its table."""
    found = workspace(request)
    folder = _new_folder(found.home)
    study = found.open_study(folder / "study.yaml")
    study.tour = True
    try:
        found.describe(study, "adult.parquet")
    except BaseException:  # refused: the folder is as it was
        found.close_study(study)
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return go(f"/s/{study.key}/columns")


def end(request: Request) -> Response:
    """Show no more banners."""
    open_study(request).tour = False
    return Response("")


def _new_folder(home: Path) -> Path:
    """A copy of the packaged study; a folder that exists is never written to."""
    number = 1
    while True:
        folder = home / f"sfumato-tour-{number}"
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
            continue
        except OSError as error:
            raise unwritable(folder, error) from None
        break
    try:
        with as_file(files("sfumato") / "data" / "adult") as packaged:
            ignored = shutil.ignore_patterns("__pycache__", "*.py")
            shutil.copytree(packaged, folder, ignore=ignored, dirs_exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None
    return folder


ROUTES: Final = [
    Route("/tour", begin, methods=["POST"]),
    Route("/s/{study}/tour/end", end, methods=["POST"]),
]
