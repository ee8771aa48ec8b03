"""The frontier of one study and purpose: every candidate, the efficient ones, the choice, the plot and the files."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.display import Display
from sfumato.errors import UsageError, unwritable
from sfumato.frontier.choose import KNEE, Choice, choose
from sfumato.frontier.efficient import efficient, no_better_than_nothing
from sfumato.frontier.plots_extra import INSTALL, can_plot, plots_needed
from sfumato.frontier.point import Axis, Point
from sfumato.frontier.points_table import as_csv, columns
from sfumato.ledger.private_files import write_private

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True)
class Frontier:
    """Candidate releases as points of a plane, privacy loss against utility loss unless specified otherwise.

    ``tried`` are all of them, in the order of the sweep. Everything here was measured against the raw table: it is for
    the owner alone.
    """

    study: str
    x: Axis
    y: Axis
    tried: tuple[Point, ...]
    baselines: tuple[Point, ...] = ()
    purpose: str | None = None
    axes: Mapping[str, Axis] = field(default_factory=dict)  # every measure that was taken
    folder: Path | None = None  # where finished points are kept
    legend: str = "method: privacy models"  # what the series of points are
    beside: Axis | None = None  # a second privacy axis, plotted next to the first: see `own-record-loss`
    choosable: bool = True  # whether the points compete; curves that measure different things have no efficient ones

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The candidates that have both numbers."""
        return tuple(point for point in self.tried if point.has(self.x.name, self.y.name))

    @cached_property
    def failures(self) -> tuple[tuple[Point, str], ...]:
        """The candidates that have not, each with the reason."""
        names = (self.x.name, self.y.name)
        return tuple((point, point.why_not(*names)) for point in self.tried if not point.has(*names))

    @cached_property
    def efficient(self) -> tuple[Point, ...]:
        """The candidates that no other betters, from the best to the worst on x."""
        return efficient(self.points, self.x, self.y) if self.choosable else ()

    @cached_property
    def no_better_than_nothing(self) -> tuple[Point, ...]:
        """The candidates that a table without any quasi-identifier equals or betters on both axes."""
        return no_better_than_nothing(self.points, self.baselines, self.x, self.y) if self.choosable else ()

    def over(self, x: str | None = None, y: str | None = None) -> "Frontier":
        """The same candidates over two other measures that were taken."""
        for name in (x, y):
            if name is not None and name not in self.axes:
                raise UsageError(
                    f"'{name}' was not measured", f"use one of: {', '.join(self.axes)}", code="SF-USAGE-040"
                )
        beside = self.beside if x in (None, self.x.name) else None  # it belongs to the privacy axis that was swept
        return replace(self, x=self.axes[x] if x else self.x, y=self.axes[y] if y else self.y, beside=beside)

    def choose(self, rule: str | None = None, *, privacy: float | None = None, utility: float | None = None) -> Choice:
        """One release: ``privacy=`` or ``utility=`` is the worst acceptable value on x or y; ``"knee"``, the bend.

        It is one that can be made here. Where a release of another tool is better, the sentence says so.
        """
        own = [point for point in self.points if not point.foreign]
        found = choose(own, self.x, self.y, rule, privacy=privacy, utility=utility)
        if any(point is found.point for point in self.no_better_than_nothing):
            worse = "Publishing no quasi-identifier at all would do at least as well on both axes"
            found = replace(found, sentence=f"{found.sentence}. {worse}")
        if len(own) == len(self.points):
            return found
        better = ", ".join(point.label for point in self.better_foreign(found.point))
        words = f"; better on these axes than the chosen one: {better}" if better else ""
        return replace(
            found, sentence=f"{found.sentence}. Releases of other tools are not counted here and not chosen{words}"
        )

    def better_foreign(self, point: Point) -> tuple[Point, ...]:
        """The releases of other tools that are as good as a point on both axes and better on one."""
        return tuple(
            other for other in self.points if other.foreign and efficient((other, point), self.x, self.y) == (other,)
        )

    def as_json(self, chosen: Choice) -> dict[str, Any]:
        """All points and the choice as plain values."""
        best, worse = ({id(point) for point in some} for some in (self.efficient, self.no_better_than_nothing))
        return {
            "study": self.study,
            "purpose": self.purpose,
            "x": self.x.name,
            "y": self.y.name,
            "beside": None if self.beside is None else self.beside.name,
            "points": [
                {**point.as_json(), "efficient": id(point) in best, "no_better_than_nothing": id(point) in worse}
                for point in self.points
            ],
            "baselines": [point.as_json() for point in self.baselines],
            "failures": [{"label": point.label, "why": why} for point, why in self.failures],
            "chosen": chosen.as_json(),
        }

    @property
    def panels(self) -> tuple["Frontier", ...]:
        """The planes that are plotted side by side: this one and, with a second privacy axis, the one over it."""
        if self.beside is None or not any(point.has(self.beside.name, self.y.name) for point in self.points):
            return (self,)
        return self, replace(self, x=self.beside, beside=None)

    def plot(self, chosen: Choice | None = None, *, width: int = 640) -> "alt.LayerChart | alt.HConcatChart":
        """The plot as an Altair chart, with a ring around the chosen point: by default the knee.

        A sweep of private and syntactic releases has two panels, privacy loss and own-record loss.
        """
        with plots_needed():
            from sfumato.frontier.plot import side_by_side  # noqa: PLC0415 - altair takes a second to load

        return side_by_side(self.panels, chosen or self.knee, width=width)

    @property
    def knee(self) -> Choice | None:
        """The choice at the knee, if there is anything to choose from."""
        return self.choose(KNEE) if any(not point.foreign for point in self.points) and self.choosable else None

    def to_html(self, chosen: Choice | None = None) -> str:
        """One page with the plot, the choice, all points and the failures; it needs no network."""
        with plots_needed():
            from sfumato.frontier.frontier_page import page  # noqa: PLC0415 - altair takes a second to load

        return page(self, chosen or self.knee)

    def save(self, path: str | os.PathLike[str], chosen: Choice | None = None) -> Path:
        """Write the page (.html), the plot (.png, .svg, .json for Vega-Lite) or all points (.csv).

        The numbers come from raw records, so only the owner of the file may read it.
        """
        place = Path(path)
        match place.suffix.lower():
            case ".csv":
                found: str | bytes = self.to_csv(chosen)
            case ".html" | ".htm":
                found = self.to_html(chosen)
            case ".png" | ".svg" | ".json":
                with plots_needed():
                    from sfumato.frontier.plot import image  # noqa: PLC0415 - altair takes a second to load

                found = image(self.plot(chosen, width=720), place.suffix.lower()[1:])
            case other:
                raise UsageError(
                    f"a frontier is not saved as '{other}'",
                    "end the name in .html, .png, .svg, .csv or .json",
                    code="SF-USAGE-041",
                )
        try:
            write_private(place, found if isinstance(found, bytes) else found.encode("utf-8"))
        except OSError as error:
            raise unwritable(place, error) from None
        return place

    def to_csv(self, chosen: Choice | None = None) -> str:
        """Every candidate and baseline with its numbers, a line each."""
        return as_csv(self._columns(chosen))

    def to_arrow(self, chosen: Choice | None = None) -> "pa.Table":
        """The same as an Arrow table."""
        import pyarrow as pa  # noqa: PLC0415 - only for those who ask

        return pa.table({name: list(values) for name, values in self._columns(chosen).items()})

    def to_pandas(self, chosen: Choice | None = None) -> "pd.DataFrame":
        """The same as a pandas data frame."""
        found: pd.DataFrame = self.to_arrow(chosen).to_pandas()
        return found

    def _columns(self, chosen: Choice | None) -> Mapping[str, Sequence[Any]]:
        picked = chosen or self.knee
        return columns(
            [*self.tried, *self.baselines],
            measures=tuple(self.axes) or (self.x.name, self.y.name),
            efficient=self.efficient,
            no_better=self.no_better_than_nothing,
            chosen=None if picked is None else picked.point,
            why={id(point): reason for point, reason in self.failures},
        )

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows; it carries all it needs, so it works without a network."""
        if not can_plot():
            return {"text/plain": repr(self), "text/html": self._points_display().as_html()}
        from sfumato.frontier.frontier_page import fragment  # noqa: PLC0415 - altair takes a second to load

        return {"text/plain": repr(self), "text/html": fragment(self, self.knee)}

    def _points_display(self) -> Display:
        """All points as a table, where no plot can be drawn."""
        names = (self.x.name, self.y.name)
        return Display(
            title=repr(self),
            owner_only=True,
            columns=("release", *names),
            rows=tuple((p.label, *(f"{p.numbers[name]:.4g}" for name in names)) for p in self.points),
            sentences=(f"for the plot: {INSTALL}",),
        )

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def __repr__(self) -> str:
        return (
            f"Frontier of '{self.study}': {len(self.points)} releases over {self.x.name} and {self.y.name}, "
            f"{len(self.efficient)} efficient, {len(self.failures)} failed"
        )
