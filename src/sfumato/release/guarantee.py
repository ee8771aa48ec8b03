"""Guarantees: what a release provably satisfies, what that costs, in which words, and what of it can be checked.

There are two kinds. ε-differential privacy is kept by the mechanisms and the accountant, spends privacy budget, and
cannot be seen in an output. Syntactic privacy models are properties of the published equivalence classes, spend
nothing, and are checked by anybody on the published values.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

from sfumato.domains.counts import Cells
from sfumato.errors import SfumatoError, VerifyError
from sfumato.privacy.dp.accountant import Spend
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import (
    DifferentialPrivacy,
    GroupModel,
    attack_odds,
    broken_records,
    counts_people,
    parse_models,
    title,
    written_models,
)
from sfumato.privacy.models.differential_privacy import membership_advantage, odds_factor
from sfumato.release.bundle.source_names import public_table_names
from sfumato.release.checks import Check
from sfumato.release.partition import Crowd
from sfumato.release.storage.seal import as_json_value, broken_bundle
from sfumato.study.budget import show
from sfumato.study.recipe import Chosen
from sfumato.study.unit import Unit

NO_GUARANTEE: Final = "none (seeded for testing)"
LIMITS: Final = (
    "The promise is a property of the published table, not a guarantee to the people in it: it does not bound what "
    "somebody can infer who knows more about them, who holds another release of the same people, or who knows how this "
    "one was made; it is not differential privacy."
)

_ON_RAW: Final = "The parameters were chosen by looking at the table."
_UNCOVERED_CHOICE: Final = " The parameters were chosen by looking at the table, and ε does not cover that choice."
_MOST_NUMBERED: Final = 20  # above this ε the odds mean nothing, and no number is given


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a check of a syntactic guarantee looks at: the published classes, and what the manifest says beside them.

    ``classes`` gives them piece by piece, each compared with the whole table.
    ``regions`` says whether quasi-identifiers are generalised; in buckets they are exact. ``people`` is the population
    that δ-presence compares with, None where it is not at hand.
    """

    classes: Callable[[], Iterator[Statistics]]
    records: int
    suppressed: int
    sampled: Fraction
    regions: bool
    people: Cells | None = None


