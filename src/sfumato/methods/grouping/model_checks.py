"""Models over the groups of a search: which columns they look at, what may be skipped, which groups they keep."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Domain
from sfumato.methods.grouping.partitioning import needed_attributes
from sfumato.privacy.groups.statistics import Integers, Statistics, ValueTotals
from sfumato.privacy.models import GroupModel, KAnonymity, all_hold, all_monotone, any_relative
from sfumato.study.view import View


@dataclass(frozen=True)
class ModelChecks:
    """The models of a method on one view."""

    models: tuple[GroupModel, ...]
    view: View

    @cached_property
    def least(self) -> int:
        """No group of fewer records satisfies the models; a larger one may or may not."""
        return max(int(getattr(model, "k", 1)) for model in self.models)

    @cached_property
    def sizes_alone(self) -> bool:
        """Whether the least size is all there is to it."""
        return all(isinstance(model, KAnonymity) for model in self.models)

    @cached_property
    def monotone(self) -> bool:
        """Whether merging groups that satisfy the models gives groups that do, as long as the table does not change."""
        return all_monotone(self.models)

    @cached_property
    def domains(self) -> Mapping[str, Domain]:
        """The sensitive attributes that the models look at."""
        return {name: self.view.domain(name) for name in needed_attributes(self.view, self.models)}

    def columns(self, cells: Cells) -> dict[str, Integers]:
        """The codes of those."""
        return {name: cell_codes(cells, name) for name in self.domains}

    def published(
        self,
        group: Integers,
        weights: Integers,
        sensitive: Mapping[str, Integers],
        groups: int,
        *,
        people: Integers | None = None,
    ) -> NDArray[np.bool_]:
        """Which groups are left when those that violate a model are suppressed; every group has a record.

        ``people`` has how many of the population live in the region of each.

        A model may compare groups with the published table, which changes as groups are left out: it is asked again
        until those that are left all hold, as `suppress_violations` does. It ends, since their number only falls.
        """
        changing = any_relative(self.models)
        kept = np.ones(groups, dtype=np.bool_)
        if not changing:
            kept = np.bincount(group, weights=weights, minlength=groups) >= self.least
        while kept.any() and not self.sizes_alone:
            rows = np.flatnonzero(kept[group])
            hold = self.hold(
                (np.cumsum(kept) - 1)[group[rows]],
                weights[rows],
                {name: codes[rows] for name, codes in sensitive.items()},
                groups=int(kept.sum()),
                people=None if people is None else people[kept],
            )
            kept[np.flatnonzero(kept)[~hold]] = False
            if hold.all() or not changing:
                break
        return kept

    def hold(
        self,
        group: Integers,
        weights: Integers,
        sensitive: Mapping[str, Integers],
        *,
        groups: int,
        table: Mapping[str, ValueTotals] | None = None,
        people: Integers | None = None,
    ) -> NDArray[np.bool_]:
        """Whether each group satisfies all models, compared with ``table``, or with the groups together."""
        found = Statistics.of(group, weights, sensitive, self.domains, groups=groups, table=table, population=people)
        return all_hold(self.models, found)


def cell_codes(cells: Cells, name: str) -> Integers:
    """The codes of one attribute, one a cell."""
    found: Integers = cells.codes[:, cells.attributes.index(name)]
    return found


def quote_names(names: Iterable[str]) -> str:
    """Names in a sentence."""
    return ", ".join(f"'{name}'" for name in names)
