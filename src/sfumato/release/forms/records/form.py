"""Records in equivalence classes: generalised, in buckets, or in two tables."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import numpy as np
import pyarrow as pa
from pydantic import Field

from sfumato.domains.domain import Categories, Domain
from sfumato.domains.json_form import domain_to_json
from sfumato.domains.sets.set_cut import Sets
from sfumato.privacy.dp.sampling import RandomSource
from sfumato.release.checks import Check
from sfumato.release.draft import Draft
from sfumato.release.form import FORMS, Form, Writer
from sfumato.release.forms.records.code_spans import is_sorted
from sfumato.release.forms.records.data_files import read_records, write_csv, write_parquet_runs
from sfumato.release.forms.records.declared_layout import (
    record_layout,
    record_layout_from,
    record_numbers,
    sampled_share,
)
from sfumato.release.forms.records.page_answers import page_answers
from sfumato.release.forms.records.published_sets import prune_sets
from sfumato.release.forms.records.read_pieces import sorted_store_of
from sfumato.release.forms.records.readme import record_readme, unique_published
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.forms.records.record_table import Column, RecordLayout, table_names
from sfumato.release.forms.records.release import RecordsRelease, RecordsSummary
from sfumato.release.forms.records.rows import Records, records_of
from sfumato.release.forms.records.runs import Runs
from sfumato.release.guarantee import Evidence
from sfumato.release.manifest.compose import ReleaseFacts
from sfumato.release.manifest.fields import Manifest, Number, Strict, SyntacticPrivacy
from sfumato.release.page.embedded_rows import PageAnswers
from sfumato.release.shown import Shown, set_trees, shown_records, with_published_sets
from sfumato.release.storage.seal import Json
from sfumato.release.uniqueness import Uniqueness
from sfumato.study.budget import show
from sfumato.study.view import View

_MOST_LISTED: Final = 1_000  # values of one attribute; longer lists are in the manifest
_KINDS: Final = {"int64": "integer", "double": "number", "date32[day]": "date", "bool": "boolean"}


class RecordAttribute(Strict):
    """One attribute: its part, how it is published, and its domain in the form of `domains.json_form`."""

    name: str
    role: Literal["quasi_identifier", "sensitive", "class", "insensitive"]
    published: Literal["regions", "values"]
    domain: dict[str, Any]
    sets: dict[str, Any] | None = None  # of sets that are published as categories: the declared domain of their codes


class RecordNumbers(Strict):
    """How many records and groups the tables hold; anybody can count them."""

    published: Number
    suppressed: Number
    groups: Number
    smallest_group: Number


class RecordsManifest(Manifest):
    """The manifest of records."""

    form: Literal["generalised", "bucketized", "anatomy"]
    privacy: SyntacticPrivacy  # published records are never differentially private
    attributes: list[RecordAttribute]
    group_column: str | None
    suppressed_column: str | None
    count_column: str | None
    sampled: Annotated[str, Field(pattern=r"^[0-9./]{1,60}$")] | None = None  # left out where all records were used
    records: RecordNumbers


class RecordForm(Form):
    """A row a record, in the order of its values; suppressed records are rows that say only that.

    Of `generalised` records the quasi-identifiers are regions. Of `bucketized` ones they are exact, and the sensitive
    values of a bucket stand in random order; of `anatomy` these stand in a second table, counted.
    """

    schema = RecordsManifest
    rows_are = "records"

    def __init__(self, name: str) -> None:
        self.name = name
        self.shuffles = name != "generalised"

    def prepare(self, draft: Draft, facts: ReleaseFacts, source: RandomSource) -> tuple[RecordLayout, RecordStore]:
        """The columns, and the records; ``source`` gives buckets their numbers and shuffled values their order."""
        layout = record_layout(draft, sets=facts.sets)
        if isinstance(draft.content, RecordStore):
            return layout, draft.content
        return layout, RecordStore.of(records_of(draft, source))

    def published(self, draft: Draft) -> Draft:
        """The draft with domains of sets that name what is published of them alone."""
        return prune_sets(draft) if draft.view.sets else draft

    def writers(self, layout: RecordLayout, content: RecordStore) -> Mapping[str, Writer]:
        """One table, or two."""
        found: dict[str, Writer] = {}
        for name, pieces in self.runs(layout, content).items():
            found[f"{name}.parquet"] = partial(write_parquet_runs, pieces)
            found[f"{name}.csv"] = partial(write_csv, pieces)
        return found

    def runs(self, layout: RecordLayout, content: RecordStore) -> Mapping[str, Iterable[Runs]]:
        """The tables, each distinct row once."""
        if not layout.in_pieces:
            return {name: [runs] for name, runs in layout.runs(content.join()).items()}
        return {name: WrittenPieces(layout, content) for name in layout.tables}

    def planned_names(self, view: View) -> tuple[str, ...]:
        """One table, or one and another of each sensitive attribute."""
        return table_names(self.name, len(view.sensitive))

    def stored_names(self, layout: RecordLayout) -> tuple[str, ...]:
        """All tables."""
        return tuple(layout.tables)

    def in_pieces(self, layout: RecordLayout) -> bool:
        """Where a class is made of neighbours, and there is one table."""
        return layout.in_pieces

    def from_runs(self, layout: RecordLayout, tables: Mapping[str, Iterable[Runs]]) -> RecordStore:
        """The records of tables without an order, in the order of publication."""
        if layout.in_pieces:
            return sorted_store_of(layout, next(iter(tables.values())))
        joined = {name: layout.suppressed_last(Runs.join(pieces)) for name, pieces in tables.items()}
        return RecordStore.of(layout.records(joined, ordered=False))

    def fields(self, draft: Draft, layout: RecordLayout, content: RecordStore) -> Json:
        """The columns, and what anybody can count."""
        return {
            "attributes": [
                {
                    "name": column.name,
                    "role": column.role,
                    "published": "regions" if column.regions else "values",
                    "domain": domain_to_json(column.domain),
                    **({} if column.sets is None else {"sets": domain_to_json(column.sets)}),
                }
                for column in layout.columns
            ],
            "group_column": layout.group,
            "suppressed_column": layout.suppressed,
            "count_column": layout.count,
            **({} if draft.rate == 1 else {"sampled": show(draft.rate)}),
            "records": record_numbers(content),
            "rules": _observed(layout),
        }

    def shown(self, draft: Draft, view: View, sets: Mapping[str, Sets]) -> Shown:
        """The rows that look alike, with the values that stand beside them."""
        published = self.published(draft)
        return with_published_sets(shown_records(published), view, set_trees(published.view, sets), sets)

    def readme(self, layout: RecordLayout, manifest: Mapping[str, Any], unique: Uniqueness | None) -> str:
        """What a receiver needs to know."""
        assert unique is not None, "there are records"
        return record_readme(layout, manifest, unique)

    def columns(self, layout: RecordLayout, manifest: Mapping[str, Any]) -> Mapping[str, Json]:  # noqa: ARG002 - the layout has it all
        """The columns of each table."""
        return {
            name: {"fields": [_field(layout, *kind) for kind in kinds], "missingValues": [""]}
            for name, kinds in layout.tables.items()
        }

    def about(self) -> str:
        """What the data are."""
        return "Records in groups that look alike."

    def rows(self, draft: Draft) -> int:
        """Records that are not suppressed."""
        if isinstance(draft.content, RecordStore):
            return len(draft.content)
        return int(draft.partition.cells.counts.sum()) - draft.partition.suppressed

    def unique(self, layout: RecordLayout, content: RecordStore) -> Uniqueness:
        """How many published records are unique over all columns that are a person's own."""
        return unique_published(layout, content)

    def layout(self, manifest: Mapping[str, Any]) -> RecordLayout:
        """The columns that a manifest declares."""
        return record_layout_from(manifest)

    def refuse_broken(self, manifest: Mapping[str, Any]) -> None:
        """Refuse columns that the form does not have, and a sample of no share."""
        record_layout_from(manifest)
        sampled_share(manifest)

    def files(self, layout: RecordLayout) -> tuple[str, ...]:
        """Each table as Parquet and as CSV."""
        return layout.files

    def read(self, place: Path, manifest: Mapping[str, Any], layout: RecordLayout, ending: str) -> RecordStore:
        """The records of the data files, folded."""
        return read_records(place, layout, manifest, ending)

    def same(self, one: RecordStore, other: RecordStore) -> bool:
        """Whether two sets of records are equal, row by row."""
        return one.same(other)

    def readable(self, layout: RecordLayout, content: RecordStore) -> str:
        """Values in declared domains."""
        detail = f"{len(content):,} records, every value in its declared domain"
        if layout.suppressed is not None:
            detail += f"; {content.suppressed:,} suppressed records, which have no values"
        return detail

    def checks(self, layout: RecordLayout, content: RecordStore, manifest: Mapping[str, Any]) -> list[Check]:
        """The order of the rows, whether two tables agree, and the numbers of the manifest."""
        tallies = {} if content.whole is None else content.whole.tallies
        ordered = content.is_sorted() and all(is_sorted([t.group, t.codes]) for t in tallies.values())
        detail = "rows are sorted by their values" if ordered else "rows are not sorted by their values"
        found = [Check("order", ordered, detail)]
        if layout.form == "anatomy":
            found.append(_check_tallies(content.join()))
        right = manifest["records"] == record_numbers(content)
        detail = f"{content.group_sizes[0]:,} groups, the smallest of {manifest['records']['smallest_group']:,} records"
        wrong = "the manifest states other numbers of records or groups"
        return [*found, Check("numbers", right, detail if right else wrong)]

    def evidence(self, layout: RecordLayout, content: RecordStore, manifest: Mapping[str, Any]) -> Evidence:
        """The published equivalence classes."""
        return Evidence(
            classes=partial(content.classes, layout.judged),
            records=len(content),
            suppressed=content.suppressed,
            sampled=sampled_share(manifest),
            regions=layout.form == "generalised",
        )

    def open(
        self, place: Path, manifest: Mapping[str, Any], layout: RecordLayout, content: RecordStore
    ) -> RecordsRelease:
        """The release as its receiver uses it: all its distinct rows; a row for each record where one is asked for."""
        return RecordsRelease(place, manifest, layout, content.join())

    def summarise(
        self, place: Path, manifest: Mapping[str, Any], layout: RecordLayout, content: RecordStore
    ) -> RecordsRelease:
        """Its rows stay where they are: each column is counted by itself."""
        return RecordsSummary.of(place, manifest, layout, content)

    def page_answers(self, layout: RecordLayout, content: RecordStore, manifest: Mapping[str, Any]) -> PageAnswers:
        """What the page embeds to answer queries."""
        return page_answers(layout, content, manifest)

    def domains(self, layout: RecordLayout) -> Mapping[str, Domain]:
        """The domain of every attribute."""
        return {column.name: column.domain for column in layout.columns}

    def declared_domains(self, layout: RecordLayout) -> Mapping[str, Domain]:
        """The same as the owner declared them; those of sets are of their codes."""
        return {column.name: column.sets or column.domain for column in layout.columns}


