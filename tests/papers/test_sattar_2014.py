"""Worked numbers of Sattar, Li, Ding, Liu & Vincent, A general framework for privacy preserving data publishing (2014).

Figure 1(a) is not printed as text: its tree over age is rebuilt here from the levels that the text names, binary, with
1, 2 and 4 nodes down to 26-50, and the ages themselves at level 4.
"""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.domains.boxes import Boxes
from sfumato.domains.domain import Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.methods.capped_confidence.steps import Steps, levels_of
from sfumato.privacy.groups.expected_confidence import expected_confidence
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import CappedConfidence
from sfumato.study.attribute import Attribute, Role
from tests.small_domains import flat

SEX = Attribute(name="sex", role=Role.QUASI_IDENTIFIER, domain=flat("female", "male"))


def ages():
    """Ages 1 to 100 in 2, 4 and 8 equal intervals, and one by one."""

    def node(low, high, depth):
        if depth == 3:
            return Node(f"{low}-{high}.", tuple(Node(str(age)) for age in range(low, high + 1)))
        middle = (low + high) // 2
        return Node(f"{low}-{high}", (node(low, middle, depth + 1), node(middle + 1, high, depth + 1)))

    tree = Taxonomy.of(node(1, 100, 0))
    domain = Grid(lower=Fraction(1), upper=Fraction(100), step=Fraction(1), unit="integer", taxonomy=tree)
    return Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=domain)


@pytest.mark.parametrize(("records", "confidence"), [(100, 0.313), (1000, 0.977)])
def test_expected_confidence_of_section_3(records, confidence):
    """Pr(20-30) · Pr(female) · Pr(diabetes) = 0.15 · 0.5 · 0.05 = 0.00375."""
    assert float(expected_confidence(np.array([0.15 * 0.5 * 0.05]), records)[0]) == pytest.approx(confidence, abs=5e-4)


def test_group_confidence_of_section_4():
    """{A, A, A, B, B, C} at β = 1: 50 %, 33.33 % and 16.67 %."""
    values = np.array([0, 0, 0, 1, 1, 2])
    groups = Statistics.of(
        np.zeros(6, np.int64),
        np.ones(6, np.int64),
        {"s": values},
        {"s": flat("A", "B", "C"), "sex": SEX.domain},
        groups=1,
        boxes=Boxes(("sex",), np.array([[0]]), np.array([[2]])),
    )
    (found,) = CappedConfidence(rate=1).confidences(groups)
    assert found.observed.tolist() == pytest.approx([1 / 2, 1 / 3, 1 / 6])


def test_left_domain_sizes_of_definition_11():
    """Age at 26-50 has 1 + 2 + 4 = 7, sex at male 3: age is generalised first."""
    age = ages()
    steps = Steps.of(age, np.array([30]), lowest=2)
    assert (int(steps.starts[0]), int(steps.stops[0])) == (25, 50), "ages 26 to 50"
    assert int(steps.left[0]) == 7
    assert int(Steps.of(SEX, np.array([1])).left[0]) == 3


def test_distortion_of_definition_10():
    """Age 25 at level 4 to an interval at level 3, sex to any: (1 − 3/4 + 1)/2 = 0.625."""
    age = ages()
    assert levels_of(age)[-1].number == 4
    interval = Steps.of(age, np.array([24]), lowest=1).distortion[0]
    anything = Steps.of(SEX, np.array([1])).distortion[-1]
    assert (interval + anything) / 2 == 0.625
