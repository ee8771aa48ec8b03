"""A second way to every number about sets: published texts and raw records, plain Python, nothing of the product.

A release is read as its receiver reads the table, row by row: ``1*, 3*`` is at least one code under each, and none
elsewhere; the root tells nothing. Regions are dictionaries, sets are frozen sets of codes, and everything is a loop.
"""

from collections import Counter, defaultdict
from itertools import combinations, product
from math import log

TREE = {"Any": {"1*": ["15", "16", "17"], "3*": ["31", "32"], "5*": ["51", "HIV"]}}
WARDS = ("a", "b", "c")
ILLS = ("flu", "cold", "gout")
LEAVES = [leaf for below in TREE["Any"].values() for leaf in below]
UNDER = {"Any": frozenset(LEAVES), **{node: frozenset(below) for node, below in TREE["Any"].items()}}
UNDER |= {leaf: frozenset([leaf]) for leaf in LEAVES}
LEVELS = {1: list(TREE["Any"]), 2: LEAVES}


def region(text):
    """The nodes that a text names; None for the root, which tells nothing."""
    return None if text == "Any" else frozenset() if text == "(none)" else frozenset(text.split(", "))


def told(codes, level):
    """A set of codes as a set of nodes at a level."""
    return frozenset(node for node in LEVELS[level] if codes & UNDER[node])


def within(codes, nodes):
    """Whether a record with these codes is in a region."""
    if nodes is None:
        return True
    return all(codes & UNDER[node] for node in nodes) and all(any(c in UNDER[node] for node in nodes) for c in codes)


def chance(nodes, wanted):
    """How likely a record of a region has one of the wanted codes; the empty wish is for records without codes."""
    if not wanted:
        return float(nodes is not None and not nodes)
    missed = 1.0
    for node in ["Any"] if nodes is None else nodes:
        missed *= 1 - len(UNDER[node] & wanted) / len(UNDER[node])
    return 1 - missed


def js(p, q):
    """Jensen and Shannon's distance of two distributions."""
    found = 0.0
    for one, other in ((p, q), (q, p)):
        for key, a in one.items():
            if a:
                found += a * log(a / ((a + other.get(key, 0.0)) / 2)) / 2
    return found


def shares(counts):
    total = sum(counts.values())
    return {key: count / total for key, count in counts.items()} if total > 0 else {}


class Row:
    """One line of what is published: its weight, its regions, and how likely each value beside them is."""

    def __init__(self, weight, ward, codes, values):
        self.weight, self.ward, self.codes, self.values = weight, ward, codes, values

    @property
    def key(self):
        return self.ward, self.codes

    def holds(self, ward, codes):
        return self.ward in ("Any", ward) and within(codes, self.codes)


def rows_of(release, beside):
    """The lines of a release; ``beside`` is the attribute that stands beside the regions."""
    tables = [table.to_pylist() for table in getattr(release, "to_tables", lambda: {"": release.to_arrow()})().values()]
    lines = [line for line in tables[0] if not line.get("suppressed")]
    weight = "count" if release.private else None
    shape = release.form
    if shape in ("bucketized", "anatomy"):
        pools = defaultdict(Counter)
        if shape == "anatomy":
            for line in tables[1]:
                pools[line["group"]][line[beside]] += line["count"]
        else:
            for line in lines:
                pools[line["group"]][line[beside]] += 1
        return [Row(1.0, line["ward"], region(line["codes"]), shares(pools[line["group"]])) for line in lines]
    pools, sizes = defaultdict(Counter), Counter()
    for line in lines:
        many = line[weight] if weight else 1
        key = line["ward"], region(line["codes"])
        pools[key][line[beside]] += many
        sizes[key] += many
    return [Row(float(sizes[key]), *key, shares(pools[key])) for key in sizes]


def ploss(rows, records):
    """The largest and the mean distance of what stands beside a line from what stands in the table."""
    prior = shares(Counter(value for _, _, value in records))
    losses = [(js(prior, row.values), row.weight) for row in rows]
    return max(loss for loss, _ in losses), sum(a * b for a, b in losses) / sum(b for _, b in losses)


