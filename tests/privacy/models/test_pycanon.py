"""The models against pycanon, which measures what a table achieves, on a sample of the packaged census table.

pycanon gives the parameter that all groups achieve; ours must hold for all groups exactly on its side. Where the
definitions differ, the test says how.
"""

import math
from importlib import resources

import numpy as np
import pandas as pd
import pytest
from pycanon import anonymity

from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import parse_models
from tests.small_domains import flat, grid

QUASI = ["age", "sex", "married"]  # one alone would make pandas warn about how pycanon groups
SAMPLE = 2_000
SLACK = 1e-9  # pycanon works in floating point


@pytest.fixture(scope="module")
def people():
    with resources.as_file(resources.files("sfumato") / "data" / "adult" / "adult.parquet") as path:
        table = pd.read_parquet(path).iloc[:SAMPLE]
    return pd.DataFrame(
        {
            "age": (table["age"] // 50).astype(str),
            "sex": table["sex"],
            "married": table["marital_status"].str.startswith("Married").astype(str),
            "all": "all",
            "occupation": table["occupation"],
            "education_num": table["education_num"],
        }
    ).reset_index(drop=True)


@pytest.fixture(scope="module")
def groups(people):
    place = people.groupby(QUASI).ngroup().to_numpy()
    domains = {"occupation": flat(*sorted(people["occupation"].unique())), "education_num": grid(0, 20)}
    codes = {name: domain.encode(people[name].tolist()) for name, domain in domains.items()}
    return Statistics.of(place, np.ones(len(place), np.int64), codes, domains, groups=int(place.max()) + 1)


def holds(groups, name, **given):
    (model,) = parse_models({name: given})
    return bool(model.holds(groups).all())


def text(number):
    return f"{number:.12f}"


BOTH = pytest.mark.parametrize("attribute", ["occupation", "education_num"])


def test_the_sample_has_several_groups(groups):
    assert len(groups) >= 8 and groups.sizes.min() > 1


def test_k_anonymity(people, groups):
    k = anonymity.k_anonymity(people, QUASI)
    assert holds(groups, "k-anonymity", k=k) and not holds(groups, "k-anonymity", k=k + 1)


@BOTH
def test_distinct_l_diversity(people, groups, attribute):
    most = anonymity.l_diversity(people, QUASI, [attribute])
    assert holds(groups, "distinct-l-diversity", l=most, attribute=attribute)
    assert not holds(groups, "distinct-l-diversity", l=most + 1, attribute=attribute)


@BOTH
def test_entropy_l_diversity(people, groups, attribute):
    """pycanon rounds down to a whole number."""
    most = anonymity.entropy_l_diversity(people, QUASI, [attribute])
    assert holds(groups, "entropy-l-diversity", l=most, attribute=attribute)
    assert not holds(groups, "entropy-l-diversity", l=most + 1, attribute=attribute)


@BOTH
def test_alpha_k_anonymity(people, groups, attribute):
    alpha, k = anonymity.alpha_k_anonymity(people, QUASI, [attribute])
    assert holds(groups, "alpha-k-anonymity", alpha=text(alpha + SLACK), k=k, attribute=attribute)
    assert not holds(groups, "alpha-k-anonymity", alpha=text(alpha - SLACK), k=k, attribute=attribute)
    assert not holds(groups, "alpha-k-anonymity", alpha=text(alpha + SLACK), k=k + 1, attribute=attribute)


@pytest.mark.parametrize(("attribute", "distance"), [("occupation", "equal"), ("education_num", "ordered")])
def test_t_closeness(people, groups, attribute, distance):
    """pycanon takes the equal distance for text and the ordered one for numbers, over the values of the table."""
    t = anonymity.t_closeness(people, QUASI, [attribute])
    assert 0.01 < t < 1
    assert holds(groups, "t-closeness", t=text(t + SLACK), distance=distance, attribute=attribute)
    assert not holds(groups, "t-closeness", t=text(t - SLACK), distance=distance, attribute=attribute)


@BOTH
def test_basic_beta_likeness(people, groups, attribute):
    beta = anonymity.basic_beta_likeness(people, QUASI, [attribute])
    assert holds(groups, "basic-beta-likeness", beta=text(beta + SLACK), attribute=attribute)
    assert not holds(groups, "basic-beta-likeness", beta=text(beta - SLACK), attribute=attribute)


@BOTH
def test_delta_disclosure(people, groups, attribute):
    """pycanon passes over values that a group does not have; for us they break the promise."""
    delta = anonymity.delta_disclosure(people, QUASI, [attribute])
    complete = groups.sensitive[attribute]
    lacking = bool((np.diff(complete.first) < len(groups.table[attribute])).any())
    assert lacking, "in this sample some groups lack a value"
    assert not holds(groups, "delta-disclosure", delta=text(delta + SLACK), attribute=attribute)


def test_delta_disclosure_where_no_value_is_lacking(people):
    """Two groups by sex have every education: now both measure the same."""
    delta = anonymity.delta_disclosure(people, ["sex", "all"], ["education_num"])
    place = people.groupby(["sex"]).ngroup().to_numpy()
    domain = grid(0, 20)
    codes = {"education_num": domain.encode(people["education_num"].tolist())}
    found = Statistics.of(place, np.ones(len(place), np.int64), codes, {"education_num": domain}, groups=2)
    assert holds(found, "delta-disclosure", delta=text(delta + SLACK))
    assert not holds(found, "delta-disclosure", delta=text(delta - SLACK))


@BOTH
def test_enhanced_beta_likeness(people, groups, attribute):
    """pycanon gives the largest over values of min(largest gain, −ln p): it never compares a value's gain with its p.

    So its number is necessary and not enough: what keeps ours for a β keeps the basic one, and both of pycanon's
    numbers are then at most β.
    """
    theirs = anonymity.enhanced_beta_likeness(people, QUASI, [attribute])
    basic = anonymity.basic_beta_likeness(people, QUASI, [attribute])
    shares = groups.table[attribute].counts / SAMPLE
    assert theirs == pytest.approx(max(min(basic, -math.log(p)) for p in shares))
    for beta in ("0.2", "1", "3", "10", "50"):
        if holds(groups, "enhanced-beta-likeness", beta=beta, attribute=attribute):
            assert theirs <= float(beta)


def test_recursive_diversity_is_another_thing_there():
    """pycanon sorts the counts upwards, so its r₁ is the rarest value; the paper's is the most frequent one."""
    table = pd.DataFrame({"q": ["x"] * 12, "r": ["y"] * 12, "s": ["a"] * 9 + ["b"] * 2 + ["c"]})
    c, l = anonymity.recursive_c_l_diversity(table, ["q", "r"], ["s"])  # noqa: E741 - the literature's letter
    assert (int(c), l) == (1, 3), "1 / 9 and a bit, rounded up; by the definition r₁ = 9 < c · 1 asks for more than 9"
    found = Statistics.of(
        np.zeros(3, np.int64), np.array([9, 2, 1]), {"s": np.arange(3)}, {"s": flat("a", "b", "c")}, groups=1
    )
    assert not holds(found, "recursive-l-diversity", c="9", l=3)
    assert holds(found, "recursive-l-diversity", c="9.01", l=3)