@dataclass(frozen=True, kw_only=True)
class DpGuarantee:
    """ε-differential privacy of one release, with how ε was spent."""

    kind: ClassVar[str] = "differential privacy"
    private: ClassVar[bool] = True

    epsilon: Fraction
    unit: str  # in words that fit "whether or not … is in the table"
    neighbouring: str = ""
    composition: str = ""
    breakdown: tuple[Spend, ...] = ()

    @classmethod
    def of(cls, epsilon: Fraction, unit: Unit) -> "DpGuarantee":
        """The guarantee of a method that spends ``epsilon`` for such a unit."""
        return cls(epsilon=epsilon, unit=unit.words, neighbouring=unit.sentence(), composition=_composition(unit))

    @property
    def stability(self) -> int:
        """How many records one unit may add to the table, as the composition says."""
        return _times(self.composition)

    def with_breakdown(self, breakdown: Sequence[Spend]) -> "DpGuarantee":
        """The same with the steps that were paid for."""
        return replace(self, breakdown=tuple(breakdown))

    def sentence(self) -> str:
        """The guarantee in a sentence, for the ledger."""
        return DifferentialPrivacy(epsilon=self.epsilon, unit=self.unit).sentence()

    def statement(self, *, chosen: str, secure: bool) -> str:
        """The guarantee in words that can be quoted, with what it does not cover."""
        if not secure:
            return NO_GUARANTEE
        return self.sentence() + (_UNCOVERED_CHOICE if chosen == Chosen.ON_RAW else "")

    def as_json(self, *, chosen: str, secure: bool) -> dict[str, Any]:
        """The part `privacy` of a manifest."""
        numbered = secure and self.epsilon <= _MOST_NUMBERED
        return {
            "kind": self.kind,
            "model": DifferentialPrivacy.name,
            "epsilon": show(self.epsilon),
            "unit": self.unit,
            "neighbouring": self.neighbouring,
            "composition": self.composition,
            "budget_breakdown": [
                {"on": step.on, "epsilon": show(step.epsilon), "mechanism": step.mechanism} for step in self.breakdown
            ],
            "secure": secure,
            "chosen": chosen,
            "odds": attack_odds(self.epsilon) if secure else None,
            "odds_factor": float(odds_factor(self.epsilon)) if numbered else None,
            "membership_advantage": float(membership_advantage(self.epsilon)) if numbered else None,
        }

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> "DpGuarantee":
        """The guarantee that a manifest states."""
        if stated["epsilon"] is None:
            raise broken_bundle(f"this version has no checker for '{str(stated['model'])[:60]}'", code="SF-VERIFY-079")
        return cls(
            epsilon=Fraction(stated["epsilon"]),
            unit=stated["unit"],
            neighbouring=stated["neighbouring"],
            composition=stated["composition"],
            breakdown=tuple(
                Spend(step["on"], Fraction(step["epsilon"]), mechanism=step["mechanism"])
                for step in stated["budget_breakdown"]
            ),
        )

    def contradiction(self) -> str | None:
        """What in it cannot be true; None where all of it can."""
        if self.epsilon == 0:
            return "ε is 0: a release of which that is true says nothing about the table"
        if sum((step.epsilon for step in self.breakdown), Fraction(0)) * _times(self.composition) > self.epsilon:
            return "the steps of the budget breakdown cost more than ε"
        return None

    def checks(self, evidence: Evidence | None) -> list[Check]:
        """Nothing in noisy results can show or refute it; records of people refute it."""
        if evidence is not None:
            detail = "records of people are published, and no such release is differentially private"
            return [Check("privacy model", ok=False, detail=detail)]
        detail = "differential privacy is kept by how the release was made: no table of results can show or refute it"
        return [Check("privacy model", ok=True, detail=detail)]


@dataclass(frozen=True)
class SyntacticGuarantee:
    """Privacy models about equivalence classes, all of which hold in the published table."""

    kind: ClassVar[str] = "syntactic"
    private: ClassVar[bool] = False
    epsilon: ClassVar[None] = None  # it spends no privacy budget

    models: tuple[GroupModel, ...]
    unit: str = "one record"

    def sentence(self) -> str:
        """The guarantee in a sentence, for the ledger."""
        return " ".join(model.sentence() for model in self.models)

    def statement(self, *, chosen: str, secure: bool) -> str:
        """The guarantee in words that can be quoted, with what it is not."""
        if not secure:
            return NO_GUARANTEE
        more = [_ON_RAW] if chosen == Chosen.ON_RAW else []
        return " ".join([*(model.sentence() for model in self.models), *more, LIMITS])

    @property
    def limits(self) -> str:
        """What the models do not cover."""
        return " ".join(dict.fromkeys([LIMITS, *(str(m.limits) for m in self.models if hasattr(m, "limits"))]))

    def as_json(self, *, chosen: str, secure: bool) -> dict[str, Any]:
        """The part `privacy` of a manifest."""
        return {
            "kind": self.kind,
            "models": [
                {
                    "model": model.name,
                    "parameters": as_json_value(public_table_names(given[model.name])),
                    "sentence": model.sentence(),
                }
                for model, given in zip(self.models, written_models(self.models), strict=True)
            ],
            "unit": self.unit,
            "secure": secure,
            "chosen": chosen,
            "limits": self.limits,
        }

    @classmethod
    def from_json(cls, stated: Mapping[str, Any]) -> "SyntacticGuarantee":
        """The guarantee that a manifest states, as this version of the models reads the parameters."""
        models: list[GroupModel] = []
        for entry in stated["models"]:
            try:
                models.extend(parse_models({entry["model"]: entry["parameters"]}))
            except SfumatoError:
                raise broken_bundle(
                    f"this version has no checker for '{str(entry['model'])[:60]}' as it is stated",
                    code="SF-VERIFY-080",
                ) from None
        if not models:
            raise broken_bundle("the manifest states no privacy model", code="SF-VERIFY-081")
        if [entry["sentence"] for entry in stated["models"]] != [model.sentence() for model in models]:
            raise broken_bundle(
                "the guarantee in words is not that of the models and their parameters", code="SF-VERIFY-082"
            )
        return cls(tuple(models), stated["unit"])

    def contradiction(self) -> str | None:
        """What in it cannot be true: nothing that is not a model's own parameter."""
        return None

    def checks(self, evidence: Evidence | None) -> list[Check]:
        """Each model, asked about the equivalence classes that anybody can see. What cannot be checked fails."""
        if evidence is None:
            return [Check("privacy model", ok=False, detail="it cannot be checked without the data")]
        return [_judge(model, evidence) for model in self.models]


