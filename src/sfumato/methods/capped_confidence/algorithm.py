"""Capped confidence: a random part of the records, each generalised until it tells no more than public statistics."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.errors import InfeasibleError, StudyError
from sfumato.methods.capped_confidence.climb import Chances, Climb
from sfumato.methods.capped_confidence.owner_facts import owner_facts
from sfumato.methods.capped_confidence.steps import Steps, first_level, levels_of
from sfumato.methods.full_domain.rollup import join_keys, number_rows
from sfumato.methods.grouping.model_checks import cell_codes, quote_names
from sfumato.methods.grouping.partitioning import (
    Grouping,
    finish_partition,
    model_sentences,
    needed_attributes,
    sort_cells,
)
from sfumato.methods.method import METHODS, Context, Forecast
from sfumato.privacy.dp.sampling import RandomSource, random_subset
from sfumato.privacy.groups.parameters import Exact, parse_exact, parse_in_range
from sfumato.privacy.groups.shares import Distribution, distribution_of_regions, distribution_of_shares
from sfumato.privacy.models import CappedConfidence, GroupModel
from sfumato.privacy.models.capped_confidence import parse_rules, parse_shares, rules_of
from sfumato.progress import Progress
from sfumato.release.draft import Draft
from sfumato.release.partition import SUPPRESSED, Partition
from sfumato.study.budget import show
from sfumato.study.purpose import Needs
from sfumato.study.view import View

Integers = NDArray[np.int64]


@METHODS.add
@dataclass(frozen=True, kw_only=True)
class ConfidenceCap(Grouping):
    """Sampling and local recoding under a cap (Sattar, Li, Ding, Liu & Vincent 2014, Algorithm 1).

    A share ``rate`` (β) of the records is drawn at random. Every record starts with its exact values, or at the least
    generalisation asked for (`at_least` of an attribute, ``levels``). As long as its value can be inferred with more
    confidence than public statistics give (`CappedConfidence`), its attribute with the largest left domain size is
    generalised one step. A record is suppressed if it would need a distortion above ``distortion`` (δ'), or fails with
    nothing left to generalise. ``population`` are the public statistics: {attribute: {value: share}}, or (in a study) a
    file with the columns `attribute, value, share` or a table of people; without it, the table's own shares. ``rules``
    are known correlations, see `CappedConfidence`.

    The cap is kept twice: by those statistics, and by the shares that the release itself shows, which is what anybody
    can recompute from it. Where the two differ, a record climbs until it keeps both.

    We differ from the paper: n is the number of records that are published at the end, not of those that were drawn;
    all records that fail move at once; and a record is suppressed as soon as its next step is beyond δ', where the
    paper lets it climb on and suppresses it when it holds. That is the same to everybody else: distortion only rises,
    so such a record is never published, and nobody who is published can be in a group with it, because a group has
    one distortion. `capped_confidence_climb` has the argument that the rounds end, and the last step of all asks the
    model about the finished groups.

    Paper -> here: D₁* -> the release, Pr(q'ᵢ) -> share of a region, left domain size -> `Steps.left`.

    >>> ConfidenceCap(rate="0.8").models
    (CappedConfidence(attribute=None, rate=Fraction(4, 5), shares=None, rules=()),)
    """

    name: ClassVar[str] = "capped-confidence"
    summary: ClassVar[str] = "a random sample, generalised until every group satisfies capped confidence"
    needs: ClassVar[Needs] = Needs(private=False, random=True)
    form: ClassVar[str] = "generalised"
    suppress: ClassVar[str] = "1"  # records may always be suppressed
    rate: Exact = "0.9"
    distortion: Exact = "0.6"
    attribute: str | None = None
    population: Any = None  # shares as text or numbers, read exactly; a file by its name
    rules: Sequence[Mapping[str, Any]] = ()
    levels: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", show(parse_in_range(self.rate, "the rate", 0, 1, above=True)))
        object.__setattr__(self, "distortion", show(parse_in_range(self.distortion, "the distortion", 0, 1)))
        if not isinstance(self.population, str):
            object.__setattr__(self, "population", parse_shares(self.population, "population"))
        object.__setattr__(self, "rules", parse_rules(self.rules))
        object.__setattr__(self, "levels", _levels(self.levels))

    @property
    def collects(self) -> str:
        """What all combinations of values are collected for."""
        return "each of them is drawn from, and climbs by itself until the cap is kept"

    @property
    def models(self) -> tuple[GroupModel, ...]:
        """What holds in the release: the cap by the shares it shows, and by a population that is given.

        The table's own shares are no parameter of a model: to publish them would tell more than the records do.
        """
        own = CappedConfidence(rate=self.rate, attribute=self.attribute, rules=self.rules)
        if not isinstance(self.population, Mapping):
            return (own,)
        return (own, replace(own, shares=self.population))

    def check(self, view: View) -> None:
        """Refuse a view without quasi-identifiers or sensitive attributes, and levels, shares or rules it has not."""
        if not view.quasi:
            raise StudyError(
                "the release has no quasi-identifier, so the whole table is one equivalence class",
                "give the attributes others may know of a person `role: quasi_identifier`",
                code="SF-STUDY-038",
            )
        for model in self.models:
            model.check(view)
        names = [attribute.name for attribute in view.quasi]
        unknown = sorted(set(self.levels) - set(names))
        if unknown:
            raise StudyError(
                f"levels names {quote_names(unknown)}, which is no quasi-identifier here",
                f"name some of: {', '.join(names)}",
                code="SF-STUDY-039",
            )
        for attribute in view.quasi:
            first_level(attribute, levels_of(attribute), self.levels.get(attribute.name, 0))

    def forecast(self, view: View) -> Forecast:
        """What is drawn, how far records are generalised, and where the statistics come from."""
        self.check(view)
        rate = parse_exact(self.rate, "rate")
        sentences = []
        if rate < 1:
            sentences.append(
                f"{show(100 * rate)} % of the records are drawn at random and only those are published: divide counts "
                f"of the release by {show(rate)} to scale them to the table"
            )
        least = [
            f"{a.name} (level {levels[place].number})"
            for a in view.quasi
            if (place := first_level(a, levels := levels_of(a), self.levels.get(a.name, 0)))
        ]
        sentences.append(
            f"a record is generalised step by step until it satisfies the cap, up to a distortion of "
            f"{self.distortion}; one that would need more is suppressed"
        )
        if least:
            sentences.append(f"these attributes start at a generalised level: {', '.join(least)}")
        sentences.append(self._source_in_words(view))
        if self.rules:
            sentences.append(f"{len(self.rules)} rules replace the independence assumption for the records they match")
        limits = CappedConfidence.limits
        sentences.append(limits[:1].lower() + limits[1:].removesuffix("."))
        return Forecast(sentences=(*sentences, *model_sentences(self.models)), numbers={"rate": self.rate})

    def draft(self, view: View, counts: Cells, context: Context | None = None) -> Draft:
        """Draw the records and generalise them; which records are drawn is random."""
        self.check(view)
        context = context or Context()
        if isinstance(self.population, str):
            raise StudyError(
                "the population is a file, and a method does not open files",
                "release it through a study, or give the shares: {attribute: {value: share}}",
                code="SF-STUDY-040",
            )
        models = self.models
        cells = sort_cells(view, counts)
        drawn = sample_cells(cells, parse_exact(self.rate, "rate"), context.source)
        climb = self._climb(view, drawn)
        known = self._known(view, cells, climb)
        context.progress("generalising the records", 0, 1)
        self._settle(view, climb, known, context.progress)
        partition = finish_partition(view, self._partition(climb, drawn), models)
        return self.make_draft(
            view,
            partition,
            rate=parse_exact(self.rate, "rate"),
            facts={
                "rate": self.rate,
                "published": climb.published,
                "suppressed": partition.suppressed,
                "groups": len(partition.boxes),
                "average_group": round(climb.published / len(partition.boxes), 3),
                "distortion": self.distortion,
                "shares": "given" if self.population is not None else "of the table",
            },
            owner=owner_facts(view, partition, climb, models),
        )

    def _climb(self, view: View, drawn: Cells) -> Climb:
        """The drawn records at their lowest levels; what nobody looks at does not tell them apart."""
        names = needed_attributes(view, self.models)
        key, size = np.zeros(len(drawn), dtype=np.int64), 1
        for name in names:
            key, size = join_keys(key, size, cell_codes(drawn, name), view.domain(name).size)
        kind, rows = number_rows(key, size)
        domains = {a.name: view.domain(a.name) for a in (*view.quasi, *view.sensitive)}
        quasi = tuple(a.name for a in view.quasi)
        return Climb(
            [Steps.of(a, cell_codes(drawn, a.name), self.levels.get(a.name, 0)) for a in view.quasi],
            kind,
            drawn.counts,
            {name: cell_codes(drawn, name)[rows] for name in names},
            rate=float(parse_exact(self.rate, "rate")),
            limit=float(parse_exact(self.distortion, "distortion")),
            rules=rules_of(self.rules, domains, names, quasi),
            names=quasi,
        )

    def _known(self, view: View, cells: Cells, climb: Climb) -> Chances:
        """The public statistics: what is given, else the shares of the whole table, before anything is drawn."""
        given = self.population if isinstance(self.population, Mapping) else {}

        def of(name: str) -> Distribution:
            if name in given:
                return distribution_of_shares(name, view.domain(name), given[name])
            return Distribution.from_counts(cell_codes(cells, name), cells.counts, view.domain(name).size)

        values = {name: climb.value_shares(name, of(name)) for name in needed_attributes(view, self.models)}
        regions = tuple(
            of(a.name).share(steps.starts, steps.stops) for a, steps in zip(view.quasi, climb.steps, strict=True)
        )
        return Chances(regions, values)

    def _settle(self, view: View, climb: Climb, known: Chances, progress: Progress) -> None:
        """Until no record breaks the cap, neither by the known statistics nor by what the release shows.

        Where statistics are given for some attributes only, a receiver has them and, for the others, what the release
        shows: the cap is kept by those together, too.
        """
        total = climb.published
        touched = None
        while True:
            climb.settle(known, touched, step=lambda left: progress("generalising the records", total - left, total))
            seen = _shown_chances(view, climb)
            failing = climb.failing(seen)
            if isinstance(self.population, Mapping) and not len(failing):
                failing = climb.failing(self._beside_given(view, known, seen))
            if not len(failing):
                break
            touched = climb.raise_up(failing)
        if not climb.published:
            raise InfeasibleError(
                "every record would have to be suppressed: there are too few records for what they would disclose",
                "allow more `distortion`, give coarser `at_least` or `levels`, lower the `rate`, or use a larger table",
                code="SF-INFEASIBLE-007",
            )

    def _beside_given(self, view: View, known: Chances, seen: Chances) -> Chances:
        """What is given, and of all else what the release shows."""
        given = set(self.population or ())
        regions = tuple(
            one if a.name in given else two for a, one, two in zip(view.quasi, known.regions, seen.regions, strict=True)
        )
        values = {name: (known if name in given else seen).values[name] for name in seen.values}
        return Chances(regions, values)

    def _partition(self, climb: Climb, drawn: Cells) -> Partition:
        group = climb.groups_of_cells()
        used, place = np.unique(group, return_inverse=True)
        lost = int((used < 0).sum())
        number = np.concatenate([np.full(lost, SUPPRESSED), np.arange(len(used) - lost)])
        return Partition(drawn, number[place.ravel()], climb.boxes(used[lost:]))

    def _source_in_words(self, view: View) -> str:
        names = [a.name for a in (*view.quasi, *view.sensitive)]
        if isinstance(self.population, str):
            return f"public statistics are those of '{self.population}', and shares of it are published in the manifest"
        given = [name for name in names if name in (self.population or {})]
        own = [name for name in names if name not in given]
        sentences = (
            [f"public statistics are given for {', '.join(given)}, and are published in the manifest"] if given else []
        )
        if own:
            sentences.append(
                f"the statistics of {', '.join(own)} are estimated from the same table: rare records look expected "
                "because they are in it"
            )
        return "; ".join(sentences)


def sample_cells(cells: Cells, rate: Fraction, source: RandomSource) -> Cells:
    """A share of the records, drawn without replacement: each set of β·N records is as likely.

    Rounded down: β bounds what the cap is worth, so no more than that share may be published. Records alike stand
    together, so how many of a cell are drawn is multivariate hypergeometric.
    """
    records = int(cells.counts.sum())
    wanted = int(rate * records)
    if not wanted:
        raise InfeasibleError(
            "no record would be drawn", "raise the `rate`, or use a larger table", code="SF-INFEASIBLE-008"
        )
    if wanted == records:
        return cells
    marks = random_subset(records, wanted, source)
    counts = np.add.reduceat(marks, np.cumsum(cells.counts) - cells.counts, dtype=np.int64)
    kept = counts > 0
    return Cells(cells.attributes, cells.codes[kept], counts[kept])


def _shown_chances(view: View, climb: Climb) -> Chances:
    """What a release of the groups as they are would show."""
    regions = []
    for place, (attribute, steps) in enumerate(zip(view.quasi, climb.steps, strict=True)):
        weights = climb.weights(place)
        there = np.flatnonzero(weights)
        domain, counts = view.domain(attribute.name), weights[there].astype(np.int64)
        found = distribution_of_regions(steps.starts[there], steps.stops[there], counts, domain.size, free=domain.free)
        regions.append(found.share(steps.starts, steps.stops))
    return Chances(tuple(regions), climb.values_shown())


def _levels(given: object) -> dict[str, int]:
    if not isinstance(given, Mapping):
        raise StudyError(
            "levels is not a mapping", "write `levels: {age: 1}`, the lowest level of an attribute", code="SF-STUDY-041"
        )
    found = {}
    for name, level in given.items():
        number = parse_exact(level, f"the lowest level of '{name}'")
        if number.denominator != 1 or number < 0:
            raise StudyError(
                f"the lowest level of '{name}' is {show(number)}", "use a whole number from 0 on", code="SF-STUDY-042"
            )
        found[str(name)] = int(number)
    return found
