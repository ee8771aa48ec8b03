from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.errors import StudyError
from sfumato.methods import SCORES, ContingencyTable, DiffGen
from sfumato.methods.diffgen.forecast import auto_specializations, group_range
from sfumato.methods.method import Context
from sfumato.methods.noise.noisy_groups import CrossProduct, fitting_threshold, noise_rows
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import InsecureSource, SecureSource
from sfumato.study.unit import PersonUnit
from tests.examples import examples
from tests.raising import raises_code
from tests.small_domains import JOB, coded_tables, counter, flat, grid, view


def run(method, of, codes, source=None):
    accountant = Accountant(method.spends / of.unit.stability)
    return method.draft(
        of, counter(of, codes), Context(accountant=accountant, source=source or SecureSource())
    ), accountant


@settings(max_examples=examples(quick=16, slow=40))
@given(
    table=coded_tables(),
    epsilon=st.sampled_from(["0.1", "1", "3"]),
    h=st.sampled_from([1, 2, 5, "auto"]),
    score=st.sampled_from(list(SCORES)),
    post=st.sampled_from(["none", "scale", "least_squares"]),
)
@pytest.mark.error_rate(0, reason="holds for every draw")
def test_any_run_spends_exactly_its_epsilon_and_publishes_groups_of_its_cuts(table, epsilon, h, score, post):
    of, codes = table
    draft, accountant = run(DiffGen(epsilon=epsilon, h=h, score=score, post=post), of, codes)
    assert accountant.left == 0
    groups = draft.groups
    assert np.all(groups.counts >= 1)
    for column, cut in enumerate(groups.cuts):
        assert np.all((groups.regions[:, column] >= 0) & (groups.regions[:, column] < len(cut)))
    assert np.all((groups.classes >= 0) & (groups.classes < 2))
    rows = np.column_stack([groups.regions, groups.classes])
    assert rows.tolist() == sorted(map(list, {tuple(r) for r in rows.tolist()})), "sorted, each once"


@settings(max_examples=examples(quick=12, slow=30))
@given(table=coded_tables())
@pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e9")
def test_without_noise_every_choice_is_a_best_one_and_the_counts_are_true(table):
    """ε → ∞ equals the non-private specialization, checked by a slow second implementation."""
    of, codes = table
    draft, _ = run(DiffGen(epsilon=10**9, h=3), of, codes)
    groups = draft.groups
    assert groups.counts.sum() == len(codes["class"])
    regions = [cut.regions(codes[cut.attribute]) for cut in groups.cuts]
    for row, place, count in zip(groups.regions, groups.classes, groups.counts, strict=True):
        alike = np.all([r == v for r, v in zip(regions, row, strict=True)], axis=0) & (codes["class"] == place)
        assert count == alike.sum()
    if len(codes["class"]) and draft.facts["specializations"]:
        first = draft.facts["specializations"][0].split(":")[0]
        best = {a.name: best_score(a.domain, codes[a.name], codes["class"]) for a in of.predictors}
        assert best[first] == max(s for s in best.values() if s is not None)


def best_score(domain, codes, classes):
    """The largest `max` score of a root over all its split points, record by record."""
    if domain.free:
        options = [[(0, s), (s, domain.size)] for s in range(1, domain.size)]
    else:
        options = [list(domain.children(0, domain.size))]
    scores = [
        sum(max(np.sum((codes >= a) & (codes < b) & (classes == k)) for k in (0, 1)) for a, b in option)
        for option in options
        if option
    ]
    return max(scores, default=None)


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_it_stops_when_nothing_is_left_and_gives_the_rest_to_the_counts():
    of = view(job=flat("a", "b"))
    draft, accountant = run(DiffGen(epsilon=1, h=50), of, {"job": [0, 1, 1], "class": [0, 1, 1]})
    assert draft.facts["specializations"] == ["job: Any"]
    choice, counts = accountant.breakdown
    assert choice.epsilon == Fraction(1, 200)
    assert counts.epsilon == Fraction(199, 200)


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_an_empty_table_and_a_single_record_are_released_like_any_other():
    of = view(job=JOB, age=grid(0, 99))
    for records in (0, 1):
        codes = {"job": [2] * records, "age": [44] * records, "class": [1] * records}
        draft, accountant = run(DiffGen(epsilon=1, h=4), of, codes)
        assert accountant.left == 0
        assert len(draft.facts["specializations"]) == 4


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_constant_attributes_and_records_all_alike_are_no_error():
    of = view(job=JOB, one=flat("only"), point=grid(7, 7))
    codes = {"job": [0] * 9, "one": [0] * 9, "point": [0] * 9, "class": [0] * 9}
    draft, _ = run(DiffGen(epsilon=1, h=10), of, codes)
    assert [len(cut) for cut in draft.groups.cuts[1:]] == [1, 1], "what cannot be specialized stays at its root"


