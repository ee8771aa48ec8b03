"""Re-identification risk: the chance that a published record is taken for the right person.

Three adversaries (El Emam & Dankar 2008): the *prosecutor* knows that a person is in the release, the *journalist* only
that she is in the population it was drawn from, the *marketer* wants many people right, no matter who. All of them know
the quasi-identifiers, and guess among the records of an equivalence class. All refuse noisy counts, which contain no
records.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.domains.counts import Cells
from sfumato.errors import StudyError, UsageError
from sfumato.evaluate.equivalence_classes import containing, equivalence_classes
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures.measure import MEASURES, Better, Kind, Measure, Reading, Speed
from sfumato.release.shown import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class _Risk(Measure):
    kind: ClassVar[Kind] = "risk"
    better: ClassVar[Better] = "lower"
    bounds: ClassVar[tuple[float | None, float | None]] = (0.0, 1.0)
    unit: ClassVar[str] = "probability"
    speed: ClassVar[Speed] = "quick"

    def refuses(self, evidence: Evidence) -> str | None:
        """Only records can be re-identified."""
        if evidence.shown.synthetic:
            return "synthetic rows are no records of people: there is no record to re-identify"
        if evidence.shown.noisy:
            return "noisy counts contain no records to re-identify; their guarantee is ε"
        return None if len(evidence.shown) else "the release contains no records"


@dataclass(frozen=True, slots=True, kw_only=True)
class _RecordRisk(_Risk):
    """The largest risk of any record, with the mean and the share of records above a threshold."""

    threshold: float = 0.2

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1:
            raise UsageError(
                f"a risk of {self.threshold:g} is not a probability",
                "give a threshold from 0 to 1",
                code="SF-USAGE-035",
            )

    def _reading(self, evidence: Evidence, candidates: Floats, **said: str) -> Reading:
        """``candidates``: among how many records the adversary guesses, for each equivalence class."""
        sizes = equivalence_classes(evidence).sizes
        risks = 1.0 / np.maximum(candidates, 1.0)
        above = float(sizes[risks > self.threshold + 1e-12].sum())
        details = {
            "average": float(risks @ sizes / sizes.sum()),
            f"records above {self.threshold:g}": above,
            f"share above {self.threshold:g}": above / float(sizes.sum()),
            "records with the highest": float(sizes[risks >= risks.max() - 1e-12].sum()),
        }
        return Reading(value=float(risks.max()), details={**details, **said})


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class ProsecutorRisk(_RecordRisk):
    """1 / size of the equivalence class, for an adversary who knows that the person is in the release."""

    name: ClassVar[str] = "prosecutor-risk"
    title: ClassVar[str] = "Prosecutor risk, highest"
    summary: ClassVar[str] = (
        "the re-identification probability for an adversary who knows that the person is in the release: 1 / size"
        " of the smallest equivalence class"
    )

    def read(self, evidence: Evidence) -> Reading:
        """The highest risk."""
        return self._reading(evidence, equivalence_classes(evidence).sizes)


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class RecordsAtRisk(_RecordRisk):
    """The share of published records whose prosecutor risk is above the threshold."""

    name: ClassVar[str] = "records-at-risk"
    title: ClassVar[str] = "Records at risk"
    summary: ClassVar[str] = "the share of published records whose prosecutor risk is above a threshold, 0.2 by default"
    unit: ClassVar[str] = "share"

    def read(self, evidence: Evidence) -> Reading:
        """The share, and how many."""
        details = self._reading(evidence, equivalence_classes(evidence).sizes).details
        records = details[f"records above {self.threshold:g}"]
        share = details[f"share above {self.threshold:g}"]
        return Reading(value=share, details={"records": records, "threshold": self.threshold})


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class JournalistRisk(_RecordRisk):
    """1 / size of the class in the population, for an adversary who does not know whether a person is in the release.

    ``population`` has the quasi-identifiers of everybody, in codes of the study. Without one, a release of a sample
    has the table as its population, and the size of a class there is estimated: records divided by the rate; any
    other release is its own population, and the risk is the prosecutor's.
    """

    name: ClassVar[str] = "journalist-risk"
    title: ClassVar[str] = "Journalist risk, highest"
    summary: ClassVar[str] = (
        "the re-identification probability for an adversary who knows only that the person is in the population: "
        "1 / size of the smallest equivalence class in the population"
    )
    population: Cells | None = None

    def refuses(self, evidence: Evidence) -> str | None:
        """Only records can be re-identified, and a population needs the quasi-identifiers."""
        known = None if self.population is None else set(self.population.attributes)
        if known is not None and not known >= set(evidence.shown.attributes):
            return "the population lacks quasi-identifiers of the release"
        if known is not None and (told := [name for name in evidence.shown.attributes if name in evidence.shown.sets]):
            return f"'{told[0]}' is a set, and sets of a population cannot be given as codes"
        return _Risk.refuses(self, evidence)

    def read(self, evidence: Evidence) -> Reading:
        """The highest risk, with what the population was."""
        shown, groups = evidence.shown, equivalence_classes(evidence)
        if self.population is None:
            note = "estimated: records by the sampling rate" if shown.rate < 1 else "none given: as the prosecutor's"
            return self._reading(evidence, groups.sizes / shown.rate, population=note)
        place = [self.population.attributes.index(name) for name in shown.attributes]
        inside = containing(shown, self.population.codes[:, place])
        people = np.asarray(inside.T @ self.population.counts.astype(np.float64))
        found = np.zeros(len(groups.sizes))
        found[groups.group] = people  # rows of one group have one region
        return self._reading(evidence, np.maximum(found, groups.sizes), population="given")


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class MarketerRisk(_Risk):
    """Classes / records: the expected share of correct links if each record is linked to a person of its class."""

    name: ClassVar[str] = "marketer-risk"
    title: ClassVar[str] = "Marketer risk"
    summary: ClassVar[str] = (
        "the expected share of published records that an adversary re-identifies correctly when linking all of "
        "them: equivalence classes / records"
    )
    unit: ClassVar[str] = "share"

    def read(self, evidence: Evidence) -> Reading:
        """The share; of a sample, among the people of the table."""
        sizes = equivalence_classes(evidence).sizes
        return Reading(
            value=float(np.minimum(1.0, len(sizes) * evidence.shown.rate / sizes.sum())),
            details={"groups": len(sizes), "records": float(sizes.sum())},
        )


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SampleUniques(_Risk):
    """Published records that are alone in their equivalence class."""

    name: ClassVar[str] = "sample-uniques"
    title: ClassVar[str] = "Records unique on quasi-identifiers"
    summary: ClassVar[str] = (
        "the share of published records that share their published quasi-identifier values with no other; exact "
        "columns beside them are not considered"
    )
    unit: ClassVar[str] = "share"

    def read(self, evidence: Evidence) -> Reading:
        """The share, and how many."""
        sizes = equivalence_classes(evidence).sizes
        unique = float(sizes[sizes <= 1].sum())
        return Reading(value=unique / float(sizes.sum()), details={"records": unique})


Sizes = Mapping[int, int]  # how many groups have each size


def pitman(groups: Sizes, population: float) -> float:
    """How many people of the population are unique, by Pitman's sampling formula (Pitman 1995; Hoshino 2001).

    With n records in u groups, s_j of them of size j, (θ, α) maximise
    Σ_{i=1}^{u-1} log(θ + iα) − Σ_{i=1}^{n-1} log(θ + i) + Σ_j s_j Σ_{i=1}^{j-1} log(i − α), where 0 < α < 1, θ > −α.
    In a population of N the expected number of uniques is N · Γ(θ+1)Γ(θ+α+N−1) / (Γ(θ+α)Γ(θ+N)), about
    N^α Γ(θ+1)/Γ(θ+α).

    >>> round(pitman({1: 60, 2: 15, 3: 5}, 1_050))  # a tenth of the people
    133
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - a slow import, needed here alone
    from scipy.special import expit, gammaln  # noqa: PLC0415

    size = np.array(list(groups), np.float64)
    many = np.array(list(groups.values()), np.float64)
    u, n = many.sum(), float(size @ many)

    def parameters(free: Floats) -> tuple[float, float]:
        alpha = float(np.clip(expit(free[0]), 1e-9, 1 - 1e-9))
        return float(np.exp(np.clip(free[1], -30, 60))) - alpha + 1e-12, alpha

    def unlikely(free: Floats) -> float:
        theta, alpha = parameters(free)
        classes = (u - 1) * np.log(alpha) + gammaln(theta / alpha + u) - gammaln(theta / alpha + 1)
        records = gammaln(theta + n) - gammaln(theta + 1)
        within = many @ (gammaln(size - alpha) - gammaln(1 - alpha))
        return -float(classes - records + within)

    starts = [(a, np.log(u / 10**b)) for a in (-1.0, 1.0) for b in (0, 2)]
    found = min(
        (minimize(unlikely, start, method="Nelder-Mead", options={"maxiter": 2_000}) for start in starts),
        key=lambda each: each.fun,
    )
    theta, alpha = parameters(found.x)
    logs = gammaln(theta + 1) + gammaln(theta + alpha + population - 1) - gammaln(theta + alpha)
    return float(population * np.exp(min(logs - gammaln(theta + population), 0.0)))  # nobody is unique twice


