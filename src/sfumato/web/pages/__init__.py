"""The pages: a file each, with its addresses in ``ROUTES``."""

from typing import Final

from starlette.routing import Route

from sfumato.web.pages import (
    columns,
    frontier,
    jobs,
    ledger,
    plan,
    purposes,
    receiver,
    release,
    risk,
    start,
    taxonomies,
    tour,
)

ROUTES: Final[list[Route]] = [
    *start.ROUTES,
    *jobs.ROUTES,
    *columns.ROUTES,
    *taxonomies.ROUTES,
    *plan.ROUTES,
    *purposes.ROUTES,
    *frontier.ROUTES,
    *release.ROUTES,
    *ledger.ROUTES,
    *receiver.ROUTES,
    *risk.ROUTES,
    *tour.ROUTES,
]
