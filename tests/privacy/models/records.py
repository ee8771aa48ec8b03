"""Groups of records as plain lists, for the slow second implementations of the models."""

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.privacy.groups.statistics import Statistics, ValueTotals
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.small_domains import JOB, flat, grid

UNEVEN = Categories(
    taxonomy=Taxonomy.of(
        Node("Any", (Node("a"), Node("B", (Node("b"), Node("C", (Node("c"), Node("d"))))), Node("E", (Node("e"),))))
    )
)
TENS = replace(
    grid(0, 5), taxonomy=Taxonomy.of(Node("all", (Node("low"), Node("high", (Node("4"), Node("5"))))), widths=(4, 1, 1))
)
LOST = replace(TENS, missing=6)  # one code more than the taxonomy knows
DOMAINS = (flat("a"), flat("a", "b", "c", "d"), JOB, UNEVEN, TENS, LOST, grid(0, 40))


@dataclass(frozen=True)
class Table:
    """Records as (group, code) for each sensitive attribute, all in the same order."""

    groups: int
    columns: dict
    domains: dict

    @property
    def statistics(self):
        group = np.array(next(iter(self.columns.values())), dtype=np.int64).reshape(-1, 2)[:, 0]
        codes = {
            name: np.array(rows, dtype=np.int64).reshape(-1, 2)[:, 1].copy() for name, rows in self.columns.items()
        }
        return Statistics.of(group, np.ones(len(group), dtype=np.int64), codes, self.domains, groups=self.groups)

    def values(self, name, group):
        return [code for where, code in self.columns[name] if where == group]

    def all(self, name):
        return [code for _, code in self.columns[name]]


@st.composite
def tables(draw, attributes=1, most=25):
    """Up to five groups, some of them empty."""
    groups = draw(st.integers(1, 5))
    size = draw(st.integers(1, most))
    where = draw(st.lists(st.integers(0, groups - 1), min_size=size, max_size=size))
    domains = {f"s{i}": draw(st.sampled_from(DOMAINS)) for i in range(attributes)}
    columns = {}
    for name, domain in domains.items():
        few = st.integers(0, min(domain.size, draw(st.integers(1, 8))) - 1)
        codes = draw(st.lists(few | st.integers(0, domain.size - 1), min_size=size, max_size=size))
        columns[name] = list(zip(where, codes, strict=True))
    return Table(groups, columns, domains)


def table_of(*groups, domain=None):
    """A table of one attribute from lists of codes, a group a list."""
    rows = [(place, code) for place, codes in enumerate(groups) for code in codes]
    return Table(len(groups), {"s": rows}, {"s": domain or flat("a", "b", "c", "d", "e")})


def totals(*counts):
    """How often each code of a small domain occurs in the table that groups are compared with."""
    return ValueTotals.of(np.arange(len(counts)), np.array(counts, dtype=np.int64), len(counts))


def view(domains, quasi=None):
    return View(
        quasi=(Attribute(name="q", role=Role.QUASI_IDENTIFIER, domain=quasi or flat("x", "y")),),
        sensitive=tuple(Attribute(name=n, role=Role.SENSITIVE, domain=d) for n, d in domains.items()),
        others=(),
        unit=RecordUnit(),
    )


def shares(values):
    """Each value with its share, exactly."""
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}
