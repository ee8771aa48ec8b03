"""README.md of a bundle of records: what its receiver needs to know, without a manual."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from sfumato.domains.domain import Categories, Grid
from sfumato.release.forms.noisy_counts.readme import python_literal, quote
from sfumato.release.forms.records.record_store import RecordStore
from sfumato.release.forms.records.record_table import Column, RecordLayout
from sfumato.release.uniqueness import Uniqueness, count_unique
from sfumato.wording import markdown_code, markdown_text, sentence

_MOST_SHOWN: Final = 6
_OPENED: Final = '(".")                  # this folder'
_OPENED_ELSEWHERE: Final = '(".", data="ADDRESS")  # this folder, and where the table is'
_ENGINES: Final = {"postgresql": "in PostgreSQL", "spark": "of Spark"}

_TEXT = """\
# {release} of {study}

**Guarantee:** {guarantee}

Published on {date}. The privacy models with their parameters are in `manifest.json`; the SHA-256 of every file is there
too. `sfumato verify` with this folder checks them all, and checks the privacy models again on the published values.

## The table{s}

{tables} {published} records{suppressed}.

| column | what it is | values |
|---|---|---|
{columns}

How to read it:

{reading}
- Rows are sorted by their values. Their order says nothing about the original table.
{rules}
## Load it and use it

```python
from sfumato import Release

release = Release.open{opened}
table = release.to_pandas()                  # or to_arrow(), to_polars()
release.query({example})   # an estimate
```

Without Sfumato:

{without}
"""

_FILES = """\
```python
import pandas as pd

table = pd.read_parquet("{data}.parquet")
```"""

_REGIONS = """\
- **An equivalence class** (group) is all records with the same published quasi-identifier values. The privacy
  models are about these groups.
- **An interval** `[18, 40)` holds numbers from 18 up to, and not including, 40; `]` includes the end. What
  happened to values outside the declared domain is said below. A word is a node of the column's taxonomy and stands for
  all values below it; `a … b` stands for the values from a to b in the order of the manifest. Regions of different
  groups may overlap."""
_BUCKETS = """\
- **Buckets.** Quasi-identifiers are exact. Sensitive values belong to the bucket and not to the row: within a bucket
  they are shuffled, each attribute separately. Compare buckets, never single rows."""
_ANATOMY = """\
- **Two tables.** `data_qit` has the exact quasi-identifiers and the bucket of every record; {st} how often each
  sensitive value occurs in each bucket. Which record has which value is not published."""

_SETS = """
- **A set** (in {names}) such as `1*, 3*` lists the nodes that a record has codes under: at least one code under each,
  and none under others at their level. `(none)` is the set without codes. The root alone says nothing, not even that
  there is a code. The encoder takes new records with raw codes."""


def record_readme(layout: RecordLayout, content: Mapping[str, Any], unique: Uniqueness) -> str:
    """The text of README.md; ``content`` is the manifest. All numbers come from the published records."""
    tables = list(layout.tables)
    numbers = content["records"]
    stored = content.get("stored")
    first = layout.columns[0]
    reading = {"generalised": _REGIONS, "bucketized": _BUCKETS}.get(layout.form) or _ANATOMY.format(
        st=" and ".join(f"`{name}`" for name in tables[1:]) + (" has" if len(tables) == 2 else " have")  # noqa: PLR2004
    )
    reading += _unique(unique)
    if names := [markdown_code(column.name) for column in layout.columns if column.sets is not None]:
        reading += _SETS.format(names=", ".join(names))
    if layout.suppressed is not None:
        reading += (
            f"\n- **Suppressed records** have `true` in `{layout.suppressed}` and no other value. They are in no "
            "group: exclude them from every count. A value that is merely missing has its own label, or is empty in a "
            "record that is not suppressed."
        )
    if content.get("sampled") is not None:
        rate = Fraction(content["sampled"])
        reading += (
            f"\n- **A sample.** {float(100 * rate):g} % of the original records were drawn at random, without regard "
            "to their values, and only those are published. To estimate a count of the original table, divide a count "
            f"of this one by {content['sampled']}; shares need no correction."
        )
    return _TEXT.format(
        release=markdown_text(content["release"]),
        study=markdown_text(content["study"]),
        guarantee=markdown_text(content["guarantee"]),
        date=content["date"],
        s="s" if len(tables) > 1 else "",
        tables=_where(tables[0], content.get("stored")),
        opened=_OPENED if stored is None else _OPENED_ELSEWHERE,
        published=f"{numbers['published']:,}",
        suppressed=f" and {numbers['suppressed']:,} suppressed records" if layout.suppressed is not None else "",
        columns="\n".join(_rows(layout)),
        reading=reading,
        rules="".join(f"- {markdown_text(sentence(rule))}.\n" for rule in content["rules"]),
        example=python_literal(_example(first)),
        without=_FILES.format(data=tables[0]) if stored is None else _plain_access(stored, tables[0]),
    )


def _where(table: str, stored: Mapping[str, Any] | None) -> str:
    """Which table the first one is, for "… N records"."""
    if stored is None:
        return f"`{table}.parquet` and `{table}.csv` hold the same"
    named = markdown_code(stored["tables"][table]["name"])
    return f"The table {named} ({_ENGINES[stored['engine']]}) holds"


def _plain_access(stored: Mapping[str, Any], table: str) -> str:
    """How the first table is read where it lies."""
    named = stored["tables"][table]
    if named["parts"]:
        return f"read the Parquet files in the folder {markdown_code(named['name'])}; the manifest has their SHA-256."
    return f"read the table {markdown_code(named['name'])} with SQL."


def _unique(found: Uniqueness) -> str:
    """What the published table says of records that are unique over all columns that are a person's own."""
    if not found.exact:
        return ""
    names = ", ".join(markdown_code(name) for name in found.exact)
    return (
        f"\n- **Exact columns.** {names} {'is' if len(found.exact) == 1 else 'are'} published exactly. Over all "
        f"published columns together, {found.words} are unique. Anyone who knows the exact values of a person can "
        "single out rows; the privacy models do not cover that."
    )


