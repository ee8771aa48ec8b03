"""Pages from templates: everything that is not marked as safe by us is escaped, whoever wrote it."""

import shlex
from collections.abc import Sequence
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse

from sfumato.errors import SfumatoError, UsageError
from sfumato.look import symbols
from sfumato.study.budget import show
from sfumato.study.study import Study
from sfumato.web.code_words import with_code
from sfumato.web.jobs import Job, path_argument
from sfumato.web.open_points import open_points
from sfumato.web.server.guard import REQUEST_TOKEN
from sfumato.web.spent_budget import budget_of
from sfumato.web.tour_steps import tour_of
from sfumato.web.workspace import OpenStudy, Workspace
from sfumato.wording import rounded_up, sentence

STEPS: Final = (
    ("columns", "Table & columns"),
    ("taxonomies", "Taxonomies"),
    ("plan", "Plan & ε"),
    ("frontier", "Frontier"),
    ("release", "Release"),
    ("ledger", "Ledger"),
    ("risk", "Risk"),
)


def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("sfumato.web", "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["thousands"] = lambda number: f"{number:,}"
    found.filters["percent"] = _percent
    found.filters["rounded_up"] = rounded_up
    found.filters["exact"] = lambda number: "" if number is None else show(number)
    found.filters["sentence"] = lambda text: f"{sentence(text)}."
    found.filters["coded"] = with_code
    found.globals["icon"] = icon
    found.globals["symbols"] = Markup(symbols())  # noqa: S704 - a file of ours
    found.globals["steps"] = STEPS
    found.globals["tour_of"] = tour_of
    return found


def icon(name: str, label: str = "") -> Markup:
    """One of the symbols of the shell; with a label for those who do not see it."""
    said = Markup('role="img" aria-label="{}"').format(label) if label else Markup('aria-hidden="true"')
    return Markup('<svg class="icon" {}><use href="#i-{}"/></svg>').format(said, name)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share >= 0.001 or share == 0 else "< 0.1 %"  # noqa: PLR2004


_ENVIRONMENT: Final = _environment()


def workspace(request: Request) -> Workspace:
    """What pages share."""
    found: Workspace = request.app.state.workspace
    return found


def open_study(request: Request) -> OpenStudy:
    """The study that the address names."""
    return workspace(request).study(request.path_params["study"])


def fragment(name: str, **values: Any) -> Markup:
    """A part of a page."""
    text = _as_text(_ENVIRONMENT.get_template(name).render(**values))
    return Markup(text)  # noqa: S704 - the template has escaped it


def _as_text(rendered: str) -> str:
    """What can be sent: a name of a file that is no text, in an earlier encoding of the system, is shown without it."""
    return rendered.encode(errors="replace").decode()


def page(request: Request, name: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page, or what htmx swaps."""
    settings = workspace(request).settings
    shared = {"request_token": settings.request_token, "token_header": REQUEST_TOKEN, "study": None, "budget": None}
    text = _ENVIRONMENT.get_template(name).render({**shared, **values})
    return HTMLResponse(_as_text(text), status_code=status)


def study_page(request: Request, name: str, step: str, **values: Any) -> HTMLResponse:
    """A page of a study, with its steps, the budget and the study file in the drawer."""
    opened = open_study(request)
    return page(request, name, **shell(opened, step), **values)


def shell(opened: OpenStudy, step: str, command: str | None = None, *, entry: Sequence[str] = ()) -> dict[str, Any]:
    """What every page of a study shows around its content; `entry` is the place in the file that the page is about."""
    document = opened.document()
    declared, problem = load(opened)
    return {
        "study": opened,
        "step": step,
        "document": document,
        "declared": declared,
        "problem": problem,
        "budget": budget_of(opened, declared, problem),
        "points": open_points(opened, problem),
        "command": command or study_command(opened, "check", path_argument(opened.path.name)),
        "shown": document.around(*entry),
        "unsaved": False,
    }


def shown_command(*arguments: str) -> str:
    """A command as a person would type it in a shell: names with blanks or other marks stand in quotes.

    >>> shown_command("plan", "my study.yaml", "dp")
    "sfumato plan 'my study.yaml' dp"
    """
    return shlex.join(["sfumato", *arguments])


def study_command(opened: OpenStudy, *arguments: str) -> str:
    """A command as the pages of a study run it: with the options of the session."""
    return shown_command(*opened.options.applied(arguments))


def known_job(request: Request, name: str | None) -> Job | None:
    """A job by its id; None where there is none, or where it was let go of, as the oldest of very many are."""
    try:
        return None if name is None else workspace(request).jobs.get(name)
    except UsageError:
        return None


def load(opened: OpenStudy) -> tuple[Study | None, SfumatoError | None]:
    """The study as declared so far, or why it is none yet."""
    try:
        return opened.document().study(), None
    except SfumatoError as error:
        return None, error
