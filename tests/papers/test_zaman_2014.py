"""Table I to Table II of Zaman & Obimbo, "Privacy preserved data publishing from a classification perspective", 2014.

The taxonomy is that of its Figure 1: ages 15-30 and 30-60 below [15-60), the disease codes 15, 16 below 1* and 31, 32
below 3*. Two things in the paper do not fit together, and the tests say so:

- Record 2 is 60 years old, which [15-60) does not hold. Here it is moved to the upper bound, as numbers outside the
  declared bounds are; no count of Table II could be had without it.
- Table II counts the records that *contain* 1* in its rows "1*", those that also contain 3* among them, and counts the
  latter again in its rows "1*, 3*". Groups of a release are disjoint, so three of its eight counts differ here, by
  exactly those records: the rows of "1*" alone, but for the one without such records.
"""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.by_rule import nested_bounds
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.methods import ContingencyTable, DiffGen
from sfumato.methods.method import Context
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.sampling import SecureSource
from tests.small_domains import counter, flat, view

TABLE_I = [
    ("Female", 33, "15, 16, 31, 32", "N"),
    ("Female", 60, "15, 31", "Y"),
    ("Female", 37, "16", "Y"),
    ("Female", 35, "15, 16", "N"),
    ("Male", 16, "15", "N"),
    ("Male", 36, "16, 31", "Y"),
    ("Female", 46, "15, 16, 31, 32", "N"),
    ("Male", 27, "16, 31, 32", "Y"),
]
TABLE_II = {  # as printed
    ("Female", "1*", "Y"): 2,
    ("Female", "1*", "N"): 3,
    ("Male", "1*", "Y"): 2,
    ("Male", "1*", "N"): 1,
    ("Female", "1*, 3*", "Y"): 1,
    ("Female", "1*, 3*", "N"): 2,
    ("Male", "1*, 3*", "Y"): 2,
    ("Male", "1*, 3*", "N"): 0,
}
BARE = Grid(lower=Fraction(15), upper=Fraction(59), step=Fraction(1), unit="integer")
AGE = Grid(
    lower=BARE.lower, upper=BARE.upper, step=BARE.step, unit=BARE.unit, taxonomy=nested_bounds(BARE, [[Fraction(30)]])
)
SEX = flat("Female", "Male")
CODES = SetDomain(
    taxonomy=Taxonomy.of(Node("Any", (Node("1*", (Node("15"), Node("16"))), Node("3*", (Node("31"), Node("32")))))),
    separator=",",
)
VIEW = view(age=AGE, sex=SEX, code=CODES)
RECORDS = {
    "age": AGE.encode([age for _, age, _, _ in TABLE_I]),
    "sex": SEX.encode([sex for sex, _, _, _ in TABLE_I]),
    "code": CODES.encode([codes for _, _, codes, _ in TABLE_I]),
    "class": np.array(["NY".index(c) for _, _, _, c in TABLE_I]),
}
COUNTER = counter(VIEW, RECORDS)
AT_STARS = CODES.root("code").specialize((0, 4), [(0, 2), (2, 4)])


def groups():
    """The groups of Table II's cuts, with exact counts."""
    cells = COUNTER.cells([Cut("age", (0,), AGE.size), Cut.finest("sex", 2), AT_STARS, Cut.finest("class", 2)])
    labels = AT_STARS.labels(CODES.taxonomy, cells.codes[:, 2])
    return {
        (SEX.taxonomy.leaves[sex], label, "NY"[target]): int(count)
        for (_, sex, _, target), label, count in zip(cells.codes.tolist(), labels, cells.counts, strict=True)
    }


def containing(*nodes):
    """How many records of each sex and class contain all of these nodes."""
    found = {}
    for (sex, label, target), count in groups().items():
        if set(nodes) <= set(label.split(", ")):
            found[sex, target] = found.get((sex, target), 0) + count
    return found


def test_the_cuts_of_table_ii_make_its_eight_groups():
    assert AGE.label(0, AGE.size) == "[15, 59]"  # the paper writes [15-60)
    assert AT_STARS.total == 4  # (none) and 3* alone do not occur in Table I
    assert set(groups()) <= set(TABLE_II)


def test_every_record_is_in_one_group():
    assert sum(groups().values()) == len(TABLE_I) == 8
    assert sum(TABLE_II.values()) == 13  # the five records with both codes stand twice in the printed table


@pytest.mark.parametrize(("sex", "target"), [("Female", "Y"), ("Female", "N"), ("Male", "Y"), ("Male", "N")])
def test_rows_with_both_nodes_are_as_printed(sex, target):
    assert groups().get((sex, "1*, 3*", target), 0) == TABLE_II[sex, "1*, 3*", target]


@pytest.mark.parametrize(("sex", "target"), [("Female", "Y"), ("Female", "N"), ("Male", "Y"), ("Male", "N")])
def test_rows_of_1_alone_are_printed_with_those_that_contain_3_as_well(sex, target):
    assert containing("1*").get((sex, target), 0) == TABLE_II[sex, "1*", target]
    alone = groups().get((sex, "1*", target), 0)
    assert alone == TABLE_II[sex, "1*", target] - TABLE_II[sex, "1*, 3*", target]


def test_the_root_is_specialized_by_subsets_and_a_node_by_the_subsets_of_those_that_contain_it():
    marginal = COUNTER.marginals(["code"], "class")["code"]
    root = sorted(map(tuple, marginal.parts((0, 4), [(0, 2), (2, 4)]).tolist()))
    assert root == [(2, 1), (2, 3)]  # 1* alone: two N and a Y; both: two N and three Y
    ones = marginal.parts((0, 2), [(0, 1), (1, 2)])  # 15 alone, 16 alone, both; everybody contains 1*
    assert sorted(map(tuple, ones.tolist())) == [(0, 3), (1, 1), (3, 0)]


@pytest.mark.parametrize("h", [1, 2, 3, 10])
@pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e6")
def test_without_noise_diffgen_counts_exactly(h):
    draft = DiffGen(epsilon=10**6, h=h).draft(
        VIEW, COUNTER, Context(accountant=Accountant(Fraction(10**6)), source=SecureSource())
    )
    finest = [*draft.groups.cuts, Cut.finest("class", 2)]
    exact = COUNTER.cells(finest)
    assert np.array_equal(np.column_stack([draft.groups.regions, draft.groups.classes]), exact.codes)
    assert draft.groups.counts.tolist() == exact.counts.tolist()


@pytest.mark.error_rate(1e-99, reason="any noise at all, at an ε of 1e6")
def test_without_noise_the_contingency_table_counts_exactly():
    method = ContingencyTable(epsilon=10**6)
    draft = method.draft(VIEW, COUNTER, Context(accountant=Accountant(Fraction(10**6)), source=SecureSource()))
    assert draft.groups.cuts[2].total == 2**4
    assert draft.groups.counts.sum() == 8
    assert len(draft.groups) == 7  # records 1 and 7 are alike at the leaves, too