def unique_published(layout: RecordLayout, records: RecordStore) -> Uniqueness:
    """How many published records are unique, from the published table alone; values by bucket are nobody's own.

    Records of two pieces are of two classes, so none of one piece is like one of another.
    """
    own = [c for c in layout.in_rows if layout.form == "generalised" or c.role != "sensitive"]
    exact = tuple(c.name for c in own if not c.regions)
    unique = sum(count_unique([piece.columns[c.name].places for c in own], piece.times) for piece in records.pieces())
    return Uniqueness(unique, len(records), exact, quasi=layout.form != "generalised")


def _rows(layout: RecordLayout) -> list[str]:
    rows = [
        f"| {markdown_code(column.name)} | {_kind(column, layout)} | {markdown_code(_shown(column))} |"
        for column in layout.columns
    ]
    if layout.group is not None:
        rows.append(f"| {markdown_code(layout.group)} | whole number | the bucket; numbers were assigned at random |")
    if layout.suppressed is not None:
        rows.append(f"| {markdown_code(layout.suppressed)} | truth value | whether the record is suppressed |")
    if layout.count is not None:
        rows.append(f"| {markdown_code(layout.count)} | whole number | how many records of the bucket have the value |")
    return rows


def _kind(column: Column, layout: RecordLayout) -> str:
    part = {
        "quasi_identifier": "quasi-identifier",
        "sensitive": "sensitive",
        "class": "the class",
        "insensitive": "other",
    }[column.role]
    how = "generalised" if column.regions else "exact"
    if column.role == "sensitive" and layout.form != "generalised":
        how = "by bucket"
    return f"{part}, {how}"


def _shown(column: Column) -> str:
    domain = column.domain
    if isinstance(domain, Grid):
        step = "" if domain.step == 1 else f" in steps of {float(domain.step):g}"
        return f"{domain.text(domain.lower)} to {domain.text(domain.upper)}{step}"
    assert isinstance(domain, Categories), "there are two kinds"
    leaves = domain.taxonomy.leaves
    return ", ".join(leaves[:_MOST_SHOWN]) + (", …" if len(leaves) > _MOST_SHOWN else "")


def _example(column: Column) -> str:
    domain = column.domain
    if column.sets is not None:
        tree = column.sets.taxonomy
        return f"{quote(column.name)} contains {quote(tree.labels[tree.kids(0)[0]])}"
    if isinstance(domain, Grid):
        return f"{quote(column.name)} >= {domain.text(domain.value(domain.points // 2))}"
    assert isinstance(domain, Categories), "there are two kinds"
    return f"{quote(column.name)} = {quote(domain.taxonomy.leaves[0])}"
