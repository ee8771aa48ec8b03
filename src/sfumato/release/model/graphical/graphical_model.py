"""A graphical model: a distribution over all attributes, known by the joint distributions of its cliques."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_letters

import numpy as np
from numpy.typing import NDArray

from sfumato.release.model.graphical.junction_tree import Clique, JunctionTree

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """P(x) = Π P(clique) / Π P(separator) over a junction tree."""

    tree: JunctionTree
    shares: tuple[Floats, ...]  # the joint distribution of each clique

    def marginal(self, attributes: Sequence[int]) -> Floats:
        """The joint distribution of some attributes, an axis each, in the order given.

        Attributes of one clique are summed out of it. Others are joined along the tree: the part of the tree that
        connects them is folded from its ends, each clique given what it has in common with its parent, with the asked
        attributes kept.
        """
        tree = self.tree
        home = tree.home(attributes)
        if home is not None:
            return self.within(home, attributes)
        needed, asked = self._connecting(attributes), {*attributes}
        folded: dict[int, list[tuple[Floats, Clique]]] = {place: [] for place in needed}
        for place in reversed(needed):  # children stand after their parents
            table, axes = self.shares[place], tree.cliques[place]
            top = place == needed[0]
            separator = () if top else tree.separators[place]
            if not top:
                table = given(table, axes, separator)
            messages = folded[place]
            for number, (other, others) in enumerate(messages):
                still = {*asked, *separator, *(a for _, rest in messages[number + 1 :] for a in rest)}
                kept = tuple(sorted({*axes, *others} & still))
                table, axes = _joined(table, axes, other, others, kept), kept
            kept = tuple(a for a in axes if a in asked or a in separator)
            table = _sum_out(table, axes, kept)
            if top:
                return _sum_out(table, kept, attributes)
            folded[tree.parents[place]].append((table, kept))
        raise AssertionError("the first of the connected cliques is the top")

    def within(self, clique: int, attributes: Sequence[int]) -> Floats:
        """The joint distribution of some attributes of one clique."""
        return _sum_out(self.shares[clique], self.tree.cliques[clique], attributes)

    def _connecting(self, attributes: Sequence[int]) -> list[int]:
        """The cliques of the smallest part of the tree that has all of these attributes, parents first."""
        tree, wanted = self.tree, {*attributes}
        keep = {*range(len(tree.cliques))}
        children = dict.fromkeys(keep, 0)
        for parent in tree.parents[1:]:
            children[parent] += 1
        for place in reversed(range(len(tree.cliques))):  # cut off ends that have nothing of their own to say
            own = wanted & {*tree.cliques[place]}
            if not children[place] and own <= {*tree.separators[place]} and tree.parents[place] >= 0:
                keep.discard(place)
                children[tree.parents[place]] -= 1
        top = 0
        while True:  # and the top, while it has one child and nothing that the child does not have
            below = [place for place in keep if tree.parents[place] == top]
            if len(below) != 1 or not wanted & {*tree.cliques[top]} <= {*tree.cliques[below[0]]}:
                return sorted(keep)
            keep.discard(top)
            top = below[0]


def propagate(tree: JunctionTree, potentials: Sequence[Floats]) -> tuple[GraphicalModel, float]:
    """The distribution P(x) ∝ exp(Σ potentials), and the logarithm of the sum that it was divided by.

    Sums are passed along the tree, up to the first clique and down again, as logarithms: nothing underflows.
    """
    beliefs = list(potentials)
    sent: list[Floats] = [np.zeros(()) for _ in beliefs]
    for place in range(len(beliefs) - 1, 0, -1):
        sent[place] = _log_sum(beliefs[place], tree.cliques[place], tree.separators[place])
        parent = tree.parents[place]
        beliefs[parent] = beliefs[parent] + _spread(sent[place], tree.separators[place], tree.cliques[parent])
    total = float(_log_sum(beliefs[0], tree.cliques[0], ()))
    shares: list[Floats] = [np.exp(beliefs[0] - total)]
    for place in range(1, len(beliefs)):
        parent, separator = tree.parents[place], tree.separators[place]
        with np.errstate(divide="ignore"):
            known = np.log(_sum_out(shares[parent], tree.cliques[parent], separator))
        known = np.maximum(known, -700.0)
        shares.append(np.exp(beliefs[place] + _spread(known - sent[place], separator, tree.cliques[place])))
    return GraphicalModel(tree, tuple(shares)), total


def potentials_of(tree: JunctionTree, parts: Iterable[tuple[int, Clique, Floats]]) -> list[Floats]:
    """The potential of each clique: the sum of the parts that it is home to, each with its attributes."""
    found = [np.zeros(tree.shape(clique)) for clique in tree.cliques]
    for home, attributes, part in parts:
        found[home] += _spread(part, attributes, tree.cliques[home])
    return found


def _spread(part: Floats, attributes: Clique, over: Clique) -> Floats:
    """A table of some attributes with an axis for each of more."""
    sizes = dict(zip(attributes, part.shape, strict=True))
    return part.reshape([sizes.get(a, 1) for a in over])


def _sum_out(table: Floats, axes: Sequence[int], kept: Sequence[int]) -> Floats:
    """A table with the axes ``kept``, in this order."""
    out = tuple(place for place, a in enumerate(axes) if a not in kept)
    found = table.sum(axis=out) if out else table
    rest = [a for a in axes if a in kept]
    return found if rest == list(kept) else found.transpose([rest.index(a) for a in kept])


def _log_sum(table: Floats, axes: Clique, kept: Clique) -> Floats:
    out = tuple(place for place, a in enumerate(axes) if a not in kept)
    if not out:
        return table
    top = table.max(axis=out, keepdims=True)
    return np.asarray(np.log(np.exp(table - top).sum(axis=out)) + top.reshape(top.squeeze(out).shape))


def given(table: Floats, axes: Clique, known: Clique) -> Floats:
    """P(table | known); 0 where the known part has no share."""
    below = _spread(_sum_out(table, axes, known), known, axes)
    return np.asarray(np.divide(table, below, out=np.zeros_like(table), where=below > 0))


def _joined(one: Floats, axes: Clique, other: Floats, others: Clique, kept: Clique) -> Floats:
    """The product of two tables, with some axes summed out."""
    letter = dict(zip(sorted({*axes, *others}), ascii_letters, strict=False))
    first, second, both = ("".join(letter[a] for a in some) for some in (axes, others, kept))
    return np.asarray(np.einsum(f"{first},{second}->{both}", one, other, optimize=True))
