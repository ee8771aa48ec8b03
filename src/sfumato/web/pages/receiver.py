"""The receiver's page: a bundle without a study."""

from typing import Final

from starlette.routing import Route

ROUTES: Final[list[Route]] = []
