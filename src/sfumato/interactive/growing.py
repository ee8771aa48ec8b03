"""DiffP-C4.5: a decision tree grown through private choices and noisy counts (Friedman & Schuster, KDD 2010)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Final

import numpy as np

from sfumato.domains.counts import Counter
from sfumato.domains.cut import Cut, Range
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import InternalError, StudyError
from sfumato.interactive.decision_tree import Integers, Node, Tree
from sfumato.interactive.pruning import prune
from sfumato.interactive.stopping import BRANCHES, children_of, count_deviation, least_size
from sfumato.interactive.training_cells import Records
from sfumato.methods.method import BEST_OF, NOISE_ON, POINT_OF, Exact, Forecast, refuse_observed, refuse_one_class
from sfumato.methods.specialization.candidates import can_split, domain_of, split_point
from sfumato.methods.specialization.scores import SCORES
from sfumato.privacy.dp.accountant import Accountant
from sfumato.privacy.dp.mechanisms.laplace import noisy_counts
from sfumato.privacy.dp.mechanisms.noisy_max import noisy_max
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.progress import Progress, silent
from sfumato.study.budget import parse_epsilon, show
from sfumato.study.purpose import Needs
from sfumato.study.view import View

DEEPEST: Final = 30


@dataclass(frozen=True, kw_only=True)
class DiffPTree:
    """Grow a tree level by level, count its leaves, prune it.

    Paper -> here: the instances T at a node -> the cells below it, A -> the attributes that its regions can still be
    split on, q(A, T) -> `Score`, d -> ``depth``, B -> ε. With a numerical attributes (those that need split points)

        ε' = ε / ((2 + a)·d + 2),    which is ε / (2(d + 1)) where a = 0.

    Both are the authors': the second stands in the paper's algorithms for categories, the first is what their own
    program divides by once there are numbers. What one share ε' buys, for neighbours that differ by one record:

    - *The sizes of all nodes of a level.* Nodes of a level hold disjoint records, so the vector of their sizes changes
      by 1 in one place: Δ = 1, one share a level. They decide which nodes are split (`least_size`).
    - *The split points of one numerical attribute* in all nodes of a level, by the exponential mechanism over the
      public grid. Each draw sees the records of its node alone: parallel composition, one share an attribute and level.
      Attributes see the same records and compose sequentially: a shares a level.
    - *The choice of the split* in all nodes of a level, by noisy max, in parallel for the same reason: one share.
    - *The class counts of all leaves*, whatever their level: every record is in one leaf, so Δ = 1. Two shares are kept
      for them, and all that the levels leave over: a level without open nodes costs nothing, nor does an attribute that
      nowhere splits.

    Levels compose sequentially: at most ((2 + a)·d + 2)·ε' = ε. Which nodes are open, which attributes can be split
    there and how many shares are left follows from the domains and from outputs already drawn, never from a record, so
    shares that depend on them compose like fixed ones (see `Accountant`). Inner counts are sums of the leaves', and
    pruning looks at these alone. For persons with at most m records everything runs at ε/m (group privacy).

    The authors' (checked against their program; docs/reference/interactive.md has the sources): ε', what its shares
    buy, a split point drawn anew in every node for every number, the scores `max` and `gini`, the rule that stops,
    numbers that stay and categories that are split into all their values (``branch: values``), C4.5's pruning on noisy
    counts.

    Ours, within the same ε: choices are by noisy max with exponential noise, which is never worse than the exponential
    mechanism; monotone scores use their halved cost; split points are drawn exactly from the public grid; the default
    splits a category as its taxonomy says, and again further down; `info_gain` is that of DiffGen, whose Δ needs no
    bound on the number of records; the share that they spend on the sizes of nodes at full depth, on which nothing
    depends but their pruning, goes to the class counts, and so does what is left over; pruning takes inner counts as
    sums of leaves, where they fit the class counts to the noisy sizes first.

    The table is counted once, into its full cells; no node goes back to it.
    """

    name: ClassVar[str] = "diffp-c4.5"
    needs: ClassVar[Needs] = Needs(private=True, target=True, random=True)
    epsilon: Exact
    depth: int = 5
    score: str = "max"
    prune: bool = True
    branch: str = "taxonomy"

    def __post_init__(self) -> None:
        parse_epsilon(self.epsilon)
        if type(self.depth) is not int or not 1 <= self.depth <= DEEPEST:
            raise StudyError(
                f"the depth is {self.depth!r}", f"use a whole number from 1 to {DEEPEST}", code="SF-STUDY-025"
            )
        if type(self.prune) is not bool:
            raise StudyError(f"prune is {self.prune!r}", "say True or False", code="SF-STUDY-026")
        if self.branch not in BRANCHES:
            raise StudyError(f"branch is {self.branch!r}", f"use one of: {', '.join(BRANCHES)}", code="SF-STUDY-027")
        _ = SCORES[self.score]

    @property
    def spends(self) -> Fraction:
        """ε, exactly."""
        return parse_epsilon(self.epsilon)

    def parameters(self) -> dict[str, Any]:
        """What the ledger and the model say of it."""
        return {
            "epsilon": str(self.epsilon), "depth": self.depth, "score": self.score, "prune": self.prune,
            "branch": self.branch,
        }  # fmt: skip

    def check(self, view: View) -> None:
        """Refuse observed domains, fewer than two classes, and sets, before anything is read or spent.

        A node asks one attribute which range of codes a record has; a set of codes is in no range of them.
        """
        refuse_observed(view)
        refuse_one_class(view)
        sets = [a.name for a in view.predictors if isinstance(a.domain, SetDomain)]
        if sets:
            raise StudyError(
                f"a private tree cannot split on sets of codes, and {', '.join(map(repr, sets))} has such sets",
                "leave them out with a purpose, or make a release by `diffgen`, which takes sets",
                code="SF-STUDY-028",
            )

    def forecast(self, view: View) -> Forecast:
        """Say what will happen and what it costs; touches nothing."""
        self.check(view)
        numbers, people = len(view.numerical), view.unit.stability
        share = self.share(self.spends / people, numbers)
        domains = {a.name: domain_of(a) for a in view.predictors}
        whole = {name: (0, domain.size) for name, domain in domains.items()}
        least = ceil(least_size(domains, whole, classes=len(view.classes), share=share, branch=self.branch))
        deviation = count_deviation(share)
        points = f", {numbers} on split points of numbers" if numbers else ""
        of = f" (of ε/{people}, since a person has up to {people} records)" if people > 1 else ""
        asks = f"one decision tree of depth at most {self.depth} that predicts '{view.target.name}'"
        shares = f"each level spends one on the sizes of its nodes{points} and one on the choice of its splits"
        noise = f"so their noise has a standard deviation of at most {deviation:.3g}"
        enough = (
            f"the root is split if there seem to be at least {least:,} records, otherwise the tree is a single leaf"
        )
        return Forecast(
            sentences=(
                f"{asks} is released, and nothing else; learning another tree spends budget again",
                f"a share is ε' = {show(share)}{of}: {shares}",
                f"the class counts of the leaves get two shares and all unspent budget, {noise}",
                f"{enough}; deeper nodes follow the same rule, with the attributes that can still be split",
                "it is pruned by its noisy counts, which spends no budget" if self.prune else "it is not pruned",
            ),
            numbers={"share": show(share), "count_deviation": deviation, "least_records": least},
        )

    def share(self, epsilon: Fraction, numerical: int) -> Fraction:
        """ε' for a budget and so many numerical attributes."""
        return epsilon / ((2 + numerical) * self.depth + 2)

    def run(
        self, view: View, counter: Counter, *, accountant: Accountant, source: RandomSource, progress: Progress = silent
    ) -> Tree:
        """Count once, grow, count the leaves with noise, prune."""
        self.check(view)
        progress("counting", 0, 1)
        cells = counter.cells([Cut.finest(a.name, domain_of(a).size) for a in view.attributes])
        growth = _Growth(self, view, Records(view, cells), accountant=accountant, source=source)
        for level in range(self.depth):
            progress("growing the tree", level, self.depth)
            growth.level(level)
        grown = growth.counted()
        if accountant.spent > accountant.budget:
            raise InternalError("a tree spent more than its budget")
        return prune(grown) if self.prune else grown


