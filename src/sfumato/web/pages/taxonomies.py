"""Taxonomies: trees of values that are built, changed, checked and exchanged."""

from typing import Final

from starlette.routing import Route

ROUTES: Final[list[Route]] = []
