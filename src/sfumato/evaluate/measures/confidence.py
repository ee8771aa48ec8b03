"""Expected and observed confidence of any release: whether records are told more surely than public statistics say.

The criterion of Sattar, Li, Ding, Liu & Vincent (2014), which the model `capped-confidence` checks on published groups
from a bundle alone. Here it is a number about any release, by statistics that the owner holds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.boxes import Boxes
from sfumato.errors import StudyError
from sfumato.evaluate.equivalence_classes import by_row, equivalence_classes
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading, Speed
from sfumato.privacy.groups.expected_confidence import expected_confidence
from sfumato.privacy.groups.parameters import TOLERANCE, parse_exact
from sfumato.privacy.groups.shares import Distribution, distribution_of_shares
from sfumato.privacy.models import CappedConfidence
from sfumato.privacy.models.capped_confidence import apply_rules, chance_of, refuse_others, rules_of
from sfumato.release.shown import OverRanges
from sfumato.wording import share_words

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """One protected attribute: equivalence classes and the values in them, with the number of records of each."""

    group: NDArray[np.int64]
    records: Floats
    observed: Floats
    expected: Floats

    @property
    def above(self) -> NDArray[np.bool_]:
        """Where the observed confidence is above the expected one."""
        return np.asarray(self.observed > self.expected + TOLERANCE)


@dataclass(frozen=True, slots=True, eq=False)
class _Kinds:
    """The codes of each range, those together that have the same share and that no rule tells apart.

    A range may have millions of codes. Shares are even over each run of a distribution, and there are few runs, or few
    different shares among many.
    """

    first: Integers  # (ranges + 1,)
    code: Integers  # (kinds,) one of them
    share: Floats  # (kinds,) of one code
    codes: Floats  # (kinds,) how many there are

    @classmethod
    def of(cls, over: OverRanges, known: Distribution, apart: Sequence[int]) -> "_Kinds":
        alone = np.array(sorted(apart), np.int64)
        cuts = np.unique(np.concatenate([over.starts, over.stops, known.edges, alone, alone + 1]))
        starts, stops = cuts[:-1], cuts[1:]
        place = over.range_of(starts)
        starts, stops, place = (part[place >= 0] for part in (starts, stops, place))
        share = known.share(starts, starts + 1)
        own = np.where(np.isin(starts, alone), starts, -1)
        order = np.lexsort((own, share, place))
        new = np.ones(len(order), np.bool_)
        new[1:] = (np.diff(place[order]) > 0) | (np.diff(share[order]) > 0) | (np.diff(own[order]) != 0)
        begin = np.flatnonzero(new)
        some = order[begin]
        many = np.add.reduceat((stops - starts)[order].astype(np.float64), begin) if len(begin) else np.zeros(0)
        return cls(np.searchsorted(place[some], np.arange(len(over.starts) + 1)), starts[some], share[some], many)

    def expanded(self, ranges: Integers) -> tuple[Integers, Integers]:
        """For each kind of each of the ranges: which of them, and the kind."""
        many = np.diff(self.first)[ranges]
        term = np.repeat(np.arange(len(ranges)), many)
        return term, self.first[ranges][term] + np.arange(len(term)) - np.repeat(np.cumsum(many) - many, many)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Confidence(Measure):
    """Of every published record: β · #s/|E| against 1 − (1 − Pr(t'))ⁿ.

    E are the published records, or noisy counts, with the same quasi-identifiers as they are published. n is how many
    records are published or counted, Pr(t') = Π Pr(q'ᵢ) · Pr(s). ``cap`` gives the statistics (its shares and rules)
    and β; without it they are those of the release's own privacy model, if it caps confidence, and β is the sampling
    rate. Shares that are not given are the table's own. A bucketized release shows exact quasi-identifiers, so t' is as
    rare as an exact record; which of a bucket's values belongs to which of its records is not published, so each value
    counts for its share of them. Suppressed records are not counted. Of several attributes the one with the most
    records above the cap counts, class by class.
    """

    kind: ClassVar[Kind] = "privacy loss"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    speed: ClassVar[Speed] = "quick"
    attribute: str | None = None
    cap: CappedConfidence | None = None

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs a sensitive attribute, records, and statistics about the attributes of the release."""
        if not evidence.protected:
            return "no attribute is sensitive"
        if not len(evidence.shown):
            return "the release contains no records"
        if lacking := evidence.unpublished(self.attribute):
            return lacking
        try:
            self._known(evidence)
        except StudyError as error:
            return error.problem
        return None

    def _by(self, evidence: Evidence) -> CappedConfidence | None:
        return self.cap or evidence.cap

    def _known(self, evidence: Evidence) -> dict[str, Distribution]:
        """What is known of the values of each attribute: what is given, else the shares of the table."""
        cap, view = self._by(evidence), evidence.view
        names = [*evidence.shown.attributes, *(a.name for a in evidence.chosen(self.attribute))]
        domains = {name: view.domain(name) for name in names}
        given = {} if cap is None else cap.given
        refuse_others("shares", given, {a.name: view.domain(a.name) for a in view.attributes})
        if cap is not None:
            rules_of(cap.rules, domains, names[len(evidence.shown.attributes) :], evidence.shown.attributes)
        return {
            name: distribution_of_shares(name, domains[name], given[name])
            if name in given
            else _counted(evidence, name)
            for name in names
        }

    def _pairs(self, evidence: Evidence) -> list[_Pairs]:
        """Groups and values with both confidences, for each protected attribute; kept for the next measure of them."""
        key = f"confidences of {self.attribute}"
        last, pairs = evidence.found.get(key, (None, []))
        if key not in evidence.found or last is not self.cap:
            pairs = self._found_pairs(evidence)
            evidence.found[key] = self.cap, pairs
        found: list[_Pairs] = pairs
        return found

    def _found_pairs(self, evidence: Evidence) -> list[_Pairs]:
        shown, cap, groups = evidence.shown, self._by(evidence), equivalence_classes(evidence)
        known = self._known(evidence)
        _, first = np.unique(groups.group, return_index=True)
        boxes = Boxes(shown.attributes, shown.starts[first], shown.stops[first])
        into = csr_array((np.ones(len(shown)), (groups.group, np.arange(len(shown)))), shape=(len(first), len(shown)))
        regions = chance_of(boxes, known)
        chosen = [a.name for a in evidence.chosen(self.attribute)]
        domains = {name: evidence.view.domain(name) for name in known}
        rules = {} if cap is None else rules_of(cap.rules, domains, chosen, shown.attributes)
        found = []
        for name in chosen:
            over = by_row(shown, name)
            table = csr_array(into @ over.shares)  # records of each group with values in each range
            kinds = _Kinds.of(over, known[name], [rule.code for rule in rules.get(name, ())])
            term, kind = kinds.expanded(table.indices)
            group = np.repeat(np.arange(len(first)), np.diff(table.indptr))[term]
            each = np.asarray(table.data, np.float64)[term] / over.widths[table.indices[term]]  # records with one value
            matching = [(rule, rule.matches(boxes)[group]) for rule in rules.get(name, ())]
            alone = apply_rules(kinds.share[kind], kinds.code[kind], matching)
            observed = self._rate(evidence) * each / groups.sizes[group]
            expected = expected_confidence(regions[group] * alone, shown.records)
            found.append(_Pairs(group, each * kinds.codes[kind], observed, expected))
        return found

    def _rate(self, evidence: Evidence) -> float:
        """β: as given, else the share of the table that was drawn."""
        return evidence.shown.rate if self.cap is None else float(parse_exact(self.cap.rate, "β"))

    def _statistics(self, evidence: Evidence) -> str:
        """Where the statistics come from, in words."""
        cap = self._by(evidence)
        names = {*evidence.shown.attributes, *(a.name for a in evidence.chosen(self.attribute))}
        rest = len(names if cap is None else names - set(cap.given))
        if rest == len(names):
            return "of the table"
        return "given" if not rest else f"given; of the table for {rest} attribute{'s' * (rest > 1)}"


