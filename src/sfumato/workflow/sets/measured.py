"""Sets as measures see them: those of the table, and how a release tells them.

The table's sets are sets of nodes at the declared level, or of codes where none is declared: what lies below the level
no release of the study tells. All of this is the owner's, as everything is that measures look at.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.domains.counts import Cells
from sfumato.domains.sets.cut import Sets
from sfumato.domains.sets.domain import SetDomain
from sfumato.domains.sets.levels import recoded
from sfumato.domains.sets.places import ToldSets
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import InternalError, StudyError, VerifyError
from sfumato.release.partition import PartitionDraft
from sfumato.release.shown import Shown, Values, shown_records
from sfumato.study.partition_view import PartitionView
from sfumato.tables import CodedTable
from sfumato.workflow.sets.published import as_shown


@dataclass(frozen=True, eq=False)
class Counted:
    """The records of a table; codes of sets are places in ``sets``."""

    cells: Cells
    sets: Mapping[str, Sets] = field(default_factory=dict)


def counted(view: PartitionView, counter: CodedTable, cells: Cells) -> Counted:
    """The counted records as measures see them."""
    codes, sets = {}, {}
    for attribute in view.attributes:
        domain = attribute.domain
        if isinstance(domain, SetDomain):
            whole = counter.sets[attribute.name]
            there = np.unique(cells.codes[:, cells.attributes.index(attribute.name)])
            sets[attribute.name], found = whole.take(there).nodes(domain.starts_at(domain.level))
            codes[attribute.name] = np.zeros(len(whole), dtype=np.int64)
            codes[attribute.name][there] = found
    return Counted(recoded(cells, codes), sets)


def shown_draft(draft: PartitionDraft, view: PartitionView, sets: Mapping[str, Sets]) -> Shown:
    """What a draft of records in groups would show; ``view`` has the sets that it took as categories."""
    published = as_shown(draft, view.attributes)
    return told(shown_records(published), view, _trees(published.view, sets), sets)


def told(shown: Shown, view: PartitionView, trees: Mapping[str, Taxonomy], sets: Mapping[str, Sets]) -> Shown:
    """A release of records with its sets, which it tells as nodes of the published ``trees``."""
    values, how = dict(shown.values), {}
    for name, tree in trees.items():
        domain = view.domain(name)
        assert isinstance(domain, SetDomain), "trees are of sets"
        try:
            how[name] = ToldSets.by_tree(domain, tree)
        except VerifyError:
            raise StudyError(
                f"'{name}' is published by sets that are none of the taxonomy and level that the study declares for it",
                "measure it against the study as it was when the bundle was made, or publish again",
            ) from None
        if name in values:
            values[name] = Values.of_sets(values[name].pool, values[name].counts, how[name], sets[name])
    return replace(shown, values=values, sets=how)


def _trees(view: PartitionView, sets: Mapping[str, Sets]) -> dict[str, Taxonomy]:
    found = {}
    for name in sets:
        tree = view.domain(name).taxonomy
        if tree is None or isinstance(view.domain(name), SetDomain):
            raise InternalError(f"the sets '{name}' have not become categories")
        found[name] = tree
    return found