Guarantee = DpGuarantee | SyntacticGuarantee
_KINDS: Final[Mapping[str, type[Guarantee]]] = {kind.kind: kind for kind in (DpGuarantee, SyntacticGuarantee)}


def guarantee_from(content: Mapping[str, Any]) -> Guarantee:
    """The guarantee that a manifest states; what states none that this version knows is a `VerifyError`."""
    return _KINDS[content["privacy"]["kind"]].from_json(content["privacy"])


def _judge(model: GroupModel, evidence: Evidence) -> Check:
    """Whether one model holds in every published class."""

    def failed(detail: str) -> Check:
        return Check("privacy model", ok=False, detail=f"{title(model)} {detail}")

    if not evidence.regions and model.needs() == ():
        return failed("does not apply to buckets: their quasi-identifiers are published exactly")
    rate = getattr(model, "rate", None)
    if rate is not None and evidence.sampled > Fraction(rate):
        return failed("assumes a smaller sample rate than the manifest states")
    groups, broken, records = 0, 0, 0
    try:
        pieces = evidence.classes()
        if counts_people([model]):
            if evidence.suppressed:
                return failed("does not apply if records are suppressed: their regions are unknown")
            pieces = _among(pieces, evidence.people)
        for classes in pieces:
            lost = broken_records(model, classes)
            groups, broken, records = groups + len(classes), broken + int((lost > 0).sum()), records + int(lost.sum())
    except SfumatoError as error:
        return failed(f"cannot be checked: {error.problem}")
    if broken:
        share = records / max(evidence.records, 1)
        return failed(f"is violated in {broken:,} of {groups:,} groups, for {share:.2%} of the records")
    return Check("privacy model", ok=True, detail=f"{title(model)} holds in every group")


def _among(pieces: Iterator[Statistics], people: Cells | None) -> Iterator[Statistics]:
    """The classes with the number of people of the population in their regions."""
    if people is None:
        raise VerifyError(
            "it needs the population table (--population FILE), which is not part of a bundle",
            "give it",
            code="SF-VERIFY-083",
        )
    crowd = Crowd(people)
    for classes in pieces:
        assert classes.boxes is not None, "buckets have been passed over"
        yield replace(classes, population=crowd.inside(classes.boxes))


_PER_PERSON: Final = "; the breakdown is per record, and a person has at most {} of them"
_MANY: Final = re.compile(re.escape(_PER_PERSON).replace(r"\{\}", r"([1-9]\d{0,17})") + "$")


def _composition(unit: Unit) -> str:
    """How the steps of a budget breakdown add up to ε: a rule of the declared unit, in words."""
    many = unit.stability
    sequence = (
        "sequential composition over the steps of the budget breakdown (their ε add up), parallel composition within a "
        "step that names several disjoint parts"
    )
    if many == 1:
        return sequence
    return sequence + _PER_PERSON.format(many)


def _times(composition: str) -> int:
    """How often a budget breakdown is to be counted, by the words of `_composition`."""
    found = _MANY.search(composition)
    return int(found[1]) if found else 1