def zayatz(groups: Sizes, population: float) -> float:
    """How many people of the population are unique, after Zayatz (1991).

    Group sizes in the population are taken to be distributed as in the sample, P(j) = s_j/u. A record that is unique
    in the sample of n out of N is unique in the population with probability
    P(1)·h(1) / Σ_j P(j)·h(j), where h(j) = j·C(N−j, n−1)/C(N, n) is the chance to draw one of j. The estimate is
    s_1 times that, divided by n/N.

    >>> round(zayatz({1: 60, 2: 15, 3: 5}, 1_050))
    363
    """
    from scipy.stats import hypergeom  # noqa: PLC0415 - a slow import, needed here alone

    size = np.array(list(groups), np.int64)
    many = np.array(list(groups.values()), np.float64)
    n = int(size @ many)
    if not groups.get(1):
        return 0.0
    people = max(n, round(population))
    one = hypergeom.pmf(1, people, size, n)
    unique = float(many[size == 1].sum())
    found = unique * float(one[size == 1][0] * unique / (one @ many)) * people / n
    return float(min(found, population))


ESTIMATORS: Mapping[str, Callable[[Sizes, float], float]] = {"pitman": pitman, "zayatz": zayatz}


@MEASURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class PopulationUniques(_Risk):
    """An estimate of how many people are unique in the population of which the published records are a sample.

    ``fraction`` says which share of the population is in the table; a release of a sample of the table has its own
    rate, and without ``fraction`` the table is the population. Estimators: `pitman`, `zayatz`.
    """

    name: ClassVar[str] = "population-uniques"
    title: ClassVar[str] = "People unique in the population"
    summary: ClassVar[str] = (
        "the estimated share of people whose quasi-identifier values, generalised as in the release, are unique "
        "in the population"
    )
    unit: ClassVar[str] = "share"
    speed: ClassVar[Speed] = "medium"
    fraction: float | None = None
    estimator: Literal["pitman", "zayatz"] = "pitman"

    def __post_init__(self) -> None:
        if self.fraction is not None and not 0 < self.fraction <= 1:
            raise UsageError(
                f"a sampling fraction of {self.fraction:g} is not a share",
                "give one above 0 and at most 1",
                code="SF-USAGE-036",
            )
        if self.estimator not in ESTIMATORS:
            raise StudyError(
                f"there is no estimator '{self.estimator}'",
                f"choose one of: {', '.join(ESTIMATORS)}",
                code="SF-STUDY-022",
            )

    def refuses(self, evidence: Evidence) -> str | None:
        """It needs a sampling fraction."""
        if self.fraction is None and evidence.shown.rate >= 1:
            return (
                "the share of the population that is in the table is not given; "
                "in Python, measure `PopulationUniques(fraction=…)`"
            )
        return _Risk.refuses(self, evidence)

    def read(self, evidence: Evidence) -> Reading:
        """The estimated share of the population, and the number."""
        sizes = np.rint(equivalence_classes(evidence).sizes).astype(np.int64)
        found, many = np.unique(sizes[sizes > 0], return_counts=True)
        groups = dict(zip(found.tolist(), many.tolist(), strict=True))
        records = int(found @ many)
        population = records / ((self.fraction or 1.0) * evidence.shown.rate)
        unique = ESTIMATORS[self.estimator](groups, population)
        details = {
            "people": population,
            "unique people": unique,
            "unique published records": groups.get(1, 0),
            "estimator": self.estimator,
        }
        return Reading(value=min(1.0, unique / population), details=details)