@dataclass(slots=True)
class _Growing:
    """A node on its way: the cells below it and the regions they are in; a leaf until it is split."""

    rows: Integers
    regions: dict[str, Range]
    attribute: str | None = None
    ranges: tuple[Range, ...] = ()
    children: list[int] = field(default_factory=list)


class _Growth:
    """The tree while it grows."""

    def __init__(
        self, plan: DiffPTree, view: View, records: Records, *, accountant: Accountant, source: RandomSource
    ) -> None:
        self._plan = plan
        self._domains = {a.name: domain_of(a) for a in view.predictors}
        self._records = records
        self._score = SCORES[plan.score]
        self._sensitivity = self._score.sensitivity(records.classes)
        self._accountant = accountant
        self._source = source
        self._share = plan.share(accountant.left, len(view.numerical))
        whole = {name: (0, domain.size) for name, domain in self._domains.items()}
        self._nodes = [_Growing(np.arange(len(records.counts)), whole)]
        self._open = [0]

    def level(self, level: int) -> None:
        """Split the nodes of one level that are worth it."""
        going = self._large([number for number in self._open if self._able(number)], level)
        splits = self._candidates(going, level)
        parts = [f"split of node {number} (level {level})" for number in going]
        grants = self._accountant.parallel(self._share, on=parts, mechanism=BEST_OF)
        self._open = []
        for number, grant in zip(going, grants, strict=True):
            scores = []
            for name, ranges in splits[number].items():
                scores.append(int(self._score.ticks(self._parts(number, name, ranges))))
            place = noisy_max(
                scores, sensitivity=self._sensitivity, monotone=self._score.monotone, grant=grant, source=self._source
            )
            self._split(number, *list(splits[number].items())[place])

    def counted(self) -> Tree:
        """The tree with noisy class counts: all that is left goes to the leaves, which hold disjoint records."""
        leaves = [number for number, node in enumerate(self._nodes) if node.attribute is None]
        exact = np.stack([self._records.class_counts(self._nodes[number].rows) for number in leaves])
        if self._accountant.left < 2 * self._share:
            raise InternalError("less than two shares are left for the class counts")
        grant = self._accountant.grant(self._accountant.left, on="class counts of all leaves", mechanism=NOISE_ON)
        noisy = noisy_counts(exact.ravel(), sensitivity=1, grant=grant, source=self._source)
        counts: dict[int, Integers] = dict(zip(leaves, noisy.reshape(exact.shape), strict=True))
        for number in range(len(self._nodes) - 1, -1, -1):  # children stand after their parents
            if number not in counts:
                counts[number] = np.sum([counts[child] for child in self._nodes[number].children], axis=0)
        return Tree(
            tuple(
                Node(tuple(counts[number].tolist()), node.attribute, node.ranges, tuple(node.children))
                for number, node in enumerate(self._nodes)
            )
        )

    def _able(self, number: int) -> bool:
        """Whether any attribute can be split here; looks at the domains alone."""
        return any(can_split(self._domains[name], region) for name, region in self._nodes[number].regions.items())

    def _large(self, numbers: list[int], level: int) -> list[int]:
        """Those of the nodes that are large against the noise of the counts that their children would get."""
        if not numbers:
            return []
        sizes = np.array([self._records.counts[self._nodes[n].rows].sum() for n in numbers], dtype=np.int64)
        grant = self._accountant.grant(
            self._share, on=f"sizes of {len(numbers)} nodes (level {level})", mechanism=NOISE_ON
        )
        noisy = noisy_counts(sizes, sensitivity=1, grant=grant, source=self._source)
        return [n for n, size in zip(numbers, noisy.tolist(), strict=True) if size >= self._least(n)]

    def _least(self, number: int) -> float:
        return least_size(
            self._domains, self._nodes[number].regions, classes=self._records.classes, share=self._share,
            branch=self._plan.branch,
        )  # fmt: skip

    def _candidates(self, numbers: Sequence[int], level: int) -> dict[int, dict[str, tuple[Range, ...]]]:
        """For each node the ranges that each attribute would split it into; those of free grids are drawn here."""
        found: dict[int, dict[str, tuple[Range, ...]]] = {number: {} for number in numbers}
        for name, domain in self._domains.items():
            able = [number for number in numbers if can_split(domain, self._nodes[number].regions[name])]
            points = self._split_points(name, able, level) if domain.free else {}
            for number in able:
                region = self._nodes[number].regions[name]
                if domain.free:
                    found[number][name] = ((region[0], points[number]), (points[number], region[1]))
                else:
                    found[number][name] = children_of(domain, region, self._plan.branch)
        return found

    def _split_points(self, name: str, numbers: Iterable[int], level: int) -> dict[int, int]:
        """One split point a node, in parallel: the nodes of a level hold disjoint records."""
        able = list(numbers)
        parts = [f"split point of '{name}' at node {number} (level {level})" for number in able]
        grants = self._accountant.parallel(self._share, on=parts, mechanism=POINT_OF)
        points = {}
        for number, grant in zip(able, grants, strict=True):
            node = self._nodes[number]
            marginal = self._records.marginal(name, node.rows)
            points[number] = split_point(marginal, node.regions[name], self._score, grant=grant, source=self._source)
        return points

    def _parts(self, number: int, name: str, ranges: Sequence[Range]) -> Integers:
        """The class counts of the children that a node would get."""
        rows = self._nodes[number].rows
        starts = np.array([start for start, _ in ranges])
        way = np.searchsorted(starts, self._records.codes[name][rows], side="right") - 1
        return self._records.by_part(way, rows, len(ranges))

    def _split(self, number: int, name: str, ranges: tuple[Range, ...]) -> None:
        node = self._nodes[number]
        node.attribute, node.ranges = name, ranges
        starts = np.array([start for start, _ in ranges])
        way = np.searchsorted(starts, self._records.codes[name][node.rows], side="right") - 1
        for place, region in enumerate(ranges):
            node.children.append(len(self._nodes))
            self._open.append(len(self._nodes))
            self._nodes.append(_Growing(node.rows[way == place], {**node.regions, name: region}))
