"""Groups as a table of labels with a count, and back; its columns as a draft has and as a manifest declares them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count as counting
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from sfumato.domains.cut import Cut, Range, cross_product, plain_numbers
from sfumato.domains.domain import Categories, Domain, Grid
from sfumato.domains.json_form import cut_from_json, domain_from_json
from sfumato.domains.sets.set_cut import SetCut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import InternalError, VerifyError
from sfumato.release.answer.interval import Noise
from sfumato.release.draft import Draft, Groups
from sfumato.release.forms.noisy_counts.labels import Labels
from sfumato.release.storage.csv_file import refuse_header
from sfumato.release.storage.parquet_file import ParquetLimits, read_parquet
from sfumato.release.storage.seal import broken_bundle
from sfumato.release.storage.untrusted import open_regular
from sfumato.study.view import NO_TARGET

_MOST_GROUPS: Final = 10**200  # more are as good as infinitely many, and this fits a float
_BLOCK = 1 << 24  # bytes of CSV read at a time; a row must fit
_MOST_COUNTED = 2**62  # by all counts together
_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Layout:
    """The columns of a release: a region an attribute, the class, and the count."""

    names: tuple[str, ...]  # the predictors, in order
    domains: tuple[Domain, ...]
    cuts: tuple[Cut, ...]
    class_name: str  # empty where there is no class: then there is no such column
    class_domain: Domain
    count: str
    weighted: bool = False  # whether the last column has weights, which need not be whole numbers

    @property
    def targeted(self) -> bool:
        """Whether a class is published."""
        return bool(self.class_name)

    @property
    def attributes(self) -> tuple[tuple[str, Domain], ...]:
        """The name and domain of every column but the count."""
        pairs = tuple(zip(self.names, self.domains, strict=True))
        return (*pairs, (self.class_name, self.class_domain)) if self.targeted else pairs

    @cached_property
    def labels(self) -> tuple[Labels, ...]:
        """How each column but the count reads; the class is published as it is."""
        found = tuple(Labels(domain, cut) for domain, cut in zip(self.domains, self.cuts, strict=True))
        if not self.targeted:
            return found
        return (*found, Labels(self.class_domain, Cut.finest(self.class_name, self.class_domain.size)))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns in order."""
        return (*(name for name, _ in self.attributes), self.count)

    @property
    def combinations(self) -> int:
        """How many groups the cuts and the class make, listed or not."""
        total = self.class_domain.size
        for cut in self.cuts:
            total *= cut.total
        return total

    def table(self, groups: Groups) -> pa.Table:
        """The groups as a table, in the order they have."""
        numbers = [plain_numbers(*pair) for pair in zip(self.cuts, groups.regions.T, strict=True)]
        numbers += [groups.classes] if self.targeted else []
        arrays = [label.column(column) for label, column in zip(self.labels, numbers, strict=True)]
        return pa.table([*arrays, pa.array(groups.counts, self._number)], names=list(self.columns))

    def groups(self, table: pa.Table) -> Groups:
        """The groups of a table; what does not fit the columns, the cuts or the classes is a `VerifyError`."""
        if tuple(table.column_names) != self.columns:
            raise VerifyError("the columns are not the declared ones", "get the bundle again", code="SF-VERIFY-056")
        counts = table.column(self.count)
        if counts.type != self._number or any(table.column(name).null_count for name in self.columns):
            raise VerifyError(
                "a count is not a whole number, or a value is empty", "get the bundle again", code="SF-VERIFY-057"
            )
        self._refuse_counts(counts)
        numbers = [_numbers(label, table.column(place)) for place, label in enumerate(self.labels)]
        classes = numbers.pop() if self.targeted else np.zeros(len(table), dtype=np.int64)
        regions = np.stack(numbers, axis=1) if self.names else np.empty((len(table), 0), dtype=np.int64)
        return Groups(self.cuts, regions, classes, counts.to_numpy().astype(np.float64 if self.weighted else np.int64))

    def _refuse_counts(self, counts: pa.ChunkedArray) -> None:
        """Refuse numbers that are no counts or weights, or too large to be added up."""
        if not len(counts):
            return
        least, most = pc.min(counts).as_py(), pc.max(counts).as_py()
        finite = pc.all(pc.is_finite(counts)).as_py()  # the least and greatest pass over what is no number
        sound = finite and (least > 0 if self.weighted else least >= 1)
        if not sound or not most <= _MOST_COUNTED // len(counts):
            raise VerifyError(
                "a count is below 1, or too large to be added up", "get the bundle again", code="SF-VERIFY-058"
            )

    @property
    def _number(self) -> pa.DataType:
        """The type of the last column."""
        return pa.float64() if self.weighted else pa.int64()

    def read_parquet(self, path: Path, limits: ParquetLimits) -> pa.Table:
        """The table of a Parquet file, each label once."""
        return read_parquet(path, {**dict.fromkeys(self.columns[:-1], _TEXT), self.count: self._number}, limits)

    def read_csv(self, path: Path) -> pa.Table:
        """The table of a CSV file: text as it stands, nothing taken for a missing value."""
        refuse_header(path, self.columns)
        types = dict.fromkeys(self.columns[:-1], _TEXT)
        with open_regular(path) as file:
            return pa.csv.read_csv(
                file,
                read_options=pa.csv.ReadOptions(block_size=_BLOCK),
                parse_options=pa.csv.ParseOptions(newlines_in_values=self._has_line_ends),
                convert_options=pa.csv.ConvertOptions(
                    column_types={**types, self.count: self._number}, strings_can_be_null=False, check_utf8=True
                ),
            )

    @property
    def _has_line_ends(self) -> bool:
        """Whether a quoted value may go over a line end; most do not, and are read twice as fast."""
        texts = [*self.columns]
        for labels in self.labels:
            texts += labels.domain.taxonomy.labels if labels.domain.taxonomy else ()
            texts += [labels.domain.missing_label] if isinstance(labels.domain, Grid) else ()
        return any("\n" in text or "\r" in text for text in texts)


