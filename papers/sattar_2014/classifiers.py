"""Sattar et al. 2014: Figures 5 and 9, what releases of Adult are worth to classifiers.

Six quasi-identifiers (the paper's Table 4 has a birth place of 41 values, which is Adult's native country), the salary
in two classes as the sensitive attribute and as what is predicted, so quasi-identifiers alone are learnt from. Ten
stratified folds, the same ones for everything.
A record to be tested on is put into the smallest region that holds it, or the nearest. The paper's J48, which is C4.5,
is scikit-learn's tree here, and its SVM is linear.

Mondrian has the two k of Figure 4, found on the whole table. The paper calls it InfoGain Mondrian in one place and
Mondrian in another; both are run. DiffGen, in Figure 9, has ε = 0.1 and h = 10 on the same attributes; ε = 1 and
our score `gini` stand beside it. Releases are made and thrown away: nothing is published.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, ClassVar

import numpy as np
import pyarrow.parquet as pq

from papers.drawing.dots import Dot, Dots
from papers.figure import FIGURES, Fact, Reproduced, finished
from papers.sattar_2014.mondrian import K, broken_by, max_k
from papers.sattar_2014.suppression import CHOSEN, PAPER, RATE
from papers.tables.acs import Sample
from papers.tables.adult import incomes
from sfumato.domains.counts import Cells, Counter
from sfumato.evaluate.learning.accuracy import Comparison, classifications
from sfumato.evaluate.learning.classifiers import CLASSIFIERS
from sfumato.evaluate.learning.lessons import Codes
from sfumato.methods import ConfidenceCap, DiffGen, Mondrian
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from sfumato.progress import Progress, silent
from sfumato.release.draft import Draft
from sfumato.study.attribute import Role
from sfumato.study.file import study_from_mapping
from sfumato.study.purpose import tailor
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View

SIX = ("age", "education", "marital_status", "sex", "race", "native_country")
SALARY = "salary"
FOUR = ("decision-tree", "naive-bayes", "logistic-regression", "svm")
FOLDS, CLOSE = 10, 1.0  # how near CA has to be to BA to be called very close, in points
CAPPED, RAW = f"capped confidence, δ' = {CHOSEN}", "raw records (BA)"
WAYS = {"Mondrian": Mondrian(k=2), "InfoGain Mondrian": Mondrian(k=2, choose="info_gain")}
EPSILON, H = "0.1", 10
PRIVATE = {
    f"DiffGen, {score}, ε = {epsilon}": DiffGen(epsilon=epsilon, h=H, score=score, post="none")
    for epsilon in (EPSILON, "1")
    for score in ("max", "info_gain", "gini")
}
SAID = [name for name, method in PRIVATE.items() if method.epsilon == EPSILON and method.score != "gini"]
_SURE = 2  # standard errors


@dataclass(frozen=True, slots=True)
class Learnt:
    """How well one classifier predicts after learning from one kind of release: a share a fold."""

    release: str
    k: int | None
    classifier: str
    folds: tuple[float, ...]

    @property
    def ca(self) -> float:
        """The mean over the folds, in percent."""
        return 100 * fmean(self.folds)

    @property
    def error(self) -> float:
        """Its standard error."""
        return _error([100 * one for one in self.folds])

    def ahead_of(self, other: "Learnt") -> tuple[float, float]:
        """By how many points, fold by fold, and the standard error of that."""
        apart = [100 * (a - b) for a, b in zip(self.folds, other.folds, strict=True)]
        return fmean(apart), _error(apart)


_COLUMNS = ("release", "k", "classifier", "ca", "error")


def _error(runs: Sequence[float]) -> float:
    return stdev(runs) / sqrt(len(runs)) if len(runs) > 1 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class People:
    """The records as methods for groups and as DiffGen see them; the same records in the same order."""

    view: View
    codes: Codes
    private: View
    private_codes: Codes

    def sample(self) -> Sample:
        """All of them, as cells."""
        names = tuple(a.name for a in self.view.attributes)
        rows = np.stack([self.codes[name] for name in names], axis=1)
        distinct, counts = np.unique(rows, axis=0, return_counts=True)
        return Sample(SALARY, len(rows), "", self.view, Cells(names, distinct, counts.astype(np.int64)))


@cache
def people(every: int = 1) -> People:
    """Adult's records, or one in so many of them."""
    study = incomes()
    table = pq.read_table(study.base / str(study.source))
    table = table.take(np.arange(0, len(table), every))
    ages = {
        "role": "quasi_identifier", "type": "integer", "bounds": [15, 99], "at_least": 5,
        "taxonomy": {"intervals": {"width": 5, "levels": 4}},
    }  # fmt: skip
    in_fives = study_from_mapping({"name": "ages", "source": table.select(["age"]), "attributes": {"age": ages}})
    quasi = tuple(in_fives.attributes["age"] if name == "age" else study.attributes[name] for name in SIX)
    target = study.target
    view = View(
        quasi=quasi, sensitive=(replace(target, name=SALARY, role=Role.SENSITIVE),), others=(target,), unit=RecordUnit()
    )
    codes = {a.name: view.domain(a.name).encode(table[a.name].to_pylist()) for a in (*quasi, target)}
    few = {name: study.attributes[name] for name in (*SIX, target.name)}
    private = tailor(replace(study, attributes=few, purposes={}, releases={}, sweeps={}), None, DiffGen.needs)
    age = study.attributes["age"].domain
    assert age is not None, "declared"
    return People(
        view, {**codes, SALARY: codes[target.name]}, private, {**codes, "age": age.encode(table["age"].to_pylist())}
    )


