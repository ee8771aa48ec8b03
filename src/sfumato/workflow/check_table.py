"""Checking privacy models on any table, also one that Sfumato did not make: values as they are found there."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sfumato.domains.boxes import Boxes
from sfumato.domains.domain import Categories, Domain
from sfumato.domains.taxonomy.tree import Node, Taxonomy
from sfumato.errors import InfeasibleError, SourceError, UsageError
from sfumato.privacy.groups.statistics import Statistics
from sfumato.privacy.models import (
    DeltaPresence,
    DistinctLDiversity,
    GroupModel,
    KAnonymity,
    any_regional,
    broken_records,
    parse_models,
    title,
)
from sfumato.study.attribute import Attribute, Role
from sfumato.study.unit import RecordUnit
from sfumato.study.view import View
from sfumato.tables import SourceTable, collecting, count_values, open_source

Integers = NDArray[np.int64]

_MISSING = "(missing)"


@dataclass(frozen=True, kw_only=True)
class ModelCheck:
    """One privacy model on one table: how many groups violate it, with how many records, and the worst of them.

    ``records`` counts the records of groups that violate the model, or only the violating records where the model can
    distinguish them. ``worst`` has the sizes of the worst groups: those that violate the model, smallest first, or else
    the smallest ones. ``values`` has their quasi-identifier values, only if the owner asked for them. ``best`` is the
    strongest parameter that holds, in words, where there is an obvious one.
    """

    model: str
    broken: int
    worst: tuple[int, ...]
    records: int = 0
    best: str | None = None
    values: tuple[Mapping[str, str], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every group satisfies the model."""
        return not self.broken

    def as_json(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {
            "model": self.model,
            "ok": self.ok,
            "broken": self.broken,
            "records": self.records,
            "best": self.best,
            "worst": list(self.worst),
            "values": list(self.values),
        }


@dataclass(frozen=True, kw_only=True)
class TableCheck:
    """Privacy models on a table: how many records and groups were checked, and one finding per model."""

    records: int
    suppressed: int
    groups: int
    smallest: int
    largest: int
    models: tuple[ModelCheck, ...] = field(default_factory=tuple)

    @property
    def ok(self) -> bool:
        """Whether every model holds in every group."""
        return all(model.ok for model in self.models)

    def as_json(self) -> dict[str, Any]:
        """The findings as plain values."""
        return {
            "ok": self.ok,
            "records": self.records,
            "suppressed": self.suppressed,
            "groups": self.groups,
            "smallest": self.smallest,
            "largest": self.largest,
            "models": [model.as_json() for model in self.models],
        }


def verify_table(  # noqa: PLR0913 - all but the first by keyword
    source: Any,
    *,
    privacy: Mapping[str, Any] | Iterable[Any],
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    suppressed: str | None = None,
    worst: int = 5,
    values: bool = False,
    base: Path | None = None,
    memory_limit: str | None = None,
) -> TableCheck:
    """Check models on any table: groups are the records with equal values in the ``quasi`` columns.

    Values are taken as they are found, so a missing one is a value like any other, and the domain of a sensitive
    column is what occurs in it, in order (flat, without a taxonomy). ``suppressed`` names a column that is true for
    suppressed records, which are not counted. With ``values`` the values of the worst groups are shown: for the owner
    only. A model that uses regions takes each value of a quasi-identifier as a region of its own. All combinations of
    values in the named columns are compared here: those of a table in PostgreSQL or Spark are counted first, and
    refused if more than fit ``memory_limit``.
    """
    models = parse_models(privacy)
    if not models:
        raise UsageError("no privacy model is specified", "give one, such as k-anonymity=5", code="SF-USAGE-080")
    if any(isinstance(model, DeltaPresence) for model in models):
        raise UsageError(
            "δ-presence counts people in regions, and this table does not state its regions",
            "check a bundle: `sfumato verify BUNDLE --population FILE`",
            code="SF-USAGE-081",
        )
    _refuse_names(quasi, sensitive, suppressed)
    with open_source(source, base=base, memory_limit=memory_limit) as table:
        lacking = [name for name in (*quasi, *sensitive, suppressed) if name is not None and name not in table.columns]
        if lacking:
            raise SourceError(
                f"{table.name} has no column {', '.join(map(repr, lacking))}",
                f"choose among its columns: {', '.join(table.columns[:20])}",
                code="SF-SOURCE-041",
            )
        found, lost = _count_values(table, [*quasi, *sensitive], suppressed)
    counts: Integers = found["n"].to_numpy().astype(np.int64)
    if not len(counts):
        raise InfeasibleError("the table has no record to check", "name a table with records", code="SF-INFEASIBLE-014")
    group, first = _groups([_codes(found[f"c{place}"]) for place in range(len(quasi))])
    codes: dict[str, Integers] = {}
    domains: dict[str, Domain] = {}
    for place, name in enumerate(sensitive, start=len(quasi)):
        codes[name], domains[name] = _rank_values(found[f"c{place}"])
    boxes, known = _regions(found, quasi, first) if any_regional(models) else (None, {})
    _check(models, quasi, domains, known)
    groups = Statistics.of(group, counts, codes, {**known, **domains}, groups=len(first), boxes=boxes)
    shown = [f"c{place}" for place in range(len(quasi))] if values else []
    return TableCheck(
        records=int(counts.sum()),
        suppressed=lost,
        groups=len(groups),
        smallest=int(groups.sizes.min()),
        largest=int(groups.sizes.max()),
        models=tuple(_finding(model, groups, found.select(shown).take(first), quasi, worst) for model in models),
    )


def _refuse_names(quasi: Sequence[str], sensitive: Sequence[str], suppressed: str | None) -> None:
    if not quasi:
        raise UsageError(
            "no quasi-identifier is given",
            "name the columns that an adversary may know about a person",
            code="SF-USAGE-082",
        )
    names = [*quasi, *sensitive, *([suppressed] if suppressed else [])]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise UsageError(
            f"'{twice[0]}' is named twice",
            "name each column once: as a quasi-identifier or as a sensitive attribute",
            code="SF-USAGE-083",
        )


def _count_values(table: SourceTable, columns: Sequence[str], suppressed: str | None) -> tuple[pa.Table, int]:
    """Every combination of values with how often it occurs, and how many records are suppressed."""
    rows = table.table
    lost = 0
    if suppressed is not None:
        mark = rows[suppressed]
        truth = mark if mark.type().is_boolean() else mark.cast("string").lower().isin(["true", "1"])
        gone = truth.fill_null(False)  # noqa: FBT003 - it is the value
        lost = int(table.fetch(rows.aggregate(n=gone.sum()))["n"][0].as_py() or 0)
        rows = rows.filter(~gone)
    with collecting("to judge a table by privacy models, all of them are compared"):
        return count_values(replace(table, table=rows), columns), lost


def _codes(column: pa.ChunkedArray) -> Integers:
    """A number for each distinct value, nothing among them."""
    whole = column.dictionary_encode(null_encoding="encode").combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no rows
        return np.empty(0, np.int64)
    codes: Integers = whole.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return codes


def _groups(columns: Sequence[Integers]) -> tuple[Integers, Integers]:
    """The group of each row, and the first row of each group."""
    group = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, group = np.unique(group * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
    _, first = np.unique(group, return_index=True)
    return group, first


def _rank_values(column: pa.ChunkedArray) -> tuple[Integers, Domain]:
    """Codes in the order of the values (numbers by size, also where they are written as text), and their domain."""
    whole = column.dictionary_encode(null_encoding="encode").combine_chunks()
    values = whole.dictionary.to_pylist()
    try:
        order = sorted(range(len(values)), key=lambda n: (values[n] is None, float(values[n] or 0)))
    except (TypeError, ValueError):
        order = sorted(range(len(values)), key=lambda n: (values[n] is None, str(values[n])))
    texts = [_MISSING if values[n] is None else str(values[n]) for n in order]
    leaves = _distinct_texts(texts)
    root = _distinct_texts([*leaves, "Any"])[-1]
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values))
    taxonomy = Taxonomy.of(Node(root, tuple(Node(leaf) for leaf in leaves)))
    return ranks[whole.indices.to_numpy(zero_copy_only=False)], Categories(taxonomy=taxonomy, declared=False)


