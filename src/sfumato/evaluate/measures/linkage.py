"""A linkage attack that is run: an adversary links people whose quasi-identifiers are known to a release.

The adversary's background knowledge is a table of people (by default everybody in the original). A person's candidates
are the published records whose region contains her; a sensitive value that they all share is disclosed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from sfumato.domains.counts import Cells
from sfumato.domains.sets.set_cut import Sets
from sfumato.errors import SourceError
from sfumato.evaluate.equivalence_classes import candidates, containing, told_by_row
from sfumato.evaluate.evidence import Evidence, bounded
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading
from sfumato.release.shown import Floats, Integers, Shown
from sfumato.wording import count_of

_FEW = (2, 5, 10)
_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Guess:
    """How often the most frequent value among a person's candidates is hers; of sets, the likeliest published region.

    For a person without candidates the most frequent value of the release is predicted. ``baseline`` is how often that
    value is right for everybody: the accuracy without linkage.
    """

    attribute: str
    right: float
    baseline: float
    certain: float  # share of the people whose candidates all have one value
    certain_right: float  # share of the people for whom that is so, and the value is theirs

    @property
    def gained(self) -> float:
        """The gain in accuracy over the baseline."""
        return self.right - self.baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class Linkage:
    """The outcome of the attack: shares are of the people looked up."""

    people: int
    found: float  # with at least one candidate
    unique: float  # with exactly one candidate record
    below: Mapping[int, float]  # with at least one candidate and fewer than so many
    quantiles: Mapping[float, float]  # of the number of candidates, of people who have some
    guesses: tuple[Guess, ...]  # one for each sensitive attribute whose values are known of the people

    def sentences(self) -> list[str]:
        """The findings in words."""
        said = [
            f"{self.people:,} people were looked up; {self._count(self.found)} have at least one candidate record",
            f"{self._count(self.unique)} have exactly one candidate record",
        ]
        if self.quantiles:
            said.append(
                f"people with candidates have {self.quantiles[0.5]:,.0f} of them in the median, and at least "
                f"{self.quantiles[0.0]:,.0f}"
            )
        said += [
            f"'{guess.attribute}' is inferred correctly for {self._count(guess.right)}; predicting the most frequent "
            f"value is correct for {self._count(guess.baseline)}; the candidates of {self._count(guess.certain)} all "
            "have the same value"
            for guess in self.guesses
        ]
        return said

    def _count(self, share: float) -> str:
        return count_of(share, self.people)

    def as_json(self) -> dict[str, Any]:
        """The findings as plain values."""
        return {
            "people": self.people,
            "found": self.found,
            "unique": self.unique,
            "unique_people": round(self.unique * self.people),
            "below": {str(few): share for few, share in self.below.items()},
            "quantiles": {str(share): found for share, found in self.quantiles.items()},
            "guesses": [
                {
                    "attribute": guess.attribute,
                    "right": guess.right,
                    "baseline": guess.baseline,
                    "gained": guess.gained,
                    "certain": guess.certain,
                    "certain_right": guess.certain_right,
                }
                for guess in self.guesses
            ],
        }


def link(evidence: Evidence, known: Cells | None = None, sets: Mapping[str, Sets] | None = None) -> Linkage:
    """Look up people in a release: those of ``known``, in codes of the study, or everybody in the table.

    ``known`` needs the quasi-identifiers that are published; where it has sensitive attributes too, guesses are scored
    by them. Its codes of sets are places in ``sets``. Who knows somebody's codes knows the nodes that they fall under,
    so a record whose region has her set is a candidate, and no other is.
    """
    shown = evidence.shown
    if known is None:
        place, people = evidence.people
        inside, counts, cells = candidates(evidence), people.counts, evidence.raw
        sets = evidence.sets
    else:
        sets = sets or {}
        if missing := [name for name in shown.attributes if name not in known.attributes]:
            raise SourceError(
                f"the table of known people lacks quasi-identifiers of the release: {', '.join(missing)}",
                "give a table with all of them, in columns of the same names",
                code="SF-SOURCE-001",
            )
        codes = np.stack([_codes(shown, known, sets, name) for name in shown.attributes], axis=1)
        codes, place = np.unique(codes, axis=0, return_inverse=True)
        place = place.ravel()
        counts = np.bincount(place, weights=known.counts, minlength=len(codes)).astype(np.int64)
        inside, cells = containing(shown, codes), known
    total = int(counts.sum())
    many = np.asarray(inside @ shown.weights)
    share = counts / max(1, total)
    guesses = tuple(
        _guess(shown, inside, many, place, _codes(shown, cells, sets, attribute.name), cells.counts, attribute.name)
        for attribute in evidence.protected
        if shown.tells(attribute.name) and attribute.name in cells.attributes and total
    )
    return Linkage(
        people=total,
        found=float(share[many > 0].sum()),
        unique=float(share[(many > 0) & (many <= 1)].sum()),
        below={few: float(share[(many > 0) & (many < few)].sum()) for few in _FEW},
        quantiles=_quantiles(many[many > 0], counts[many > 0]),
        guesses=guesses,
    )


def _quantiles(values: Floats, counts: Integers) -> dict[float, float]:
    if not len(values):
        return {}
    order = np.argsort(values)
    reached = np.cumsum(counts[order]) / counts.sum()
    at = [min(len(order) - 1, int(np.searchsorted(reached, share - 1e-12))) for share in _QUANTILES]
    return {share: float(values[order[place]]) for share, place in zip(_QUANTILES, at, strict=True)}


def _codes(shown: Shown, cells: Cells, sets: Mapping[str, Sets], name: str) -> Integers:
    """The codes of people in one attribute; of sets their places in the release."""
    codes = cells.codes[:, cells.attributes.index(name)].astype(np.int64)
    return shown.sets[name].places.of(sets[name])[codes] if name in shown.sets else codes


def _guess(
    shown: Shown, inside: csr_array, many: Floats, place: Integers, true: Integers, counts: Integers, name: str
) -> Guess:
    records = told_by_row(shown, name)
    commonest, distinct = np.zeros(inside.shape[0], np.int64), np.zeros(inside.shape[0], np.int64)
    for some in bounded(inside, records.shares):
        values = csr_array(inside[some] @ records.shares)
        values.eliminate_zeros()
        values.sort_indices()
        codes = csr_array((records.widths[values.indices], values.indices, values.indptr), shape=values.shape)
        values.data = values.data / codes.data  # of one code of a range; all of them are as likely
        commonest[some], distinct[some] = _commonest(values), np.asarray(codes.sum(axis=1)).ravel()
    overall = np.asarray(records.shares.sum(axis=0)).ravel() / records.widths
    first = np.append(records.starts, 0)  # where nothing is told, the first value
    usual = int(first[overall.argmax() if len(overall) else -1])
    commonest = first[commonest if len(overall) else np.full_like(commonest, -1)]
    best = np.where(many > 0, commonest, usual)
    sure = (many > 0) & (distinct == 1)
    share = counts / counts.sum()
    return Guess(
        attribute=name,
        right=float(share[true == best[place]].sum()),
        baseline=float(share[true == usual].sum()),
        certain=float(share[sure[place]].sum()),
        certain_right=float(share[sure[place] & (true == best[place])].sum()),
    )


def _commonest(values: csr_array) -> Integers:
    """The column with the largest number in each row, the first of several; 0 for an empty row."""
    row = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    order = np.lexsort((values.indices, -values.data.round(9), row))
    first = np.ones(len(order), np.bool_)
    first[1:] = np.diff(row[order]) > 0
    found = np.zeros(values.shape[0], np.int64)
    found[row[order][first]] = values.indices[order][first]
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Linked(Measure):
    kind: ClassVar[Kind] = "risk"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "share"
    wide: ClassVar[bool] = True
    attack: ClassVar[bool] = True

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs records in the table and in the release."""
        if not evidence.records:
            return "the table has no records"
        return None if len(evidence.shown) else "the release contains no records"


