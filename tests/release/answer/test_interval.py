"""The stated interval of a query holds the truth: over many random queries, and by its parts.

Tables, queries and noise are seeded, so nothing here is red by chance.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.domains.cut import Cut, cross_product
from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import VerifyError
from sfumato.methods import ContingencyTable, DiffGen
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import InsecureSource
from sfumato.release.answer.estimate import query
from sfumato.release.answer.interval import Noise
from sfumato.release.forms.noisy_counts.count_table import layout_of
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from sfumato.tables.arrays.array_counter import ArrayCounter
from tests.raising import raises_code

JOBS = [f"job {i}" for i in range(12)]
TREE = Node("Any", tuple(Node(f"field {f}", tuple(Node(j) for j in JOBS[f * 4 : f * 4 + 4])) for f in range(3)))


def grid(upper):
    return Grid(lower=Fraction(0), upper=Fraction(upper), step=Fraction(1), unit="integer")


def flat(*names):
    return Categories(taxonomy=Taxonomy.of(Node("Any", tuple(Node(name) for name in names))))


DOMAINS = {
    "age": grid(99),
    "hours": grid(80),
    "job": Categories(taxonomy=Taxonomy.of(TREE)),
    "sex": flat("f", "m"),
    "pay": flat("low", "high"),
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(7)
    n = 8_000
    age = np.clip(rng.normal(45, 18, n), 0, 99).astype(np.int64)
    job = np.minimum(rng.geometric(0.25, n) - 1, 11)
    hours = np.where(rng.random(n) < 0.5, 40, rng.integers(0, 81, n))
    sex = rng.integers(0, 2, n)
    pay = (rng.random(n) < 1 / (1 + np.exp(-(age - 60) / 12 + job / 4))).astype(np.int64)
    return {"age": age, "hours": hours, "job": job.astype(np.int64), "sex": sex, "pay": pay}


def attribute(name):
    role = Role.CLASS if name == "pay" else Role.QUASI_IDENTIFIER
    return Attribute(name=name, role=role, domain=DOMAINS[name])


def view():
    predictors = tuple(attribute(name) for name in DOMAINS if name != "pay")
    return View.of((*predictors, attribute("pay")), unit=RecordUnit())


def made(method, table, seed):
    counter = ArrayCounter(table, {"pay": 2})
    return method.draft(view(), counter, Context(accountant=Accountant(method.spends), source=InsecureSource(seed)))


def ask(draft, text):
    noise = Noise.of_facts(draft.facts, groups=float(cross_product(draft.groups.cuts)), classes=2)
    return query(layout_of(draft), draft.groups, text, noise=noise)


def comparison(rng):
    """A comparison as text, and the codes that satisfy it."""
    name = rng.choice(list(DOMAINS))
    size = DOMAINS[name].size
    if isinstance(DOMAINS[name], Grid):
        low, high = sorted(rng.integers(0, size, 2).tolist())
        return f"({name} >= {low} and {name} <= {high})", name, np.arange(low, high + 1)
    if name == "job" and rng.random() < 0.5:
        field = int(rng.integers(0, 3))
        return f"{name} = 'field {field}'", name, np.arange(4) + 4 * field
    codes = np.flatnonzero(rng.random(size) < 0.5)
    if not len(codes):
        codes = np.array([0])
    labels = ", ".join(f"'{DOMAINS[name].taxonomy.leaves[code]}'" for code in codes)
    return f"{name} in ({labels})", name, codes


def queries(table, number, seed):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        parts = [comparison(rng) for _ in range(int(rng.integers(1, 4)))]
        every = rng.random() < 0.7
        held = [np.isin(table[name], codes) for _, name, codes in parts]
        true = np.logical_and.reduce(held) if every else np.logical_or.reduce(held)
        yield (" and " if every else " or ").join(text for text, _, _ in parts), int(true.sum())


METHODS = [
    DiffGen(epsilon="0.1", h=10),
    DiffGen(epsilon="0.5", h=8, post="least_squares"),
    DiffGen(epsilon="0.5", h="auto", post="scale"),
    DiffGen(epsilon=1, h=6, threshold=8, post="none"),
    ContingencyTable(epsilon=4),
]
OTHERS = [
    DiffGen(epsilon="0.1", h=10, post="none"),
    DiffGen(epsilon=1, h=6, post="scale"),
    DiffGen(epsilon=1, h="auto"),
    DiffGen(epsilon=4, h=14),
    ContingencyTable(epsilon="0.5"),
    ContingencyTable(epsilon=2, post="none"),
    ContingencyTable(epsilon=10, post="least_squares"),
]


@pytest.mark.parametrize(
    "method", [*METHODS, *(pytest.param(method, marks=pytest.mark.slow) for method in OTHERS)], ids=str
)
def test_the_interval_of_500_random_queries_holds_the_truth_in_95_of_100(table, method):
    held = answered = decided = held_by_noise = 0
    for number in range(25):
        draft = made(method, table, number)
        for text, true in queries(table, 20, seed=number):
            found = ask(draft, text)
            held += found.low <= true <= found.high
            answered += found.count is not None
            decided += not found.assumes
            held_by_noise += not found.assumes and found.low <= true <= found.high
            assert found.confidence == 0.95
            assert found.count is None or found.low <= found.count <= found.high
    assert held >= 0.95 * 500
    assert held_by_noise >= 0.95 * decided  # also where only the noise is uncertain, and no region
    assert answered > 50


JOINED = "(age < 40 and sex = f) or (age >= 40 and sex = f)"


def test_parts_that_decide_a_region_only_together_are_counted(table):
    """Neither part is certain in a region of all ages, and both together are: the interval is that of `sex = f`."""
    method = DiffGen(epsilon=1, h=8, post="none")
    true, missed = int((table["sex"] == 0).sum()), 0
    for seed in range(25):
        found = ask(made(method, table, seed), JOINED)
        missed += not found.low <= true <= found.high
    assert missed <= 1


@pytest.mark.parametrize("post", ["class_totals", "none"])
@pytest.mark.parametrize("epsilon", ["0.1", "1"])
def test_many_classes_of_few_records_are_counted(table, epsilon, post):
    """40 classes and 60 records: nearly all totals are noise; cut off at 0 they would add up to too much."""
    countries = flat(*(f"country {i}" for i in range(40)))
    target = Attribute(name="country", role=Role.CLASS, domain=countries)
    few = View.of((*(attribute("sex"),), target), unit=RecordUnit())
    records = {"sex": table["sex"][:60], "country": table["age"][:60] % 40}
    method = ContingencyTable(epsilon=epsilon, post=post)
    truth = {"sex in (f, m)": 60, "sex = f": int((records["sex"] == 0).sum())}
    counter, missed = ArrayCounter(records, {"country": 40}), dict.fromkeys(truth, 0)
    for seed in range(100):
        draft = method.draft(few, counter, Context(accountant=Accountant(method.spends), source=InsecureSource(seed)))
        noise = Noise.of_facts(draft.facts, groups=float(cross_product(draft.groups.cuts)), classes=40)
        for text, true in truth.items():
            found = query(layout_of(draft), draft.groups, text, noise=noise)
            missed[text] += not found.low <= true <= found.high
    assert max(missed.values()) <= 5


@pytest.mark.parametrize("epsilon", ["2.7", "3.3", "10"])
def test_noise_of_less_than_a_record_is_rounded_outward(table, epsilon):
    """A single cell, and sums of few: the deviation is below 1 and the noise is 0, or a whole record."""
    method = ContingencyTable(epsilon=epsilon)
    small = {name: table[name] for name in ("sex", "pay")}
    few = View.of((*(attribute("sex"),), attribute("pay")), unit=RecordUnit())
    truth = {"sex = f and pay = high": (small["sex"] == 0) & (small["pay"] == 1), "sex = f": small["sex"] == 0}
    counter, missed = ArrayCounter(small, {"pay": 2}), dict.fromkeys(truth, 0)
    for seed in range(100):
        draft = method.draft(few, counter, Context(accountant=Accountant(method.spends), source=InsecureSource(seed)))
        for text, held in truth.items():
            found = ask(draft, text)
            missed[text] += not found.low <= held.sum() <= found.high
    assert max(missed.values()) <= 5


@pytest.mark.parametrize(
    "facts",
    [
        {"noise_scale": "x"}, {"noise_scale": -1.0}, {"noise_scale": True}, {"noisy_counts": {"cutoff": [2**62] * 2}},
        {"noisy_counts": {"unlisted": [-5, -5]}}, {"noisy_counts": {"factor": [0.0, 1.0]}},
        {"noisy_counts": {"cutoff": [1] * 100}}, {"noisy_counts": []}, {"noisy_totals": {"counts": [1]}},
        {"noisy_totals": {"counts": [2**62] * 2, "deviation": 1.0}}, {"threshold": 1.5}, {},
    ],
    ids=str,
)  # fmt: skip
def test_noise_that_no_release_has_is_refused(facts):
    told = facts if facts == {} or "noise_scale" in facts else {"noise_scale": 1.0, **facts}
    with raises_code(VerifyError, "SF-VERIFY-047"):
        Noise.of_facts(told, groups=8.0, classes=2)


def test_an_interval_is_no_wider_than_it_must_be(table):
    """With regions that decide the query and little noise the interval is narrow: 500 records of 8,000."""
    method = DiffGen(epsilon=4, h=6)
    draft = made(method, table, 1)
    found = ask(draft, "pay = high")
    true = int(table["pay"].sum())
    assert found.low <= true <= found.high
    assert found.high - found.low < 500
    assert found.assumes == ()


@given(scale=st.floats(0.3, 30), cutoff=st.integers(1, 60))
def test_a_listed_count_is_on_average_at_most_as_much_too_high_as_that_of_an_empty_group(scale, cutoff):
    """The step of the argument that the lower end rests on, by adding up the distribution of the noise."""
    alpha = np.exp(-1 / scale)
    x = np.arange(-2_000, 2_001)
    p = (1 - alpha) / (1 + alpha) * alpha ** np.abs(x)

    def excess(true):
        y = true + x
        return float(np.sum(p * y * (y >= cutoff))) - true

    at_zero = excess(0)
    assert all(excess(true) <= at_zero + 1e-9 for true in range(1, 4 * cutoff + 5))
    rate, beyond = alpha**cutoff / (1 + alpha), alpha / (1 - alpha)
    assert at_zero == pytest.approx(rate * (cutoff + beyond), rel=1e-6, abs=1e-9)


def test_totals_and_class_shares_are_unbiased_where_none_is_not(table):
    """Means over 40 seeded draws; with post: none the same table has a tenth too many records."""
    true = np.bincount(table["pay"], minlength=2)
    found = {}
    for post in ("class_totals", "none"):
        method = DiffGen(epsilon="0.2", h=8, post=post)
        totals = np.zeros(2)
        for seed in range(40):
            draft = method.draft(
                view(),
                ArrayCounter(table, {"pay": 2}),
                Context(accountant=Accountant(method.spends), source=InsecureSource(seed)),
            )
            totals += np.bincount(draft.groups.classes, weights=draft.groups.counts, minlength=2)
        found[post] = totals / 40
    deviation = 2**0.5 * 20 / 0.2 / 40**0.5  # of a mean of 40 bought totals
    assert np.all(np.abs(found["class_totals"] - true) < 4 * deviation)
    assert found["none"].sum() > 1.04 * true.sum()
    assert found["none"][1] / found["none"].sum() > true[1] / true.sum() + 0.02


def test_few_groups_are_added_up_in_place_of_buying_totals(table):
    method = DiffGen(epsilon=1, h=2)
    accountant = Accountant(method.spends)
    draft = method.draft(
        view(), ArrayCounter(table, {"pay": 2}), Context(accountant=accountant, source=InsecureSource(3))
    )
    assert "class totals" not in {spend.on for spend in accountant.breakdown}
    assert draft.facts["noisy_totals"]["deviation"] < 2**0.5 * 20
    assert np.bincount(draft.groups.classes, weights=draft.groups.counts).tolist() == [
        max(total, 0) for total in draft.facts["noisy_totals"]["counts"]
    ]
    assert isinstance(draft.groups.cuts[0], Cut)


@pytest.mark.parametrize("post", ["scale", "least_squares"])
def test_few_groups_are_added_up_in_place_of_buying_a_size(table, post):
    """A size for ε/100 was off by 71 records, and rows were fitted to it that together tell the size to about 4."""
    method = ContingencyTable(epsilon=2, post=post)
    few = View.of((*(attribute("job"),), attribute("pay")), unit=RecordUnit())
    for seed in range(10):
        accountant = Accountant(method.spends)
        draft = method.draft(
            few, ArrayCounter(table, {"pay": 2}), Context(accountant=accountant, source=InsecureSource(seed))
        )
        assert [spend.on for spend in accountant.breakdown] == ["counts of all groups"]
        deviation = draft.facts["noisy_totals"]["deviation"]
        assert deviation == pytest.approx((2 * 24) ** 0.5 / 2)
        assert abs(int(draft.groups.counts.sum()) - 8_000) < 5 * deviation
