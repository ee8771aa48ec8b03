"""The pages: a file each, with its addresses in ``ROUTES``."""

from typing import Final

from starlette.routing import Route

from sfumato.web.pages import (
    candidates,
    column_checks,
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
    study_fields,
    taxonomies,
    taxonomy_rules,
    tour,
)

ROUTES: Final[list[Route]] = [
    *start.ROUTES,
    *jobs.ROUTES,
    *columns.ROUTES,
    *column_checks.ROUTES,
    *study_fields.ROUTES,
    *taxonomies.ROUTES,
    *taxonomy_rules.ROUTES,
    *plan.ROUTES,
    *purposes.ROUTES,
    *frontier.ROUTES,
    *candidates.ROUTES,
    *release.ROUTES,
    *ledger.ROUTES,
    *receiver.ROUTES,
    *risk.ROUTES,
    *tour.ROUTES,
]
