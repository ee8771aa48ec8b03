"""The counting measures: how coarse a release is, by its groups and regions.

Groups are the records that look alike (see `alike`). A bucketized release keeps quasi-identifiers exact, so by these
measures it loses little but what it suppresses: what it blurs is seen by `uloss`, `query-error` and `cell-kl`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from sfumato.core.domain import Domain
from sfumato.core.shown import Floats, Integers
from sfumato.core.taxonomy import Taxonomy
from sfumato.measure.alike import alike, by_row, candidates
from sfumato.measure.evidence import Evidence, dense
from sfumato.measure.measure import MEASURES, Better, Kind, Reading
from sfumato.measure.uniform import column


@dataclass(frozen=True, slots=True, kw_only=True)
class _Coarseness:
    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, None)
    unit: ClassVar[str] = "records"

    def refuses(self, evidence: Evidence) -> str | None:
        """Only a table without records has nothing to lose."""
        return None if evidence.records else "the table has no records"


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class Discernibility(_Coarseness):
    """C_DM = Σ over groups of size² + suppressed · n, with n the table's records (Bayardo & Agrawal, ICDE 2005).

    Every record costs the number of records that it cannot be told from, a suppressed one all of them.
    """

    name: ClassVar[str] = "discernibility"
    title: ClassVar[str] = "Discernibility"
    summary: ClassVar[str] = "how many records each record looks like, added up; a suppressed one counts as like all"
    unit: ClassVar[str] = "pairs of records"

    def read(self, evidence: Evidence) -> Reading:
        """The sum, and the same for each record."""
        sizes = alike(evidence).sizes
        found = float(sizes @ sizes) + evidence.shown.suppressed * evidence.records
        return Reading(value=found, details={"for each record": found / evidence.records})


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class AverageGroupSize(_Coarseness):
    """C_avg: published records by group (LeFevre et al., ICDE 2006, without their division by k).

    Methods that promise different things have no k in common, so the plain average can be compared and theirs cannot.
    """

    name: ClassVar[str] = "average-group-size"
    title: ClassVar[str] = "Average group size"
    summary: ClassVar[str] = (
        "how many records a group of published records that look alike has on average; divided by k, C_avg"
    )

    def refuses(self, evidence: Evidence) -> str | None:
        """Without a group there is no average."""
        return None if len(evidence.shown) else "nothing is published"

    def read(self, evidence: Evidence) -> Reading:
        """The mean, and the ends."""
        sizes = alike(evidence).sizes
        details = {"groups": len(sizes), "smallest": float(sizes.min()), "largest": float(sizes.max())}
        return Reading(value=float(sizes.mean()), details=details)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RegionLoss(_Coarseness):
    """The mean over records and quasi-identifiers of what a range of codes loses; a suppressed record loses 1 each."""

    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"

    def refuses(self, evidence: Evidence) -> str | None:
        """Without quasi-identifiers or records nothing is generalised."""
        if not evidence.view.quasi:
            return "there are no quasi-identifiers"
        return None if evidence.shown.records + evidence.shown.suppressed > 0 else "nothing is published"

    def read(self, evidence: Evidence) -> Reading:
        """The mean, and each attribute's."""
        shown = evidence.shown
        records = shown.records + shown.suppressed
        losses = {}
        for attribute in evidence.view.quasi:
            domain = evidence.view.domain(attribute.name)
            found = column(shown, attribute.name)
            if found is None or found.shares is not None:
                lost = shown.records if found is None else 0.0  # not shown at all; shown as it is
            else:
                sizes = np.bincount(found.place, weights=shown.weights, minlength=len(found.starts))
                lost = float(sizes @ self.lost(domain, found.starts, found.stops))
            losses[attribute.name] = min(1.0, (lost + shown.suppressed) / records)
        return Reading(value=sum(losses.values()) / len(losses), details=losses)

    def lost(self, domain: Domain, starts: Integers, stops: Integers) -> Floats:
        """What each range loses, from 0 to 1."""
        raise NotImplementedError


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralLoss(_RegionLoss):
    """The mean of (codes covered − 1)/(codes of the domain − 1).

    Iyengar's general loss metric (KDD 2002); the normalised certainty penalty of Xu et al. (KDD 2006), and GCP, its
    mean over the table, are the same number. Attributes weigh alike.
    """

    name: ClassVar[str] = "general-loss"
    title: ClassVar[str] = "General loss (NCP)"
    summary: ClassVar[str] = "how much of its domain a published value covers on average; 0: exact, 1: nothing is left"

    def lost(self, domain: Domain, starts: Integers, stops: Integers) -> Floats:
        """The share of the other codes that the range covers."""
        return np.asarray((stops - starts - 1) / max(1, domain.size - 1), np.float64)


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class Distortion(_RegionLoss):
    """How many steps up the taxonomies values were taken, as a share of all steps (Sweeney's 1 − Prec, 2002).

    The steps of a node are the edges down to its deepest leaf, of the most there are below the root; a range that is no
    node takes those of the lowest node above it; a number within a leaf that is an interval is a step below that leaf.
    A free grid has no steps: there the share is log(codes covered)/log(codes of the domain), a step for each halving.
    """

    name: ClassVar[str] = "distortion"
    title: ClassVar[str] = "Generalisation steps"
    summary: ClassVar[str] = "how far up its taxonomy a published value stands on average; 0: exact, 1: at the root"

    def lost(self, domain: Domain, starts: Integers, stops: Integers) -> Floats:
        """The share of steps of each range."""
        if domain.taxonomy is None:
            return np.asarray(np.log(stops - starts) / max(float(np.log(domain.size)), 1e-300))
        heights = _heights(domain.taxonomy)
        most = max(1, heights[0])
        pairs = zip(starts.tolist(), stops.tolist(), strict=True)
        return np.array([_height(domain.taxonomy, heights, *pair) / most for pair in pairs], np.float64)


