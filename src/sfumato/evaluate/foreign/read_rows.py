"""A table of another tool as what it shows: regions with weights, and the values that stand beside them.

Rows are counted by their labels before anything else is done with them, so their order cannot matter: in a file of
generalised records it is often that of the original, and tells who is who.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sfumato.domains.domain import Categories, is_missing
from sfumato.domains.sets.places import PublishedSets
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import SourceError, StudyError
from sfumato.evaluate.evidence import distinct_rows
from sfumato.evaluate.foreign.foreign_table import ForeignTable
from sfumato.evaluate.foreign.hierarchies import Hierarchy
from sfumato.evaluate.foreign.label_ranges import SCATTERED, Meaning, is_any, meanings
from sfumato.release.shown import Floats, Integers, Shown, Values
from sfumato.study.attribute import Attribute
from sfumato.study.source import Source
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import SourceTable, count_values, open_source

_LETTERS: Final = 60  # of a label that is quoted
_QUOTED: Final = 3  # labels that an error quotes
FORM: Final = "foreign"


@dataclass(frozen=True, kw_only=True)
class ReadTable:
    """A foreign table beside a study: what it shows, in codes of ``view``, and what the owner should know of it."""

    shown: Shown
    view: View  # of the study, but for the order of the values of attributes that are ``reordered``
    rows: int
    undeclared: tuple[str, ...]  # columns that the study declares no domain for, which were not read
    unpublished: tuple[str, ...]  # attributes of the study that the table does not have
    reordered: tuple[str, ...]
    starred: int  # records whose quasi-identifiers are all `*`, with other values beside them

    def sentences(self) -> list[str]:
        """What was read, and what was not."""
        kind = "synthetic rows" if self.shown.synthetic else "rows"
        said = [f"{self.rows:,} {kind} were read; Sfumato did not make them, and no guarantee of them was checked"]
        if self.shown.synthetic:
            said.append("where a measure speaks of published records, it speaks of synthetic rows, which are nobody's")
        if self.shown.suppressed:
            said.append(f"{self.shown.suppressed:,} rows tell nothing in any column: they count as suppressed records")
        if self.starred:
            said.append(
                f"{self.starred:,} rows have '*' in every quasi-identifier and values beside them: they are records "
                "that can be anybody's"
            )
        if self.undeclared:
            said.append(f"columns that the study declares no domain for were ignored: {', '.join(self.undeclared)}")
        if self.unpublished:
            said.append(
                f"attributes that the table does not have count as not published: {', '.join(self.unpublished)}"
            )
        if self.reordered:
            said.append(
                f"values are measured in the order and with the nodes of the given hierarchy, not of the study's "
                f"taxonomy: {', '.join(self.reordered)}"
            )
        return said

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "rows": self.rows,
            "synthetic": self.shown.synthetic,
            "suppressed": self.shown.suppressed,
            "undeclared": list(self.undeclared),
            "unpublished": list(self.unpublished),
            "reordered": list(self.reordered),
            "notes": self.sentences(),
        }


def read_foreign(
    study: Study, view: View, table: ForeignTable, *, reorder: bool, memory_limit: str | None = None
) -> ReadTable:
    """Read a foreign table by the attributes of a view.

    Labels of a given hierarchy may mean values that are no range of the study's codes. With ``reorder`` the domain of
    that attribute takes the order and the nodes of the hierarchy in the result's view; without, that is an error, since
    what is measured beside it has the study's order.
    """
    hierarchies = {name: Hierarchy.load(name, path) for name, path in table.hierarchies.items()}
    source = table.source
    if not isinstance(source, Source):
        declared = study.source.missing if isinstance(study.source, Source) else ()
        source = Source(path=source, missing=declared)
    with open_source(source, base=Path(), memory_limit=memory_limit) as opened:
        return _read(opened, study, view, table, hierarchies, reorder=reorder)


def _read(
    opened: SourceTable,
    study: Study,
    view: View,
    table: ForeignTable,
    hierarchies: Mapping[str, Hierarchy],
    *,
    reorder: bool,
) -> ReadTable:
    declared = [name for name in opened.columns if name in study.attributes and study.attributes[name].coded]
    there = [a for a in view.attributes if a.name in declared]
    _refuse_columns(opened, view, there, hierarchies)
    rows = _count_rows(opened, declared)
    told = ~_all_of(rows, declared, lambda value: is_missing(value) or is_any(value))
    every = rows.counts
    suppressed = int(every[~told].sum())
    rows = rows.take(told)
    domains, ranges = {}, {}
    for attribute in there:
        of = _ranges(rows, attribute, hierarchies.get(attribute.name), opened.name, reorder=reorder)
        ranges[attribute.name] = of.starts, of.stops
        if of.attribute is not attribute:
            domains[attribute.name] = of.attribute.domain
    seen = view.with_domains({name: domain for name, domain in domains.items() if domain is not None})
    quasi = [a.name for a in view.quasi if a.name in declared]
    beside = [name for name in declared if name not in {a.name for a in view.quasi}]
    starred = _all_of(rows, quasi, is_any) if quasi and beside else np.zeros(len(rows.counts), np.bool_)
    return ReadTable(
        shown=_shown(seen, ranges, rows.counts, table, suppressed),
        view=seen,
        rows=int(every.sum()),
        undeclared=tuple(name for name in opened.columns if name not in declared),
        unpublished=tuple(a.name for a in view.attributes if a.name not in declared),
        reordered=tuple(domains),
        starred=int(rows.counts[starred].sum()),
    )


def _refuse_columns(
    opened: SourceTable, view: View, there: Sequence[Attribute], hierarchies: Mapping[str, Hierarchy]
) -> None:
    if not there:
        raise SourceError(
            f"{opened.name} has none of the attributes that are measured",
            f"name its columns as the study does: {', '.join(a.name for a in view.attributes)}",
            code="SF-SOURCE-350",
        )
    sets = [a.name for a in there if isinstance(a.domain, SetDomain)]
    if sets:
        raise StudyError(
            f"{opened.name} publishes '{sets[0]}', which the study declares as a set; sets of other tools' tables "
            "cannot be read",
            f"remove the column '{sets[0]}' from the table, or measure for a purpose without it",
            code="SF-STUDY-350",
        )
    unknown = [name for name in hierarchies if name not in {a.name for a in there}]
    if unknown:
        raise SourceError(
            f"a hierarchy is given for '{unknown[0]}', and {opened.name} has no such attribute of the study",
            f"give hierarchies of: {', '.join(a.name for a in there)}",
            code="SF-SOURCE-351",
        )


@dataclass(frozen=True, eq=False)
class _Rows:
    """Distinct rows of labels with how often each occurs: for each column its distinct values, and each row's."""

    values: Mapping[str, list[object]]
    place: Mapping[str, Integers]
    counts: Integers

    def take(self, kept: NDArray[np.bool_]) -> "_Rows":
        """Some of the rows."""
        return _Rows(self.values, {name: place[kept] for name, place in self.place.items()}, self.counts[kept])


