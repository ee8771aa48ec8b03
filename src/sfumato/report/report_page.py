"""The page of the owner's report: one file, no scripts, nothing loaded from anywhere; fits a phone and prints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sfumato.look import icon, owner_tag, standalone_page, top_bar
from sfumato.report.cap_section import Cap
from sfumato.report.chart import Chart, Plane
from sfumato.report.measure_sentences import MeasureResult
from sfumato.report.table_rows import Rows


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """How a release was made, apart from its draft: what a manifest says too, and the frontier if there is one.

    ``frontier`` has a kind (`this`, `efficient`, `other` or `baseline`), a name, a privacy loss and a utility loss a
    candidate, ``frontier_own`` the same with the own-record loss; ``frontier_words`` say where this release is among
    them, or why they are not drawn. ``stated`` is the guarantee as its manifest states it, then what that means;
    ``left`` is the remaining budget of the study.
    """

    study: str
    release: str
    method: str
    date: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    chosen: str = "fixed in advance"
    rules: Sequence[str] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    frontier: Sequence[tuple[str, str, float, float]] = ()
    frontier_own: Sequence[tuple[str, str, float, float]] = ()
    frontier_words: Sequence[str] = ()
    stated: Sequence[str] = ()
    left: str = ""

    @property
    def name(self) -> str:
        """What the release is called."""
        return f"{self.release} of {self.study}"


@dataclass(frozen=True)
class Tile:
    """A key number, and what it means."""

    value: str
    means: str


@dataclass(frozen=True, kw_only=True)
class Page:
    """Everything the page shows, in plain values. What does not apply is empty, and the page says so."""

    made: Provenance
    guaranteed: Sequence[str]
    not_guaranteed: Sequence[str]
    tiles: Sequence[Tile]
    published: str
    left_out: str
    sizes: Chart | None = None
    cap: Cap | None = None
    losses: Chart | None = None
    losses_mean: str = ""
    distributions: Sequence[tuple[str, str, Chart | None, str]] = ()  # a name, its role, a chart, a sentence
    worst: Sequence[tuple[str, str, Rows]] = ()  # a privacy model, how the groups are sorted, the groups
    worst_missing: str = ""
    frontier: Plane | None = None
    frontier_own: Plane | None = None
    frontier_rows: Rows | None = None
    breakdown: Rows | None = None
    breakdown_means: Sequence[str] = ()
    facts: Rows | None = None
    measures: Sequence[MeasureResult] = ()
    unmeasured: str = ""

    def about(self, *kinds: str, attacks: bool = False) -> list[MeasureResult]:
        """The measures of some kinds: those that are attacks, or those that are not."""
        return [one for one in self.measures if one.measure.kind in kinds and one.measure.attack is attacks]


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("sfumato.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    found.globals["icon"] = lambda name: Markup(icon(name))  # noqa: S704 - it is ours
    return found


def render(page: Page) -> str:
    """The page as one HTML file."""
    bar = Markup(top_bar(page.made.study, "owner's report", tag=owner_tag()))  # noqa: S704 - it has escaped the name
    body = _environment().get_template("report.html").render(page=page, made=page.made, bar=bar)
    return standalone_page(f"Owner's report: {page.made.name}", body)