def _capped(view: View, cells: Cells) -> Draft:
    return ConfidenceCap(rate=RATE, distortion=CHOSEN).draft(view, cells)


def _grouped(method: Mondrian, view: View, cells: Cells) -> Draft:
    return method.draft(replace(view, quasi=tuple(replace(a, at_least=None) for a in view.quasi)), cells)


def _private(method: DiffGen, view: View, counter: Counter) -> Draft:
    return method.draft(view, counter, Context(accountant=Accountant(method.spends), source=SecureSource()))


@FIGURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SattarFigure5:
    """Classification accuracy of capped confidence and of Mondrian, for four classifiers."""

    name: ClassVar[str] = "sattar-5"
    title: ClassVar[str] = "Figure 5: classification accuracy of capped confidence and Mondrian"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = ""
    takes: ClassVar[str] = "about 2 minutes"
    folds: int = FOLDS
    every: int = 1
    tried: tuple[int, ...] = K

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Learn from nine tenths of the table and predict the last, ten times for every release."""
        began = time.monotonic()
        progress("looking for k", 0, 1)
        who = people(self.every)
        makes: dict[str, tuple[int | None, Callable[..., Any]]] = {CAPPED: (None, _capped)}
        makes |= _mondrians(who.sample(), self.tried)
        found: list[Learnt] = []
        for done, (name, (k, make)) in enumerate(makes.items()):
            learning = partial(_told, progress, f"learning from {name}", done, len(makes))
            each = classifications(
                who.view, who.codes, make, private=False, classifiers=FOUR, protocol="folds", runs=self.folds,
                baseline=name == CAPPED, workers=workers, progress=learning, columns="quasi-identifiers",
            )  # fmt: skip
            found += _learnt(name, k, each)
        found.sort(key=lambda one: one.release == RAW)  # last in the legend
        facts = facts_5(found)
        return finished(self, folder, facts, _dots_5(found).save(folder, "accuracy", (found, _COLUMNS), facts), began)


def _told(progress: Progress, what: str, before: int, releases: int, said: str, done: int, total: int) -> None:  # noqa: ARG001 - a listener
    """Progress over all releases, from the progress of one."""
    progress(what, before * max(total, 1) + done, releases * max(total, 1))


def _mondrians(sample: Sample, tried: Sequence[int]) -> dict[str, tuple[int, Callable[..., Any]]]:
    """Both kinds of Mondrian with both k."""
    average = max(2, round(float(_capped(sample.view, sample.cells).facts["average_group"])))
    found: dict[str, tuple[int, Callable[..., Any]]] = {}
    for name, way in WAYS.items():
        largest = max_k(broken_by(sample, way, tried)) or tried[-1]
        for which, k in (("Avg.k", average), ("Max.k", largest)):
            found[f"{name}, {which}"] = (k, partial(_grouped, replace(way, k=k)))
    return found


def _learnt(name: str, k: int | None, each: Mapping[str, Comparison]) -> list[Learnt]:
    found = [Learnt(name, k, classifier, one.ca.runs) for classifier, one in each.items()]
    return found + [Learnt(RAW, None, classifier, one.ba.runs) for classifier, one in each.items() if one.ba]


def facts_5(found: Sequence[Learnt]) -> list[Fact]:
    """The paper's two sentences."""
    by = {(one.release, one.classifier): one for one in found}
    facts = []
    for release in dict.fromkeys(one.release for one in found):
        if release in {CAPPED, RAW}:
            continue
        pairs = [(name, by[CAPPED, name].ahead_of(by[release, name])) for name in FOUR]
        k = by[release, FOUR[0]].k
        sure = [ahead > _SURE * error for _, (ahead, error) in pairs]
        behind = [ahead < -_SURE * error for _, (ahead, error) in pairs]
        facts.append(
            Fact(
                what=f"capped confidence against {release} (k = {k}): points ahead", printed="better in all cases",
                ours=", ".join(f"{_title(name)} {ahead:+.2f} ± {error:.2f}" for name, (ahead, error) in pairs),
                agrees=True if all(sure) else False if any(behind) else None, why="" if all(sure) else _WHY,
            )
        )  # fmt: skip
    below = {name: by[RAW, name].ahead_of(by[CAPPED, name]) for name in FOUR}
    near = all(points <= CLOSE for points, _ in below.values())
    facts.append(
        Fact(
            what="capped confidence against the raw records: points below BA", printed="very close",
            ours=", ".join(f"{_title(name)} {points:.2f} ± {error:.2f}" for name, (points, error) in below.items()),
            agrees=near, why="" if near else "a tenth of the records is not published at all",
        )
    )  # fmt: skip
    return facts


