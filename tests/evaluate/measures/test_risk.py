"""Risk figures by hand, and estimators of population uniqueness on made-up populations."""

from collections import Counter
from dataclasses import replace
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.counts import Cells
from sfumato.errors import StudyError, UsageError
from sfumato.evaluate.evidence import Evidence
from sfumato.evaluate.measures import (
    MEASURES,
    JournalistRisk,
    MarketerRisk,
    PopulationUniques,
    ProsecutorRisk,
    RecordsAtRisk,
    SampleUniques,
)
from sfumato.evaluate.measures.risk import pitman, zayatz
from sfumato.methods import Mondrian
from tests.evaluate.evidences import adult, evidence_of, evidences, rows_of

RISKS = (JournalistRisk, MarketerRisk, PopulationUniques, ProsecutorRisk, RecordsAtRisk, SampleUniques)


def sizes_of(shown):
    found = Counter()
    for weight, ranges, _ in rows_of(shown):
        found[tuple((r.start, r.stop) for r in ranges.values())] += weight
    return found


@given(evidences(forms=("generalised", "bucketized", "suppressed")), st.sampled_from([0.1, 0.2, 0.5]))
def test_risks_agree_with_groups_made_by_hand(evidence, threshold):
    sizes = list(sizes_of(evidence.shown).values())
    if not sizes:
        assert ProsecutorRisk().refuses(evidence) == "the release contains no records"
        return
    records = sum(sizes)
    found = ProsecutorRisk(threshold=threshold).read(evidence)
    assert found.value == pytest.approx(1 / min(sizes))
    assert found.details["average"] == pytest.approx(len(sizes) / records)
    at_risk = sum(size for size in sizes if 1 / size > threshold)
    assert RecordsAtRisk(threshold=threshold).read(evidence).value == pytest.approx(at_risk / records)
    assert MarketerRisk().read(evidence).value == pytest.approx(len(sizes) / records)
    assert SampleUniques().read(evidence).value == pytest.approx(sizes.count(1) / records)
    assert JournalistRisk().read(evidence).value == found.value


@given(evidences(forms=("generalised", "bucketized")), st.data())
def test_a_population_lowers_the_journalists_risk(evidence, data):
    names = tuple(a.name for a in evidence.view.quasi)
    raw = evidence.people[1]
    more = data.draw(st.lists(st.integers(0, 3), min_size=len(raw), max_size=len(raw)))
    population = Cells(names, raw.codes, raw.counts + np.array(more))
    regions = sizes_of(evidence.shown)
    people = {
        region: sum(
            n for codes, n in zip(raw.codes.tolist(), population.counts.tolist(), strict=True)
            if all(a <= code < b for code, (a, b) in zip(codes, region, strict=True))
        )
        for region in regions
    }  # fmt: skip
    found = JournalistRisk(population=population).read(evidence)
    assert found.value == pytest.approx(max(1 / max(people[region], n) for region, n in regions.items()))
    assert found.value <= ProsecutorRisk().read(evidence).value


def test_a_sample_has_the_table_as_its_population():
    evidence = evidence_of(*adult(), Mondrian(k=10))
    sample = Evidence(view=evidence.view, raw=evidence.raw, shown=replace(evidence.shown, rate=0.5))
    assert JournalistRisk().read(sample).value == pytest.approx(ProsecutorRisk().read(sample).value / 2)
    assert "sampling rate" in JournalistRisk().read(sample).details["population"]
    assert PopulationUniques().refuses(sample) is None


def test_a_population_without_the_quasi_identifiers_is_refused_in_words():
    evidence = evidence_of(*adult(), Mondrian(k=10))
    lacking = Cells(("age",), np.array([[3]]), np.array([1]))
    assert "lacks" in JournalistRisk(population=lacking).refuses(evidence)


@pytest.mark.parametrize("kind", RISKS, ids=lambda kind: kind.name)
def test_noisy_counts_are_refused_in_words(kind):
    evidence = evidence_of(*adult(), Mondrian(k=500))
    counts = Evidence(
        view=evidence.view, raw=evidence.raw, shown=replace(evidence.shown, form="noisy-counts", noisy=True, rate=0.5)
    )
    assert "contain no records" in kind().refuses(counts)
    assert MEASURES[kind.name] is kind


