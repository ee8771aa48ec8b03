"""What published marginals make an adversary believe of a person, given the quasi-identifiers.

The adversary knows the noise of each measured table, and how many records there are. Of all tables of so many records
the likeliest, given the noisy counts and a uniform prior over records, is a graphical model (`release.model.graphical`,
with λ = 1): counts that are small beside their noise hardly move it. A release's own model fits the noise more closely,
since that serves its receivers better, and would here take noise for knowledge.

The belief is the conditional distribution Q(a | q) of this model. Attributes that the adversary does not know either
are summed out, along the junction tree, for many people at once. As of measured tables, P takes the place of what the
model says of the protected attribute as a whole (`model_beliefs`). A synthetic record is never looked at.
"""

from collections.abc import Mapping
from math import prod
from string import ascii_letters
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.beliefs.model_beliefs import fair_losses
from sfumato.evaluate.evidence import Evidence, distinct_rows
from sfumato.release.measured_marginals import MeasuredMarginals
from sfumato.release.model.graphical.fit_model import fit
from sfumato.release.model.graphical.graphical_model import GraphicalModel, given
from sfumato.release.model.graphical.records import STEPS

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

_NUMBERS: Final = 4_000_000  # that are held at once
_PEOPLE: Final = "Z"  # the axis of people in sums; attributes have small letters first


def graphical_losses(evidence: Evidence, measured: MeasuredMarginals, name: str) -> tuple[Floats, Floats]:
    """JS(P, Q) of distinct people of the table, for one protected attribute, and how many records each stands for."""
    _, people = evidence.people
    records = people.counts.astype(np.float64)
    places = {cut.attribute: place for place, cut in enumerate(measured.cuts)}
    if name not in places or measured.cuts[places[name]].total == 1:
        return np.zeros(len(records)), records
    asked = places[name]
    cut = measured.cuts[asked]
    value = cut.regions(evidence.column(name))
    shares = np.bincount(value, weights=evidence.raw.counts, minlength=cut.total) / max(evidence.records, 1)
    known = {
        places[attribute]: measured.cuts[places[attribute]].regions(np.asarray(people.codes[:, column], np.int64))
        for column, attribute in enumerate(people.attributes)
        if attribute in places and attribute != name
    }
    alike, first = distinct_rows(list(known.values()), len(records))
    weights = np.bincount(alike, weights=records, minlength=len(first)).astype(np.float64)
    model = fit(measured.sizes, measured.measurements, max(evidence.records, 1), steps=STEPS, entropy=1.0).model
    sizes = model.tree.sizes
    widest = max(prod(sizes[a] for a in {*clique, asked} - {*known}) for clique in model.tree.cliques)
    step = max(1, _NUMBERS // widest)
    beliefs = np.empty((len(first), cut.total))
    for start in range(0, len(first), step):
        here = first[start : start + step]
        beliefs[start : start + step] = conditional(
            model, {a: codes[here] for a, codes in known.items()}, asked, len(here)
        )
    fair, _ = fair_losses(beliefs, shares, weights)
    return fair[alike], records


def conditional(model: GraphicalModel, known: Mapping[int, Integers], asked: int, size: int) -> Floats:
    """P(asked | known) of so many people, a row each: sums passed up the tree, with the asked attribute kept."""
    tree = model.tree
    inbox: dict[int, list[tuple[Floats, tuple[int, ...]]]] = {place: [] for place in range(len(tree.cliques))}
    found = np.ones((size, tree.sizes[asked]))
    for place in reversed(range(len(tree.cliques))):
        clique, separator = tree.cliques[place], tree.separators[place]
        table = model.shares[place] if place == 0 else given(model.shares[place], clique, separator)
        table, axes = _of_people(table, clique, known, size)
        for message, others in inbox.pop(place):
            table, axes = _product(table, axes, message, others)
        kept = tuple(a for a in axes if a == asked or (place and a in separator))
        table = table.sum(axis=tuple(1 + n for n, a in enumerate(axes) if a not in kept))
        table = table / np.maximum(table.reshape(len(table), -1).max(axis=1).reshape(-1, *[1] * len(kept)), 1e-300)
        if place:
            inbox[tree.parents[place]].append((table, kept))
        elif kept:
            found = table
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), 1e-300))


def _of_people(
    table: Floats, clique: tuple[int, ...], known: Mapping[int, Integers], size: int
) -> tuple[Floats, tuple[int, ...]]:
    """A clique's table for each person: the axes of what is known of people become one, of the people."""
    there = [a for a in clique if a in known]
    rest = tuple(a for a in clique if a not in known)
    moved = table.transpose([clique.index(a) for a in (*there, *rest)])
    if not there:
        return np.broadcast_to(moved, (size, *moved.shape)), rest
    return moved[tuple(known[a] for a in there)], rest


def _product(
    one: Floats, axes: tuple[int, ...], two: Floats, others: tuple[int, ...]
) -> tuple[Floats, tuple[int, ...]]:
    both = tuple(dict.fromkeys((*axes, *others)))
    letter = dict(zip(both, ascii_letters, strict=False))
    first, second, out = (_PEOPLE + "".join(letter[a] for a in some) for some in (axes, others, both))
    return np.einsum(f"{first},{second}->{out}", one, two), both
