"""Views whose sets are categories of the sets of nodes at their level, for methods that make equivalence classes."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.counts import Cells
from sfumato.domains.sets.levels import categories_of, recode_cells, stand_in
from sfumato.domains.sets.set_cut import Sets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.study.attribute import Attribute
from sfumato.study.view import View


def declared_levels(view: View) -> View:
    """The view as far as it is known before the table is opened; refuses sets without a level."""
    declared = set_domains(view.attributes)
    if not declared:
        return view
    domains = {name: stand_in(name, domain) for name, domain in declared.items()}
    return replace(view.with_domains(domains), sets=declared)


def recode_sets(view: View, cells: Cells, sets: Mapping[str, Sets]) -> tuple[View, Cells]:
    """The view and the records with sets as the categories that occur; ``sets`` are those of the table."""
    if not set_domains(view.attributes):
        return view, cells
    levelled, codes = level_codes(view, cells, sets)
    return levelled, recode_cells(cells, codes)


def level_codes(view: View, cells: Cells, sets: Mapping[str, Sets]) -> tuple[View, dict[str, NDArray[np.int64]]]:
    """The view with sets as the categories that occur, and for each code of a set that of its category."""
    declared = set_domains(view.attributes)
    domains, codes = {}, {}
    for name, domain in declared.items():
        occurring = np.unique(cells.codes[:, cells.attributes.index(name)])
        domains[name], found = categories_of(name, domain, sets[name].take(occurring))
        there = np.zeros(len(sets[name]), dtype=np.int64)
        there[occurring] = found
        codes[name] = there
    return replace(view.with_domains(domains), sets=declared), codes


def set_domains(attributes: Iterable[Attribute]) -> dict[str, SetDomain]:
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
                found.append(f"nothing below level {domain.level} of the taxonomy of '{attribute.name}' is published")
            if domain.most is not None and (domain.separator or not domain.columns):
                found.append(f"of more than {domain.most} codes in '{attribute.name}' the first {domain.most} are used")
    return found
