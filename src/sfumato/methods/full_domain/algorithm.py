"""Full-domain recoding: one level of generalisation for each attribute, the best there is."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sfumato.domains.counts import Cells, TableParts
from sfumato.domains.cut import Cut
from sfumato.errors import InfeasibleError, InternalError, StudyError
from sfumato.methods.full_domain.box_search import Found, Search
from sfumato.methods.full_domain.engine_worths import EngineWorths
from sfumato.methods.full_domain.lattice import Bounds, lattice_of
from sfumato.methods.full_domain.rollup import join_keys, number_rows
from sfumato.methods.full_domain.worths import TableWorths, worths_of_cells
from sfumato.methods.grouping.model_checks import ModelChecks, cell_codes, quote_names
from sfumato.methods.grouping.partitioning import (
    GivenModels,
    ModelMethod,
    check_view,
    finish_partition,
    model_sentences,
    parse_share,
    refuse_lost_people,
    refuse_unsatisfiable,
    sort_cells,
    suppress_violations,
)
from sfumato.methods.grouping.slices import published_partition, published_records, refuse_unsatisfiable_table
from sfumato.methods.method import METHODS, Context, Forecast
from sfumato.privacy.groups.parameters import Exact, parse_exact, parse_in_range
from sfumato.privacy.models import title
from sfumato.release.draft import Draft
from sfumato.release.partition import Boxes, Partition
from sfumato.study.budget import show
from sfumato.study.view import View

if TYPE_CHECKING:
    from sfumato.release.forms.records.record_store import RecordStore


@METHODS.add
@dataclass(frozen=True, kw_only=True)
class FullDomain(ModelMethod):
    """The node of the generalisation lattice with the least loss among those that satisfy the privacy models.

    Samarati (2001) and Sweeney (2002) set the problem; Incognito (LeFevre et al., SIGMOD 2005) and Flash (Kohlmayer et
    al., 2012, in ARX) search the lattice. Here boxes of nodes are bounded from below and dropped together; `box_search`
    has the argument that what is left is optimal. Loss is that of `release.region_loss.general_loss`.

    Groups that violate a model are suppressed, as long as no more than the share ``suppress`` of the records is lost
    by it. ``levels`` sets bounds: ``{age: [1, 3], sex: 0}`` publishes age at level 1, 2 or 3 and sex as it is;
    `lattice` says what a level is. With a ``time_limit`` in seconds the best node so far is taken, and the facts say
    how far from the optimum it can be. Of equal losses the one with more groups is taken, then the first in the order
    of levels.

    >>> FullDomain(k=5, suppress="0.02").models
    (KAnonymity(k=5),)
    """

    name: ClassVar[str] = "full-domain"
    summary: ClassVar[str] = "one level of generalisation for each attribute, with the least loss"
    form: ClassVar[str] = "generalised"
    k: int | None = None
    privacy: GivenModels = None
    suppress: Exact = "0"
    time_limit: Exact | None = None
    levels: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.store_models()
        object.__setattr__(self, "suppress", show(parse_share(self.suppress, "suppress")))  # 0 and "0" are one recipe
        _ = self.seconds, self.bounds

    @property
    def seconds(self) -> float | None:
        """How long the search may take."""
        return None if self.time_limit is None else float(parse_in_range(self.time_limit, "time_limit", 0, above=True))

    @property
    def bounds(self) -> dict[str, Bounds]:
        """The lowest and highest level of the attributes that have bounds."""
        if not isinstance(self.levels, Mapping):
            raise StudyError("levels is not a mapping", "write `levels: {age: [1, 3]}`", code="SF-STUDY-047")
        return {str(name): _bounds(str(name), given) for name, given in self.levels.items()}

    @property
    def in_parts(self) -> bool:
        """It asks for the classes of nodes, and for no cell."""
        return True

    def check(self, view: View) -> None:
        """Refuse attributes without levels, bounds for what is none of them, and models that do not fit."""
        check_view(view, self.models, people=True)
        refuse_lost_people(self.models, parse_share(self.suppress, "suppress"))
        names = [attribute.name for attribute in view.quasi]
        unknown = sorted(set(self.bounds) - set(names))
        if unknown:
            raise StudyError(
                f"levels names {quote_names(unknown)}, which is no quasi-identifier here",
                f"name some of: {', '.join(names)}",
                code="SF-STUDY-039",
            )
        lattice_of(view.quasi, self.bounds)

    def forecast(self, view: View) -> Forecast:
        """Which levels there are to choose from, and what holds of each group."""
        self.check(view)
        lattice = lattice_of(view.quasi, self.bounds)
        choices = ", ".join(f"'{ladder.attribute}' ({len(ladder)})" for ladder in lattice.ladders)
        share = parse_share(self.suppress, "suppress")
        sentences = [
            f"each quasi-identifier is published at one level of its taxonomy, the same for all records: {choices}",
            f"of {lattice.size:,} combinations of levels, the one of least loss that satisfies the model is chosen",
        ]
        if share:
            sentences.append(f"up to {show(100 * share)} % of the records may be suppressed")
        if self.seconds is not None:
            sentences.append(f"after {self.seconds:g} seconds the best combination found so far is used")
        return Forecast(sentences=(*sentences, *model_sentences(self.models)), numbers={"nodes": lattice.size})

    def draft(
        self,
        view: View,
        counts: Cells | TableParts,
        context: Context | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> Draft:
        """Search, then recode. The clock is only asked if there is a time limit."""
        self.check(view)
        share = parse_share(self.suppress, "suppress")
        lattice, checks = lattice_of(view.quasi, self.bounds), ModelChecks(self.models, view)
        worths: EngineWorths | TableWorths
        if isinstance(counts, TableParts):
            allowed = int(share * counts.records)
            worths = EngineWorths(lattice, checks, counts, allowed)
        else:
            if not len(counts):
                refuse_unsatisfiable(view, counts, self.models)
            counts = sort_cells(view, counts)
            allowed = int(share * int(counts.counts.sum()))
            worths = worths_of_cells(lattice, checks, counts, allowed)
        search = Search(lattice, worths, allowed, checks.monotone)
        ends = None if self.seconds is None else clock() + self.seconds
        found = search.run(stop=lambda: ends is not None and clock() >= ends, progress=(context or Context()).progress)
        best = found.best
        if best is None:
            raise _infeasible(search, checks, counts, found)
        content: Partition | RecordStore
        if isinstance(counts, TableParts) and isinstance(worths, EngineWorths) and view.people is None:
            keep = worths.keep(best.node, best.suppressed)
            content, groups = published_records(view, counts, lattice.cuts(best.node), self.models, keep)
        else:
            partition = _partition_at(view, counts, lattice.cuts(best.node))
            left = suppress_violations(view, partition, self.models, limit=allowed) or partition
            content = finish_partition(view, left, self.models)
            groups = len(content.boxes)
        if content.suppressed != best.suppressed:
            raise InternalError("the search and the recoding do not agree on what is suppressed")
        return self.make_draft(
            view,
            content,
            facts={
                "groups": groups,
                "suppressed": content.suppressed,
                "levels": lattice.named(best.node),
                "loss": round(best.loss, 9),
                "nodes": lattice.size,
                "nodes_counted": found.counted,
                "optimal": found.complete,
                "within": round(max(0.0, best.loss - found.bound), 9),  # of the least loss there is: proven
            },
        )


def _partition_at(view: View, cells: Cells | TableParts, cuts: tuple[Cut, ...]) -> Partition:
    """The partition of a node: cells in the same regions are a group."""
    if isinstance(cells, TableParts):
        return published_partition(view, cells, cuts)
    regions = [cut.regions(cell_codes(cells, cut.attribute)) for cut in cuts]
    key, size = np.zeros(len(cells), dtype=np.int64), 1
    for cut, region in zip(cuts, regions, strict=True):
        if len(cut) > 1:
            key, size = join_keys(key, size, region, len(cut))
    group, rows = number_rows(key, size)
    edges = [np.asarray((*cut.starts, cut.size)) for cut in cuts]
    boxes = Boxes(
        tuple(attribute.name for attribute in view.quasi),
        np.stack([edge[region[rows]] for edge, region in zip(edges, regions, strict=True)], axis=1),
        np.stack([edge[region[rows] + 1] for edge, region in zip(edges, regions, strict=True)], axis=1),
    )
    return Partition(cells, group, boxes)


def _bounds(name: str, given: Any) -> Bounds:
    """A level, or the lowest and the highest one, each of which may be left open (null)."""
    ends = list(given) if isinstance(given, (list, tuple)) else [given, given]
    levels = [None if end is None else parse_exact(end, f"a level of '{name}'") for end in ends]
    if len(levels) != 2 or any(end is not None and (end.denominator != 1 or end < 0) for end in levels):  # noqa: PLR2004
        raise StudyError(
            f"the levels of '{name}' are neither a level nor two of them",
            f"write `{name}: 1` or `{name}: [0, 2]`",
            code="SF-STUDY-048",
        )
    low, high = (None if end is None else int(end) for end in levels)
    return low or 0, high


def _infeasible(search: Search, checks: ModelChecks, counts: Cells | TableParts, found: Found) -> InfeasibleError:
    """Why nothing was found, and the largest parameter for which something would be."""
    if not found.complete:
        return InfeasibleError(
            "the time limit was reached before a level was found that satisfies the privacy model",
            "raise `time_limit`, or leave it out",
            code="SF-INFEASIBLE-009",
        )
    sizes, groups = search.worths.sizes(search.lattice.top)
    smaller = np.cumsum(sizes * groups) - sizes * groups  # records in smaller groups
    largest = int(sizes[smaller <= search.allowed].max())
    if largest >= checks.least:
        refuse_unsatisfiable_table(checks.view, counts, checks.models)
    way_out = f"set k to {largest} or less" if largest < checks.least else "relax the privacy model"
    more = [] if search.allowed == search.worths.records else ["raise `suppress`"]
    if any(len(ladder.cuts[-1]) > 1 for ladder in search.lattice.ladders):
        more.append("allow higher `levels`")
    return InfeasibleError(
        f"no level of generalisation satisfies {' and '.join(title(model) for model in checks.models)} "
        f"with {search.allowed:,} of {search.worths.records:,} records suppressed",
        ", or ".join([way_out, *more]),
        code="SF-INFEASIBLE-010",
    )
