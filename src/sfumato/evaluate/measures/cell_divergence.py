"""How far the records of a release, spread evenly over their regions, are from the table's."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from sfumato.domains.sets.regions import possible_sets
from sfumato.evaluate.equivalence_classes import by_row, candidates, told_by_row
from sfumato.evaluate.evidence import Evidence, bounded
from sfumato.evaluate.measures.coarseness import Coarseness
from sfumato.evaluate.measures.measure import MEASURES, Reading
from sfumato.release.shown import Floats, Integers, OverRanges
from sfumato.study.attribute import Attribute

_MOST_SETS = 2**40  # sets that there may be of one attribute, for a record to be spread evenly over them


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class CellDivergence(Coarseness):
    """KL(p ‖ p̂) over combinations of quasi-identifiers and a sensitive value: p the table's shares, p̂ the release's.

    p̂ spreads each row evenly over its region (Kifer & Gehrke, SIGMOD 2006), and suppressed records over all
    combinations of the domains. Where a combination of the table would be left with nothing, one record more is spread
    over all of them, so that the divergence stays finite. Of several sensitive attributes, the mean. The values of a
    set are all sets of nodes at its level that there may be; where those are beyond counting, it refuses.
    """

    name: ClassVar[str] = "cell-kl"
    title: ClassVar[str] = "Divergence of cells"
    summary: ClassVar[str] = "how far the records spread evenly over their regions are from the true ones; 0: the same"
    unit: ClassVar[str] = "nats"
    wide: ClassVar[bool] = True
    attribute: str | None = None

    def refuses(self, evidence: Evidence) -> str | None:
        """A record must have a share of something."""
        looked_at = {*evidence.shown.attributes, *(a.name for a in self._chosen(evidence))}
        for name in evidence.sets:
            if name in looked_at and possible_sets(evidence.set_domain(name)) > _MOST_SETS:
                return f"'{name}' may hold any of too many sets for a record to be spread evenly over them"
        return Coarseness.refuses(self, evidence)

    def read(self, evidence: Evidence) -> Reading:
        """The divergence, and each attribute's."""
        names = [a.name for a in self._chosen(evidence)]
        if not names:
            return Reading(value=self._divergence(evidence, None))
        found = {name: self._divergence(evidence, name) for name in names}
        return Reading(value=sum(found.values()) / len(found), details=found)

    def _chosen(self, evidence: Evidence) -> list[Attribute]:
        chosen = evidence.chosen(self.attribute) if self.attribute or evidence.protected else ()
        return [a for a in chosen if a.name in evidence.shown.values]

    def _divergence(self, evidence: Evidence, name: str | None) -> float:
        shown = evidence.shown
        width = np.ones(len(shown))
        for at, attribute in enumerate(shown.attributes):
            width *= _width(evidence, attribute, shown.starts[:, at], shown.stops[:, at])
        spread = candidates(evidence)
        sizes = [_values(evidence, attribute) for attribute in shown.attributes]
        place, people = evidence.people
        if name is None:
            true, found = people.counts.astype(np.float64), np.asarray(spread @ (shown.weights / width))
        else:
            codes, of, _ = evidence.occurring(name)
            size = len(codes)
            sizes.append(_values(evidence, name))
            over = _by_value(evidence, name)
            density = csr_array(over.shares.multiply((1.0 / width)[:, None]))
            within = over.range_of(codes)
            even = np.zeros(size)
            even[within >= 0] = 1.0 / over.widths[within[within >= 0]]
            cells, at = np.unique(place * size + of, return_inverse=True)
            true = np.bincount(at.ravel(), weights=evidence.raw.counts).astype(np.float64)
            found = np.zeros(len(cells))
            for some in bounded(spread, density) if len(over.starts) else ():
                inside = slice(*np.searchsorted(cells, [some.start * size, some.stop * size]))
                rows, code = cells[inside] // size - some.start, cells[inside] % size
                each = np.asarray(csr_array(spread[some] @ density)[rows, within[code]]).ravel()
                found[inside] = each * even[code]
        alike = 1.0 / float(np.prod(sizes))
        extra = shown.suppressed + (0.0 if shown.suppressed or bool(np.all(found > 0)) else 1.0)
        guessed = (found + extra * alike) / (shown.records + extra)
        share = true / true.sum()
        return max(0.0, float(share @ np.log(share / guessed)))


def _values(evidence: Evidence, name: str) -> float:
    """How many values an attribute may have."""
    if name in evidence.sets:
        return float(possible_sets(evidence.set_domain(name)))
    return float(evidence.view.domain(name).size)


def _width(evidence: Evidence, name: str, starts: Integers, stops: Integers) -> Floats:
    """How many values each region may have."""
    if name not in evidence.shown.sets:
        return np.asarray(stops - starts, np.float64)
    pairs, place = np.unique(np.stack([starts, stops], axis=1), axis=0, return_inverse=True)
    many = evidence.shown.sets[name].at(pairs[:, 0], pairs[:, 1]).possible(evidence.set_domain(name))
    return np.asarray(many[place.ravel()])


def _by_value(evidence: Evidence, name: str) -> OverRanges:
    """How many records of each row have each value, with a region of sets spread evenly over those it may hold."""
    shown = evidence.shown
    if name not in shown.sets:
        return by_row(shown, name)
    told, place = shown.sets[name], evidence.placed(name)
    here = np.flatnonzero(place >= 0)
    many = told.at(np.arange(told.size), np.arange(told.size) + 1).possible(evidence.set_domain(name))
    by_place = told_by_row(shown, name)
    even = csr_array((1.0 / many[place[here]], (place[here], here)), shape=(told.size, evidence.size(name)))
    codes = np.arange(evidence.size(name))  # the sets of the table, and one for all others
    return OverRanges(csr_array(by_place.shares @ even[by_place.starts]), codes, codes + 1)
