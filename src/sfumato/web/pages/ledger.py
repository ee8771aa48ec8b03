"""The ledger: what was spent and what is left."""

from typing import Final

from starlette.routing import Route

ROUTES: Final[list[Route]] = []