def _count_rows(opened: SourceTable, names: Sequence[str]) -> _Rows:
    """The distinct rows; the engine counts them, so it does not matter in which order they stand."""
    found = count_values(opened, names)
    values, place = {}, {}
    for number, name in enumerate(names):
        column = found.column(f"c{number}").combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
        coded = column.dictionary_encode(null_encoding="encode")
        values[name] = coded.dictionary.to_pylist()
        place[name] = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return _Rows(values, place, found.column("n").to_numpy().astype(np.int64))


def _all_of(rows: _Rows, names: Sequence[str], holds: Any) -> NDArray[np.bool_]:
    """Which rows have such a value in every one of these columns."""
    found = np.ones(len(rows.counts), np.bool_)
    for name in names:
        such = np.array([holds(value) for value in rows.values[name]], np.bool_)
        found &= such[rows.place[name]]
    return found


@dataclass(frozen=True, eq=False)
class _Ranges:
    """The ranges of codes of one column, and the attribute whose codes they are."""

    attribute: Attribute
    starts: Integers
    stops: Integers


def _ranges(rows: _Rows, attribute: Attribute, hierarchy: Hierarchy | None, where: str, *, reorder: bool) -> _Ranges:
    values, place = rows.values[attribute.name], rows.place[attribute.name]
    often = np.bincount(place, weights=rows.counts, minlength=len(values))
    used = np.flatnonzero(often)
    found = meanings(attribute, [values[at] for at in used], hierarchy)
    if SCATTERED in found and hierarchy is not None and isinstance(attribute.domain, Categories):
        if not reorder:
            raise StudyError(
                f"labels of '{attribute.name}' in {where} mean values that do not lie together in the study's "
                "taxonomy, and releases of one frontier are measured in one order of values",
                f"declare that hierarchy as the taxonomy of '{attribute.name}' in the study",
                code="SF-STUDY-352",
            )
        ordered = hierarchy.domain_of(attribute.domain)
        attribute = replace(attribute, domain=ordered)
        found = meanings(attribute, [values[at] for at in used], hierarchy)
    wrong = [at for at, meant in zip(used, found, strict=True) if not isinstance(meant, tuple)]
    if wrong:
        raise _misfit(attribute, where, [values[at] for at in wrong], int(often[wrong].sum()), found)
    ends = np.zeros((len(values), 2), np.int64)
    ends[used] = np.array(found, np.int64).reshape(-1, 2)
    return _Ranges(attribute, ends[place, 0], ends[place, 1])


