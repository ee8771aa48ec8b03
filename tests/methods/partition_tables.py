"""Small tables for partition methods, made by hypothesis, and groups looked at record by record."""

from collections import Counter
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.release.partition import SUPPRESSED
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.small_domains import JOB, flat, grid

ILL = flat("flu", "cold", "cancer", "none")
SEX = flat("f", "m")
CHAIN = flat("only")
DEEP = type(JOB)(
    taxonomy=Taxonomy.of(
        Node("Any", (Node("A", (Node("B", (Node("b1"), Node("b2"), Node("b3"))), Node("c"))), Node("d"), Node("e")))
    )
)
DECADES = Grid(
    lower=Fraction(0), upper=Fraction(5), step=Fraction(1),
    taxonomy=Taxonomy.of(Node("Any", (Node("low", (Node("a"), Node("b"))), Node("high"))), widths=[2, 1, 3]),
)  # fmt: skip


def partition_view(sensitive=("ill",), others=True, **quasi):
    def made(role, **domains):
        return tuple(Attribute(name=name, role=role, domain=domain) for name, domain in domains.items())

    return View(
        quasi=made(Role.QUASI_IDENTIFIER, **quasi),
        sensitive=made(Role.SENSITIVE, **dict.fromkeys(sensitive, ILL)),
        others=made(Role.CLASS, **{"class": flat("N", "Y")}) if others else (),
        unit=RecordUnit(),
    )


def cells_of(view, records):
    """Records are tuples of codes in the view's order."""
    names = tuple(a.name for a in view.attributes)
    found = sorted(Counter(map(tuple, records)).items())
    codes = np.array([codes for codes, _ in found], np.int64).reshape(-1, len(names))
    return Cells(names, codes, np.array([n for _, n in found], np.int64))


@st.composite
def partition_tables(draw, least=1, most=40):
    """A view with one to three quasi-identifiers, and its records."""
    domains = {}
    for place in range(draw(st.integers(1, 3))):
        domains[f"q{place}"] = draw(
            st.one_of(
                st.integers(0, 12).map(lambda upper: grid(0, upper)),
                st.sampled_from([JOB, DEEP, SEX, CHAIN, DECADES, grid(0, 10**10)]),
            )
        )
    view = partition_view(**domains)
    record = st.tuples(*(st.integers(0, view.domain(a.name).size - 1) for a in view.attributes))
    return view, draw(st.lists(record, min_size=least, max_size=most))


def groups_of(partition):
    """The published groups as lists of records."""
    found = {}
    for codes, count, group in zip(
        partition.cells.codes.tolist(), partition.cells.counts.tolist(), partition.group.tolist(), strict=True
    ):
        if group != SUPPRESSED:
            found.setdefault(group, []).extend([tuple(codes)] * count)
    return found


def lost(partition):
    """The suppressed records."""
    gone = partition.group == SUPPRESSED
    cells = zip(partition.cells.codes[gone].tolist(), partition.cells.counts[gone].tolist(), strict=True)
    return [tuple(codes) for codes, count in cells for _ in range(count)]


def slow_closeness(group, table, place):
    """Half the sum of the differences of all shares: the earth mover's distance where all values are equally far."""
    mine, all_ = Counter(r[place] for r in group), Counter(r[place] for r in table)
    return sum(abs(mine[v] / len(group) - all_[v] / len(table)) for v in all_ | mine) / 2
