"""Release: the plan again, a confirmation, the run, and the bundle."""

from typing import Final

from starlette.routing import Route

ROUTES: Final[list[Route]] = []
