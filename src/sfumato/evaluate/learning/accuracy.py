"""Classification accuracy: the utility of a release for training a classifier (Mohammed et al. 2011, section 5).

Accuracy on the release (CA): learn on the release of one part of the table, predict the rest, generalised by the same
cut or regions. Accuracy on raw data (BA): the same learner with the same columns in the same encoding, on the raw
records of that part. Accuracy of the majority class (LA): predict the most frequent class, without any attribute. BA
is no upper bound: coarser values can keep a learner from fitting noise. Beside each stand balanced accuracy and AUC,
since accuracy says little where one class is rare. All of them look at raw records, so they are for the owner only
and never go into a bundle. They say something of a method: for each run a release is made of the part to
learn on, and thrown away.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.errors import UsageError
from sfumato.evaluate.learning.classifiers import CLASSIFIERS, Classifier, Integers, Own
from sfumato.evaluate.learning.lessons import Codes, Columns, CountsLessons, GroupsLessons, Lesson, RawSets, lessons
from sfumato.evaluate.learning.protocols import Parts, parts_of
from sfumato.evaluate.learning.scoring import Scored, Spread, by_score, class_scores, score
from sfumato.progress import Progress, silent
from sfumato.study.view import View

_WORTH_STARTING = 200_000  # records learnt from in all, below which one process is done before others have started


_NONE = Spread(())


@dataclass(frozen=True)
class Accuracy(Spread):
    """The share of test records whose class is predicted, a number a run, with balanced accuracy and AUC beside it."""

    balanced: Spread = _NONE
    auc: Spread = _NONE

    def as_json(self) -> dict[str, Any]:
        """All three scores as plain values."""
        return {**super().as_json(), "balanced_accuracy": self.balanced.as_json(), "auc": self.auc.as_json()}


@dataclass(frozen=True)
class Comparison:
    """Accuracy on the release (CA), on raw data (BA) and of the majority class (LA)."""

    ca: Accuracy
    ba: Accuracy | None
    la: Accuracy

    @property
    def on_release(self) -> Accuracy:
        """Accuracy on the release, the paper's CA."""
        return self.ca

    @property
    def on_raw(self) -> Accuracy | None:
        """Accuracy on raw data, the paper's BA."""
        return self.ba

    @property
    def of_majority(self) -> Accuracy:
        """Accuracy of the majority class, the paper's LA."""
        return self.la

    def as_json(self) -> dict[str, Any]:
        """The three accuracies as plain values, by the paper's symbols."""
        return {
            "ca": self.ca.as_json(), "ba": None if self.ba is None else self.ba.as_json(), "la": self.la.as_json()
        }  # fmt: skip


def classification(  # noqa: PLR0913 - all but the first come by keyword
    view: View,
    codes: Codes,
    make: Callable[..., Any],
    *,
    private: bool = True,
    classifier: str | Callable[[], Any] = "decision-tree",
    protocol: str = "split",
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    workers: int | None = 1,
    progress: Progress = silent,
) -> Comparison:
    """Accuracy of one classifier: a registered one by name, or a function that gives a scikit-learn estimator.

    ``codes`` holds the records, one array of codes an attribute. ``make`` makes a draft of a part of the table from a
    `View` and its counts: a `Counter` for noisy counts, `Cells` for records in groups, where ``private`` is false. The
    seed fixes the splits, not the noise. See `classifications` for the rest.
    """
    chosen = {"": CLASSIFIERS[classifier]() if isinstance(classifier, str) else Own(classifier)}
    return _compared(
        lessons(view, codes, make, private=private), chosen, protocol=protocol, runs=runs, seed=seed, baseline=baseline,
        workers=workers, progress=progress,
    )[""]  # fmt: skip


