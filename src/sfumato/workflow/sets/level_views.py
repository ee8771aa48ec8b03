"""Views whose sets are categories of the sets of nodes at their level, for methods that put records into groups."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.domains.domain import Domain
from sfumato.domains.sets.domain import SetDomain
from sfumato.domains.sets.levels import categories_of, recoded, stand_in
from sfumato.study.attribute import Attribute
from sfumato.study.partition_view import PartitionView
from sfumato.tables import CodedTable


def foreseen(view: PartitionView) -> PartitionView:
    """The view as far as it is known before the table is opened; refuses sets without a level."""
    return with_domains(
        view, {a.name: stand_in(a.name, a.domain) for a in view.attributes if isinstance(a.domain, SetDomain)}
    )


def by_level(view: PartitionView, counter: CodedTable, cells: Cells) -> tuple[PartitionView, Cells]:
    """The view and the records with sets as the categories that occur."""
    levelled, codes = categories(view, counter, cells)
    return levelled, recoded(cells, codes)


def categories(
    view: PartitionView, counter: CodedTable, cells: Cells
) -> tuple[PartitionView, dict[str, NDArray[np.int64]]]:
    """The view with sets as the categories that occur, and for each code of a set that of its category."""
    domains, codes = {}, {}
    for attribute in view.attributes:
        if isinstance(attribute.domain, SetDomain):
            place = cells.attributes.index(attribute.name)
            occurring = np.unique(cells.codes[:, place])
            sets = counter.sets[attribute.name].take(occurring)
            domains[attribute.name], found = categories_of(attribute.name, attribute.domain, sets)
            there = np.zeros(len(counter.sets[attribute.name]), dtype=np.int64)
            there[occurring] = found
            codes[attribute.name] = there
    return with_domains(view, domains), codes


def sets_of(attributes: Iterable[Attribute]) -> dict[str, SetDomain]:
    """The domains of those that are sets, by name."""
    return {a.name: a.domain for a in attributes if isinstance(a.domain, SetDomain)}


def set_rules(attributes: Iterable[Attribute]) -> list[str]:
    """How sets were read, for whoever reads the release; these are public rules, not counts."""
    found = []
    for attribute in attributes:
        domain = attribute.domain
        if isinstance(domain, SetDomain):
            rule = "has the empty set" if domain.empty else "is left out"
            found.append(f"'{attribute.name}' is a set of codes; a record without codes {rule}")
            if domain.other is not None:
                label = domain.taxonomy.leaves[domain.other]
                found.append(f"a code of '{attribute.name}' that its taxonomy lacks counts as '{label}'")
            if domain.level is not None:
                found.append(f"of '{attribute.name}' nothing is told below level {domain.level} of its taxonomy")
            if domain.most is not None and (domain.separator or not domain.columns):
                found.append(f"of more than {domain.most} codes in '{attribute.name}' the first are taken")
    return found


def with_domains(view: PartitionView, domains: Mapping[str, Domain]) -> PartitionView:
    """The view with other domains for some attributes."""

    def changed(attributes: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
        return tuple(replace(a, domain=domains.get(a.name, a.domain)) for a in attributes)

    return replace(view, quasi=changed(view.quasi), sensitive=changed(view.sensitive), others=changed(view.others))