def _heights(taxonomy: Taxonomy) -> list[int]:
    """The edges from each node down to its deepest leaf; one more where that is an interval of several codes."""
    found = [0] * len(taxonomy.labels)
    for node in range(len(found) - 1, -1, -1):
        if not taxonomy.kids(node):
            found[node] = int(taxonomy.stops[node] - taxonomy.starts[node] > 1)
        if node:
            parent = taxonomy.parents[node]
            found[parent] = max(found[parent], found[node] + 1)
    return found


def _height(taxonomy: Taxonomy, heights: list[int], start: int, stop: int) -> int:
    if stop - start == 1:
        return 0
    low, high = taxonomy.lowest_common((start, stop - 1))
    return heights[taxonomy.node_at(low, high)]


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed(_Coarseness):
    """Records of the table that are known to be left out; records that a sample did not take are not among them."""

    name: ClassVar[str] = "suppressed"
    title: ClassVar[str] = "Records suppressed"
    summary: ClassVar[str] = "the share of the table's records that are suppressed"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"

    def refuses(self, evidence: Evidence) -> str | None:
        """Counts are of all records."""
        if evidence.shown.form == "counts":
            return "noisy counts publish no records, so none can be suppressed"
        return None if evidence.records else "the table has no records"

    def read(self, evidence: Evidence) -> Reading:
        """The share, and how many."""
        gone = evidence.shown.suppressed
        return Reading(value=min(1.0, gone / evidence.records), details={"records": gone})


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationMetric(_Coarseness):
    """CM: the share of records whose class is not the commonest of their group; a suppressed one counts (Iyengar 2002).

    Noisy counts are taken as they are published.
    """

    name: ClassVar[str] = "classification-metric"
    title: ClassVar[str] = "Classification metric"
    summary: ClassVar[str] = "the share of records whose class differs from the commonest in their group"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"

    def refuses(self, evidence: Evidence) -> str | None:
        """It is about a class, as published."""
        if evidence.target is None:
            return "no attribute is the class"
        if evidence.target.name not in evidence.shown.values:
            return "the release has no class"
        return None if evidence.shown.records + evidence.shown.suppressed > 0 else "nothing is published"

    def read(self, evidence: Evidence) -> Reading:
        """The share; beside it what one would get for all records in one group."""
        assert evidence.target is not None, "refused before"
        shown, groups = evidence.shown, alike(evidence)
        classes = dense(by_row(shown, evidence.target.name))
        together = np.zeros((len(groups.sizes), classes.shape[1]))
        np.add.at(together, groups.group, classes)
        records = shown.records + shown.suppressed
        wrong = max(0.0, shown.records - float(together.max(axis=1).sum())) + shown.suppressed
        whole = 1.0 - float(classes.sum(axis=0).max()) / records
        return Reading(value=min(1.0, wrong / records), details={"all in one group": whole})


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class CellDivergence(_Coarseness):
    """KL(p ‖ p̂) over combinations of quasi-identifiers and a sensitive value: p the table's shares, p̂ the release's.

    p̂ spreads each row evenly over its region (Kifer & Gehrke, SIGMOD 2006), and suppressed records over all
    combinations of the domains. Where a combination of the table would be left with nothing, one record more is spread
    over all of them, so that the divergence stays finite. Of several sensitive attributes, the mean.
    """

    name: ClassVar[str] = "cell-kl"
    title: ClassVar[str] = "Divergence of cells"
    summary: ClassVar[str] = "how far the records spread evenly over their regions are from the true ones; 0: the same"
    unit: ClassVar[str] = "nats"
    attribute: str | None = None

    def read(self, evidence: Evidence) -> Reading:
        """The divergence, and each attribute's."""
        chosen = evidence.chosen(self.attribute) if self.attribute or evidence.protected else ()
        names = [a.name for a in chosen if a.name in evidence.shown.values]
        if not names:
            return Reading(value=self._divergence(evidence, None))
        found = {name: self._divergence(evidence, name) for name in names}
        return Reading(value=sum(found.values()) / len(found), details=found)

    def _divergence(self, evidence: Evidence, name: str | None) -> float:
        shown = evidence.shown
        width = np.prod((shown.stops - shown.starts).astype(np.float64), axis=1)
        spread = candidates(evidence)
        sizes = [float(evidence.view.domain(a).size) for a in shown.attributes]
        place, people = evidence.people
        if name is None:
            true, found = people.counts.astype(np.float64), np.asarray(spread @ (shown.weights / width))
        else:
            size = evidence.view.domain(name).size
            sizes.append(float(size))
            density = csr_array(by_row(shown, name).multiply((1.0 / width)[:, None]))
            table = csr_array(spread @ density)
            cells, at = np.unique(place * size + evidence.column(name), return_inverse=True)
            true = np.bincount(at.ravel(), weights=evidence.raw.counts).astype(np.float64)
            found = np.asarray(table[cells // size, cells % size]).ravel()
        even = 1.0 / float(np.prod(sizes))
        extra = shown.suppressed + (0.0 if shown.suppressed or bool(np.all(found > 0)) else 1.0)
        guessed = (found + extra * even) / (shown.records + extra)
        share = true / true.sum()
        return max(0.0, float(share @ np.log(share / guessed)))
