"""Small tables and views for tests, made by hand or by hypothesis."""

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from sfumato.tables.arrays.array_counter import ArrayCounter


def flat(*values, declared=True):
    """Categories right below the root."""
    return Categories(taxonomy=Taxonomy.of(Node("Any", tuple(Node(v) for v in values))), declared=declared)


def grid(lower, upper, step=1, unit="integer", declared=True):
    return Grid(lower=Fraction(lower), upper=Fraction(upper), step=Fraction(step), unit=unit, declared=declared)


def view(unit=None, target=("N", "Y"), **domains):
    return View.of(
        (
            *tuple(Attribute(name=n, role=Role.QUASI_IDENTIFIER, domain=d) for n, d in domains.items()),
            Attribute(name="class", role=Role.CLASS, domain=flat(*target)),
        ),
        unit=unit or RecordUnit(),
    )


def counter(of, codes):
    """A counter over codes, the class last."""
    return ArrayCounter({n: np.asanyarray(c, dtype=np.int64) for n, c in codes.items()}, {"class": len(of.classes)})


JOB = Categories(
    taxonomy=Taxonomy.of(
        Node(
            "Any_Job",
            (
                Node("Professional", (Node("Engineer"), Node("Lawyer"))),
                Node("Artist", (Node("Dancer"), Node("Writer"))),
            ),
        )
    )
)


@st.composite
def coded_tables(draw, most=30):
    """A view with one to three attributes and the codes of up to ``most`` records."""
    domains = {}
    for place in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            domains[f"n{place}"] = grid(0, draw(st.integers(0, 40)))
        else:
            domains[f"c{place}"] = draw(st.sampled_from([flat("a"), flat("a", "b", "c"), JOB]))
    of = view(**domains)
    size = draw(st.integers(0, most))
    codes = {
        name: np.array(draw(st.lists(st.integers(0, domain.size - 1), min_size=size, max_size=size)), dtype=np.int64)
        for name, domain in domains.items()
    }
    codes["class"] = np.array(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)), dtype=np.int64)
    return of, codes