def _misfit(attribute: Attribute, where: str, values: Sequence[object], rows: int, found: list[Meaning]) -> SourceError:
    """Labels without a meaning that a range of codes has; the table is public by definition, so they are quoted."""
    quoted = ", ".join("a missing value" if is_missing(value) else _quote(value) for value in values[:_QUOTED])
    more = ", …" if len(values) > _QUOTED else ""
    if None not in found:
        return SourceError(
            f"'{attribute.name}' in {where} has sets of values that do not lie together in the study's taxonomy, in "
            f"{rows:,} rows: {quoted}{more}",
            f"declare a taxonomy of '{attribute.name}' in which each of them is a node, or give one as its hierarchy",
            code="SF-SOURCE-352",
        )
    return SourceError(
        f"'{attribute.name}' in {where} has labels that are no value, node or interval of the study's domain, in "
        f"{rows:,} rows: {quoted}{more}",
        f"declare the hierarchy that they come from as the taxonomy of '{attribute.name}', or give it to `evaluate "
        f"measures` (--hierarchy {attribute.name}=FILE), or correct the table",
        code="SF-SOURCE-353",
    )


def _quote(value: object) -> str:
    """A label for an error, of a bounded length and without marks that a terminal would obey."""
    text = str(value)
    short = text if len(text) <= _LETTERS else f"{text[:_LETTERS]}…"
    return f"'{short}'" if short.isprintable() else ascii(short)


def _shown(
    view: View,
    ranges: Mapping[str, tuple[Integers, Integers]],
    counts: Integers,
    table: ForeignTable,
    suppressed: int,
) -> Shown:
    """Rows with the same quasi-identifiers are one; what is not published may be anything."""
    names = tuple(a.name for a in view.quasi)
    sets: dict[str, PublishedSets] = {}
    columns: list[Integers] = []
    for name in names:
        if name not in ranges:
            columns += _anything(view, name, len(counts), sets)
        else:
            columns += ranges[name]
    row, first = distinct_rows(columns, len(counts))
    starts, stops = (
        np.stack([columns[2 * n + end][first] for n in range(len(names))], axis=1)
        if names
        else np.zeros((len(first), 0), np.int64)
        for end in (0, 1)
    )
    weights: Floats = np.bincount(row, weights=counts, minlength=len(first)).astype(np.float64)
    values = {
        a.name: _values(row, len(first), ranges[a.name], counts, view.domain(a.name).size)
        for a in (*view.sensitive, *view.others)
        if a.name in ranges
    }
    return Shown(
        names, starts, stops, weights, values, FORM, rate=float(table.rate), suppressed=suppressed,
        noisy=table.synthetic, sets=sets, synthetic=table.synthetic,
    )  # fmt: skip


def _anything(view: View, name: str, rows: int, sets: dict[str, PublishedSets]) -> tuple[Integers, Integers]:
    """The region of an attribute that is not published."""
    domain = view.domain(name)
    if isinstance(domain, SetDomain):
        sets[name] = PublishedSets.by_cut(domain, domain.root(name), np.zeros(1, np.int64))
    size = sets[name].size if name in sets else domain.size
    return np.zeros(rows, np.int64), np.full(rows, size, np.int64)


def _values(row: Integers, rows: int, ends: tuple[Integers, Integers], counts: Integers, size: int) -> Values:
    """How often each value stands beside each region; a coarse one stands for each of its codes alike.

    Labels of one column may contain each other (local recoding). Their ends cut the domain into parts, and a label
    counts towards each part by its width, so that every code has the same count as if labels were spread one by one.
    """
    starts, stops = ends
    weights = counts.astype(np.float64)
    own = np.arange(rows)
    if bool(np.all(stops - starts == 1)):
        return Values(own, csr_array((weights, (row, starts)), shape=(rows, size)))
    edges = np.unique(np.concatenate([starts, stops, [0, size]]))
    begin, end = np.searchsorted(edges, starts), np.searchsorted(edges, stops)
    many = end - begin
    of = np.repeat(np.arange(len(starts)), many)
    part = np.arange(len(of)) - np.repeat(np.cumsum(many) - many, many) + begin[of]
    share = (edges[part + 1] - edges[part]) / (stops - starts)[of]
    table = csr_array((weights[of] * share, (row[of], part)), shape=(rows, len(edges) - 1))
    return Values(own, table, edges=edges)
