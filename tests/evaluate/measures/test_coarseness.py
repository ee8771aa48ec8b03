"""The counting measures against record-by-record computations and worked examples."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from sfumato.domains.locate import count_contained
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import (
    AverageGroupSize,
    CellDivergence,
    ClassificationMetric,
    Discernibility,
    Distortion,
    GeneralLoss,
    Suppressed,
)
from sfumato.methods import Mondrian
from sfumato.release.region_loss import general_loss
from sfumato.release.shown import Shown, Values, shown_records
from tests.evaluate.evidences import adult, as_it_is, evidence_of, evidences, records_of, rows_of
from tests.methods.partition_tables import DECADES, DEEP, cells_of, partition_view
from tests.small_domains import JOB, grid


def groups_of(shown):
    """Sizes and classes of the groups of records with the same region."""
    sizes, classes = Counter(), {}
    for weight, ranges, pools in rows_of(shown):
        region = tuple((r.start, r.stop) for r in ranges.values())
        sizes[region] += weight
        found = classes.setdefault(region, Counter())
        for code, count in pools["class"].items():
            found[code] += weight * count / sum(pools["class"].values())
    return sizes, classes


@given(evidences())
def test_sizes_and_classes_agree_with_groups_made_by_hand(evidence):
    sizes, classes = groups_of(evidence.shown)
    published, gone = sum(sizes.values()), evidence.shown.suppressed
    discernible = sum(n * n for n in sizes.values()) + gone * evidence.records
    assert Discernibility().read(evidence).value == pytest.approx(discernible)
    if sizes:
        assert AverageGroupSize().read(evidence).value == pytest.approx(published / len(sizes))
    wrong = sum(sum(found.values()) - max(found.values()) for found in classes.values()) + gone
    assert ClassificationMetric().read(evidence).value == pytest.approx(wrong / (published + gone))
    assert Suppressed().read(evidence).value == pytest.approx(gone / evidence.records)


@given(evidences())
def test_general_loss_agrees_with_records_one_by_one(evidence):
    lost = []
    for weight, ranges, _ in rows_of(evidence.shown):
        for name, region in ranges.items():
            most = evidence.view.domain(name).size - 1
            lost.append((weight, (len(region) - 1) / most if most else 0.0))
    gone, width = evidence.shown.suppressed, len(evidence.view.quasi)
    wanted = (sum(w * x for w, x in lost) + gone * width) / ((evidence.shown.records + gone) * width)
    assert GeneralLoss().read(evidence).value == pytest.approx(wanted)


def test_general_loss_is_that_of_the_draft():
    view, cells = adult()
    draft = Mondrian(k=20).draft(view, cells)
    evidence = Evidence(view=view, raw=cells, shown=shown_records(draft))
    assert GeneralLoss().read(evidence).value == pytest.approx(general_loss(draft.partition, view))


@pytest.mark.parametrize(
    ("domain", "region", "wanted"),
    [
        (JOB, (0, 1), 0.0),
        (JOB, (0, 2), 0.5),  # Professional: one step of two
        (JOB, (1, 3), 1.0),  # no node but the root has both
        (JOB, (0, 4), 1.0),
        (DEEP, (3, 4), 0.0),  # a leaf that ends early is exact
        (DEEP, (0, 3), 1 / 3),
        (DEEP, (0, 4), 2 / 3),
        (DECADES, (0, 1), 0.0),
        (DECADES, (0, 2), 1 / 3),  # a leaf that is an interval is one step above its numbers
        (DECADES, (3, 5), 1 / 3),
        (grid(0, 15), (0, 4), 0.5),  # 16 points: two of four halvings are gone
        (grid(0, 0), (0, 1), 0.0),
    ],
)
def test_steps_up_a_taxonomy(domain, region, wanted):
    view = partition_view(sensitive=(), others=False, q=domain)
    cells = cells_of(view, [(region[0],)] * 2)
    shown = Shown(("q",), np.array([[region[0]]]), np.array([[region[1]]]), np.array([2.0]), {}, "generalised")
    assert Distortion().read(Evidence(view=view, raw=cells, shown=shown)).value == pytest.approx(wanted)
    lost = replace(shown, suppressed=2)
    assert Distortion().read(Evidence(view=view, raw=cells, shown=lost)).value == pytest.approx((1 + wanted) / 2)


def slow_divergence(evidence, name):
    """Every record of the table looked up in every row."""
    names = evidence.raw.attributes
    records = records_of(evidence)
    quasi = evidence.shown.attributes
    cells = Counter(tuple(r[names.index(n)] for n in (*quasi, name)) for r in records)
    found = Counter()
    for weight, ranges, pools in rows_of(evidence.shown):
        for cell in cells:
            if all(code in ranges[n] for n, code in zip(quasi, cell, strict=False)):
                share = pools[name].get(cell[-1], 0) / sum(pools[name].values())
                found[cell] += weight * share / math.prod(len(ranges[n]) for n in quasi)
    gone = evidence.shown.suppressed
    extra = gone or float(any(not found[cell] for cell in cells))
    even = extra / math.prod(evidence.view.domain(n).size for n in (*quasi, name))
    published = evidence.shown.records + extra
    total = len(records)
    return sum(n / total * math.log(n / total / ((found[c] + even) / published)) for c, n in cells.items())


@given(evidences())
def test_divergence_of_cells_agrees_with_a_slow_one(evidence):
    assert CellDivergence().read(evidence).value == pytest.approx(max(0, slow_divergence(evidence, "ill")), abs=1e-9)


@given(evidences())
def test_the_table_itself_loses_nothing(evidence):
    raw = as_it_is(evidence.view, evidence.raw)
    for measure in (GeneralLoss(), Distortion(), Suppressed(), CellDivergence()):
        assert measure.read(raw).value == pytest.approx(0.0, abs=1e-12)
    _, homes = count_contained(
        evidence.shown.starts, evidence.shown.stops, evidence.people[1].codes, evidence.people[1].counts
    )
    # A relaxed cut divides records that are alike, and so does suppressing some of them: the table itself does not.
    if np.all(homes <= 1) and not evidence.shown.suppressed:
        for measure in (Discernibility(), ClassificationMetric()):
            assert measure.read(raw).value <= measure.read(evidence).value + 1e-9


def test_losses_grow_with_k_on_adult():
    view, cells = adult()
    few, many = (evidence_of(view, cells, Mondrian(k=k)) for k in (10, 1000))
    for kind in (AverageGroupSize, CellDivergence, ClassificationMetric, Discernibility, Distortion, GeneralLoss):
        assert kind().read(few).value < kind().read(many).value, kind.name


def test_counts_and_tables_without_a_class_are_refused_in_words():
    view = partition_view(others=False, q=JOB)
    evidence = evidence_of(view, cells_of(view, [(0, 0), (1, 1)]), Mondrian(k=1))
    assert "class" in ClassificationMetric().refuses(evidence)
    values = Values(np.array([0]), evidence.shown.values["ill"].counts)
    counts = Shown(("q",), np.array([[0]]), np.array([[4]]), np.array([2.0]), {"ill": values}, "counts")
    assert "noisy counts" in Suppressed().refuses(Evidence(view=view, raw=evidence.raw, shown=counts))