def _counted(evidence: Evidence, name: str) -> Distribution:
    """The table's own shares: of codes, or, where regions are of sets, of their places (the last one is nowhere)."""
    codes, _, records = evidence.occurring(name)
    counts = np.rint(records).astype(np.int64)
    if name in evidence.sets and name in evidence.shown.attributes:
        size = evidence.shown.sets[name].size
        place = evidence.set_places(name)
        return Distribution.from_counts(np.where(place < 0, size, place)[codes], counts, size + 1)
    return Distribution.from_counts(codes, counts, evidence.size(name))


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsOverConfidence(_Confidence):
    """The share of published records whose observed confidence is above the expected one."""

    name: ClassVar[str] = "records-over-confidence"
    title: ClassVar[str] = "Records above the confidence cap"
    summary: ClassVar[str] = (
        "the share of published records whose sensitive value an adversary infers with more confidence than "
        "public statistics give"
    )
    unit: ClassVar[str] = "share"

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        return (
            f"For {share_words(value)} of the records, as published or counted, an adversary infers the sensitive "
            "value with more confidence than public statistics give (capped confidence requires 0 %)."
        )

    def read(self, evidence: Evidence) -> Reading:
        """The share, how many records, and how many the criterion cannot bind."""
        pairs, shown = self._pairs(evidence), evidence.shown
        rate, groups = self._rate(evidence), len(equivalence_classes(evidence).sizes)
        broken = np.max([_records(of, of.above, groups) for of in pairs], axis=0).sum()
        free = np.min([_records(of, of.expected >= rate, groups) for of in pairs], axis=0).sum()
        return Reading(
            value=min(1.0, float(broken) / shown.records),
            details={
                "records": float(broken),
                "records that the cap does not bind": float(free),
                "statistics": self._statistics(evidence),
            },
        )


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceExcess(_Confidence):
    """The largest amount by which the observed confidence of any published record is above the expected one."""

    name: ClassVar[str] = "confidence-excess"
    title: ClassVar[str] = "Confidence above the cap, largest"
    summary: ClassVar[str] = (
        "the largest difference between an adversary's confidence in a record's sensitive value and the "
        "confidence that public statistics give; 0: no record is above the cap"
    )
    unit: ClassVar[str] = "probability"

    def means(self, value: float) -> str:
        """What the number says, in a sentence."""
        if value <= 0:
            return "An adversary infers no sensitive value with more confidence than public statistics give."
        return (
            "For the record with the largest excess, the adversary's confidence in its sensitive value exceeds the "
            f"confidence that public statistics give by {share_words(value)} (difference of the two probabilities)."
        )

    def read(self, evidence: Evidence) -> Reading:
        """The largest difference, with the two confidences behind it."""
        every = self._pairs(evidence)
        there = [of.records > 0 for of in every]
        observed = np.concatenate([of.observed[some] for of, some in zip(every, there, strict=True)])
        expected = np.concatenate([of.expected[some] for of, some in zip(every, there, strict=True)])
        over = observed - expected
        worst = int(np.argmax(over))
        found = float(over[worst])
        return Reading(
            value=found if found > TOLERANCE else 0.0,
            details={
                "observed confidence": float(observed[worst]),
                "expected confidence": float(expected[worst]),
                "statistics": self._statistics(evidence),
            },
        )


def _records(of: _Pairs, some: NDArray[np.bool_], groups: int) -> Floats:
    """How many records of each group are in some of the pairs."""
    return np.bincount(of.group, weights=np.where(some, of.records, 0.0), minlength=groups).astype(np.float64)