def count_column(names: Sequence[str]) -> str:
    """A name for the count that no other column has, capitals aside: databases do not tell them apart.

    >>> count_column(["age", "Count"])
    'count_1'
    """
    return free_name("count", names)


def free_name(wanted: str, names: Sequence[str]) -> str:
    """A name that no other column has, capitals aside."""
    taken = {name.casefold() for name in names}
    return next(name for n in counting() if (name := f"{wanted}_{n}" if n else wanted) not in taken)


def in_order(groups: Groups) -> bool:
    """Whether the groups stand in the order of their region numbers and class, each once."""
    before = np.ones(max(len(groups) - 1, 0), dtype=bool)  # still equal to the row before
    rising = np.zeros_like(before)
    for column in (*groups.regions.T, groups.classes):
        rising |= before & (column[:-1] < column[1:])
        before &= column[:-1] == column[1:]
    return bool(rising.all())


def put_in_order(groups: Groups) -> Groups:
    """The same groups in the order of their region numbers and class: an order that anybody could make."""
    if in_order(groups):
        return groups
    order = np.lexsort((groups.classes, *groups.regions.T[::-1]))
    return Groups(groups.cuts, groups.regions[order], groups.classes[order], groups.counts[order])


def same(one: Groups, other: Groups) -> bool:
    """Whether two lists of groups over the same cuts are equal."""
    pairs = ((one.regions, other.regions), (one.classes, other.classes), (one.counts, other.counts))
    return one.cuts == other.cuts and all(np.array_equal(a, b) for a, b in pairs)


def _numbers(labels: Labels, column: pa.ChunkedArray) -> NDArray[np.int64]:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if column.type.value_type != pa.string():
        raise VerifyError(
            f"'{labels.cut.attribute}' is not a column of text", "get the bundle again", code="SF-VERIFY-059"
        )
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # no rows: nothing to combine
        return np.empty(0, dtype=np.int64)
    places = whole.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    regions: NDArray[np.int64] = labels.regions(whole.dictionary.to_pylist())[places]
    return regions


def layout_of(draft: Draft) -> Layout:
    """The columns that a draft is published in."""
    view = draft.view
    names = tuple(attribute.name for attribute in view.predictors)
    domains = [attribute.domain for attribute in view.predictors]
    if view.target.domain is None or tuple(cut.attribute for cut in draft.groups.cuts) != names:
        raise InternalError("a draft reached publication without its domains, or with cuts in another order")
    return Layout(
        names=names,
        domains=tuple(domain for domain in domains if domain is not None),
        cuts=draft.groups.cuts,
        class_name=view.target.name if view.targeted else "",
        class_domain=view.target.domain,
        count=count_column([a.name for a in view.attributes]),
    )