def test_an_observed_domain_is_refused_before_anything_is_spent():
    of = view(job=flat("a", "b", declared=False), age=grid(0, 9))
    accountant = Accountant(Fraction(1))
    for method in (DiffGen(epsilon=1), ContingencyTable(epsilon=1)):
        with raises_code(
            StudyError, "SF-STUDY-064", match=r"the domain of 'job' was read off the data.*domain: declared"
        ):
            method.draft(
                of,
                counter(of, {"job": [], "age": [], "class": []}),
                Context(accountant=accountant, source=SecureSource()),
            )
    assert accountant.spent == 0


def test_one_class_is_refused():
    with raises_code(
        StudyError, "SF-STUDY-066", match="the class 'class' has 1 declared value, so there is nothing to predict"
    ):
        DiffGen(epsilon=1).check(view(target=("Y",), job=JOB))


@pytest.mark.parametrize("h", [0, -3, "many", 2.5, True])
def test_a_senseless_h_is_refused(h):
    with raises_code(StudyError, "SF-STUDY-046"):
        DiffGen(epsilon=1, h=h)


@pytest.mark.parametrize("threshold", [0, -1, "high", True])
def test_a_senseless_threshold_is_refused(threshold):
    with raises_code(StudyError, "SF-STUDY-070"):
        DiffGen(epsilon=1, threshold=threshold)


@pytest.mark.parametrize("epsilon", ["0", "-1", "inf", "nan", "a lot", ""])
def test_a_senseless_epsilon_is_refused(epsilon):
    for method in (DiffGen, ContingencyTable):
        with pytest.raises(StudyError, match=r"write a positive number such as 1, 0.1 or 1/3"):
            method(epsilon=epsilon)


def test_an_unknown_score_names_those_there_are():
    with raises_code(StudyError, "SF-STUDY-109", match="choose one of: gini, info_gain, max"):
        DiffGen(epsilon=1, score="entropy")


@pytest.mark.error_rate(0, reason="holds for every draw")
def test_persons_with_several_records_get_that_much_more_noise():
    one = DiffGen(epsilon=1, h=2).forecast(view(job=JOB)).numbers["noise_scale"]
    three = DiffGen(epsilon=1, h=2).forecast(view(PersonUnit("id", 3), job=JOB)).numbers["noise_scale"]
    assert three == pytest.approx(3 * one)
    of = view(PersonUnit("id", 3), job=JOB)
    _, accountant = run(DiffGen(epsilon=1, h=2), of, {"job": [0, 1], "class": [0, 1]})
    assert accountant.spent == Fraction(1, 3), "at most three records: a third of ε for each"


def test_a_seeded_run_repeats_and_another_seed_does_not():
    of = view(job=JOB, age=grid(0, 99))
    codes = {"job": np.arange(40) % 4, "age": np.arange(40), "class": np.arange(40) % 2}

    def published(seed):
        draft, _ = run(DiffGen(epsilon=1, h=5), of, codes, InsecureSource(seed))
        return draft.groups.counts.tolist(), draft.facts["specializations"]

    assert published(1) == published(1)
    assert published(1) != published(2)


