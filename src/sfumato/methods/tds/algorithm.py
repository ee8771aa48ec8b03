"""TDS: top-down specialization for classification under privacy models (Fung, Wang & Yu, ICDE 2005)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sfumato.domains.counts import Cells, Marginal, TableParts
from sfumato.domains.cut import Cut, Range
from sfumato.errors import StudyError
from sfumato.memory_limit import collecting
from sfumato.methods.full_domain.lattice import narrowest
from sfumato.methods.full_domain.rollup import number_rows
from sfumato.methods.grouping.model_checks import ModelChecks, cell_codes, quote_names
from sfumato.methods.grouping.partitioning import (
    GivenModels,
    ModelMethod,
    check_view,
    class_attribute,
    finish_partition,
    model_sentences,
    sort_cells,
    value_totals,
)
from sfumato.methods.grouping.slices import published_records, refuse_unsatisfiable_table
from sfumato.methods.grouping.table_totals import table_totals
from sfumato.methods.method import METHODS, Context, Forecast
from sfumato.methods.specialization.candidates import Candidate, Splits, domain_of
from sfumato.methods.specialization.scores import InfoGain
from sfumato.methods.tds.groups import CellGroups, EngineGroups, Groups
from sfumato.privacy.groups.statistics import Integers
from sfumato.release.draft import Draft
from sfumato.release.partition import Boxes, Partition
from sfumato.study.attribute import Attribute
from sfumato.study.view import View

if TYPE_CHECKING:
    from sfumato.release.forms.records.record_store import RecordStore

_GAIN = InfoGain()  # in ticks of 2⁻²⁰ bits: a smaller gain counts as none


@METHODS.add
@dataclass(frozen=True, kw_only=True)
class Tds(ModelMethod):
    """Start at the roots; again and again specialize what tells most about the class for the least anonymity.

    Paper -> here: specialization v → child(v) -> `Candidate`, anonymity A -> the size of the smallest group. Score is
    InfoGain/AnonyLoss, AnonyLoss being by how much the smallest group shrinks, or InfoGain where it does not. A
    specialization must be valid (all groups satisfy the models after it) and beneficial (InfoGain above 0). The split
    point of a number is the one with the largest InfoGain. We differ:

    - Any models, not k alone. For monotone models a specialization that violates one is given up for good: cuts only
      get finer, and if finer groups satisfied it, the groups that result from merging them would, too. With other
      models it is tried again.
    - InfoGain never changes (it looks at one attribute and the class), and AnonyLoss is at least what it was by the
      smallest group the candidate had made when last counted, so candidates are counted best bound first and only
      until no other can win. The choices are those of the paper.

    Of equal scores the attribute that stands first is taken, then the lower region.
    """

    name: ClassVar[str] = "tds"
    summary: ClassVar[str] = "top-down specialization for classification"
    form: ClassVar[str] = "generalised"
    k: int | None = None
    privacy: GivenModels = None

    def __post_init__(self) -> None:
        self.store_models()

    def check(self, view: View) -> None:
        """Refuse a view without a class, and models that make no sense on it."""
        check_view(view, self.models)
        target_of(view)

    def forecast(self, view: View) -> Forecast:
        """Which columns will change, and for what."""
        self.check(view)
        names = quote_names(attribute.name for attribute in view.quasi)
        free = [attribute.name for attribute in view.quasi if attribute.numerical]
        first = (
            f"{names} start fully generalised and are specialized while all groups satisfy the privacy model: the "
            f"largest information gain about '{target_of(view).name}' per record that the smallest group loses comes "
            "first"
        )
        sentences = [first]
        if free:
            sentences.append(f"{quote_names(free)} are split where the information gain about the class is largest")
        return Forecast(sentences=(*sentences, *model_sentences(self.models)), numbers={})

    @property
    def in_parts(self) -> bool:
        """It asks for the groups of its cuts, and for no cell."""
        return True

    def draft(self, view: View, counts: Cells | TableParts, context: Context | None = None) -> Draft:
        """Specialize until nothing valid and beneficial is left."""
        self.check(view)
        progress, checks = (context or Context()).progress, ModelChecks(self.models, view)
        refuse_unsatisfiable_table(view, counts, self.models)
        if isinstance(counts, TableParts):
            descent = _descent_in_parts(view, counts, checks)
        else:
            counts = sort_cells(view, counts)
            descent = _descent_of_cells(view, counts, checks)
        while descent.specialize():
            progress("specializing", len(descent.history), len(descent.history) + descent.left)
        content: Partition | RecordStore
        if isinstance(counts, TableParts):
            content, groups = published_records(view, counts, tuple(descent.cuts.values()), self.models)
        else:
            content = finish_partition(view, _partition(view, counts, descent), self.models)
            groups = len(content.boxes)
        facts = {"groups": groups, "suppressed": 0, "specializations": descent.history}
        return self.make_draft(view, content, facts=facts)


def target_of(view: View) -> Attribute:
    """The class, with two values at least."""
    target = class_attribute(view)
    if domain_of(target).size < 2:  # noqa: PLR2004 - two classes are the least there can be
        raise StudyError(
            f"the class '{target.name}' has one declared value, so there is nothing to predict",
            "declare all the values the class may take",
            code="SF-STUDY-071",
        )
    return target


@dataclass(slots=True)
class _Open:
    """A candidate, its gain, and the smallest group it would have made when it was last counted."""

    candidate: Candidate
    gain: int
    smallest: int | None = None
    counted_at: int = -1  # specializations of other attributes at the time

    def most(self, anonymity: int) -> float:
        """What its score is now at most: the smallest group it makes only ever shrinks."""
        loss = 0 if self.smallest is None else anonymity - self.smallest
        return self.gain / max(1, loss)


class _Descent:
    """The cuts on their way down."""

    def __init__(self, view: View, marginals: Mapping[str, Marginal], groups: Groups, checks: ModelChecks) -> None:
        self._checks, self._marginals, self.groups = checks, marginals, groups
        self._attributes = {attribute.name: attribute for attribute in view.quasi}
        self._place = {name: place for place, name in enumerate(self._attributes)}
        self.cuts = {name: Cut(name, (0,), domain_of(a).size) for name, a in self._attributes.items()}
        self.history: list[str] = []
        self._done = dict.fromkeys(self._attributes, 0)
        self._looked: dict[tuple[str, Range], tuple[Candidate, int] | None] = {}
        self._open: list[_Open] = []
        for name, cut in self.cuts.items():
            self._enter(name, cut.ranges)

    @property
    def left(self) -> int:
        """How many candidates are open."""
        return len(self._open)

    def specialize(self) -> bool:
        """Take the valid and beneficial candidate with the best score; False when there is none."""
        chosen = self._best()
        if chosen is None:
            return False
        name, region, children = chosen.candidate.attribute, chosen.candidate.region, chosen.candidate.children
        self._open.remove(chosen)
        self.groups.specialize(name, region, children)
        self.cuts[name] = self.cuts[name].specialize(region, children)
        self.history.append(f"{name}: {domain_of(self._attributes[name]).label(*region)}")
        self._done[name] += 1
        self._enter(name, children)
        return True

    def _best(self) -> _Open | None:
        anonymity = self.groups.smallest
        best: tuple[float, tuple[int, Range], _Open] | None = None
        for bound, key, one in sorted((-one.most(anonymity), self._key(one), one) for one in self._open):
            if best is not None and (bound, key) > best[:2]:
                break
            if not self._valid(one):
                if self._checks.monotone:
                    self._open.remove(one)
                continue
            assert one.smallest is not None, "it was counted just now"
            score = one.gain / max(1, anonymity - one.smallest)
            if best is None or (-score, key) < best[:2]:
                best = (-score, key, one)
        return None if best is None else best[2]

    def _key(self, one: _Open) -> tuple[int, Range]:
        return self._place[one.candidate.attribute], one.candidate.region

    def _valid(self, one: _Open) -> bool:
        """Count the groups it would make, unless no specialization has touched its records since."""
        name, region, children = one.candidate.attribute, one.candidate.region, one.candidate.children
        elsewhere = len(self.history) - self._done[name]
        if one.counted_at != elsewhere:
            one.smallest, one.counted_at = self.groups.smallest_after(name, region, children), elsewhere
        assert one.smallest is not None, "counted"
        if one.smallest < self._checks.least:
            return False
        return self._checks.sizes_alone or self.groups.hold_after(name, region, children)

    def reach(self, depth: int | None) -> tuple[Cut, ...]:
        """The cuts after so many specializations below each open region; None: after all that are beneficial."""
        starts = {name: set(cut.starts) for name, cut in self.cuts.items()}
        todo = [(one.candidate, 1) for one in self._open]
        while todo:
            candidate, level = todo.pop()
            name = candidate.attribute
            starts[name].update(start for start, _ in candidate.children)
            if level != depth:
                below = [self._beneficial(name, child) for child in candidate.children]
                todo += [(found[0], level + 1) for found in below if found is not None]
        return tuple(replace(cut, starts=tuple(sorted(starts[name]))) for name, cut in self.cuts.items())

    def _enter(self, name: str, regions: Sequence[Range]) -> None:
        """Enter the beneficial candidates among some regions."""
        found = [self._beneficial(name, region) for region in regions]
        self._open += [_Open(*one) for one in found if one is not None]

    def _beneficial(self, name: str, region: Range) -> tuple[Candidate, int] | None:
        """A region as a candidate with its gain, if there is one: both follow from one attribute and the class."""
        if (name, region) not in self._looked:
            found, children = None, _children(self._attributes[name], self._marginals[name], region)
            if children:
                parts = np.stack([self._marginals[name].total(*child) for child in children])
                gain = int(_GAIN.ticks(parts))
                found = (Candidate(name, region, children), gain) if gain > 0 else None
            self._looked[name, region] = found
        return self._looked[name, region]


def _children(attribute: Attribute, marginal: Marginal, region: Range) -> tuple[Range, ...]:
    """What a region would be replaced by; nothing where it cannot be split, or only into intervals too narrow."""
    domain, narrow = domain_of(attribute), narrowest(attribute)
    start, stop = region
    if not domain.free:
        below = domain.children(start, stop)
        return below if all(b - a >= narrow for a, b in below if a != domain.missing) else ()
    end = stop if domain.missing is None else min(stop, domain.missing)  # where the grid points of the region end
    point = best_split(Splits.of(marginal, region), start + narrow, end - narrow, domain.missing)
    return () if point is None else ((start, point), (point, stop))


def best_split(splits: Splits, lowest: int, highest: int, missing: int | None) -> int | None:
    """The split point with the largest gain from ``lowest`` to ``highest``, or right before the missing value.

    All points between two codes that occur gain the same; the last of them is taken, so that the upper half begins
    with a code that occurs. Of equal gains the lowest is taken.
    """
    last = splits.first + np.cumsum(splits.widths) - 1
    first = last - splits.widths + 1
    point = np.where(last == missing, last, np.minimum(last, highest))
    fits = (point >= np.maximum(first, lowest)) & (point >= first)
    if not fits.any():
        return None
    gains = np.where(fits, _GAIN.ticks(splits.parts), -1)
    return int(point[gains.argmax()])


def _marginal(codes: Integers, size: int, classes: Integers, number: int, counts: Integers) -> Marginal:
    """One attribute against the class: so many codes, so many classes."""
    ranks, rows = number_rows(codes, size)
    flat = np.bincount(ranks * number + classes, weights=counts, minlength=len(rows) * number)
    return Marginal(codes[rows], flat.reshape(len(rows), number).astype(np.int64))


def _partition(view: View, cells: Cells, descent: _Descent) -> Partition:
    """The groups with the regions of the final cuts."""
    assert isinstance(descent.groups, CellGroups), "the cells are here"
    group = descent.groups.rows.group
    row = np.empty(len(descent.groups.rows.sizes), dtype=np.int64)
    row[group] = np.arange(len(group))  # any row of a group has the group's region
    starts, stops = [], []
    for attribute in view.quasi:
        cut = descent.cuts[attribute.name]
        region = cut.regions(cell_codes(cells, attribute.name)[row])
        edges = np.asarray((*cut.starts, cut.size))
        starts.append(edges[region])
        stops.append(edges[region + 1])
    names = tuple(attribute.name for attribute in view.quasi)
    return Partition(cells, group, Boxes(names, np.stack(starts, axis=1), np.stack(stops, axis=1)))


def _descent_of_cells(view: View, cells: Cells, checks: ModelChecks) -> _Descent:
    target = target_of(view)
    classes = cell_codes(cells, target.name)
    marginals = {
        a.name: _marginal(cell_codes(cells, a.name), domain_of(a).size, classes, domain_of(target).size, cells.counts)
        for a in view.quasi
    }
    groups = CellGroups(cells, [a.name for a in view.quasi], checks, value_totals(view, cells, checks.domains))
    return _Descent(view, marginals, groups, checks)


def _descent_in_parts(view: View, counts: TableParts, checks: ModelChecks) -> _Descent:
    """The same of a table that does not fit: candidates and gains follow from histograms of single attributes."""
    target = target_of(view)
    marginals = {}
    for attribute in view.quasi:
        with collecting("for `tds`, split points are looked for among the values of one attribute, by class"):
            cells = counts.cells([attribute.name, target.name], {}, limited=True)
        marginals[attribute.name] = _marginal(
            cells.codes[:, 0], domain_of(attribute).size, cells.codes[:, 1], domain_of(target).size, cells.counts
        )
    roots = [Cut(attribute.name, (0,), domain_of(attribute).size) for attribute in view.quasi]
    groups = EngineGroups(counts, roots, checks, table_totals(counts, checks.domains))
    descent = _Descent(view, marginals, groups, checks)
    groups.reach = descent.reach
    return descent
