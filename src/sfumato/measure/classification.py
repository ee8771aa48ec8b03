"""Classification accuracy: what a release is worth to somebody who learns from it (Mohammed et al. 2011, section 5).

CA: learn on the release of one part of the table, predict the rest, generalised by the same cut or regions. BA: learn
on the raw records, the most there is to get. LA: predict the most frequent class, what one gets without any attribute.
All three look at raw records, so they are for the owner only and never go into a bundle. They say something of a
method: for each run a release is made of the part to learn on, and thrown away.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

import numpy as np

from sfumato.core.partition import PartitionView
from sfumato.core.progress import Progress, silent
from sfumato.core.view import View
from sfumato.errors import UsageError
from sfumato.measure.classifiers import CLASSIFIERS, Classifier, Integers, Own
from sfumato.measure.lessons import Codes, CountsLessons, GroupsLessons, Lesson, RawSets, lessons
from sfumato.measure.protocols import Parts, parts_of

_WORTH_STARTING = 200_000  # records learnt from in all, below which one process is done before others have started


@dataclass(frozen=True)
class Accuracy:
    """The share of test records whose class is predicted, a number a run."""

    runs: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The average over the runs."""
        return fmean(self.runs)

    @property
    def deviation(self) -> float:
        """The standard deviation over the runs."""
        return stdev(self.runs) if len(self.runs) > 1 else 0.0


@dataclass(frozen=True)
class Comparison:
    """CA against what could be had at best (BA) and for nothing (LA)."""

    ca: Accuracy
    ba: Accuracy | None
    la: Accuracy


def classification(  # noqa: PLR0913 - all but the first come by keyword
    view: View | PartitionView,
    codes: Codes,
    make: Callable[..., Any],
    *,
    classifier: str | Callable[[], Any] = "decision-tree",
    protocol: str = "split",
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    workers: int | None = 1,
    progress: Progress = silent,
) -> Comparison:
    """Accuracy of one classifier: a registered one by name, or a function that gives a scikit-learn estimator.

    ``codes`` holds the records, one array of codes an attribute. ``make`` makes a draft of a part of the table: of a
    `View` and a `Counter` for noisy counts, of a `PartitionView` and `Cells` for groups. The seed fixes the splits, not
    the noise. See `classifications` for the rest.
    """
    chosen = {"": CLASSIFIERS[classifier]() if isinstance(classifier, str) else Own(classifier)}
    return _compared(
        lessons(view, codes, make), chosen, protocol=protocol, runs=runs, seed=seed, baseline=baseline,
        workers=workers, progress=progress,
    )[""]  # fmt: skip


def classifications(  # noqa: PLR0913 - all but the first come by keyword
    view: View | PartitionView,
    codes: Codes,
    make: Callable[..., Any],
    *,
    classifiers: Iterable[str] | None = None,
    protocol: str = "split",
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    workers: int | None = 1,
    progress: Progress = silent,
    sets: RawSets | None = None,
) -> Mapping[str, Comparison]:
    """Accuracy of several classifiers (all of them, if none is named) that learn from the same drafts.

    ``protocol`` is `split` (two thirds to learn on, drawn anew each run) or `folds` (as many stratified folds as runs).
    ``workers`` processes share the runs; None takes one a processor where that pays. ``sets`` are the raw sets of
    attributes that a `PartitionView` has as categories: BA learns from those.
    """
    names = list(dict.fromkeys(CLASSIFIERS if classifiers is None else classifiers))
    return _compared(
        lessons(view, codes, make, sets), {name: CLASSIFIERS[name]() for name in names}, protocol=protocol, runs=runs,
        seed=seed, baseline=baseline, workers=workers, progress=progress,
    )  # fmt: skip


def _compared(
    subject: CountsLessons | GroupsLessons,
    chosen: Mapping[str, Classifier | Own],
    *,
    protocol: str,
    runs: int,
    seed: int,
    baseline: bool,
    workers: int | None,
    progress: Progress,
) -> dict[str, Comparison]:
    truth = subject.truth
    parts = parts_of(protocol, truth, runs, seed)
    ca: dict[str, list[float]] = {name: [] for name in chosen}
    ba: dict[str, list[float]] = {name: [] for name in chosen}
    la: list[float] = []
    what = "learning from releases"
    progress(what, 0, runs)
    work = [(subject, chosen, part, baseline) for part in parts]
    for done, (here, raw) in enumerate(_each(work, _workers(workers, len(truth), runs))):
        train, test = parts[done]
        la.append(float(np.mean(truth[test] == np.bincount(truth[train]).argmax())))
        for name in chosen:
            ca[name].append(here[name])
            ba[name] += [raw[name]] if baseline else []
        progress(what, done + 1, runs)
    return {
        name: Comparison(
            Accuracy(tuple(ca[name])), Accuracy(tuple(ba[name])) if baseline else None, Accuracy(tuple(la))
        )
        for name in chosen
    }


Found = tuple[dict[str, float], dict[str, float]]
Work = tuple[CountsLessons | GroupsLessons, Mapping[str, Classifier | Own], Parts, bool]


def _once(work: Work) -> Found:
    """One run: a draft of the part to learn on, and every classifier on it and on the raw records."""
    subject, chosen, (train, test), baseline = work
    truth = subject.truth[test]
    made: Any = subject.release(train)
    ca = {name: _accuracy(subject.lesson(made, test, c.reads), truth, c) for name, c in chosen.items()}
    if not baseline:
        return ca, {}
    raw = subject.raw(train, test)
    return ca, {name: _accuracy(raw, truth, c) for name, c in chosen.items()}


def _workers(asked: int | None, records: int, runs: int) -> int:
    if asked is not None and asked < 1:
        raise UsageError(f"{asked} workers do nothing", "ask for at least one")
    if asked is not None:
        return min(asked, runs)
    return min(os.cpu_count() or 1, runs) if records * runs >= _WORTH_STARTING else 1


def _each(work: Sequence[Work], workers: int) -> Iterator[Found]:
    """The runs in order, here or in processes of their own.

    joblib sends what they need over pipes (`max_nbytes=None`): large arrays would otherwise be written to a temporary
    folder, and these are raw records.
    """
    if workers == 1:
        yield from map(_once, work)
        return
    from joblib import Parallel, delayed  # noqa: PLC0415 - comes with scikit-learn, needed here alone

    pool = Parallel(n_jobs=workers, return_as="generator", max_nbytes=None, batch_size=1)
    yield from pool(delayed(_once)(one) for one in work)


def predicted(lesson: Lesson, classifier: Classifier | Own) -> Integers:
    """Learn with weights, and predict the class of every row to be tested on.

    Of a release without records the first class is predicted; without features, or where only one class is left, the
    weightiest one.
    """
    known = np.bincount(lesson.classes, weights=lesson.weights, minlength=1)
    if not lesson.learn.shape[1] or np.count_nonzero(known) <= 1:
        return np.full(len(lesson.test), known.argmax(), dtype=np.int64)
    model = classifier.estimator(lesson.numbers)
    model.fit(lesson.learn, lesson.classes, sample_weight=lesson.weights)
    found: Integers = model.predict(lesson.test)
    return found


def _accuracy(lesson: Lesson, truth: Integers, classifier: Classifier | Own) -> float:
    return float(np.mean(predicted(lesson, classifier) == truth))