GENERALISED: Final = FORMS.add(RecordForm("generalised"))
BUCKETIZED: Final = FORMS.add(RecordForm("bucketized"))
TWO_TABLES: Final = FORMS.add(RecordForm("anatomy"))


@dataclass(frozen=True, eq=False)
class WrittenPieces:
    """The one table of a release, piece by piece; what stands in its columns is found once for all of them."""

    layout: RecordLayout
    content: RecordStore

    def __iter__(self) -> Iterator[Runs]:
        for records in self.content.pieces():
            [runs] = self.layout.runs(records, self._values).values()
            yield runs

    @cached_property
    def _values(self) -> Mapping[str, pa.Array]:
        return self.layout.values(self.content.columns)


def _check_tallies(records: Records) -> Check:
    """Every bucket has as many sensitive values as records, and each value stands once in it."""
    assert records.group is not None, "the two tables meet in the bucket"
    ids, place = np.unique(records.group, return_inverse=True)
    sizes = np.bincount(place, weights=records.times, minlength=len(ids)).astype(np.int64)
    agrees = True
    for tally in records.tallies.values():
        there, first = np.unique(tally.group, return_index=True)
        sums = np.add.reduceat(tally.counts, first) if len(first) else np.empty(0, np.int64)
        pairs = np.stack([tally.group, tally.codes])
        once = len(np.unique(pairs, axis=1).T) == len(tally.codes)
        agrees &= np.array_equal(there, ids) and np.array_equal(sums, sizes) and once
    detail = "every bucket has as many sensitive values as records"
    return Check("tables", agrees, detail if agrees else "the two tables disagree about their buckets")


