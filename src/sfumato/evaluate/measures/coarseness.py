"""The counting measures: information loss by the sizes of equivalence classes and of generalised values.

A bucketized release keeps quasi-identifiers exact, so these measures see little but its suppression; `uloss`,
`query-error` and `cell-kl` measure the information loss of buckets.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from sfumato.domains.domain import Domain
from sfumato.domains.sets.regions import SetRegions
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.evaluate.equivalence_classes import by_row, equivalence_classes
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading, Speed
from sfumato.evaluate.uniform_assumption import column
from sfumato.release.shown import Floats, Integers
from sfumato.wording import number_words, share_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Coarseness(Measure):
    """What all measures of coarseness declare."""

    kind: ClassVar[Kind] = "utility loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, None)
    unit: ClassVar[str] = "records"

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs records in the table."""
        return None if evidence.records else "the table has no records"


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class Discernibility(Coarseness):
    """C_DM = Σ over classes of size² + suppressed · n, with n the table's records (Bayardo & Agrawal, ICDE 2005).

    Every record costs the size of its equivalence class, a suppressed one the size of the table.
    """

    name: ClassVar[str] = "discernibility"
    title: ClassVar[str] = "Discernibility"
    summary: ClassVar[str] = (
        "the size of a record's equivalence class, added up over all records; a suppressed record counts as many "
        "as the table has"
    )
    unit: ClassVar[str] = "pairs of records"
    speed: ClassVar[Speed] = "quick"

    def read(self, evidence: Evidence) -> Reading:
        """The sum, and the same for each record."""
        sizes = equivalence_classes(evidence).sizes
        found = float(sizes @ sizes) + evidence.shown.suppressed * evidence.records
        return Reading(value=found, details={"for each record": found / evidence.records})


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class AverageGroupSize(Coarseness):
    """C_avg: published records / equivalence classes (LeFevre et al., ICDE 2006, without their division by k).

    Methods with different privacy models have no k in common, so the plain average can be compared and theirs cannot.
    """

    name: ClassVar[str] = "average-group-size"
    title: ClassVar[str] = "Average equivalence class size"
    summary: ClassVar[str] = "the mean number of records in an equivalence class; divided by k it is C_avg"
    speed: ClassVar[Speed] = "quick"

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs an equivalence class."""
        return None if len(evidence.shown) else "the release contains no records"

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return f"An equivalence class has {number_words(value, self.unit)} on average."

    def read(self, evidence: Evidence) -> Reading:
        """The mean, and the ends."""
        sizes = equivalence_classes(evidence).sizes
        details = {"groups": len(sizes), "smallest": float(sizes.min()), "largest": float(sizes.max())}
        return Reading(value=float(sizes.mean()), details=details)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RegionLoss(Coarseness):
    """The mean information loss over records and quasi-identifiers; a suppressed record loses 1 on each."""

    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs quasi-identifiers and records."""
        if not evidence.view.quasi:
            return "there are no quasi-identifiers"
        return None if evidence.shown.records + evidence.shown.suppressed > 0 else "the release contains no records"

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
                if found.regions is not None:
                    lost = float(sizes @ self.lost_sets(evidence.set_domain(attribute.name), found.regions))
                else:
                    lost = float(sizes @ self.lost(domain, found.starts, found.stops))
            losses[attribute.name] = min(1.0, (lost + shown.suppressed) / records)
        return Reading(value=sum(losses.values()) / len(losses), details=losses)

    def lost(self, domain: Domain, starts: Integers, stops: Integers) -> Floats:
        """The loss of each range, from 0 to 1."""
        raise NotImplementedError

    def lost_sets(self, domain: SetDomain, regions: SetRegions) -> Floats:
        """The loss of each region of sets: the mean over its nodes; nothing is lost below the declared level."""
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
    summary: ClassVar[str] = (
        "the share of its domain that a generalised value covers, averaged over records and quasi-identifiers; 0:"
        " exact values, 1: fully generalised or suppressed"
    )
    speed: ClassVar[Speed] = "quick"

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return f"A published value covers {share_words(value)} of its domain on average."

    def lost(self, domain: Domain, starts: Integers, stops: Integers) -> Floats:
        """The share of the other codes that the range covers."""
        return np.asarray((stops - starts - 1) / max(1, domain.size - 1), np.float64)

    def lost_sets(self, domain: SetDomain, regions: SetRegions) -> Floats:
        """The share of the other nodes that a node covers."""
        return regions.losses(domain)


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class Distortion(_RegionLoss):
    """How many steps up the taxonomies values were taken, as a share of all steps (Sweeney's 1 − Prec, 2002).

    The steps of a node are the edges down to its deepest leaf, of the most there are below the root; a range that is no
    node takes those of the lowest node above it; a number within a leaf that is an interval is a step below that leaf.
    A free grid has no steps: there the share is log(codes covered)/log(codes of the domain), a step for each halving.
    """

    name: ClassVar[str] = "distortion"
    title: ClassVar[str] = "Generalisation height"
    summary: ClassVar[str] = (
        "the height of a published value in its generalisation hierarchy as a share of the height of the root, "
        "averaged over records and quasi-identifiers; 0: exact values, 1: the root"
    )

    def lost(self, domain: Domain, starts: Integers, stops: Integers) -> Floats:
        """The share of steps of each range."""
        if domain.taxonomy is None:
            return np.asarray(np.log(stops - starts) / max(float(np.log(domain.size)), 1e-300))
        heights = _heights(domain.taxonomy)
        most = max(1, heights[0])
        pairs = zip(starts.tolist(), stops.tolist(), strict=True)
        return np.array([_height(domain.taxonomy, heights, *pair) / most for pair in pairs], np.float64)

    def lost_sets(self, domain: SetDomain, regions: SetRegions) -> Floats:
        """The share of steps of each node."""
        edges = np.array([*domain.starts_at(domain.level), domain.size, domain.size + 1])
        starts, stops = (np.searchsorted(edges, ends) for ends in (regions.starts, regions.stops))
        coded = starts < len(edges) - 2  # where there are no codes, nothing is generalised
        lost = np.zeros(len(starts))
        nodes, node = np.unique(np.stack([starts[coded], stops[coded]], axis=1), axis=0, return_inverse=True)
        tree = domain.shallow
        heights = _heights(tree)
        each = [heights[tree.node_at(*pair)] / max(1, heights[0]) for pair in nodes.tolist()]
        lost[coded] = np.array(each)[node.ravel()]
        return np.where(regions.whole, 1.0, regions.mean(lost))


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
class Suppressed(Coarseness):
    """Suppressed records of the table; records that were not sampled are not among them."""

    name: ClassVar[str] = "suppressed"
    title: ClassVar[str] = "Records suppressed"
    summary: ClassVar[str] = "the share of the table's records that are suppressed"
    speed: ClassVar[Speed] = "quick"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"

    def refuses(self, evidence: Evidence) -> str | None:
        """Noisy counts suppress no records."""
        if evidence.shown.synthetic:
            return "synthetic rows are no records of the table, so none of them can be suppressed"
        if evidence.shown.noisy:
            return "noisy counts contain no records, so none can be suppressed"
        return None if evidence.records else "the table has no records"

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return f"{share_words(value)} of the table's records are suppressed."

    def read(self, evidence: Evidence) -> Reading:
        """The share, and how many."""
        gone = evidence.shown.suppressed
        return Reading(value=min(1.0, gone / evidence.records), details={"records": gone})


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class ClassificationMetric(Coarseness):
    """CM: the share of records whose target value is not the most frequent of their class (Iyengar 2002).

    Suppressed records count. Noisy counts are taken as published.
    """

    name: ClassVar[str] = "classification-metric"
    title: ClassVar[str] = "Classification metric"
    summary: ClassVar[str] = (
        "the share of records whose target value is not the most frequent one in their equivalence class; "
        "suppressed records count"
    )
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs a target that is published."""
        if evidence.target is None:
            return "no attribute is the target (`role: class`)"
        if evidence.target.name not in evidence.shown.values:
            return "the release has no target (class attribute)"
        if evidence.shown.generalises(evidence.target.name):
            return "the release generalises the target (class attribute)"
        return None if evidence.shown.records + evidence.shown.suppressed > 0 else "the release contains no records"

    def read(self, evidence: Evidence) -> Reading:
        """The share; next to it the share if all records were one equivalence class."""
        assert evidence.target is not None, "refused before"
        shown, groups = evidence.shown, equivalence_classes(evidence)
        classes = by_row(shown, evidence.target.name).shares  # a class is published as it is
        shape = (len(groups.sizes), len(shown))
        into = csr_array((np.ones(len(shown)), (groups.group, np.arange(len(shown)))), shape=shape)
        records = shown.records + shown.suppressed
        most = csr_array(into @ classes).max(axis=1).sum() if classes.shape[1] else 0.0
        wrong = max(0.0, shown.records - float(most)) + shown.suppressed
        whole = 1.0 - float(classes.sum(axis=0).max(initial=0.0)) / records
        return Reading(value=min(1.0, wrong / records), details={"all in one group": whole})
