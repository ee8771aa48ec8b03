"""What the labels of another tool mean: ranges of the study's codes.

A label is a value, a node of the taxonomy, an interval, a set of values in braces, or `*` for the whole domain. With
the tool's own hierarchy a label means the leaves below it, whatever the study's taxonomy calls by the same name. Leaves
that are not neighbours in the study's order are no range, and no measure could tell their region from a wider one: such
a label is `SCATTERED`, and whoever reads the table takes another order of the codes, or refuses it.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from enum import Enum
from fractions import Fraction
from typing import Final

import numpy as np

from sfumato.domains.cut import Range
from sfumato.domains.domain import Categories, Grid, as_text, is_missing
from sfumato.domains.range_text import ranges_of
from sfumato.evaluate.foreign.hierarchies import Hierarchy
from sfumato.evaluate.foreign.intervals import read_interval, read_point
from sfumato.study.attribute import Attribute, InvalidValuePolicy

ANY: Final = "*"  # how ARX, and others after it, write that nothing is told


class _Scattered(Enum):
    SCATTERED = "values that are no range of codes"


SCATTERED: Final = _Scattered.SCATTERED
Meaning = Range | _Scattered | None
"""A range of codes; `SCATTERED` for values that are none; None for a label that means nothing in this domain."""


def is_any(value: object) -> bool:
    """Whether a label says that nothing is told.

    >>> is_any(" * "), is_any("**")
    (True, False)
    """
    return isinstance(value, str) and value.strip() == ANY


def meanings(attribute: Attribute, values: Sequence[object], hierarchy: Hierarchy | None = None) -> list[Meaning]:
    """What each of some distinct labels means."""
    domain = attribute.domain
    assert isinstance(domain, (Categories, Grid)), "sets are not read"
    texts = [as_text(value).strip() for value in values]
    below = {} if hierarchy is None else hierarchy.leaves()
    own = ranges_of(domain, texts)
    found: list[Meaning] = []
    for value, text, range_ in zip(values, texts, own, strict=True):
        if is_missing(value):
            found.append(None if domain.missing is None else (domain.missing, domain.missing + 1))
        elif is_any(value):
            found.append((0, domain.size))
        elif text in below:
            found.append(_together(attribute, below[text]))
        elif range_ is not None:
            found.append(range_)
        else:
            found.append(_read(attribute, value, text))
    return found


def _read(attribute: Attribute, value: object, text: str) -> Meaning:
    """A label that is no text of the study's own releases."""
    domain = attribute.domain
    if text.startswith("{") and text.endswith("}"):
        return _union(attribute, [part.strip() for part in text[1:-1].split(";" if ";" in text else ",")])
    if isinstance(domain, Categories):
        nodes = domain.taxonomy.labels
        return domain.taxonomy.range_of(nodes.index(text)) if text in nodes else None
    assert isinstance(domain, Grid), "no sets"
    code = _code(attribute, value)
    if code is not None:
        return code, code + 1
    if domain.taxonomy is not None and text in domain.taxonomy.labels:
        return domain.taxonomy.range_of(domain.taxonomy.labels.index(text))
    return read_interval(domain, text, clamp=attribute.outside is InvalidValuePolicy.KEEP)


def _code(attribute: Attribute, value: object) -> int | None:
    """The code of a single number or day; what is outside the bounds has one only where the study keeps it there."""
    grid = attribute.domain
    assert isinstance(grid, Grid), "asked of grids"
    point: Fraction | None
    if isinstance(value, str):
        point = read_point(grid, value)
    elif isinstance(value, dt.date):
        point = Fraction(value.toordinal()) if grid.unit == "day" else None
    else:
        point = read_point(grid, str(value))
    if point is None:
        return None
    if not grid.lower <= point <= grid.upper and attribute.outside is not InvalidValuePolicy.KEEP:
        return None
    return int(grid.encode_numbers(np.array([float(min(max(point, grid.lower), grid.upper))]))[0])


def _together(attribute: Attribute, labels: Iterable[str]) -> Meaning:
    """The values below a node of another hierarchy; one that the study does not declare cannot occur."""
    domain = attribute.domain
    if isinstance(domain, Categories):
        known = domain.codes()
        return _range({known[label] for label in labels if label in known})
    return _range({code for label in labels if (code := _code(attribute, label)) is not None})


def _union(attribute: Attribute, labels: Sequence[str]) -> Meaning:
    """Several values or nodes in braces, all of which must be known; a set in a set is no label."""
    found = [None] if any(label.startswith("{") for label in labels) else meanings(attribute, labels)
    ranges = sorted(one for one in found if isinstance(one, tuple))
    if len(ranges) < len(found):
        return None
    start, stop = ranges[0]
    for begin, end in ranges[1:]:
        if begin > stop:
            return SCATTERED
        stop = max(stop, end)
    return start, stop


def _range(codes: set[int]) -> Meaning:
    if not codes:
        return None
    start, stop = min(codes), max(codes) + 1
    return (start, stop) if len(codes) == stop - start else SCATTERED
