"""Capped confidence: β times a value's share of a group is at most the confidence expected from shares alone."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.boxes import Boxes
from sfumato.domains.cut import Range
from sfumato.domains.domain import Domain
from sfumato.errors import StudyError
from sfumato.privacy.groups.expected_confidence import Floats, expected_confidence
from sfumato.privacy.groups.parameters import TOLERANCE, Exact, parse_exact, parse_in_range
from sfumato.privacy.groups.sensitive import Sensitive, Values, code_of
from sfumato.privacy.groups.shares import Distribution, Given, distribution_of_shares, range_named, shown_distributions
from sfumato.privacy.groups.statistics import Integers, Statistics, Truths
from sfumato.privacy.models.model import MODELS
from sfumato.study.attribute import Attribute
from sfumato.study.budget import show
from sfumato.study.view import View

_AS_RULE = "write `rules: [{where: {age: '[40, 60)'}, value: cancer, confidence: 0.02}]`"


@dataclass(frozen=True, slots=True, eq=False)
class Confidences:
    """Both confidences of one sensitive attribute: one a pair of a group and a value that occurs in it."""

    attribute: str
    group: Integers
    values: Integers
    counts: Integers
    observed: Floats
    expected: Floats

    @property
    def broken(self) -> Truths:
        """Where the observed confidence is above the expected one."""
        return np.asarray(self.observed > self.expected + TOLERANCE)


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule over codes: records in a region inside ``where`` have the value ``code`` with this confidence."""

    where: Mapping[str, Range]
    code: int
    confidence: float

    def matches(self, boxes: Boxes) -> Truths:
        """Which regions lie inside."""
        kept = np.ones(len(boxes), dtype=np.bool_)
        for name, (start, stop) in self.where.items():
            place = boxes.attributes.index(name)
            kept &= (boxes.starts[:, place] >= start) & (boxes.stops[:, place] <= stop)
        return kept


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class CappedConfidence(Sensitive):
    """Of every published record (q', s): `β · #s/|E| ≤ 1 − (1 − Pr(t'))ⁿ` (Sattar, Li, Ding, Liu & Vincent 2014).

    On the left is what somebody concludes who knows that a person was in the table, of which a share β was drawn, and
    finds the group E of this person: that the value is s (observed confidence). On the right is how likely it is that n
    records drawn at random from public statistics hold such a record anyway (expected confidence). n is the number of
    published records, Pr(t') = Π Pr(q'ᵢ) · Pr(s): attributes are taken to be independent, unless one of the ``rules``
    says how often s goes with a region; then its confidence stands in place of Pr(s), of several the smallest.

    ``shares`` gives public statistics, {attribute: {value, node or interval: share}}. For attributes without any, the
    shares are those that the release itself shows (`distribution_of_regions`), so the model can be checked
    from a bundle alone and nothing is released beyond the records.

    Relative, and not monotone: merging groups changes what the release shows of all others, a rule that matched may
    match no more, and each suppressed record lowers n. (With given shares, no rules and the same n it would be: the
    smallest region over two groups is at least as likely as either, and a merged share of s is no larger than the
    larger of the two.)
    Exact up to 10⁻¹², as expected confidences are floating point. What it does not cover is in ARCHITECTURE.md.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> CappedConfidence(rate="0.9").holds(PATIENTS).tolist()  # bronchitis: 0.225 ≤ 1 − (1 − 1/2 · 1/8)⁸; flu: 0.675
    [True, True]
    >>> CappedConfidence(rate=1, shares={"disease": {"bronchitis": "0.01"}}).holds(PATIENTS).tolist()
    [False, True]
    """

    name: ClassVar[str] = "capped-confidence"
    summary: ClassVar[str] = (
        "a value's share of a group, times the sample rate, is at most what shares alone lead to expect"
    )
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = False
    relative: ClassVar[bool] = True
    regional: ClassVar[bool] = True  # it looks at the regions of all groups at once
    limits: ClassVar[str] = (
        "The cap takes attributes to be independent and shares to be public, and speaks of records, not of people: "
        "that a record is to be expected does not say whose it is. The more records there are, the less it caps: where "
        "such a record is expected with confidence β or more, any share of a group will do."
    )
    rate: Exact
    shares: Mapping[str, Mapping[str, Exact]] | None = None
    rules: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", parse_in_range(self.rate, "the rate β", 0, 1, above=True))
        object.__setattr__(self, "shares", parse_shares(self.shares, "shares"))
        object.__setattr__(self, "rules", parse_rules(self.rules))

    def __hash__(self) -> int:
        return hash(json.dumps(self.parameters(), sort_keys=True))

    @property
    def given(self) -> Given:
        """The given shares, exactly; empty where there are none."""
        return cast("Given", self.shares or {})

    def parameters(self) -> dict[str, Any]:
        """The parameters as a study gives them."""
        found: dict[str, Any] = {"rate": show(parse_exact(self.rate, "β"))}
        if self.shares is not None:
            found["shares"] = {name: {v: show(p) for v, p in of.items()} for name, of in self.given.items()}
        if self.rules:
            found["rules"] = [{**rule, "confidence": show(rule["confidence"])} for rule in self.rules]
        return found if self.attribute is None else {**found, "attribute": self.attribute}

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        known = "the shares that the table itself shows" if self.shares is None else "the given shares of a population"
        rules = "" if not self.rules else f" and {len(self.rules)} known rules"
        return (
            f"For every record, {show(parse_exact(self.rate, 'β'))} times the share that its value of {self._whose()} "
            f"has of its group is at most the probability that as many records drawn at random, by {known}{rules}, "
            "hold one like it (capped confidence)."
        )

    def check(self, view: View) -> None:
        """Refuse a view without the attribute, and shares or rules about what it does not have."""
        Sensitive.check(self, view)
        domains = {a.name: view.domain(a.name) for a in (*view.quasi, *view.sensitive)}
        refuse_others("shares", self.given, domains)
        for name, of in self.given.items():
            distribution_of_shares(name, domains[name], of)
        self._rules(domains, [a.name for a in view.sensitive], [a.name for a in view.quasi])

    def holds(self, groups: Statistics) -> Truths:
        """Whether each group satisfies the model for all its records."""
        return np.asarray(self.broken_records(groups) == 0)

    def broken_records(self, groups: Statistics) -> Integers:
        """How many records of each group violate it: those with a value of any attribute that is inferred too surely.

        With several attributes the records are those of the worst one: values of two attributes are counted apart, so
        how many records have both cannot be seen.
        """
        found = np.zeros(len(groups), dtype=np.int64)
        for of in self.confidences(groups):
            lost = np.bincount(of.group, weights=np.where(of.broken, of.counts, 0), minlength=len(groups))
            found = np.maximum(found, lost.astype(np.int64))
        return found

    def confidences(self, groups: Statistics) -> list[Confidences]:
        """Both confidences of every (group, value) that occurs, an attribute each."""
        each = self._values(groups)
        boxes = groups.boxes
        if boxes is None:
            raise StudyError(
                "capped confidence is defined on the regions of groups, and these groups have none",
                "check it on records that are published with regions; buckets publish the exact quasi-identifiers",
                code="SF-STUDY-088",
            )
        refuse_others("shares", self.given, groups.domains)
        rules = self._rules(groups.domains, list(groups.sensitive), boxes.attributes)
        chance = self._regions(groups, boxes)
        return [self._confidences(values, chance, boxes, rules.get(values.name, ())) for values in each]

    def way_out(self, whole: Statistics) -> str:
        """The largest rate at which the whole table as one group would do."""
        rate = parse_exact(self.rate, "β")
        found = min(
            (float(np.min(of.expected / np.maximum(of.observed, TOLERANCE))) for of in self.confidences(whole)),
            default=1.0,
        )
        most = Fraction(int(float(rate) * found * 10_000), 10_000)
        return f"set the rate to {show(most)} or less" if most > 0 else "leave the rarest values out"

    def _regions(self, groups: Statistics, boxes: Boxes) -> Floats:
        """Π Pr(q'ᵢ) of each group."""
        if groups.shown is None:
            known = shown_distributions(boxes, groups.sizes, groups.domains)
        else:
            known = dict(groups.shown())
        known |= {name: distribution_of_shares(name, groups.domains[name], of) for name, of in self.given.items()}
        return chance_of(boxes, known)

    def _confidences(self, values: Values, regions: Floats, boxes: Boxes, rules: Sequence[Rule]) -> Confidences:
        found = values.found
        if values.name in self.given:
            of = distribution_of_shares(values.name, values.domain, self.given[values.name])
            alone = of.share(found.values, found.values + 1)
        else:
            alone = values.overall / max(values.total, 1)
        alone = apply_rules(alone, found.values, [(rule, rule.matches(boxes)[found.group]) for rule in rules])
        observed = float(parse_exact(self.rate, "β")) * values.shares
        expected = expected_confidence(regions[found.group] * alone, values.total)
        return Confidences(values.name, found.group, found.values, values.counts, observed, expected)

    def _rules(
        self, domains: Mapping[str, Domain], sensitive: Sequence[str], quasi: Sequence[str]
    ) -> dict[str, list[Rule]]:
        return rules_of(self.rules, domains, self._chosen(sensitive), quasi)

    def _refuse(self, attributes: Sequence[Attribute]) -> None:
        """Any values will do."""


