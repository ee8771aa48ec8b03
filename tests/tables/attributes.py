"""Attributes and reference counts that the engine tests share."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sfumato.domains.domain import DROP, Categories, Grid
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.study.attribute import Attribute, InvalidValuePolicy, Role


def categories(*leaves: str, missing: bool = False, other: bool = False) -> Categories:
    labels = [*leaves, *(["(missing)"] if missing else []), *(["(other)"] if other else [])]
    return Categories(
        taxonomy=Taxonomy.of(Node("Any", tuple(Node(leaf) for leaf in labels))),
        missing=len(leaves) if missing else None,
        other=len(labels) - 1 if other else None,
    )


def grid(lower, upper, step=1, *, unit="number", missing: bool = False, form=()) -> Grid:
    bare = Grid(lower=Fraction(lower), upper=Fraction(upper), step=Fraction(step), unit=unit, number_formats=form)
    return replace(bare, missing=bare.points) if missing else bare


def attribute(
    name: str, domain, *, role: Role = Role.QUASI_IDENTIFIER, outside: InvalidValuePolicy = InvalidValuePolicy.KEEP
) -> Attribute:
    return Attribute(name=name, role=role, domain=domain, outside=outside)


def encoded(columns: dict[str, list[object]], attributes: Sequence[Attribute]) -> np.ndarray:
    """The codes of every record that no policy drops, by the Python coding of the core."""
    codes = np.column_stack([a.domain.encode(columns[a.name]) for a in attributes])
    return codes[(codes != DROP).all(axis=1)]


def counted(rows) -> dict[tuple[int, ...], int]:
    return dict(Counter(tuple(int(x) for x in row) for row in rows))