def brute_force_group_range(of, h):
    """All cuts reachable by exactly h specializations (or as many as there are), one by one."""
    start = tuple(((0, a.domain.size),) for a in of.predictors)
    level = {start}
    for _ in range(h):
        after = set()
        for cuts in level:
            for place, attribute in enumerate(of.predictors):
                for region in cuts[place]:
                    low, high = region
                    if attribute.domain.free:
                        options = [((low, s), (s, high)) for s in range(low + 1, high)]
                    else:
                        options = [attribute.domain.children(low, high)] if attribute.domain.children(low, high) else []
                    for option in options:
                        cut = tuple(sorted({*cuts[place], *option} - {region}))
                        after.add((*cuts[:place], cut, *cuts[place + 1 :]))
        if not after:
            break
        level = after
    sizes = [np.prod([len(cut) for cut in cuts]) * len(of.classes) for cuts in level]
    return min(sizes), max(sizes)


@pytest.mark.parametrize("h", [1, 2, 3, 4, 9])
def test_the_plan_knows_the_fewest_and_the_most_groups(h):
    of = view(job=JOB, sex=flat("f", "m", "x"), age=grid(0, 2))
    assert group_range(of, h) == brute_force_group_range(of, h)


def test_auto_h_grows_with_records_and_epsilon_and_never_falls_under_one():
    of = view(job=JOB, sex=flat("f", "m"), age=grid(0, 99))
    sizes = [auto_specializations(of, n, Fraction(1, 2)) for n in (-50, 0, 10, 1000, 30_000, 10**6)]
    assert sizes[0] == 1
    assert sizes == sorted(sizes)
    budgets = [auto_specializations(of, 30_000, Fraction(1, d)) for d in (1000, 100, 10, 1)]
    assert budgets == sorted(budgets)


@given(sizes=st.lists(st.integers(1, 50), min_size=1, max_size=5), data=st.data())
def test_numbering_groups_can_be_undone(sizes, data):
    product = CrossProduct(tuple(sizes))
    row = [data.draw(st.integers(0, size - 1)) for size in sizes]
    flat_number = product.number(np.array([row]))
    assert 0 <= flat_number[0] < product.total
    assert product.rows(flat_number).tolist() == [row]


def test_numbering_groups_works_beyond_machine_integers():
    product = CrossProduct((10**9, 10**9, 10**9, 2))
    rows = np.array([[0, 0, 0, 0], [999_999_999, 5, 7, 1]])
    assert product.rows(product.number(rows)).tolist() == rows.tolist()


@given(groups=st.integers(1, 10**12), scale=st.fractions(Fraction(1, 100), 10**5), size=st.integers(0, 10**6))
def test_the_fitting_threshold_is_the_smallest_that_fits(groups, scale, size):
    from math import expm1

    threshold = fitting_threshold(groups, scale, size)

    def mass(t):
        return noise_rows(groups, t, scale) * (t + 1 / expm1(min(1 / float(scale), 700)))

    assert mass(threshold) <= max(size, 1) / 10
    assert threshold == 1 or mass(threshold - 1) > max(size, 1) / 10


@pytest.mark.error_rate(2e-7, reason="noisy class totals that leave out one of 500 cells: 1.6e-7, scale 20 against 370")
def test_a_contingency_table_over_an_astronomical_domain_costs_what_it_publishes():
    of = view(a=grid(0, 10**9), b=grid(0, 10**9), c=grid(0, 10**9))
    rng = np.random.default_rng(5)
    codes = {name: rng.integers(0, 10**9, 500) for name in "abc"}
    codes = {name: np.repeat(column, 400) for name, column in codes.items()}
    codes["class"] = np.zeros(len(codes["a"]), dtype=np.int64)
    draft, accountant = run(ContingencyTable(epsilon=1), of, codes)
    assert draft.facts["groups"] == 2 * (10**9 + 1) ** 3
    assert accountant.left == 0
    # 500 cells of 400 records each stand far above any threshold; rows of noise hold about a tenth of the records.
    assert 500 <= len(draft.groups) < 2000
