"""The tour: the packaged census table from start to end."""

from typing import Final

from starlette.routing import Route

ROUTES: Final[list[Route]] = []
