"""Zaman & Obimbo 2014, section VI: the nine steps, for two purposes of one health table.

The paper has a health insurer, who wants diseases against sex and age, and somebody who plans services and wants other
attributes; it publishes to each what they need and no more. Here the insurer has diagnoses, sex and age, the planner
age, race and how a stay went. A study has one class, so both predict the same: whether a patient comes back to
hospital; and, in a study of its own, whether the medication was changed, which was taken in after it was seen that the
first is hardly to be learnt from this table. All nine steps are those of `sfumato run`: each purpose is tailored,
generalised along its taxonomies under differential privacy (persons, at most three records each), published, verified
and classified, from one budget. The table has no dates, so step 3a, a span of time, is answered with "no". The paper
prints no numbers.

Privacy. Both releases of a study are about the same patients, so their ε add up, and the ledger says so; an owner who
wanted both studies would have to add those up, too. Bundles and ledgers are made in a temporary folder and thrown away;
accuracies are computed from raw records, for the owner's eyes.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import ClassVar

from papers.drawing.dots import Dot, Dots
from papers.figure import FIGURES, Fact, Reproduced, finished
from papers.tables import diabetes
from papers.tables.diabetes import DIAGNOSIS, NEEDS, TARGET
from papers.zaman_2014.worked_example import PAPER
from sfumato.evaluate.learning.accuracy import Accuracy, Comparison
from sfumato.ledger import open_ledger
from sfumato.methods import DiffGen, recipe_of
from sfumato.progress import Progress, silent
from sfumato.release.forms.noisy_counts.release import CountsRelease
from sfumato.release.release import Release
from sfumato.study.budget import show
from sfumato.study.file import study_from_mapping
from sfumato.study.study import Study
from sfumato.workflow import RunResult, accuracy, run_study

PURPOSES = {
    "insurer": ("age", "gender", DIAGNOSIS),
    "planner": (
        "age", "race", "time_in_hospital", "number_inpatient", "number_emergency", "discharge_disposition_id",
        "num_medications",
    ),
}  # fmt: skip
CLASSES = {  # what is predicted, and in words
    TARGET: "Will a patient come back: within 30 days, later, not?",
    "change": "Was the medication changed?",
}
CHANGE = {"role": "class", "values": ["No", "Ch"]}
MEDICATIONS = {**diabetes.QUASI, "type": "integer", "bounds": [0, 100]}
EPSILON, RUNS = 1, 5
WIDE = "all at once"
_SURE = 2  # standard errors


@dataclass(frozen=True, slots=True)
class Classified:
    """The accuracy of the releases for one purpose, in percent, with standard errors."""

    target: str
    purpose: str
    epsilon: str
    attributes: int
    rows: int | None  # published
    ca: float
    ca_error: float
    ba: float
    ba_error: float
    la: float
    runs: int


@FIGURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class ZamanPipeline:
    """Two purposes of one health table, for two classes: tailored, made, published, verified, classified."""

    name: ClassVar[str] = "zaman-pipeline"
    title: ClassVar[str] = "Section VI: two purposes of one health table, each classified"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = NEEDS
    takes: ClassVar[str] = "about 4 minutes"
    data: Path | None = None
    runs: int = RUNS

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Run every release of both studies, and measure one release of everything beside them."""
        began = time.monotonic()
        found: list[Classified] = []
        facts: list[Fact] = []
        with tempfile.TemporaryDirectory() as place:
            table = diabetes.unpacked(source := diabetes.folder(self.data), Path(place))
            for target in CLASSES:
                study = study_of(target, source, table)
                here, said = _ran(study, Path(place) / target, self.runs, workers, progress)
                facts += [
                    fact for fact in said if fact.agrees is False or not found
                ]  # the same for both, if all is well
                found += here
                facts += facts_of(here)
        columns = tuple(Classified.__dataclass_fields__)
        return finished(self, folder, facts, _dots(found).save(folder, "accuracy", (found, columns), facts), began)


def _ran(
    study: Study, place: Path, runs: int, workers: int | None, progress: Progress
) -> tuple[list[Classified], list[Fact]]:  # fmt: skip
    """Every release of one study, one release of everything, and what the steps ask for."""
    ledger = open_ledger("memory:")
    ran = run_study(study, folder=lambda recipe: place / recipe.name, ledger=ledger, runs=runs, progress=progress)
    for one in ran:
        if one.failure is not None:
            raise one.failure
    budget = EPSILON * len(PURPOSES)
    wide = recipe_of(DiffGen(epsilon=budget, h="auto", post="none"), name="wide")
    everything = accuracy(study, wide, runs=runs, workers=workers, progress=progress)
    found = [_classified(one, study) for one in ran]
    found.append(_measured(study.target.name, WIDE, budget, len(study.attributes) - 1, None, everything))
    spent = sum((entry.epsilon or Fraction(0) for entry in ledger.entries(study.name)), Fraction(0))
    return found, _steps(ran, spent)


