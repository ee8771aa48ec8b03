"""The frontier: many drafts, measured and compared, and the choice among them."""

from typing import Final

from starlette.routing import Route

ROUTES: Final[list[Route]] = []
