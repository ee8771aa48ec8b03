"""Loss: how much of the quasi-identifiers a partition gives away for its promise."""

from collections.abc import Mapping

import numpy as np

from sfumato.core.partition import SUPPRESSED, Partition, PartitionView


def attribute_losses(partition: Partition, view: PartitionView) -> Mapping[str, float]:
    """The loss of each quasi-identifier: the mean over all records of (codes covered − 1)/(codes of the domain − 1).

    A suppressed record counts 1. A domain of one code loses nothing by being published, so there only the
    suppressed records count. Of no records at all the loss is 0.
    """
    records = int(partition.cells.counts.sum())
    if not records:
        return {attribute.name: 0.0 for attribute in view.quasi}
    kept = partition.group != SUPPRESSED
    sizes = np.bincount(partition.group[kept], weights=partition.cells.counts[kept], minlength=len(partition.boxes))
    gone = partition.suppressed
    found = {}
    for place, name in enumerate(partition.boxes.attributes):
        covered = partition.boxes.stops[:, place] - partition.boxes.starts[:, place]
        most = view.domain(name).size - 1
        blurred = float(sizes @ ((covered - 1) / most)) if most else 0.0
        found[name] = (blurred + gone) / records
    return found


def general_loss(partition: Partition, view: PartitionView) -> float:
    """The mean loss over the quasi-identifiers: 0 when everything is exact, 1 when nothing is left.

    This is the normalised certainty penalty of Xu et al. (KDD 2006), with leaves counted below a taxonomy's node.

    >>> from sfumato.core.attribute import Attribute, Role
    >>> from sfumato.core.counts import Cells
    >>> from sfumato.core.domain import Grid
    >>> from sfumato.core.partition import Boxes
    >>> from sfumato.core.unit import RecordUnit
    >>> from fractions import Fraction
    >>> age = Attribute(name="age", role=Role.QUASI_IDENTIFIER, domain=Grid(lower=Fraction(0), upper=Fraction(10),
    ...     step=Fraction(1)))
    >>> view = PartitionView(quasi=(age,), sensitive=(), others=(), unit=RecordUnit())
    >>> cells = Cells(("age",), np.array([[2], [4], [9]]), np.array([3, 1, 1]))
    >>> boxes = Boxes(("age",), np.array([[2]]), np.array([[5]]))
    >>> round(general_loss(Partition(cells, np.array([0, 0, SUPPRESSED]), boxes), view), 3)  # (4 · 2/10 + 1) / 5
    0.36
    """
    losses = attribute_losses(partition, view)
    return sum(losses.values()) / len(losses) if losses else 0.0
