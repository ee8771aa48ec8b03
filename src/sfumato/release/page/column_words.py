"""What each column of a release says, in words: domain, published values, and how to read a generalised one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sfumato.domains.domain import Domain, Grid
from sfumato.domains.sets.set_domain import SetDomain

_MOST_VALUES: Final = 12  # of a column that are listed
_MOST_RANGES: Final = 1_000  # of a column that are counted one by one
_MOST_NODES: Final = 100  # generalised values whose own values are listed
_MOST_BELOW: Final = 50  # values below one of them
_ROLES: Final = {
    "quasi_identifier": "quasi-identifier",
    "sensitive": "sensitive attribute",
    "insensitive": "insensitive attribute",
    "class": "target (class attribute)",
    "predictor": "predictor",
}


@dataclass(frozen=True)
class ColumnView:
    """A column as its receiver reads it."""

    name: str
    role: str
    domain: str
    values: tuple[str, ...]
    more: int
    read_as: str
    number: int


def column_views(manifest: Mapping[str, Any], domains: Mapping[str, Domain]) -> tuple[ColumnView, ...]:
    """Every attribute of a manifest, in order."""
    cuts = _cuts(manifest)
    return tuple(_column(n, a, domains.get(a["name"]), cuts) for n, a in enumerate(manifest["attributes"]))


def generalised_values(manifest: Mapping[str, Any], domains: Mapping[str, Domain]) -> tuple[tuple[str, str], ...]:
    """The generalised values of all columns, each with the values below it; of many, the first."""
    cuts = _cuts(manifest)
    found = {label: below for a in manifest["attributes"] for label, below in _below(a["name"], domains, cuts)}
    return tuple(found.items())[: 2 * _MOST_NODES]


def _cuts(manifest: Mapping[str, Any]) -> dict[str, list[int]]:
    """Where the published groups of attributes begin, as far as they are the same for all rows."""
    stated = [a.get("cut") for a in manifest["attributes"]]
    stated += [cut for table in manifest.get("tables", ()) for cut in table.get("cuts", ())]
    return {cut["attribute"]: cut["starts"] for cut in stated if cut and isinstance(cut.get("starts"), list)}


def _column(number: int, stated: Mapping[str, Any], domain: Domain | None, cuts: Mapping[str, list[int]]) -> ColumnView:
    name, exact = str(stated["name"]), stated.get("published") == "values"
    role = _ROLES.get(str(stated["role"]), str(stated["role"]))
    if domain is None:
        return ColumnView(name, role, "declared in manifest.json", (), 0, "", number)
    starts = cuts.get(name)
    ranges = _ranges(domain, starts, exact=exact or stated["role"] == "class")
    values = tuple(domain.label(start, stop) for start, stop in ranges[:_MOST_VALUES])
    many = domain.size if exact and ranges and starts is None else len(ranges)
    return ColumnView(
        name, role, _domain(domain), values, max(0, many - len(values)), _read_as(stated, domain, starts), number
    )


def _ranges(domain: Domain, starts: list[int] | None, *, exact: bool) -> list[tuple[int, int]]:
    if starts is not None and not isinstance(domain, SetDomain):
        return list(zip(starts, [*starts[1:], domain.size], strict=True))
    if exact and not isinstance(domain, (Grid, SetDomain)):
        return [(code, code + 1) for code in range(min(domain.size, _MOST_RANGES))]
    return []


def _domain(domain: Domain) -> str:
    if isinstance(domain, Grid):
        kind = {"day": "days", "integer": "integers"}.get(domain.unit, "numbers")
        said = f"{kind} {domain.text(domain.lower)} to {domain.text(domain.upper)}"
    elif isinstance(domain, SetDomain):
        said = f"sets of {domain.size:,} codes, taxonomy"
    else:
        said = f"{domain.size:,} values"
    return said if domain.declared else f"{said}, read off the table"


def _read_as(stated: Mapping[str, Any], domain: Domain, starts: list[int] | None) -> str:
    if stated.get("published") == "values" or (stated["role"] == "class" and starts is None):
        return "exact values"
    if starts is not None and len(starts) == 1:
        return "one region: says nothing"
    if isinstance(domain, SetDomain):
        return "the nodes that a record has codes under"
    if isinstance(domain, Grid):
        return "[a, b): from a, up to and not including b"
    if starts is not None and len(starts) == domain.size:
        return "exact values"
    return "a node: all values below it"


def _below(name: str, domains: Mapping[str, Domain], cuts: Mapping[str, list[int]]) -> list[tuple[str, str]]:
    """The generalised values of a column, with the values below each."""
    domain = domains.get(name)
    if domain is None or isinstance(domain, (Grid, SetDomain)) or domain.taxonomy is None:
        return []
    ranges = _ranges(domain, cuts.get(name), exact=False) or _inner(domain)
    wide = [(start, stop) for start, stop in ranges if stop - start > 1]
    return [(domain.label(start, stop), _listed(domain, start, stop)) for start, stop in wide[:_MOST_NODES]]


def _listed(domain: Domain, start: int, stop: int) -> str:
    """The values of a range; of many, the first, and how many more there are."""
    shown = ", ".join(domain.label(code, code + 1) for code in range(start, min(stop, start + _MOST_BELOW)))
    more = stop - start - _MOST_BELOW
    return f"{shown} and {more:,} more" if more > 0 else shown


def _inner(domain: Domain) -> list[tuple[int, int]]:
    """Every inner node of a taxonomy, the root first."""
    found: list[tuple[int, int]] = []
    todo = [(0, domain.size)]
    while todo and len(found) < _MOST_NODES:
        node = todo.pop(0)
        found.append(node)
        todo += [child for child in domain.children(*node) if child[1] - child[0] > 1]
    return found
