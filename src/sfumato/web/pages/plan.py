"""Plan and ε: what a release would do and cost, and how large its error is, before anything is spent."""

from typing import Final

from starlette.routing import Route

ROUTES: Final[list[Route]] = []