def study_of(target: str, place: Path, table: Path) -> Study:
    """The study of one class, with both purposes and a release for each."""
    known = {
        **diabetes.ATTRIBUTES, "race": diabetes.RACE, DIAGNOSIS: diabetes.diagnoses(place),
        "num_medications": MEDICATIONS, "change": CHANGE,
    }  # fmt: skip
    attributes = {name: known[name] for name in (*dict.fromkeys(sum(PURPOSES.values(), ())), target)}
    fields = diabetes.fields("diabetes", table, attributes, budget=str(EPSILON * len(PURPOSES)))
    return study_from_mapping(
        {
            **fields,
            "purposes": {name: {"attributes": [*wanted, target]} for name, wanted in PURPOSES.items()},
            "releases": {
                name: {"purpose": name, "method": "diffgen", "epsilon": EPSILON, "h": "auto"} for name in PURPOSES
            },
        }
    )


def _classified(one: RunResult, study: Study) -> Classified:
    assert one.published is not None and one.accuracy is not None, one.why_not
    assert one.recipe.purpose is not None, "declared above"
    wanted = len(study.purposes[one.recipe.purpose].attributes) - 1
    return _measured(study.target.name, one.recipe.purpose, EPSILON, wanted, one.published.rows, one.accuracy)


def _measured(
    target: str, purpose: str, epsilon: int, attributes: int, rows: int | None, found: Comparison
) -> Classified:  # fmt: skip
    assert found.ba is not None, "asked for"
    return Classified(
        target, purpose, str(epsilon), attributes, rows, 100 * found.ca.mean, _error(found.ca), 100 * found.ba.mean,
        _error(found.ba), 100 * found.la.mean, len(found.ca.runs),
    )  # fmt: skip


def _error(found: Accuracy) -> float:
    return 100 * found.deviation / sqrt(len(found.runs))


def _steps(ran: Sequence[RunResult], spent: Fraction) -> list[Fact]:
    """What the nine steps ask for that can be looked at in the bundles and the ledger."""
    facts = [
        Fact(
            what="step 3a: a purpose by a span of time", printed="if no, go to 3b", ours="no: the table has no dates",
            agrees=None,
        )
    ]  # fmt: skip
    for one in ran:
        assert one.published is not None and one.recipe.purpose is not None, "made above"
        release = Release.open(one.published.bundle)
        assert isinstance(release, CountsRelease), "DiffGen publishes counts"
        published, wanted = set(release.layout.names), set(PURPOSES[one.recipe.purpose])
        facts.append(
            Fact(
                what=f"step 3b, {one.recipe.purpose}: the attributes of the release",
                printed=", ".join(sorted(wanted)), ours=", ".join(sorted(published)), agrees=published == wanted,
            )
        )  # fmt: skip
    budget = EPSILON * len(PURPOSES)
    facts.append(
        Fact(
            what="step 5: differential privacy, both releases of the same patients together",
            printed="(the paper does not add them up)", ours=f"ε = {show(spent)} of {budget} in the ledger",
            agrees=None,
        )
    )  # fmt: skip
    facts.append(
        Fact(
            what="step 6: published, and verified from the bundle alone", printed="generate GTDB",
            ours=f"{sum(one.verified for one in ran)} of {len(ran)}", agrees=all(one.verified for one in ran),
        )
    )  # fmt: skip
    return facts


def facts_of(found: Sequence[Classified]) -> list[Fact]:
    """Steps 7 and 8, and the paper's section V-B: a release for each purpose in place of one of everything."""
    *purposes, wide = found
    facts = [
        Fact(
            what=f"steps 7 and 8, `{one.target}`, {one.purpose}: classification accuracy (CA %)",
            printed="(no numbers)",
            ours=f"{one.ca:.2f} ± {one.ca_error:.2f}; nothing learnt (LA) {one.la:.2f}, raw records (BA) {one.ba:.2f}",
            agrees=None,
        )
        for one in purposes
    ]  # fmt: skip
    best = max(purposes, key=lambda one: one.ca)
    ahead = best.ca - wide.ca
    noise = _SURE * sqrt(best.ca_error**2 + wide.ca_error**2)
    facts.append(
        Fact(
            what=f"section V-B, `{wide.target}`: a release for each purpose (ε = {EPSILON} each) against all "
            f"{wide.attributes} attributes at once (ε = {wide.epsilon})",
            printed="may be more efficient",
            ours=f"{', '.join(f'{one.purpose} {one.ca:.2f}' for one in purposes)}; {WIDE} {wide.ca:.2f} ± "
            f"{wide.ca_error:.2f}",
            agrees=True if ahead > noise else False if ahead < -noise else None,
            why="" if ahead > noise else "the better of the two purposes has what there is to be learnt from",
        )
    )  # fmt: skip
    return facts


def _dots(found: Sequence[Classified]) -> Dots:
    dots = []
    for one in found:
        name = f"{one.purpose}, ε = {one.epsilon}"
        dots += [
            Dot(CLASSES[one.target], name, "learnt from releases (CA)", one.ca, one.ca_error),
            Dot(CLASSES[one.target], name, "raw records (BA)", one.ba, one.ba_error),
            Dot(CLASSES[one.target], name, "the most frequent class (LA)", one.la),
        ]
    return Dots(
        title=ZamanPipeline.title,
        x="purpose",
        y="classification accuracy, %",
        dots=tuple(dots),
        width=150,
        note="Encounters of diabetic patients in 130 hospitals. Strokes: one standard error over the runs. The paper "
        "prints no numbers.",
    )