def _regions(found: pa.Table, quasi: Sequence[str], first: Integers) -> tuple[Boxes, dict[str, Domain]]:
    """Every value of a quasi-identifier as a region of its own, and the domains they make."""
    ranked = {name: _rank_values(found[f"c{place}"]) for place, name in enumerate(quasi)}
    starts = np.stack([codes[first] for codes, _ in ranked.values()], axis=1)
    return Boxes(tuple(quasi), starts, starts + 1), {name: domain for name, (_, domain) in ranked.items()}


def _distinct_texts(texts: Sequence[str]) -> list[str]:
    """The same texts, with a mark on one that was there before: values of two types may read alike."""
    seen: set[str] = set()
    found: list[str] = []
    for text in texts:
        mark = text
        while mark in seen:
            mark += "′"
        seen.add(mark)
        found.append(mark)
    return found


def _check(
    models: Sequence[GroupModel], quasi: Sequence[str], domains: Mapping[str, Domain], known: Mapping[str, Domain]
) -> None:
    """Let each model refuse what it makes no sense on; ``known`` are the domains of quasi-identifiers, if asked for."""
    flat = Categories(taxonomy=Taxonomy.of(Node("Any", (Node("a value"),))), declared=False)
    view = View(
        quasi=tuple(Attribute(name=n, role=Role.QUASI_IDENTIFIER, domain=known.get(n, flat)) for n in quasi),
        sensitive=tuple(Attribute(name=n, role=Role.SENSITIVE, domain=domain) for n, domain in domains.items()),
        others=(),
        unit=RecordUnit(),
    )
    for model in models:
        model.check(view)


def _finding(model: GroupModel, groups: Statistics, shown: pa.Table, quasi: Sequence[str], most: int) -> ModelCheck:
    lost = broken_records(model, groups)
    broken = np.flatnonzero(lost)
    among = broken if len(broken) else np.arange(len(groups))
    worst = among[np.argsort(groups.sizes[among], kind="stable")][:most]
    named = [
        {name: _MISSING if value is None else str(value) for name, value in zip(quasi, row.values(), strict=True)}
        for row in shown.take(worst).to_pylist()
        if row
    ]
    return ModelCheck(
        model=title(model),
        broken=len(broken),
        worst=tuple(int(size) for size in groups.sizes[worst]),
        records=int(lost.sum()),
        best=_best(model, groups),
        values=tuple(named),
    )


def _best(model: GroupModel, groups: Statistics) -> str | None:
    """The strongest parameter that holds, where it is obvious."""
    if isinstance(model, KAnonymity):
        return f"k up to {int(groups.sizes.min())}"
    if isinstance(model, DistinctLDiversity):
        names = model.needs() or tuple(groups.sensitive)
        return f"l up to {min(int(np.diff(groups.sensitive[name].first).min()) for name in names)}"
    return None