def classifications(  # noqa: PLR0913 - all but the first come by keyword
    view: View,
    codes: Codes,
    make: Callable[..., Any],
    *,
    private: bool = True,
    classifiers: Iterable[str] | None = None,
    protocol: str = "split",
    runs: int = 10,
    seed: int = 0,
    baseline: bool = True,
    workers: int | None = 1,
    progress: Progress = silent,
    sets: RawSets | None = None,
    columns: Columns = "published",
) -> Mapping[str, Comparison]:
    """Accuracy of several classifiers (all of them, if none is named) that learn from the same drafts.

    ``protocol`` is `split` (two thirds to learn on, drawn anew each run) or `folds` (as many stratified folds as runs).
    ``workers`` processes share the runs; None takes one a processor where that pays. ``sets`` are the raw sets of
    attributes that a `View` has as categories: BA learns from those. ``columns`` says what is learnt from,
    of a release of groups and of raw records beside it: all published columns, or the quasi-identifiers alone.
    """
    names = list(dict.fromkeys(CLASSIFIERS if classifiers is None else classifiers))
    return _compared(
        lessons(view, codes, make, private=private, sets=sets, columns=columns),
        {name: CLASSIFIERS[name]() for name in names}, protocol=protocol, runs=runs, seed=seed, baseline=baseline,
        workers=workers, progress=progress,
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
    ca: dict[str, list[Scored]] = {name: [] for name in chosen}
    ba: dict[str, list[Scored]] = {name: [] for name in chosen}
    la: list[Scored] = []
    what = "learning from releases"
    progress(what, 0, runs)
    work = [(subject, chosen, part, baseline) for part in parts]
    for done, (here, raw) in enumerate(_each(work, _workers(workers, len(truth), runs))):
        train, test = parts[done]
        la.append(_majority(truth[train], truth[test]))
        for name in chosen:
            ca[name].append(here[name])
            ba[name] += [raw[name]] if baseline else []
        progress(what, done + 1, runs)
    return {
        name: Comparison(
            Accuracy(*by_score(ca[name])), Accuracy(*by_score(ba[name])) if baseline else None, Accuracy(*by_score(la))
        )
        for name in chosen
    }


def _majority(learnt: Integers, truth: Integers) -> Scored:
    """The most frequent class of one part, predicted for all of another."""
    said = np.full(len(truth), np.bincount(learnt).argmax(), dtype=np.int64)
    return score(truth, said, np.zeros((len(truth), 1)))


Found = tuple[dict[str, Scored], dict[str, Scored]]
Work = tuple[CountsLessons | GroupsLessons, Mapping[str, Classifier | Own], Parts, bool]


def _once(work: Work) -> Found:
    """One run: a draft of the part to learn on, and every classifier on it and on the raw records."""
    subject, chosen, (train, test), baseline = work
    truth = subject.truth[test]
    made: Any = subject.release(train)
    ca = {name: _scored(subject.lesson(made, test, c.reads), truth, c) for name, c in chosen.items()}
    if not baseline:
        return ca, {}
    if isinstance(subject, GroupsLessons):
        raw = {reads: subject.raw(train, test, reads, made.form) for reads in {c.reads for c in chosen.values()}}
    else:
        raw = dict.fromkeys({c.reads for c in chosen.values()}, subject.raw(train, test, "values"))
    return ca, {name: _scored(raw[c.reads], truth, c) for name, c in chosen.items()}


def _workers(asked: int | None, records: int, runs: int) -> int:
    if asked is not None and asked < 1:
        raise UsageError(f"the number of workers is {asked}", "use at least one", code="SF-USAGE-028")
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
    model = _learnt(lesson, classifier)
    if isinstance(model, int):
        return np.full(len(lesson.test), model, dtype=np.int64)
    found: Integers = model.predict(lesson.test)
    return found


def _learnt(lesson: Lesson, classifier: Classifier | Own) -> Any:
    """A model that has learnt, or the one class that is all there is to say."""
    known = np.bincount(lesson.classes, weights=lesson.weights, minlength=1)
    if not lesson.learn.shape[1] or np.count_nonzero(known) <= 1:
        return int(known.argmax())
    model = classifier.estimator(lesson.numbers)
    model.fit(lesson.learn, lesson.classes, sample_weight=lesson.weights)
    return model


def _scored(lesson: Lesson, truth: Integers, classifier: Classifier | Own) -> Scored:
    model = _learnt(lesson, classifier)
    classes = 1 + int(max(lesson.classes.max(initial=0), truth.max(initial=0)))
    if isinstance(model, int):
        return score(truth, np.full(len(truth), model, dtype=np.int64), np.zeros((len(truth), classes)))
    said: Integers = np.asarray(model.predict(lesson.test), dtype=np.int64)
    return score(truth, said, class_scores(model, lesson.test, said, classes))