def seated(people, theta, alpha, seed):
    """A population of Pitman's model, made person by person: each starts a group or joins one."""
    draw = np.random.default_rng(seed)
    sizes, group = [], []
    for person in range(people):
        if draw.random() < (theta + alpha * len(sizes)) / (theta + person):
            group.append(len(sizes))
            sizes.append(1)
            continue
        while True:  # a group of size s with chance (s − α)/(people so far − α·groups)
            chosen = group[draw.integers(person)]
            if draw.random() < (sizes[chosen] - alpha) / sizes[chosen]:
                break
        sizes[chosen] += 1
        group.append(chosen)
    return np.array(group)


def sampled(group, fraction, seed=1):
    drawn = np.random.default_rng(seed).choice(group, int(len(group) * fraction), replace=False)
    return Counter(Counter(drawn.tolist()).values())


@pytest.mark.parametrize(("theta", "alpha"), [(50, 0.3), (500, 0.6), (10, 0.8)])
def test_pitmans_estimate_is_within_a_fifth_on_populations_of_its_model(theta, alpha):
    group = seated(20_000, theta, alpha, seed=3)
    true = int((np.bincount(group) == 1).sum())
    assert pitman(sampled(group, 0.1), len(group)) == pytest.approx(true, rel=0.2)


@pytest.mark.parametrize(("theta", "alpha"), [(50, 0.3), (500, 0.6), (10, 0.8)])
def test_zayatzs_estimate_is_within_a_fifth_where_half_of_the_population_is_seen(theta, alpha):
    group = seated(20_000, theta, alpha, seed=3)
    true = int((np.bincount(group) == 1).sum())
    assert zayatz(sampled(group, 0.5), len(group)) == pytest.approx(true, rel=0.2)


@given(st.dictionaries(st.integers(1, 6), st.integers(1, 20), min_size=1), st.sampled_from([0.1, 0.5, 1.0]))
def test_zayatzs_formula_term_by_term(groups, fraction):
    n = sum(size * many for size, many in groups.items())
    people = round(n / fraction)
    u = sum(groups.values())
    drawn = {j: j * comb(people - j, n - 1) / comb(people, n) for j in groups}
    below = sum(groups[j] / u * drawn[j] for j in groups)
    unique = groups.get(1, 0)
    wanted = unique * (unique / u * drawn[1] / below) * people / n if unique else 0.0
    assert zayatz(groups, people) == pytest.approx(min(wanted, people), rel=1e-6)


@given(st.dictionaries(st.integers(1, 6), st.integers(1, 20), min_size=1), st.sampled_from([0.1, 0.5, 1.0]))
def test_estimates_are_numbers_of_people(groups, fraction):
    people = sum(size * many for size, many in groups.items()) / fraction
    assert 0 <= pitman(groups, people) <= people
    assert 0 <= zayatz(groups, people) <= people


def test_all_of_the_population_seen_leaves_its_uniques():
    groups = {1: 40, 2: 30, 5: 3}
    assert zayatz(groups, sum(size * many for size, many in groups.items())) == pytest.approx(40)


def test_uniqueness_needs_a_fraction_and_falls_with_generalisation():
    raw, blurred = evidence_of(*adult()), evidence_of(*adult(), Mondrian(k=2))
    assert "fraction" in PopulationUniques().refuses(raw)
    for estimator in ("pitman", "zayatz"):
        measure = PopulationUniques(fraction=0.01, estimator=estimator)
        assert measure.read(blurred).value < measure.read(raw).value < SampleUniques().read(raw).value


def test_parameters_out_of_range_are_refused():
    with pytest.raises(UsageError):
        ProsecutorRisk(threshold=2)
    with pytest.raises(UsageError):
        PopulationUniques(fraction=0)
    with pytest.raises(StudyError):
        PopulationUniques(fraction=0.1, estimator="guess")
