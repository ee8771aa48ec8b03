"""The five classifiers: each learns what can be learnt, by name, with weights, and from both kinds of release."""

from dataclasses import replace

import numpy as np
import pytest

from sfumato.domains.boxes import Boxes
from sfumato.domains.counts import Cells
from sfumato.domains.cut import Cut
from sfumato.errors import InfeasibleError, StudyError, UsageError
from sfumato.evaluate.learning.accuracy import classification, classifications, predicted
from sfumato.evaluate.learning.classifiers import CLASSIFIERS, _Binned, decision_tree
from sfumato.evaluate.learning.lessons import Lesson, lessons, value_features
from sfumato.evaluate.learning.protocols import folds, parts_of, split
from sfumato.methods import Bucketization, DiffGen, Mondrian, Tds
from sfumato.methods.method import Context
from sfumato.privacy.models import DistinctLDiversity
from sfumato.release.draft import Groups
from sfumato.release.partition import Partition
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.evaluate.learning.test_accuracy import OF, by_diffgen, people
from tests.made_drafts import counts_draft, records_draft
from tests.raising import raises_code
from tests.small_domains import JOB, flat, grid

FIVE = ["decision-tree", "gradient-boosting", "logistic-regression", "naive-bayes", "svm"]
GROUPS = View(
    quasi=(
        Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=grid(0, 99)),
        Attribute(name="job", role=Role.QUASI_IDENTIFIER, domain=JOB),
    ),
    sensitive=(),
    others=(Attribute(name="class", role=Role.CLASS, domain=flat("N", "Y")),),
    unit=RecordUnit(),
)


def by_mondrian(view, cells):
    return Mondrian(k=5, ranges="partition").draft(view, cells)


KINDS = pytest.mark.parametrize(("view", "make"), [(OF, by_diffgen), (GROUPS, by_mondrian)], ids=["counts", "groups"])


def test_there_are_five():
    assert list(CLASSIFIERS) == FIVE
    for kind in CLASSIFIERS.values():
        assert kind.title and kind.summary and kind.reads in {"regions", "values"}


@pytest.mark.usefixtures("seeded")
@KINDS
def test_every_classifier_learns_from_either_kind_of_release(view, make):
    """The class follows the age, so each gets far beyond the most frequent class, from the release and from raw."""
    found = classifications(view, people(600), make, private=view is OF, runs=2)
    assert list(found) == FIVE
    for name, one in found.items():
        assert one.ca.mean > 0.9, name
        assert one.ba.mean > 0.93, name
        assert 0.55 < one.la.mean < 0.75
    assert len({one.la.runs for one in found.values()}) == 1


@pytest.mark.usefixtures("seeded")
@KINDS
def test_nothing_is_learnt_where_there_is_nothing(view, make):
    codes = people(600) | {"class": np.random.default_rng(2).integers(0, 2, 600)}
    for name, one in classifications(view, codes, make, private=view is OF, runs=3).items():
        assert abs(one.ca.mean - 0.5) < 0.1, name


@pytest.mark.parametrize("name", FIVE)
def test_a_weight_counts_as_so_many_records(name):
    """Rows with weights teach what the same rows written out teach."""
    rng = np.random.default_rng(5)
    rows = np.stack([rng.integers(0, 10, 60), *np.eye(3)[rng.integers(0, 3, 60)].T], axis=1).astype(float)
    classes = (rows[:, 0] + 3 * rows[:, 1] + rng.normal(0, 2, 60) > 5).astype(np.int64)
    weights = rng.integers(1, 30, 60)
    numbers = np.array([True, False, False, False])
    test = np.repeat(rows, 2, axis=0)
    learner = CLASSIFIERS[name]()
    once = predicted(Lesson(rows, classes, weights.astype(float), test, numbers), learner)
    whole = weights.sum()
    out = Lesson(np.repeat(rows, weights, axis=0), np.repeat(classes, weights), np.ones(whole), test, numbers)
    assert np.mean(once == predicted(out, learner)) > 0.97


def test_naive_bayes_is_the_textbook_one():
    """Against a loop over the product of shares, each with one record of every class added (Laplace)."""
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 3, 400), rng.integers(0, 4, 400)
    classes = ((first == 1) ^ (rng.random(400) < 0.2)).astype(np.int64)
    rows = np.hstack([np.eye(3)[first], np.eye(4)[second]])
    none = np.zeros(7, dtype=bool)
    found = predicted(Lesson(rows, classes, np.ones(400), rows, none), CLASSIFIERS["naive-bayes"]())
    for place in range(400):
        score = []
        for value in (0, 1):
            of = classes == value
            here = np.log(of.mean())
            here += np.log((of & (first == first[place])).sum() + 1)
            here += np.log((of & (second == second[place])).sum() + 1)
            score.append(here - 2 * np.log(2 * of.sum() + 7))
        assert found[place] == int(np.argmax(score))