def layout_from(content: Mapping[str, Any]) -> Layout:
    """The columns that a manifest declares."""
    entries = content["attributes"]
    roles = [entry["role"] for entry in entries]
    names = tuple(entry["name"] for entry in entries)
    targeted = content["class_column"] is not None
    declared = roles.count("class") == 1 and roles[-1] == "class" and names[-1] == content["class_column"] != ""
    if (targeted and not declared) or (not targeted and "class" in roles):
        raise broken_bundle("the manifest does not declare its class last among the attributes", code="SF-VERIFY-049")
    if len({*names, content["count_column"]}) != len(names) + 1:
        raise broken_bundle("two columns of the manifest have the same name", code="SF-VERIFY-050")
    domains = tuple(domain_from_json(entry["domain"]) for entry in entries)
    cuts = tuple(cut_from_json(entry["cut"]) for entry in entries)
    for name, domain, cut in zip(names, domains, cuts, strict=True):
        refuse_other_cut(name, domain, cut)
    if not targeted:
        assert NO_TARGET.domain is not None, "it has one value"
        return Layout(
            names=names, domains=domains, cuts=cuts, class_name="", class_domain=NO_TARGET.domain,
            count=content["count_column"],
        )  # fmt: skip
    if not cuts[-1].is_finest:
        raise broken_bundle("the class is cut into groups of values", code="SF-VERIFY-054")
    return Layout(
        names=names[:-1], domains=domains[:-1], cuts=cuts[:-1], class_name=names[-1], class_domain=domains[-1],
        count=content["count_column"],
    )  # fmt: skip


def refuse_other_cut(name: str, domain: Domain, cut: Cut) -> None:
    """Refuse a cut that is not one of its attribute's domain."""
    if cut.attribute != name or cut.size != domain.size:
        raise broken_bundle(f"the cut of '{name}' is not one of its domain", code="SF-VERIFY-051")
    if isinstance(domain, SetDomain) != isinstance(cut, SetCut):
        raise broken_bundle(f"the cut of '{name}' is not one of its domain", code="SF-VERIFY-051")
    if isinstance(domain, SetDomain) and isinstance(cut, SetCut) and domain.most != cut.most:
        raise broken_bundle(f"the cut of '{name}' is of sets of another size", code="SF-VERIFY-052")
    if isinstance(domain, Categories | SetDomain) and not _of_nodes(cut, domain):
        raise broken_bundle(f"the cut of '{name}' is not made of nodes of its taxonomy", code="SF-VERIFY-053")


def _of_nodes(cut: Cut, domain: Categories | SetDomain) -> bool:
    """Whether every region is a node; a cut into single codes is not listed: a manifest can say that there are many."""
    if isinstance(cut.starts, range):
        return len(domain.taxonomy.widths) == cut.size
    return set(cut.ranges) <= _nodes(domain)


def group_values(layout: Layout, groups: Groups, attribute: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The regions of single values that groups have of an attribute, by code, and the rounded sums of their counts."""
    place = [name for name, _ in layout.attributes].index(attribute)
    cut = layout.labels[place].cut
    column = groups.classes if place == len(layout.names) else plain_numbers(cut, groups.regions[:, place])
    regions, row = np.unique(column.astype(np.int64), return_inverse=True)
    sums = np.bincount(row.ravel(), weights=groups.counts, minlength=len(regions)).round().astype(np.int64)
    ranges = np.array([cut.range_at(int(region)) for region in regions], dtype=np.int64).reshape(-1, 2)
    single = ranges[:, 1] - ranges[:, 0] == 1
    return ranges[single, 0], sums[single]


def noise_from(content: Mapping[str, Any], layout: Layout) -> Noise:
    """The noise on the counts that a manifest states; refused where it cannot be that of a release."""
    groups = float(min(cross_product(layout.cuts), _MOST_GROUPS))
    return Noise.of_facts(content["method"]["facts"], groups=groups, classes=layout.class_domain.size)


def _nodes(domain: Categories | SetDomain) -> set[Range]:
    return set(zip(domain.taxonomy.starts, domain.taxonomy.stops, strict=True))
