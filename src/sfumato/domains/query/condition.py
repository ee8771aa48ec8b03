"""Conditions on records: which codes of which attributes, joined by and and or; from a query, or from a mapping.

A condition is about codes, so it is as total as coding is: a value that is missing or outside its domain has the code
that the study keeps it under, or none, and then the record satisfies no comparison with that attribute.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sfumato.domains.domain import Domain, Grid
from sfumato.domains.query.codes import Codes, codes_of
from sfumato.domains.query.language import (
    RESERVED,
    Comparison,
    Either,
    Every,
    Not,
    Token,
    Tree,
    list_names,
    parse_query,
    query_error,
)
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.domains.taxonomy.check import similar_names

_INTERVAL: Final = re.compile(r"\[\s*([^\s,\[\]()]+)\s*,\s*([^\s,\[\]()]+)\s*([\])])")


@dataclass(frozen=True)
class Leaf:
    """One attribute has one of these codes."""

    attribute: str
    codes: Codes


@dataclass(frozen=True)
class Join:
    """All of the parts (``every``), or at least one. Without parts: true for all, false for at least one."""

    every: bool
    parts: tuple["Condition", ...]


Condition = Leaf | Join

ALWAYS: Final = Join(every=True, parts=())

HeldAs = Callable[[Comparison, SetDomain], str]
"""Names an attribute of its own for what a comparison asks of a set: 1 for records that have it, 0 for others."""


def read_condition(
    text: str, domains: Mapping[str, Domain], *, whose: str = "the study", held: HeldAs | None = None
) -> Condition:
    """Read a query over attributes with these domains; ``whose`` attributes they are is for messages.

    Sets are refused unless ``held`` says how to ask for them.
    """
    return _Reader(text, domains, whose, held).resolved(parse_query(text), negated=False)


def condition_text(wanted: Mapping[str, Sequence[str]], domains: Mapping[str, Domain]) -> str:
    """The query that says: each of these attributes has one of its values, labels of nodes, or intervals.

    >>> from fractions import Fraction
    >>> age = Grid(lower=Fraction(0), upper=Fraction(99), step=Fraction(1), unit="integer")
    >>> condition_text({"age": ["[18, 40)", "65"]}, {"age": age})
    "(age >= '18' and age < '40' or age = '65')"
    """
    parts = []
    for name, values in wanted.items():
        domain = domains.get(name)
        said = [_one(name, value, domain) for value in values]
        parts.append(said[0] if len(said) == 1 else f"({' or '.join(said)})")
    return " and ".join(parts)


def others_text(name: str, values: Sequence[str]) -> str:
    """The query for all values of an attribute but these.

    >>> others_text("head cook", ["it's"])
    "'head cook' not in ('it''s')"
    """
    return f"{_name(name)} not in ({', '.join(_quoted(value) for value in values)})"


def attributes_of(condition: Condition) -> tuple[str, ...]:
    """The attributes that a condition looks at, each once."""
    return tuple(dict.fromkeys(leaf.attribute for leaf in leaves(condition)))


def leaves(condition: Condition) -> Iterator[Leaf]:
    """The comparisons in a condition."""
    if isinstance(condition, Leaf):
        yield condition
    else:
        for part in condition.parts:
            yield from leaves(part)


def exclude_each_other(first: Condition, second: Condition) -> bool:
    """Whether it is plain that no record satisfies both: they want different codes of one attribute.

    False where that would take more thought: then they may overlap.
    """
    one, other = _needed(first), _needed(second)
    return any(not _meet(one[name], other[name]) for name in set(one) & set(other))


def _needed(condition: Condition) -> dict[str, Codes]:
    """For attributes that a condition restricts whatever else holds: the codes that it leaves."""
    if isinstance(condition, Leaf):
        return {condition.attribute: condition.codes}
    needed: dict[str, Codes] = {}
    for place, part in enumerate(condition.parts):
        below = _needed(part)
        if condition.every:
            needed |= {name: _both(needed[name], codes) if name in needed else codes for name, codes in below.items()}
        elif place == 0:
            needed = below
        else:
            needed = {name: codes | below[name] for name, codes in needed.items() if name in below}
    return needed


def _both(first: Codes, second: Codes) -> Codes:
    pairs = ((a, b) for a in first.ranges for b in second.ranges)
    return Codes.of((max(a[0], b[0]), min(a[1], b[1])) for a, b in pairs)


def _meet(first: Codes, second: Codes) -> bool:
    return bool(_both(first, second).ranges)


def _one(name: str, value: str, domain: Domain | None) -> str:
    shown = _name(name)
    interval = _INTERVAL.fullmatch(value.strip())
    plain = domain is not None and domain.taxonomy is not None and value in domain.taxonomy.labels
    if isinstance(domain, Grid) and interval is not None and not plain:
        below = "<=" if interval.group(3) == "]" else "<"
        return f"{shown} >= {_quoted(interval.group(1))} and {shown} {below} {_quoted(interval.group(2))}"
    return f"{shown} = {_quoted(value)}"


def _name(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) and name.lower() not in RESERVED else _quoted(name)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, eq=False)
class _Reader:
    """Names as attributes, values as codes, and nots down at the comparisons, where they are the other codes."""

    text: str
    domains: Mapping[str, Domain]
    whose: str
    held: HeldAs | None

    def resolved(self, tree: Tree, *, negated: bool) -> Condition:
        match tree:
            case Not(part):
                return self.resolved(part, negated=not negated)
            case Every(parts) | Either(parts):
                every = isinstance(tree, Every) != negated
                return Join(every, tuple(self.resolved(part, negated=negated) for part in parts))
            case Comparison():
                return self._leaf(tree, negated=negated)

    def _leaf(self, asked: Comparison, *, negated: bool) -> Leaf:
        name = asked.name
        domain = self.domains.get(name.text)
        if domain is None:
            raise _unknown(name, list(self.domains), self.text, self.whose)
        if isinstance(domain, SetDomain):
            if self.held is None:
                problem = f"'{name.text}' has sets of codes, and records cannot be selected by those yet"
                raise query_error(
                    self.text,
                    name.at,
                    problem,
                    "ask about other attributes, or query a release of it",
                    code="SF-USAGE-019",
                )
            holds = negated == (asked.operator == "!=")
            return Leaf(self.held(asked, domain), Codes.of([(1, 2) if holds else (0, 1)]))
        codes = codes_of(asked, domain, self.text)
        return Leaf(name.text, codes.opposite(domain.size) if negated else codes)


def _unknown(name: Token, names: list[str], text: str, whose: str) -> Exception:
    close = similar_names(name.text, names)
    fix = f"write {' or '.join(repr(c) for c in close)}" if close else f"use one of: {list_names(names)}"
    return query_error(text, name.at, f"{whose} has no attribute '{name.text}'", fix, code="SF-USAGE-020")