def test_bins_hold_about_as_many_records_each():
    rows = np.arange(1600.0)[:, None]
    binned = _Binned(np.array([True]))
    binned.fit(rows, np.ones(1600))
    assert binned.transform(rows).sum(axis=0).tolist() == pytest.approx([100] * 16, abs=2)
    assert binned.transform(np.array([[-5.0], [9999.0]])).argmax(axis=1).tolist() == [0, 15]


def test_a_region_of_categories_is_shared_by_its_leaves():
    table, numbers = value_features([grid(0, 99), JOB], np.array([[0, 0], [10, 2]]), np.array([[10, 2], [11, 3]]))
    assert table.tolist() == [[4.5, 0.5, 0.5, 0, 0], [10, 0, 0, 1, 0]]
    assert numbers.tolist() == [True, False, False, False, False]


def test_a_missing_number_has_a_column_of_its_own():
    from tests.release.partitions import AGE

    starts, stops = np.array([[0], [100], [90]]), np.array([[100], [101], [101]])
    table, _ = value_features([AGE], starts, stops)
    assert table.tolist() == [[49.5, 0], [49.5, 1], [94.5, 1]]


def test_many_categories_are_one_number():
    wide = flat(*(f"v{n}" for n in range(1001)))
    table, numbers = value_features([wide], np.array([[7]]), np.array([[8]]))
    assert table.tolist() == [[7.0]] and numbers.tolist() == [True]


def test_la_and_ba_agree_with_a_second_implementation():
    """The same splits in a plain loop: the most frequent class, and a tree on codes, as the release is read."""
    from sklearn.tree import DecisionTreeClassifier

    codes = people(300)
    codes["class"] = np.where(np.random.default_rng(9).random(300) < 0.1, 1 - codes["class"], codes["class"])
    found = classification(GROUPS, codes, by_mondrian, private=False, runs=3)
    for run in range(3):
        order = np.random.default_rng([0, run]).permutation(300)
        learn, test = order[:200], order[200:]
        often = max((0, 1), key=lambda value: sum(codes["class"][place] == value for place in learn))
        assert found.la.runs[run] == sum(codes["class"][place] == often for place in test) / 100
        rows = np.array(
            [[codes["age"][n], codes["job"][n], codes["age"][n] + 1, codes["job"][n] + 1] for n in range(300)]
        )
        tree = DecisionTreeClassifier(
            criterion="entropy", ccp_alpha=2e-3, min_weight_fraction_leaf=2e-2, random_state=0
        ).fit(rows[learn], codes["class"][learn])
        assert found.ba.runs[run] == np.mean(tree.predict(rows[test]) == codes["class"][test])


@pytest.mark.parametrize(
    ("view", "make", "protocol"),
    [
        pytest.param(OF, by_diffgen, "split", id="split-counts"),
        pytest.param(GROUPS, by_mondrian, "folds", id="folds-groups"),
        pytest.param(OF, by_diffgen, "folds", id="folds-counts", marks=pytest.mark.slow),
        pytest.param(GROUPS, by_mondrian, "split", id="split-groups", marks=pytest.mark.slow),
    ],
)
def test_processes_give_what_one_process_gives(view, make, protocol):
    if view is OF:
        make = _sure
    alone = classifications(
        view, people(), make, private=view is OF, runs=3, protocol=protocol, classifiers=FIVE[:1] + FIVE[3:4]
    )
    shared = classifications(
        view, people(), make, private=view is OF, runs=3, protocol=protocol, classifiers=FIVE[:1] + FIVE[3:4], workers=2
    )
    assert alone == shared
    assert alone == classifications(
        view, people(), make, private=view is OF, runs=3, protocol=protocol, classifiers=FIVE[:1] + FIVE[3:4]
    )


def _sure(view, counter):
    """A draft without chance."""
    from sfumato.privacy.dp.accountant import Accountant
    from sfumato.privacy.dp.sampling import InsecureSource

    method = DiffGen(epsilon=10**9, h=2)
    return method.draft(view, counter, Context(accountant=Accountant(method.spends), source=InsecureSource(1)))


def test_progress_is_told_and_ends():
    told = []
    classification(GROUPS, people(), by_mondrian, private=False, runs=3, progress=lambda *now: told.append(now))
    assert told == [("learning from releases", done, 3) for done in range(4)]


