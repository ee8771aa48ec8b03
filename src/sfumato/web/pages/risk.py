"""Attacks and risk, for the owner."""

from typing import Final

from starlette.routing import Route

ROUTES: Final[list[Route]] = []
