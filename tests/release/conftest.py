"""Drafts by hand: small ones with every kind of attribute, and any that hypothesis likes."""

import datetime as dt
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from hypothesis import strategies as st

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.release.bundle.write import write_bundle
from sfumato.release.draft import Groups
from sfumato.release.manifest.compose import ReleaseFacts
from sfumato.release.release import Release
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.made_drafts import counts_draft

AGE = Grid(lower=Fraction(0), upper=Fraction(99), step=Fraction(1), unit="integer", missing=100)
PAY = Grid(lower=Fraction(0), upper=Fraction(10), step=Fraction(1, 4))
DAY = Grid(
    lower=Fraction(dt.date(2004, 1, 1).toordinal()), upper=Fraction(dt.date(2004, 12, 31).toordinal()),
    step=Fraction(1), unit="day",
)  # fmt: skip
JOB = Categories(
    taxonomy=Taxonomy.of(
        Node("Any", (
            Node("Professional", (Node("Engineer"), Node("Lawyer"))),
            Node("Artist", (Node("Dancer"), Node('Writer, "poet"'))),
            Node("(missing)"), Node("(other)"),
        ))
    ),
    missing=4,
    other=5,
)  # fmt: skip
INCOME = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("<=50K"), Node(">50K")))))

CUTS = (
    Cut("age", (0, 40, 100), 101),
    Cut("pay", (0, 8), 41),
    Cut("day", (0, 100), 366),
    Cut("job", (0, 2, 4, 5), 6),
)


def view_of(domains, target=INCOME):
    predictors = tuple(Attribute(name=name, role=Role.QUASI_IDENTIFIER, domain=d) for name, d in domains.items())
    return View.of((*predictors, Attribute(name="income", role=Role.CLASS, domain=target)), unit=RecordUnit())


def draft_of(domains, cuts, rows, facts=None, target=INCOME):
    """``rows`` are region numbers, a class and a count."""
    table = np.array(rows, dtype=np.int64).reshape(-1, len(cuts) + 2)
    groups = Groups(tuple(cuts), table[:, :-2], table[:, -2], table[:, -1])
    return counts_draft(view_of(domains, target), groups, facts or {"threshold": 1, "noise_scale": 2.0})


def facts_of(**changes):
    fields = {
        "study": "census", "release": "all", "method": "diffgen", "parameters": {"epsilon": Fraction(1), "h": 4},
        "secure": True, "chosen": "fixed in advance", "versions": {"sfumato": "0"}, "date": "2026-11-16",
        "rules": ["records without a class are left out"],
    }  # fmt: skip
    return ReleaseFacts(**fields | changes)


def small_draft(facts=None):
    rows = [
        (0, 0, 0, 0, 0, 7), (0, 0, 1, 2, 1, 3), (0, 1, 1, 1, 0, 12),
        (1, 0, 0, 3, 1, 5), (1, 1, 0, 0, 1, 9), (2, 1, 1, 1, 0, 2),
    ]  # fmt: skip
    return draft_of({"age": AGE, "pay": PAY, "day": DAY, "job": JOB}, CUTS, rows, facts)


def publish(draft, folder, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    return write_bundle(draft, facts_of(**changes), folder)


@pytest.fixture
def bundle(tmp_path):
    return publish(small_draft(), tmp_path / "out").path


@pytest.fixture
def release(bundle):
    return Release.open(bundle)


@st.composite
def small_domains(draw):
    """Up to four attributes with a handful of codes each."""
    kinds = draw(st.lists(st.sampled_from(["grid", "gaps", "tree"]), min_size=1, max_size=4))
    domains = {}
    for number, kind in enumerate(kinds):
        points = draw(st.integers(1, 7))
        if kind == "tree":
            leaves = [Node(f"{number}.{leaf}") for leaf in range(points)]
            middle = draw(st.integers(0, points))
            inner = (Node(f"in{number}", tuple(leaves[:middle])), *leaves[middle:]) if middle > 1 else tuple(leaves)
            code = st.none() | st.integers(0, points - 1)
            taxonomy = Taxonomy.of(Node(f"Any{number}", inner))
            domains[f"a{number}"] = Categories(taxonomy=taxonomy, missing=draw(code), other=draw(code))
        else:
            missing = points if kind == "gaps" else None
            lower = Fraction(draw(st.integers(-3, 3)))
            step = draw(st.sampled_from([Fraction(1), Fraction(1, 4), Fraction(3)]))
            unit = "integer" if step >= 1 else "number"
            domains[f"a{number}"] = Grid(
                lower=lower, upper=lower + (points - 1) * step, step=step, unit=unit, missing=missing
            )
    return domains


@st.composite
def cuts_of(draw, domains):
    cuts = []
    for name, domain in domains.items():
        if domain.free:
            starts = draw(st.sets(st.integers(0, domain.size - 1))) | {0}
        else:  # nodes of the tree alone
            starts, todo = set(), [(0, domain.size)]
            while todo:
                region = todo.pop()
                children = domain.children(*region)
                if children and draw(st.booleans()):
                    todo.extend(children)
                else:
                    starts.add(region[0])
        finest = len(starts) == domain.size and draw(st.booleans())
        cuts.append(Cut.finest(name, domain.size) if finest else Cut(name, tuple(sorted(starts)), domain.size))
    return tuple(cuts)


@st.composite
def drafts(draw):
    domains = draw(small_domains())
    cuts = draw(cuts_of(domains))
    sizes = (*(len(cut) for cut in cuts), INCOME.size)
    total = prod(sizes)
    flat = draw(st.lists(st.integers(0, total - 1), max_size=12, unique=True))
    counts = draw(st.lists(st.integers(1, 50), min_size=len(flat), max_size=len(flat)))
    rows = [
        (*(int(i) for i in np.unravel_index(number, sizes)), count) for number, count in zip(flat, counts, strict=True)
    ]
    return draft_of(domains, cuts, rows)