def test_the_drafts_are_made_once_for_all_classifiers():
    made = []

    def make(view, cells):
        made.append(1)
        return by_mondrian(view, cells)

    classifications(GROUPS, people(), make, private=False, runs=2)
    assert len(made) == 2


def test_folds_test_every_record_once_with_the_classes_shared_out():
    classes = np.array([0] * 31 + [1] * 12 + [2] * 3)
    parts = folds(classes, 5, 7)
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(46))
    for learn, test in parts:
        assert set(learn).isdisjoint(test) and len(learn) + len(test) == 46
        assert len(test) in {9, 10}
        assert np.bincount(classes[test], minlength=3)[0] in {6, 7}
    assert [t.tolist() for _, t in folds(classes, 5, 7)] == [t.tolist() for _, t in parts]
    assert [t.tolist() for _, t in folds(classes, 5, 8)] != [t.tolist() for _, t in parts]


def test_a_split_leaves_a_third():
    (learn, test), other = split(np.zeros(90, np.int64), 2, 0)
    assert len(learn) == 60 and sorted([*learn, *test]) == list(range(90))
    assert not np.array_equal(test, other[1])


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"protocol": "holdout"}, UsageError, r"no protocol called 'holdout'.*split, folds"),
        ({"runs": 0}, UsageError, "the number of runs is 0"),
        ({"workers": 0}, UsageError, "the number of workers is 0"),
        ({"classifier": "oracle"}, UsageError, r"no classifier called 'oracle'.*naive-bayes"),
        ({"protocol": "folds", "runs": 1}, InfeasibleError, "cannot be divided into 1 folds"),
    ],
)
def test_what_cannot_be_is_refused(arguments, error, says):
    with pytest.raises(error, match=says):
        classification(GROUPS, people(30), by_mondrian, private=False, **arguments)


def test_too_few_records_are_refused():
    few = {name: column[:2] for name, column in people().items()}
    with raises_code(InfeasibleError, "SF-INFEASIBLE-001", match="2 records cannot be split"):
        classification(GROUPS, few, by_mondrian, private=False)
    with raises_code(InfeasibleError, "SF-INFEASIBLE-002", match="2 records cannot be divided into 10 folds"):
        parts_of("folds", few["class"], 10, 0)


def test_a_view_without_a_class_has_nothing_to_predict():
    view = View(quasi=GROUPS.quasi, sensitive=(), others=(), unit=RecordUnit())
    with raises_code(StudyError, "SF-STUDY-021"):
        classification(view, people(), by_mondrian, private=False)


def test_a_class_that_follows_the_regions_is_learnt_and_one_that_does_not_is_not():
    age = np.repeat(np.arange(100), 9)
    view = View(quasi=GROUPS.quasi[:1], sensitive=(), others=GROUPS.others, unit=RecordUnit())

    def make(of, cells):
        return Mondrian(k=20, ranges="partition").draft(of, cells)

    sharp = classification(view, {"age": age, "class": (age >= 50) * 1}, make, private=False, runs=3)
    assert sharp.ca.mean > 0.9, "only regions across 50 can be wrong, and k = 20 leaves them narrow"
    blind = classification(view, {"age": age, "class": age % 2}, make, private=False, runs=3)
    assert blind.ca.mean < 0.65, "neighbours of both classes share a region"


def test_buckets_teach_what_the_raw_records_teach():
    """They publish quasi-identifiers and class exactly; only the sensitive values are shuffled."""
    view = View(
        quasi=GROUPS.quasi[:1],
        sensitive=(Attribute(name="job", role=Role.SENSITIVE, domain=JOB),),
        others=GROUPS.others,
        unit=RecordUnit(),
    )
    method = Bucketization(privacy=(DistinctLDiversity(l=2),))
    found = classification(view, people(), method.draft, private=False, runs=2)
    assert found.ca.mean > 0.97


def test_suppressed_records_teach_nothing():
    def make(of, cells):
        return Tds(k=40, suppress="0.5").draft(of, cells) if _suppresses() else by_mondrian(of, cells)

    subject = lessons(GROUPS, people(), make, private=False)
    made = subject.release(np.arange(200))
    lesson = subject.lesson(made, np.arange(200, 300), "regions")
    assert lesson.weights.sum() == 200 - made.partition.suppressed
    assert len(lesson.test) == 100


def _suppresses():
    return "suppress" in Tds.__dataclass_fields__


def exactly(view, cells):
    """Groups whose regions are single values: nothing is generalised."""
    names = [a.name for a in view.quasi]
    column = [cells.attributes.index(name) for name in names]
    regions, group = np.unique(cells.codes[:, column], axis=0, return_inverse=True)
    boxes = Boxes(tuple(names), regions, regions + 1)
    return records_draft(view, Partition(cells, group.ravel().astype(np.int64), boxes), models=())


