"""Information loss of a partition: how far its quasi-identifiers are generalised."""

from collections.abc import Mapping

import numpy as np

from sfumato.domains.sets.places import PublishedSets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.partition import SUPPRESSED, Partition
from sfumato.study.view import View


def attribute_losses(
    partition: Partition, view: View, sets: Mapping[str, SetDomain] | None = None
) -> Mapping[str, float]:
    """The loss of each quasi-identifier: the mean over all records of (codes covered − 1)/(codes of the domain − 1).

    A suppressed record counts 1. A domain of one code loses nothing by being published, so there only the
    suppressed records count. Without records the loss is 0. Sets that have become categories are given in ``sets``:
    their loss is that of the nodes, by the declared taxonomy (`SetRegions.losses`), and how many sets there are in the
    table does not move it.
    """
    records = int(partition.cells.counts.sum())
    if not records:
        return {attribute.name: 0.0 for attribute in view.quasi}
    kept = partition.group != SUPPRESSED
    sizes = np.bincount(partition.group[kept], weights=partition.cells.counts[kept], minlength=len(partition.boxes))
    gone = partition.suppressed
    found = {}
    for place, name in enumerate(partition.boxes.attributes):
        starts, stops = partition.boxes.starts[:, place], partition.boxes.stops[:, place]
        most = view.domain(name).size - 1
        if sets is not None and name in sets:
            tree = view.domain(name).taxonomy
            assert tree is not None, "sets have become categories"
            blurred = float(sizes @ PublishedSets.by_tree(sets[name], tree).at(starts, stops).losses(sets[name]))
        else:
            blurred = float(sizes @ ((stops - starts - 1) / most)) if most else 0.0
        found[name] = (blurred + gone) / records
    return found


def general_loss(partition: Partition, view: View, sets: Mapping[str, SetDomain] | None = None) -> float:
    """The mean loss over the quasi-identifiers: 0 when everything is exact, 1 when nothing is left.

    This is the normalised certainty penalty of Xu et al. (KDD 2006), with leaves counted below a taxonomy's node.

    >>> from sfumato.study.attribute import Attribute, Role
    >>> from sfumato.domains.counts import Cells
    >>> from sfumato.domains.domain import Grid
    >>> from sfumato.release.partition import Boxes
    >>> from sfumato.study.unit import RecordUnit
    >>> from fractions import Fraction
    >>> age = Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=Grid(lower=Fraction(0), upper=Fraction(10),
    ...     step=Fraction(1)))
    >>> view = View(quasi=(age,), sensitive=(), others=(), unit=RecordUnit())
    >>> cells = Cells(("age",), np.array([[2], [4], [9]]), np.array([3, 1, 1]))
    >>> boxes = Boxes(("age",), np.array([[2]]), np.array([[5]]))
    >>> round(general_loss(Partition(cells, np.array([0, 0, SUPPRESSED]), boxes), view), 3)  # (4 · 2/10 + 1) / 5
    0.36
    """
    losses = attribute_losses(partition, view, sets)
    return sum(losses.values()) / len(losses) if losses else 0.0
