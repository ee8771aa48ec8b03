"""Privacy loss and own-record loss of whole releases: exact, noisy, and measured tables."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from scipy.sparse import csr_array

from sfumato.domains.counts import Cells
from sfumato.domains.cut import Cut
from sfumato.evaluate.beliefs.model_beliefs import model_losses
from sfumato.evaluate.beliefs.noisy_cells import cell_table
from sfumato.evaluate.beliefs.own_noisy import largest_loss
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import MEASURES
from sfumato.evaluate.measures.own_record_loss import BOUND
from sfumato.methods import Staged
from sfumato.methods.method import Context
from sfumato.methods.noise.post_processing import POSTS, post_process
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import InsecureSource
from sfumato.release.draft import Groups
from sfumato.release.form import FORMS
from sfumato.release.model.records import draw_records
from sfumato.release.shown import shown_counts
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import PersonUnit, RecordUnit
from sfumato.study.view import View
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.evaluate.beliefs.plain_posterior import js
from tests.evaluate.evidences import evidences
from tests.evaluate.releases import shown_of
from tests.made_drafts import counts_draft
from tests.small_domains import flat, grid

AGE = Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=grid(0, 39))
TOWN = Attribute(name="town", role=Role.QUASI_IDENTIFIER, domain=flat("here", "there"))
JOB = Attribute(name="job", role=Role.SENSITIVE, domain=flat("smith", "cook", "clerk"))
ILL = Attribute(name="ill", role=Role.CLASS, domain=flat("no", "yes"))
VIEW = View(quasi=(AGE, TOWN), sensitive=(JOB,), others=(ILL,), unit=RecordUnit())
NAMES = ("age", "town", "job", "ill")
LOSSES = ("ploss", "mean-ploss", "own-record-loss")


def people(size=600, seed=0):
    """The old are clerks and ill, mostly."""
    rng = np.random.default_rng(seed)
    age, town = rng.integers(0, 40, size), rng.integers(0, 2, size)
    old = (age >= 20).astype(int)
    job = np.where(rng.random(size) < 0.7, 2 * old, rng.integers(0, 3, size))
    ill = np.where(rng.random(size) < 0.8, old, 1 - old)
    codes, counts = np.unique(np.stack([age, town, job, ill], axis=1), axis=0, return_counts=True)
    return Cells(NAMES, codes, counts)


def published(cells, cuts, scale, threshold=1, post="none", seed=1, view=VIEW):
    """Noisy counts of all combinations of the cuts and the class, as a method would publish them."""
    rng = np.random.default_rng(seed)
    sizes = (*(cut.total for cut in cuts), 2)
    columns = [cut.regions(cells.codes[:, NAMES.index(cut.attribute)]) for cut in cuts]
    flat_numbers = np.ravel_multi_index((*columns, cells.codes[:, 3]), sizes)
    true = np.bincount(flat_numbers, weights=cells.counts, minlength=int(np.prod(sizes))).astype(np.int64)
    stop = -np.expm1(-1 / scale)
    noisy = true + rng.geometric(stop, true.shape) - rng.geometric(stop, true.shape)
    kept = np.flatnonzero(noisy >= threshold)
    rows = np.stack(np.unravel_index(kept, sizes), axis=1)
    listed = Groups(tuple(cuts), rows[:, :-1], rows[:, -1], noisy[kept])
    needs = {"none": None, "size": (int(noisy.sum()),), "classes": tuple(noisy.reshape(-1, 2).sum(axis=0).tolist())}
    groups, undo = post_process(listed, post, needs[POSTS[post].needs], threshold=threshold, classes=2)
    facts = {"noise_scale": scale, "threshold": threshold, "noisy_counts": undo.as_json()}
    of = View.of((AGE, TOWN, JOB, ILL), unit=view.unit)
    draft = counts_draft(of, groups, facts, epsilon=Fraction(1 / scale).limit_denominator(1000))
    return Evidence(view=VIEW, raw=cells, shown=shown_counts(draft, ("age", "town"))), listed


CUTS = (Cut("age", (0, 10, 20, 30), 40), Cut("town", (0, 1), 2), Cut("job", (0, 1, 2), 3))


def read(evidence, *names):
    return [MEASURES[name]().read(evidence).value for name in names]


def exact(cells, cuts=CUTS):
    """Worst and mean loss of exact counts of the same groups, by hand."""
    group = np.stack([cut.regions(cells.codes[:, n]) for n, cut in enumerate(cuts[:2])], axis=1)
    table = np.zeros((4, 2, 3))
    np.add.at(table, (group[:, 0], group[:, 1], cells.codes[:, 2]), cells.counts)
    prior = (table.sum(axis=(0, 1)) / table.sum()).tolist()
    losses = [(js((row / row.sum()).tolist(), prior), row.sum()) for row in table.reshape(-1, 3)]
    return max(loss for loss, _ in losses), sum(a * b for a, b in losses) / sum(b for _, b in losses)


@given(evidences())
def test_exact_values_lose_what_the_paper_says_to_the_last_digit(evidence):
    if MEASURES["ploss-li"]().refuses(evidence) is not None:
        return
    assert read(evidence, "ploss", "mean-ploss") == read(evidence, "ploss-li", "mean-ploss-li")


def test_hardly_any_noise_is_none():
    cells = people()
    evidence, _ = published(cells, CUTS, 0.02)
    assert read(evidence, "ploss", "mean-ploss") == pytest.approx(exact(cells), rel=1e-6)


def test_it_rises_with_epsilon_and_noise_alone_tells_nothing():
    """Averaged over draws: one draw of the noise may show more than there is, or less."""
    cells = people()
    drawn = [
        [read(published(cells, CUTS, scale, seed=seed)[0], *LOSSES) for seed in range(3)]
        for scale in (100.0, 20.0, 2.0, 0.1)
    ]
    assert max(worst for worst, _, _ in drawn[0]) <= 0.01
    worst, mean, own = np.mean(drawn, axis=1).T
    assert own.tolist() == sorted(own)
    for values, limit in zip((worst, mean), exact(cells), strict=True):
        capped = np.minimum(values, 0.999 * limit).tolist()
        assert capped == sorted(capped), "up to the exact loss"
        assert values.max() <= 1.25 * limit, "and hardly beyond it: noise on a group looks like a difference, too"
        assert values[-1] == pytest.approx(limit, rel=0.02)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_an_attribute_that_is_one_region_loses_nothing_at_all(scale):
    cuts = (*CUTS[:2], Cut("job", (0,), 3))
    evidence, _ = published(people(), cuts, scale)
    assert read(evidence, *LOSSES) == [0.0, 0.0, 0.0]
    assert read(evidence, "ploss-li")[0] > 0.01, "spread evenly over the jobs, which are not equally frequent"


def test_a_coarse_value_is_spread_by_the_table():
    cells = people()
    coarse = (*CUTS[:2], Cut("job", (0, 2), 3))
    told, _ = published(cells, coarse, 0.02)
    merged = Cells(NAMES, np.where(np.arange(4) == 2, np.maximum(cells.codes, 1), cells.codes), cells.counts)
    same = Evidence(view=VIEW, raw=merged, shown=published(merged, coarse, 0.02)[0].shown)
    assert read(told, "ploss") == pytest.approx(read(same, "ploss"), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 4.0])
def test_the_own_record_moves_belief_by_at_most_the_bound(epsilon):
    evidence, _ = published(people(size=80), CUTS, 1 / epsilon, threshold=2)
    reading = MEASURES["own-record-loss"]().read(evidence)
    assert 0 < reading.value <= reading.details[BOUND] == pytest.approx(largest_loss(epsilon), rel=1e-2)
    assert reading.details["mean"] <= reading.value


@pytest.mark.parametrize("post", sorted(POSTS))
def test_post_processing_is_undone(post):
    cells = people()
    evidence, listed = published(cells, CUTS, 3.0, threshold=4, post=post)
    table = cell_table(evidence, evidence.shown.source)
    keys = {tuple(row): count for row, count in zip(np.column_stack([listed.regions, listed.classes]).tolist(),
                                                    listed.counts.tolist(), strict=True)}  # fmt: skip
    groups = evidence.shown.source.groups
    rows = np.column_stack([groups.regions, groups.classes]).tolist()
    true = np.array([keys[tuple(row)] for row in rows])
    assert len(true) == len(table.low) and ((table.low <= true) & (true <= table.high)).all()
    gone = [count for row, count in keys.items() if list(row) not in rows]
    assert all(count < table.thresholds.max() for count in gone)
    plain = read(published(cells, CUTS, 3.0, threshold=4)[0], "ploss")
    assert read(evidence, "ploss") == pytest.approx(plain, rel=0.25)


def test_people_of_whom_nothing_is_published_count_too():
    cells = people(size=60)
    evidence, _ = published(cells, CUTS, 1.0, threshold=500)
    assert len(evidence.shown) == 0
    reading = MEASURES["ploss"]().read(evidence)
    assert reading.details["records with the largest"] == 60
    assert MEASURES["ploss"]().refuses(evidence) is None


def test_what_is_refused_says_why():
    evidence, _ = published(people(size=60), CUTS, 1.0)
    own, loss = MEASURES["own-record-loss"](), MEASURES["ploss"]()
    persons, _ = published(people(size=60), CUTS, 1.0, view=replace(VIEW, unit=PersonUnit("who", 3)))
    assert "up to 3 records" in own.refuses(persons) and loss.refuses(persons) is None
    silent = replace(evidence, shown=replace(evidence.shown, source=None, epsilon=None))
    assert "noise" in own.refuses(silent) and "noise" in loss.refuses(silent)
    rows = shown_of(VIEW, [(((0, 40), (0, 2)), 60.0)], {"job": ([0], [[20, 20, 20]]), "ill": ([0], [[30, 30]])})
    exactly = replace(evidence, shown=rows)
    assert own.refuses(exactly) is None
    assert "sample" in own.refuses(replace(exactly, shown=replace(rows, rate=0.5)))


def test_the_own_record_of_exact_classes_is_counted_by_region():
    """Rows of one region that are listed apart, as in the table itself, are one class."""
    values = {"job": ([0, 1], [[1, 0, 0], [0, 3, 0]]), "ill": ([0, 1], [[1, 0], [3, 0]])}
    rows = shown_of(VIEW, [(((0, 1), (0, 1)), 1.0), (((0, 1), (0, 1)), 3.0)], values)
    raw = Cells(NAMES, np.array([[0, 0, 0, 0], [0, 0, 1, 0]]), np.array([1, 3]))
    [found] = read(Evidence(view=VIEW, raw=raw, shown=rows), "own-record-loss")
    assert found == pytest.approx(js([0.25, 0.75], [0.0, 1.0]))
    alone = shown_of(VIEW, [(((0, 1), (0, 1)), 1.0)], {"job": ([0], [[1, 0, 0]]), "ill": ([0], [[1, 0]])})
    [found] = read(Evidence(view=VIEW, raw=raw, shown=alone), "own-record-loss")
    assert found == pytest.approx(js([1.0, 0.0], [0.25, 0.75]))


def staged(cells, epsilon, seed=0):
    """Measured tables beside the table, drawn from a seed."""
    codes = {name: np.repeat(cells.codes[:, n], cells.counts) for n, name in enumerate(NAMES)}
    of = View.of((AGE, TOWN, JOB, ILL), unit=RecordUnit())
    method = Staged(epsilon=epsilon)
    context = Context(accountant=Accountant(method.spends), source=InsecureSource(seed))
    draft = method.draft(of, ArrayCounter(codes, {"ill": 2}), context)
    return Evidence(view=VIEW, raw=cells, shown=FORMS[draft.form].shown(draft, VIEW, {}))


@pytest.mark.parametrize("epsilon", ["1", "20"])
def test_the_belief_of_measured_tables_is_what_their_model_draws(epsilon):
    """Synthetic records in great number have the sensitive values that the likelihood says, given the others."""
    evidence = staged(people(3000), epsilon)
    tables = evidence.shown.source
    drawn, _ = draw_records(tables, 400_000, np.random.default_rng(2))
    found = model_losses(evidence, tables, "job", as_drawn=True)
    cuts = tables.cuts
    many = cuts["job"].total
    prior = np.bincount(cuts["job"].regions(evidence.column("job")), weights=evidence.raw.counts, minlength=many)
    prior = (prior / prior.sum()).tolist()
    _, distinct = evidence.people
    checked = 0
    for row in range(0, len(distinct.codes), 7):
        known = dict(zip(distinct.attributes, distinct.codes[row], strict=True))
        alike = np.ones(400_000, bool)
        for name, code in known.items():
            if name in cuts:
                alike &= drawn[name] == int(cuts[name].regions(np.array([code]))[0])
        if alike.sum() < 3000:
            continue
        belief = np.bincount(drawn["job"][alike], minlength=many) / alike.sum()
        assert found.uncalibrated[row] == pytest.approx(js(belief.tolist(), prior), abs=0.01)
        checked += 1
    assert checked


def test_measured_tables_lose_little_under_noise_and_have_the_bound_for_the_own_record():
    cells = people(3000)
    worst = [read(staged(cells, epsilon), "ploss")[0] for epsilon in ("0.01", "20")]
    assert worst[0] <= 0.01 < worst[1]
    reading = MEASURES["own-record-loss"]().read(staged(cells, "1"))
    assert reading.value == reading.details[BOUND] == largest_loss(1.0)
    assert "bound" in reading.details["kind"]


def test_the_class_is_protected_where_nothing_is_sensitive():
    cells = people(3000)
    whole = staged(cells, "20")
    bare = replace(VIEW, sensitive=(), others=(replace(JOB, role=Role.INSENSITIVE), ILL))
    evidence = Evidence(view=bare, raw=cells, shown=whole.shown)
    [loss] = read(evidence, "ploss")
    assert 0.01 < loss < np.log(2)
    assert isinstance(csr_array(whole.shown.values["ill"].counts), csr_array)
