"""Table and columns: roles, types and domains, with what the table shows its owner."""

from typing import Final

from starlette.routing import Route

ROUTES: Final[list[Route]] = []
