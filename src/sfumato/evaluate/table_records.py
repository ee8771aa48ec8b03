"""The records of a table as measures see them.

The table's sets are sets of nodes at the declared level, or of codes where none is declared: what lies below the level
no release of the study tells. All of this is the owner's, as everything is that measures look at.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sfumato.domains.counts import Cells
from sfumato.domains.sets.levels import recode_cells
from sfumato.domains.sets.set_cut import Sets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.study.view import View


@dataclass(frozen=True, eq=False)
class TableRecords:
    """The records of a table; codes of sets are places in ``sets``."""

    cells: Cells
    sets: Mapping[str, Sets] = field(default_factory=dict)


def table_records(view: View, cells: Cells, sets: Mapping[str, Sets]) -> TableRecords:
    """The counted records as measures see them; ``sets`` are those that the codes of sets stand for."""
    codes, nodes = {}, {}
    for attribute in view.attributes:
        domain = attribute.domain
        if isinstance(domain, SetDomain):
            whole = sets[attribute.name]
            there = np.unique(cells.codes[:, cells.attributes.index(attribute.name)])
            nodes[attribute.name], found = whole.take(there).nodes(domain.starts_at(domain.level))
            codes[attribute.name] = np.zeros(len(whole), dtype=np.int64)
            codes[attribute.name][there] = found
    return TableRecords(recode_cells(cells, codes), nodes)