def populations(records, level, min_sup):
    """Conjunctions of a ward, and of a node that sets contain, that many records are in."""
    nodes = [node for depth in range(1, level + 1) for node in LEVELS[depth]]
    wishes = [None, *({UNDER[node] for node in nodes}), frozenset()]
    found = []
    for ward, wish in product((None, *WARDS), wishes):
        inside = [r for r in records if _in(r, ward, wish)]
        if (ward is not None or wish is not None) and len(inside) >= min_sup * len(records) - 1e-6:
            found.append((ward, wish, inside))
    return found


def _in(record, ward, wish):
    if ward is not None and record[0] != ward:
        return False
    return wish is None or (bool(record[1] & wish) if wish else not record[1])


def part(row, ward, wish):
    """How much of a line is in a population."""
    here = 1.0 if ward is None or row.ward == ward else 1 / len(WARDS) if row.ward == "Any" else 0.0
    return row.weight * here * (1.0 if wish is None else chance(row.codes, wish))


def uloss(rows, records, level, min_sup):
    """The mean distance of the true from the reconstructed distribution over large populations."""
    losses = []
    for ward, wish, inside in populations(records, level, min_sup):
        true = shares(Counter(value for _, _, value in inside))
        guess, all_of_it = defaultdict(float), defaultdict(float)
        for row in rows:
            for value, share in row.values.items():
                guess[value] += part(row, ward, wish) * share
                all_of_it[value] += row.weight * share
        losses.append(js(true, shares(guess) or shares(all_of_it)))
    return sum(losses) / len(losses), len(losses)


def general_loss(rows, suppressed, level):
    """The mean over wards and codes of how much of its domain a published value covers."""
    at_level = LEVELS[level]

    def covered(node):
        return (sum(UNDER[one] <= UNDER[node] for one in at_level) - 1) / (len(at_level) - 1)

    total = sum(row.weight for row in rows) + suppressed
    wards = sum(row.weight * (row.ward == "Any") for row in rows)
    codes = sum(
        row.weight * (1.0 if row.codes is None else sum(map(covered, row.codes)) / len(row.codes) if row.codes else 0.0)
        for row in rows
    )
    return ((wards + suppressed) / total + (codes + suppressed) / total) / 2


def linked(rows, records):
    """For each record how many published ones it may be, and whether the likeliest value among them is its own."""
    found = []
    for ward, codes, value in records:
        near = [row for row in rows if row.holds(ward, codes)]
        values = defaultdict(float)
        for row in near:
            for one, share in row.values.items():
                values[one] += row.weight * share
        found.append((sum(row.weight for row in near), dict(values), value))
    return found


def code_shares(pairs, level):
    """The distribution of nodes over all that records hold: (weight, nodes or None); no codes count once, as that."""
    found = defaultdict(float)
    for weight, nodes in pairs:
        if nodes is not None and not nodes:
            found["(none)"] += weight
        for node in ["Any"] if nodes is None else nodes:
            below = [one for one in LEVELS[level] if UNDER[one] <= UNDER[node]]
            for one in below:
                found[one] += weight * len(UNDER[one]) / len(UNDER[node])
    return shares(found)


def apart(p, q):
    return sum(abs(p.get(key, 0.0) - q.get(key, 0.0)) for key in {*p, *q}) / 2


def cell_kl(rows, records, level, suppressed):
    """The divergence over all wards, all sets of nodes at the level, and all values beside them."""
    every = [frozenset(some) for size in range(len(LEVELS[level]) + 1) for some in combinations(LEVELS[level], size)]

    def matching(nodes):
        if nodes is None:
            return len(every)
        return sum(within(frozenset().union(*(UNDER[n] for n in some)), nodes) for some in every)

    room = {row.codes: matching(row.codes) for row in rows}
    true = Counter((ward, told(codes, level), value) for ward, codes, value in records)
    found = {}
    for ward, nodes, value in true:
        codes = frozenset().union(*(UNDER[n] for n in nodes))
        found[ward, nodes, value] = sum(
            row.weight * row.values.get(value, 0.0) / room[row.codes] / (len(WARDS) if row.ward == "Any" else 1)
            for row in rows
            if row.holds(ward, codes)
        )
    whole = sum(row.weight for row in rows)
    extra = suppressed + (0.0 if suppressed or all(found.values()) else 1.0)
    even = 1 / (len(WARDS) * len(every) * len(ILLS))
    total = sum(true.values())
    return sum(
        many / total * log((many / total) / ((found[cell] + extra * even) / (whole + extra)))
        for cell, many in true.items()
    )
