"""Sets of codes: attributes of which a record has several values at once (a patient's diagnoses, a basket).

A record's value is a set of leaves of a taxonomy. Reading a raw value is record-local: which codes it holds, which are
outside the taxonomy and which are too many follows from that value and the public domain alone, so a table with one
record more is still a neighbour after reading. In memory the distinct sets of a table stand in a dictionary, in an
order that two sets have whatever others there are; a record's code is its place in it. Those places are never an
output: only regions of a `SetCut` are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.domain import DROP, as_text, is_missing
from sfumato.domains.sets.set_cut import BETWEEN, NONE, OTHER_SETS, SetCut, Sets
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import InternalError, StudyError

MOST_CHILDREN: Final = 60
"""Children of a node of a set's taxonomy: a pattern of those a record has is one machine integer."""

SHOWN: Final = 20  # codes outside the taxonomy that are kept for the owner to see
TEXT_SEPARATOR: Final = ";"  # between codes where the study names no separator


class SetCodes(np.ndarray[Any, np.dtype[np.int64]]):
    """Codes of sets together with the dictionary they point into; parts and copies of them keep it.

    >>> codes = SetCodes.of(np.array([1, 0, 1]), Sets.of([(), (0, 2)], 3))
    >>> codes[1:].sets.leaves.tolist()
    [0, 2]
    """

    sets: Sets

    @classmethod
    def of(cls, codes: NDArray[np.int64], sets: Sets) -> "SetCodes":
        """Codes with their dictionary."""
        found = np.asarray(codes, dtype=np.int64).view(cls)
        found.sets = sets
        return found

    def __array_finalize__(self, made_from: Any) -> None:
        self.sets = getattr(made_from, "sets", None)  # type: ignore[assignment] # a view that is being made has none

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: an array alone would leave its dictionary behind."""
        rebuild, arguments, state = cast("tuple[Any, Any, Any]", super().__reduce__())
        return rebuild, arguments, (state, self.sets)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state[0])
        self.sets = state[1]


@dataclass(frozen=True, eq=False)
class ReadSets:
    """Raw values as sets: a code each, how many codes of each are outside the taxonomy, and some of those."""

    codes: SetCodes
    empty: NDArray[np.bool_]  # (values,): nothing is written there
    outside: NDArray[np.int64]  # (values,)
    strangers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SetDomain:
    """Sets of leaves of a taxonomy.

    Raw values are lists, or text with ``separator`` between codes; without one, a text is one code. A set may be joined
    from several ``columns`` of the source. A code outside the taxonomy counts as the leaf ``other``, or the record is
    left out where that is None; so is one without codes unless ``empty`` ones are kept. Of more than ``most`` codes
    the first are taken, as they are written. Below depth ``level`` of the taxonomy nothing is published.

    >>> from sfumato.domains.taxonomy.tree import Node
    >>> ones, threes = Node("1*", (Node("15"), Node("16"))), Node("3*", (Node("31"), Node("32")))
    >>> codes = SetDomain(taxonomy=Taxonomy.of(Node("Any", (ones, threes))), separator=",")
    >>> found = codes.encode(["31, 15", "", "99"])
    >>> found.tolist(), found.sets.leaves.tolist()
    ([1, 0, -1], [0, 2])
    """

    taxonomy: Taxonomy
    separator: str | None = None
    columns: tuple[str, ...] = ()
    most: int | None = None
    level: int | None = None
    other: int | None = None
    empty: bool = True
    declared: bool = True

    def __post_init__(self) -> None:
        if any(width != 1 for width in self.taxonomy.widths):
            raise InternalError("a taxonomy of intervals reached a set")
        _refuse_wide(self.taxonomy)
        _refuse_labels(self.taxonomy)
        if self.most is not None and self.most < 1:
            raise StudyError(
                f"a set may hold at most {self.most} codes",
                "write a number from 1 on, or leave it out",
                code="SF-STUDY-013",
            )
        if self.level is not None and not 1 <= self.level <= self.taxonomy.depth:
            raise StudyError(
                f"the level of a set is {self.level}, and its taxonomy has the levels 1 to {self.taxonomy.depth}",
                "choose one of them: 1 is right below the root",
                code="SF-STUDY-014",
            )

    @property
    def size(self) -> int:
        """How many leaves the taxonomy has; there are far more sets."""
        return self.taxonomy.size

    @property
    def missing(self) -> None:
        """A record without codes has the empty set, which is no code."""
        return

    @property
    def free(self) -> bool:
        """Nodes split as the taxonomy says."""
        return False

    @property
    def writes(self) -> str:
        """What stands between the codes of a set in plain text."""
        return self.separator or TEXT_SEPARATOR

    def children(self, start: int, stop: int) -> tuple[tuple[int, int], ...]:
        """The ranges right below a node; nothing at the declared level."""
        inside = np.searchsorted(self._edges, [start + 1, stop])
        if self.level is not None and inside[0] == inside[1]:
            return ()
        return self.taxonomy.children(start, stop)

    def label(self, start: int, stop: int) -> str:
        """The label of the node."""
        return self.taxonomy.label(start, stop)

    def root(self, name: str) -> SetCut:
        """The cut that tells nothing: every record, also one without codes, is in its one region."""
        return SetCut(name, (0,), self.size, self.most)

    def finest(self, name: str) -> SetCut:
        """The finest cut there may be: at the declared level, or at the leaves."""
        return SetCut(name, self.starts_at(self.level), self.size, self.most)

    def starts_at(self, level: int | None) -> tuple[int, ...]:
        """Where the nodes at a depth begin; leaves above it count too. None is the deepest."""
        tree = self.taxonomy
        deepest = tree.depth if level is None else level
        return tuple(
            tree.starts[node]
            for node, depth in enumerate(tree.depths())
            if depth == deepest or (depth < deepest and not tree.kids(node))
        )

    def encode(self, values: Iterable[object]) -> SetCodes:
        """Codes of raw values, with the dictionary of their sets; `DROP` where the record is left out."""
        return self.read(values).codes

    def read(self, values: Iterable[object]) -> ReadSets:
        """The sets of raw values. The dictionary is in the order of the sets as rows of codes."""
        found = [self._codes(value) for value in values]
        sets = [tuple(sorted(codes)) if self._kept(codes, lost) else None for codes, lost in found]
        order = sorted({one for one in sets if one is not None})
        place = {one: number for number, one in enumerate(order)}
        codes = np.array([DROP if one is None else place[one] for one in sets], dtype=np.int64)
        strangers = sorted({stranger for _, lost in found for stranger in lost})[:SHOWN]
        return ReadSets(
            SetCodes.of(codes, Sets.of(order, self.size)),
            np.array([not codes and not lost for codes, lost in found], dtype=np.bool_),
            np.array([len(lost) for _, lost in found], dtype=np.int64),
            tuple(strangers),
        )

    def _kept(self, codes: Sequence[int], lost: Sequence[str]) -> bool:
        if lost and self.other is None:
            return False
        return bool(codes) or self.empty

    def _codes(self, value: object) -> tuple[list[int], list[str]]:
        """The leaves that a raw value holds, as they are written and each once, and the codes that are none."""
        codes: dict[int, None] = {}
        lost = []
        for text in self._parts(value):
            code = self._known.get(text)
            if code is None:
                lost.append(text)
                code = self.other
            if code is not None:
                codes[code] = None
        return list(codes)[: self.most], lost

    def _parts(self, value: object) -> list[str]:
        if isinstance(value, str):
            written = value.split(self.separator) if self.separator else [value]
            return [part for text in written if (part := text.strip())]
        if isinstance(value, Iterable) and not isinstance(value, bytes):
            members = sorted(value, key=str) if isinstance(value, set | frozenset) else list(value)
            return [part for member in members for part in self._parts(member)]
        return [] if is_missing(value) else [as_text(value)]

    @cached_property
    def shallow(self) -> Taxonomy:
        """The taxonomy as far as anything is published of it: its leaves are the nodes at the declared level."""
        tree, deepest = self.taxonomy, self.level
        if deepest is None:
            return tree
        depths = tree.depths()
        built: dict[int, Node] = {}
        for node in range(len(depths) - 1, -1, -1):
            if depths[node] <= deepest:
                below = tree.kids(node) if depths[node] < deepest else ()
                built[node] = Node(tree.labels[node], tuple(built[kid] for kid in below))
        return Taxonomy.of(built[0])

    @cached_property
    def _known(self) -> dict[str, int]:
        return {label.strip(): code for code, label in enumerate(self.taxonomy.leaves)}

    @cached_property
    def _edges(self) -> NDArray[np.int64]:
        return np.asarray(self.starts_at(self.level), dtype=np.int64)


def _refuse_wide(tree: Taxonomy) -> None:
    for node, label in enumerate(tree.labels):
        if len(tree.kids(node)) > MOST_CHILDREN:
            raise StudyError(
                f"the node '{label}' of a set's taxonomy has {len(tree.kids(node)):,} children, and sets can tell "
                f"{MOST_CHILDREN} apart at once",
                "give the taxonomy another level there, such as ranges or prefixes of the codes",
                code="SF-STUDY-015",
            )


def _refuse_labels(tree: Taxonomy) -> None:
    for label in tree.labels:
        stands = (
            f"has '{BETWEEN}' in it, which stands between the nodes of a published set"
            if BETWEEN in label
            else "stands for the empty set"
            if label == NONE
            else "stands for sets that are not published by their names"
            if label.startswith(OTHER_SETS)
            else ""
        )
        if stands:
            raise StudyError(f"the name '{label}' in a set's taxonomy {stands}", "rename it", code="SF-STUDY-016")
