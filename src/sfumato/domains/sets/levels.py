"""Sets for methods that put records into groups: the sets of nodes at a declared level, as categories.

Such methods cut ranges of codes, and a set is no code. What they get is the simplest sound reading: every set of nodes
at the attribute's ``level`` that occurs is a value of its own, below the set of nodes one level up that it generalises
to, and so on up to the root. The values are read off the table, as syntactic privacy models allow; the release says so
(its domain is not `declared`).
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells, tally
from sfumato.domains.domain import Categories
from sfumato.domains.sets.set_cut import SetCut, Sets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import StudyError


def level_of(name: str, domain: SetDomain) -> int:
    """The declared level of a set; methods on groups need one."""
    if domain.level is None:
        raise StudyError(
            f"'{name}' is a set, and methods that put records into groups publish sets of nodes at one level of its "
            "taxonomy",
            f"declare it: `level: 1` in '{name}' is the nodes right below the root",
            code="SF-STUDY-017",
        )
    return domain.level


def categories_of(name: str, domain: SetDomain, sets: Sets) -> tuple[Categories, NDArray[np.int64]]:
    """The sets of nodes at the declared level that occur, as a taxonomy by levels, and the code of each set."""
    cuts = [
        SetCut(name, domain.starts_at(level), domain.size, domain.most)
        for level in range(1, level_of(name, domain) + 1)
    ]
    rows, _ = tally([cut.numbers(sets) for cut in cuts])
    texts = list(zip(*(cut.labels(domain.taxonomy, rows[:, depth]) for depth, cut in enumerate(cuts)), strict=True))
    root = domain.taxonomy.label(0, domain.size)
    taxonomy = Taxonomy.of(Node(root, _below(texts)))
    places = {label: code for code, label in enumerate(taxonomy.leaves)}
    finest = cuts[-1].labels(domain.taxonomy, cuts[-1].numbers(sets))
    codes = np.array([places[label] for label in finest], dtype=np.int64)
    return Categories(taxonomy=taxonomy, declared=False), codes


def stand_in(name: str, domain: SetDomain) -> Categories:
    """What can be said before the table is looked at: categories with as many levels; of each, two sets stand for all.

    >>> codes = SetDomain(taxonomy=Taxonomy.of(Node("Any", (Node("1*", (Node("15"),)), Node("3*")))), level=2)
    >>> stand_in("codes", codes).taxonomy.labels
    ('Any', '(a set at level 1)', '(a set at level 2)', '(another set at level 2)', '(another set at level 1)')
    """
    below: tuple[Node, ...] = ()
    for level in range(level_of(name, domain), 0, -1):
        below = (Node(f"(a set at level {level})", below), Node(f"(another set at level {level})"))
    return Categories(taxonomy=Taxonomy.of(Node(domain.taxonomy.label(0, domain.size), below)), declared=False)


def recode_cells(cells: Cells, codes: Mapping[str, NDArray[np.int64]]) -> Cells:
    """The same cells with other codes for some attributes; those that are now alike become one."""
    if not codes:
        return cells
    columns = [
        codes[name][cells.codes[:, place]] if name in codes else cells.codes[:, place]
        for place, name in enumerate(cells.attributes)
    ]
    return Cells(cells.attributes, *tally(columns, cells.counts))


def _below(rows: Sequence[tuple[str, ...]]) -> tuple[Node, ...]:
    """Nodes for rows of labels, from the top down; rows stand in order, so those alike are neighbours."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for row in rows:
        found.setdefault(row[0], []).append(row[1:])
    return tuple(Node(label, _below(rest) if rest[0] else ()) for label, rest in found.items())
