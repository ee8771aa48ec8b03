"""Small tables with taxonomies of all shapes, for the methods that recode whole attributes."""

from collections import Counter

import numpy as np
from hypothesis import strategies as st

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Categories
from sfumato.domains.taxonomy.by_rule import equal_width
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.small_domains import JOB, flat, grid


def tree(*below):
    """Nested tuples as a taxonomy; labels are made up."""
    names = iter(range(1000))

    def node(part):
        return Node(f"n{next(names)}", tuple(node(one) for one in part))

    return Categories(taxonomy=Taxonomy.of(node(below)))


LEAF = ()
UNEVEN = tree((LEAF, (LEAF, LEAF)), LEAF)  # leaves at depth 2, 3, 3 and 1
CHAIN = tree(((LEAF,),), (LEAF, LEAF))  # a level that joins nothing
AGE = grid(0, 9)
BANDS = type(AGE)(
    lower=AGE.lower, upper=AGE.upper, step=AGE.step, unit="integer", taxonomy=equal_width(AGE, AGE.step * 2, levels=2)
)
SHAPES = (flat("a"), flat("a", "b", "c"), JOB, UNEVEN, CHAIN, BANDS)


def view_of(quasi, sensitive=None, target=None):
    return View(
        quasi=tuple(Attribute(name=n, role=Role.QUASI_IDENTIFIER, domain=d) for n, d in quasi.items()),
        sensitive=tuple(Attribute(name=n, role=Role.SENSITIVE, domain=d) for n, d in (sensitive or {}).items()),
        others=tuple(Attribute(name=n, role=Role.CLASS, domain=d) for n, d in (target or {}).items()),
        unit=RecordUnit(),
    )


def cells_of(view, records):
    """Records (tuples of codes in the view's order) as cells."""
    counted = sorted(Counter(map(tuple, records)).items())
    width = len(view.attributes)
    return Cells(
        tuple(a.name for a in view.attributes),
        np.array([codes for codes, _ in counted], dtype=np.int64).reshape(len(counted), width),
        np.array([count for _, count in counted], dtype=np.int64),
    )


@st.composite
def tables(draw, shapes=SHAPES, most=24, sensitive=True, target=False):
    """A view with one to three quasi-identifiers and some records."""
    quasi = {f"q{i}": draw(st.sampled_from(shapes)) for i in range(draw(st.integers(1, 3)))}
    view = view_of(
        quasi,
        {"ill": flat("flu", "cold", "none")} if sensitive else None,
        {"class": flat("N", "Y")} if target else None,
    )
    record = st.tuples(*(st.integers(0, a.domain.size - 1) for a in view.attributes))
    return view, draw(st.lists(record, min_size=1, max_size=most))
