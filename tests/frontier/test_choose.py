from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InfeasibleError, UsageError
from sfumato.frontier import choose, efficient, parse_rule
from tests.frontier.points import X, Y, at, clouds, failed, numbers, ways
from tests.raising import raises_code


@given(clouds, numbers, ways, ways)
def test_within_a_limit_no_other_is_better(cloud, limit, across, upwards):
    x, y = replace(X, better=across), replace(Y, better=upwards)
    points = [at(*one) for one in cloud]
    for word, limited, other in (("privacy", x, y), ("utility", y, x)):
        allowed = [p for p in points if limited.cost(p.numbers[limited.name]) <= limited.cost(limit)]
        if not allowed:
            with raises_code(InfeasibleError, "SF-INFEASIBLE-005"):
                choose(points, x, y, **{word: limit})
            continue
        found = choose(points, x, y, **{word: limit}).point
        assert found in allowed
        assert other.cost(found.numbers[other.name]) == min(other.cost(p.numbers[other.name]) for p in allowed)
        assert any(found is one for one in efficient(points, x, y))


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), min_size=3, max_size=20))
def test_the_knee_is_farthest_below_the_line_between_the_ends(cloud):
    points = [at(float(a), float(b)) for a, b in cloud]
    best = efficient(points, X, Y)
    found = choose(points, X, Y, "knee").point
    assert any(found is one for one in best)
    if len({(p.numbers["ploss"], p.numbers["uloss"]) for p in best}) > 2:
        plane = np.array([[p.numbers["ploss"], p.numbers["uloss"]] for p in best])
        plane = (plane - plane.min(axis=0)) / np.ptp(plane, axis=0)
        first, last = plane[0], plane[-1]
        along = (last - first) / np.linalg.norm(last - first)
        below = [float(along[1] * (p - first)[0] - along[0] * (p - first)[1]) for p in plane]  # a signed distance
        assert below[[found is one for one in best].index(True)] == pytest.approx(max(below))


def test_a_bend_is_found():
    points = [at(0.0, 10.0), at(1.0, 2.0), at(5.0, 1.0), at(10.0, 0.0)]
    assert choose(points, X, Y, "knee").point is points[1]
    bulge = [at(0.0, 10.0), at(9.0, 9.0), at(10.0, 0.0)]
    assert choose(bulge, X, Y, "knee").point is bulge[0], "none below the line: the best on x"


def test_the_sentence_says_what_is_chosen_and_what_it_costs():
    points = [at(0.1, 0.03, "k = 50"), at(0.3, 0.01, "k = 5"), at(0.4, 0.02, "k = 6")]
    said = str(choose(points, X, Y, privacy=0.35))
    assert said == (
        "k = 5 is chosen: with ploss of at most 0.35 it has the best uloss of 2 efficient releases, ploss 0.3 and "
        "uloss 0.01; it was chosen on the raw table, which no guarantee covers"
    )
    assert "k = 50 is chosen" in str(choose(points, X, Y, utility=0.03))
    assert "the knee" in str(choose(points, X, Y, "knee"))
    assert "on both axes" in str(choose(points[:1], X, Y, "knee"))
    settings = choose(points, X, Y, privacy=1).settings
    assert settings == {"method": "mondrian", "k": 5, "chosen": "chosen on the raw table"}


def test_what_cannot_be_had_names_what_can():
    with raises_code(InfeasibleError, "SF-INFEASIBLE-005", match=r"ploss of at most 0.05.*allow 0.1, which k = 50 has"):
        choose([at(0.1, 0.03, "k = 50")], X, Y, privacy=0.05)
    with raises_code(InfeasibleError, "SF-INFEASIBLE-004", match="so none can be chosen"):
        choose([failed("tds")], X, Y, "knee")


@pytest.mark.parametrize(
    "rules", [{}, {"rule": "knee", "privacy": 1.0}, {"privacy": 1.0, "utility": 1.0}, {"rule": "q"}]
)
def test_a_choice_follows_one_rule(rules):
    with raises_code(UsageError, "SF-USAGE-039"):
        choose([at(1.0, 1.0)], X, Y, **rules)


def test_rules_as_they_are_typed():
    assert parse_rule("knee") == ("knee", None, None)
    assert parse_rule("utility=2e-2") == (None, None, 0.02)
    for text in ("kneel", "privacy", "privacy=", "privacy=low", "privacy=nan", "knee=1", ""):
        with raises_code(UsageError, "SF-USAGE-038"):
            parse_rule(text)