def chance_of(boxes: Boxes, known: Mapping[str, Distribution]) -> Floats:
    """Π Pr(q'ᵢ) of each region, attributes taken to be independent."""
    chance = np.ones(len(boxes))
    for place, name in enumerate(boxes.attributes):
        chance *= known[name].share(boxes.starts[:, place], boxes.stops[:, place])
    return chance


def apply_rules(alone: Floats, codes: Integers, rules: Sequence[tuple[Rule, Truths]]) -> Floats:
    """Pr(s), with the confidence of a rule in its place where one matches; of several the smallest."""
    told = np.full(len(alone), np.inf)
    for rule, matches in rules:
        here = matches & (codes == rule.code)
        told[here] = np.minimum(told[here], rule.confidence)
    return np.where(np.isfinite(told), told, alone)


def parse_shares(given: object, parameter: str) -> Given | None:
    """{attribute: {value: share}} with exact shares; None stays None."""
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(isinstance(of, Mapping) for of in given.values()):
        raise StudyError(
            f"{parameter} is no mapping from attributes to shares",
            f"write `{parameter}: {{sex: {{Male: 0.5}}}}`",
            code="SF-STUDY-089",
        )
    return {
        str(name): {
            str(text): parse_in_range(share, f"the share of '{text}' of '{name}'", 0, 1) for text, share in of.items()
        }
        for name, of in given.items()
    }