def _linked(evidence: Evidence) -> Linkage:
    if "linkage" not in evidence.found:
        evidence.found["linkage"] = link(evidence)
    found: Linkage = evidence.found["linkage"]
    return found


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedPeople(_Linked):
    """The share of people in the table with exactly one candidate record, by linking everybody."""

    name: ClassVar[str] = "linked-people"
    title: ClassVar[str] = "People linked to one record"
    summary: ClassVar[str] = (
        "the share of people in the table whose quasi-identifier values match exactly one published record"
    )

    def refuses(self, evidence: Evidence) -> str | None:
        """Only records can be linked to."""
        if evidence.shown.synthetic:
            return "synthetic rows are no records of people: there is no record to link anybody to"
        if evidence.shown.noisy:
            return "noisy counts contain no records: there is none to link anybody to"
        return _Linked.refuses(self, evidence)

    def read(self, evidence: Evidence) -> Reading:
        """The share, and how many candidates people have."""
        found = _linked(evidence)
        details = {
            "people": found.people,
            "with candidates": found.found,
            **{f"with fewer than {few} candidates": share for few, share in found.below.items()},
            **{f"candidates, quantile {share:g}": many for share, many in found.quantiles.items()},
        }
        return Reading(value=min(1.0, found.unique), details=details)


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class GuessedValues(_Linked):
    """How often the most frequent sensitive value among a person's candidates is hers; the largest over attributes.

    Noisy counts are attacked in the same way: what is inferred from them is a property of the population, which ε does
    not limit.
    """

    name: ClassVar[str] = "guessed-values"
    title: ClassVar[str] = "Sensitive values inferred by linkage"
    summary: ClassVar[str] = (
        "the share of people in the table whose sensitive value an adversary infers correctly by linking them to "
        "the release; compare with the baseline, predicting the most frequent value for everybody"
    )
    attribute: str | None = None

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs a sensitive attribute that is published."""
        looked_at = evidence.chosen(self.attribute) if self.attribute else evidence.protected
        if not any(evidence.shown.tells(a.name) for a in looked_at):
            return "the release publishes no sensitive attribute"
        return _Linked.refuses(self, evidence)

    def read(self, evidence: Evidence) -> Reading:
        """The share, and the baseline."""
        names = {a.name for a in evidence.chosen(self.attribute)}
        worst = max((g for g in _linked(evidence).guesses if g.attribute in names), key=lambda guess: guess.right)
        details = {
            "attribute": worst.attribute,
            "baseline": worst.baseline,
            "more than the baseline": worst.gained,
            "people whose candidates all have one value": worst.certain,
            "and it is theirs": worst.certain_right,
        }
        return Reading(value=min(1.0, worst.right), details=details)