_WHY = (
    "all of them are near the raw records, so little is left to be ahead by; ours learns from nine tenths of the "
    "records, and neither the paper's trees over the values nor its k for Adult are printed"
)


@FIGURES.add
@dataclass(frozen=True, slots=True, kw_only=True)
class SattarFigure9:
    """Classification accuracy of capped confidence and of DiffGen at ε = 0.1, h = 10, for a decision tree."""

    name: ClassVar[str] = "sattar-9"
    title: ClassVar[str] = "Figure 9: classification accuracy of capped confidence and DiffGen (h = 10)"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = ""
    takes: ClassVar[str] = "about a minute"
    folds: int = FOLDS
    every: int = 1

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:
        """Learn from nine tenths of the table and predict the last, ten times for every release."""
        began = time.monotonic()
        who = people(self.every)
        tree = FOUR[:1]
        say = partial(_told, progress, "learning from releases", 0, 1 + len(PRIVATE))
        ours = classifications(
            who.view, who.codes, _capped, private=False, classifiers=tree, protocol="folds", runs=self.folds,
            workers=workers, progress=say, columns="quasi-identifiers",
        )  # fmt: skip
        found = _learnt(CAPPED, None, ours)
        for done, (name, method) in enumerate(PRIVATE.items()):
            say = partial(_told, progress, "learning from releases", done + 1, 1 + len(PRIVATE))
            each = classifications(
                who.private, who.private_codes, partial(_private, method), classifiers=tree, protocol="folds",
                runs=self.folds, baseline=False, workers=workers, progress=say,
            )  # fmt: skip
            found += _learnt(name, None, each)
        facts = facts_9(found)
        least = 100 * ours[tree[0]].la.mean
        files = _dots_9(found, least).save(folder, "accuracy", (found, _COLUMNS), facts)
        return finished(self, folder, facts, files, began)


def facts_9(found: Sequence[Learnt]) -> list[Fact]:
    """The paper's sentence, at its ε and at a larger one."""
    by = {one.release: one for one in found}
    facts = []
    for name in PRIVATE:
        below, error = by[CAPPED].ahead_of(by[name])
        said = name in SAID
        sure = below > _SURE * error
        facts.append(
            Fact(
                what=f"{name} against capped confidence (CA %)",
                printed="significantly lower" if said else "(not said)",
                ours=f"{by[name].ca:.2f} against {by[CAPPED].ca:.2f}: {below:.2f} ± {error:.2f} points lower",
                agrees=(True if sure else False if below < 0 else None) if said else None,
                why="" if sure or not said else "DiffGen makes much of six attributes",
            )
        )  # fmt: skip
    return facts


def _title(classifier: str) -> str:
    return str(CLASSIFIERS[classifier].title)


def _dots_5(found: Sequence[Learnt]) -> Dots:
    return Dots(
        title=SattarFigure5.title,
        x="classifier",
        y="classification accuracy, %",
        dots=tuple(Dot("Adult, ten folds", _title(one.classifier), one.release, one.ca, one.error) for one in found),
        columns=1,
        width=170,
        note="Strokes: one standard error over the folds. The paper says that capped confidence is better than "
        "Mondrian in all cases, and very close to the raw records.",
    )


def _dots_9(found: Sequence[Learnt], least: float) -> Dots:
    panel = "Adult, ten folds, decision tree"
    dots = []
    for one in found:
        name, _, epsilon = one.release.partition(", ε = ")
        which = f"ε = {epsilon}" if epsilon else "no ε"
        dots.append(Dot(panel, name, which, one.ca, one.error))
    return Dots(
        title=SattarFigure9.title,
        x="learnt from",
        y="classification accuracy, %",
        dots=tuple(dots),
        levels=((panel, least, f"LA, the most frequent class: {least:.1f}"),),
        columns=1,
        width=180,
        note="Strokes: one standard error over the folds. The paper has max and info_gain at ε = 0.1.",
    )
