"""Partitions by hand, and any that hypothesis likes: records over a few attributes of every kind, in groups."""

import datetime as dt
from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.privacy.models import KAnonymity
from sfumato.release.bundle.write import write_bundle
from sfumato.release.manifest.compose import ReleaseFacts
from sfumato.release.partition import SUPPRESSED, Boxes, Partition
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from tests.made_drafts import records_draft

AGE = Grid(lower=Fraction(0), upper=Fraction(99), step=Fraction(1), unit="integer", missing=100)
PAY = Grid(lower=Fraction(0), upper=Fraction(3), step=Fraction(1, 10))
DAY = Grid(
    lower=Fraction(dt.date(2004, 1, 1).toordinal()), upper=Fraction(dt.date(2004, 1, 9).toordinal()),
    step=Fraction(1), unit="day",
)  # fmt: skip
JOB = Categories(
    taxonomy=Taxonomy.of(
        Node(
            "Any",
            (
                Node("Professional", (Node("Engineer"), Node("Lawyer"))),
                Node("Artist", (Node("Dancer"), Node('Writer, "poet"'))),
                Node("(missing)"),
            ),
        )
    ),
    missing=4,
)
ILL = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("flu"), Node("asthma"), Node("none")))))
INCOME = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("<=50K"), Node(">50K")))))

K1, K3 = (KAnonymity(k=1),), (KAnonymity(k=3),)

QUASI = {"age": AGE, "job": JOB}
VIEW = View(
    quasi=tuple(Attribute(name=n, role=Role.QUASI_IDENTIFIER, domain=d) for n, d in QUASI.items()),
    sensitive=(Attribute(name="ill", role=Role.SENSITIVE, domain=ILL),),
    others=(
        Attribute(name="income", role=Role.CLASS, domain=INCOME),
        Attribute(name="pay", role=Role.INSENSITIVE, domain=PAY),
        Attribute(name="day", role=Role.INSENSITIVE, domain=DAY),
    ),
    unit=RecordUnit(),
)


def draft_of(rows, group, boxes, *, view=VIEW, models=K1, form="generalised"):
    """``rows`` are codes and a count; ``boxes`` a (start, stop) a quasi-identifier and group."""
    table = np.array(rows, dtype=np.int64).reshape(len(rows), -1)
    names = tuple(a.name for a in view.attributes)
    edges = np.array(boxes, dtype=np.int64).reshape(-1, len(view.quasi), 2)
    return records_draft(
        view,
        Partition(
            Cells(names, table[:, :-1], table[:, -1]),
            np.array(group, dtype=np.int64),
            Boxes(tuple(a.name for a in view.quasi), edges[:, :, 0], edges[:, :, 1]),
        ),
        models=models,
        form=form,
        facts={"groups": len(edges)},
    )


def small_draft(*, form="generalised", suppressed=False, models=K3):
    """Nine records in three groups, 3 each; of the last group two may be suppressed, and then it must go whole."""
    rows = [
        (23, 0, 0, 0, 10, 1, 1), (29, 1, 1, 0, 11, 2, 2),
        (40, 2, 1, 1, 0, 0, 1), (45, 3, 2, 1, 30, 8, 1), (49, 2, 0, 0, 5, 3, 1),
        (100, 4, 0, 0, 7, 4, 3),
    ]  # fmt: skip
    group = [0, 0, 1, 1, 1, SUPPRESSED if suppressed else 2]
    boxes = [((20, 30), (0, 2)), ((40, 50), (2, 4)), ((100, 101), (4, 5))]
    return draft_of(rows, group, boxes[: 2 if suppressed else 3], models=models, form=form)


def facts_of(**changes):
    fields = {
        "study": "clinic", "release": "k3", "method": "mondrian", "parameters": {"k": 3},
        "chosen": "fixed in advance", "versions": {"sfumato": "0"}, "date": "2026-11-16", "rules": ["a rule"],
    }  # fmt: skip
    return ReleaseFacts(**fields | changes)


def publish(draft, folder, *, suppression=False, source=None, **changes):
    folder.mkdir(parents=True, exist_ok=True)
    return write_bundle(replace(draft, suppression=suppression), facts_of(**changes), folder, source=source)


@st.composite
def drafts(draw, form="generalised"):
    """Any few cells in any groups, with boxes that cover them, some records suppressed."""
    sizes = [a.domain.size for a in VIEW.attributes]
    cells = draw(
        st.lists(st.tuples(*(st.integers(0, size - 1) for size in sizes)), min_size=1, max_size=12, unique=True)
    )
    counts = [draw(st.integers(1, 4)) for _ in cells]
    groups = draw(st.integers(1, 4))
    group = np.array([draw(st.integers(SUPPRESSED, groups - 1)) for _ in cells])
    used = [number for number in range(groups) if (group == number).any()]
    if not used:
        group[0], used = 0, [0]
    boxes = []
    for number in used:
        here = [cell for cell, g in zip(cells, group, strict=True) if g == number]
        age = [cell[0] for cell in here]
        low, high = min(age), max(age) + 1
        if draw(st.booleans()):
            low, high = draw(st.integers(0, low)), draw(st.integers(high, AGE.size))
        jobs = JOB.taxonomy.lowest_common(cell[1] for cell in here)
        if draw(st.booleans()):  # as an ordered domain: not always a node
            jobs = min(cell[1] for cell in here), max(cell[1] for cell in here) + 1
        boxes.append(((low, high), jobs))
    renumbered = [used.index(g) if g != SUPPRESSED else SUPPRESSED for g in group.tolist()]
    return draft_of([(*cell, count) for cell, count in zip(cells, counts, strict=True)], renumbered, boxes, form=form)