def parse_rules(given: object) -> tuple[dict[str, Any], ...]:
    """Rules with exact confidences: [{where: {attribute: region}, value: s, confidence: c}]."""
    if isinstance(given, Mapping | str) or not isinstance(given, Sequence):
        raise StudyError("rules is no list", _AS_RULE, code="SF-STUDY-090")
    found = []
    for rule in given:
        if not isinstance(rule, Mapping) or set(rule) != {"where", "value", "confidence"}:
            raise StudyError("a rule does not have `where`, `value` and `confidence`", _AS_RULE, code="SF-STUDY-091")
        where = rule["where"]
        if not isinstance(where, Mapping) or not where:
            raise StudyError("a rule's `where` names no region", _AS_RULE, code="SF-STUDY-092")
        found.append(
            {
                "where": {str(name): str(region) for name, region in where.items()},
                "value": str(rule["value"]),
                "confidence": parse_in_range(rule["confidence"], "the confidence of a rule", 0, 1),
            }
        )
    return tuple(found)


def rules_of(
    rules: Sequence[Mapping[str, Any]], domains: Mapping[str, Domain], sensitive: Sequence[str], quasi: Sequence[str]
) -> dict[str, list[Rule]]:
    """Rules over codes, by the sensitive attribute that each is about: every one that has its value."""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        refuse_others("a rule", rule["where"], {name: domains[name] for name in quasi})
        where = {name: range_named(name, domains[name], region) for name, region in rule["where"].items()}
        about = [name for name in sensitive if code_of(domains[name], rule["value"]) is not None]
        if not about:
            raise StudyError(
                f"a rule is about '{rule['value'][:60]}', which is no value of {', '.join(map(repr, sensitive))}",
                "name a value as the attribute's domain has it",
                code="SF-STUDY-093",
            )
        for name in about:
            code = code_of(domains[name], rule["value"])
            assert code is not None, "see above"
            found.setdefault(name, []).append(Rule(where, code, float(rule["confidence"])))
    return found


def refuse_others(what: str, names: Mapping[str, Any], known: Mapping[str, NDArray[Any] | Domain]) -> None:
    """Stop where a name is none of those known."""
    others = [name for name in names if name not in known]
    if others:
        raise StudyError(
            f"{what} names '{others[0][:60]}', which is no attribute that it can be about here",
            f"name one of: {', '.join(known)}",
            code="SF-STUDY-094",
        )