def one_by_one(of, counter):
    """Counts of all combinations of values, without noise."""
    cuts = tuple(Cut(a.name, tuple(range(a.domain.size)), a.domain.size) for a in of.predictors)
    cells = counter.cells([*cuts, Cut.finest("class", 2)])
    return counts_draft(of, Groups(cuts, cells.codes[:, :-1], cells.codes[:, -1], cells.counts))


def noisy_people(size=1_200):
    """Every value of both attributes occurs often, and the class follows jobs that are not next to each other."""
    rng = np.random.default_rng(4)
    age, job = np.arange(size) % 10, rng.integers(0, 4, size)
    told = ((job % 2 == 0) & (age > 3)).astype(np.int64)
    return {"age": age, "job": job, "class": np.where(rng.random(size) < 0.2, 1 - told, told)}


@pytest.mark.parametrize("kind", ["counts", "groups"])
@pytest.mark.parametrize("name", FIVE)
def test_raw_records_are_encoded_as_the_release_is(kind, name):
    """A release that generalises nothing teaches what the raw records teach, to the last record, for every learner."""
    view, make = (OF, one_by_one) if kind == "counts" else (GROUPS, exactly)
    found = classification(view, noisy_people(), make, private=view is OF, classifier=name, runs=2)
    assert found.ca.runs == pytest.approx(
        found.ba.runs, abs=1e-9 if name in {"decision-tree", "naive-bayes"} else 0.006
    )
    assert found.ca.mean > found.la.mean + 0.05


@pytest.mark.parametrize("role", [Role.INSENSITIVE, Role.SENSITIVE])
def test_all_published_columns_are_learnt_from(role):
    """What is published exactly beside the regions teaches, too: from the release and from the raw records alike."""
    tells = Attribute(name="tells", role=role, domain=flat("N", "Y"))
    view = View(
        quasi=GROUPS.quasi, unit=RecordUnit(),
        sensitive=(tells,) if role is Role.SENSITIVE else (),
        others=(*GROUPS.others, *((tells,) if role is Role.INSENSITIVE else ())),
    )  # fmt: skip
    codes = people(600) | {"class": np.random.default_rng(2).integers(0, 2, 600)}
    codes["tells"] = codes["class"]
    found = classification(view, codes, by_mondrian, private=False, runs=2)
    assert found.ca.mean == found.ba.mean == 1.0
    few = classifications(
        view, codes, by_mondrian, private=False, runs=2, classifiers=["decision-tree"], columns="quasi-identifiers"
    )
    assert abs(few["decision-tree"].ca.mean - 0.5) < 0.1
    assert abs(few["decision-tree"].ba.mean - 0.5) < 0.1


def test_shuffled_sensitive_values_are_learnt_from_neither_in_buckets_nor_beside_them():
    tells = Attribute(name="tells", role=Role.SENSITIVE, domain=flat("N", "Y"))
    view = replace(GROUPS, sensitive=(tells,))
    codes = people(300) | {"class": np.random.default_rng(2).integers(0, 2, 300)}
    codes["tells"] = codes["class"]
    made = replace(exactly(view, _cells(view, codes)), form="bucketized")
    subject, some = lessons(view, codes, exactly, private=False), np.arange(100)
    assert subject.lesson(made, some, "regions").learn.shape[1] == 4
    assert subject.raw(some, some, "regions", made.form).learn.shape[1] == 4


def _cells(view, codes):
    names = tuple(a.name for a in view.attributes)
    rows, counts = np.unique(np.stack([codes[n] for n in names], axis=1), axis=0, return_counts=True)
    return Cells(names, rows, counts.astype(np.int64))


def test_a_tree_of_few_records_has_no_leaf_of_a_handful():
    """Leaves of a thousandth of the weight would be single records here, and raw records learnt by heart."""
    for weight, leaf, bits in ((30_000, 30, 3), (20_000, 20, 2), (5_000, 20, 2), (1_000, 20, 2), (200, 4, 0.4)):
        tree = decision_tree(weight)
        assert tree.min_weight_fraction_leaf * weight == pytest.approx(leaf)
        assert tree.ccp_alpha * weight == pytest.approx(bits)
    rng = np.random.default_rng(8)
    codes = {"age": rng.integers(0, 100, 2_000), "job": rng.integers(0, 4, 2_000)}
    codes["class"] = ((codes["age"] >= 50) ^ (rng.random(2_000) < 0.35)).astype(np.int64)
    found = classification(GROUPS, codes, by_mondrian, private=False, runs=2)
    assert found.ba.mean > 0.62, "65 % can be had; before, noise was learnt and 57 % were left"