def _field(layout: RecordLayout, name: str, kind: pa.DataType) -> Json:
    descriptions = {
        layout.group: "the bucket; numbers were given at random",
        layout.suppressed: "whether the record is suppressed; then it has no other value",
        layout.count: "how many records of the bucket have this value",
    }
    if name in descriptions:
        return {"name": name, "type": _KINDS[str(kind)], "description": descriptions[name]}
    column = next(column for column in layout.columns if column.name == name)
    if not column.texts:
        return {"name": name, "type": _KINDS[str(kind)], "constraints": {"required": not _may_lack(layout, column)}}
    constraints: dict[str, Any] = {"required": layout.suppressed is None}
    if not column.regions and isinstance(column.domain, Categories) and column.domain.size <= _MOST_LISTED:
        constraints["enum"] = list(column.domain.taxonomy.leaves)
    return {"name": name, "type": "string", "constraints": constraints}


def _may_lack(layout: RecordLayout, column: Column) -> bool:
    return layout.suppressed is not None or column.domain.missing is not None


def _observed(layout: RecordLayout) -> list[str]:
    """Which domains were read off the records: a receiver learns from them which values occur.

    Of sets with declared codes she learns no more than the published records say.
    """
    names = [column.name for column in layout.columns if not column.domain.declared and column.sets is None]
    if not names:
        return []
    return [f"the domain was read from the table, not declared in advance, for {', '.join(names)}"]
