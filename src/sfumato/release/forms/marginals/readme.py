"""README.md of a bundle of marginals: what its receiver needs to know, without a manual."""

from collections.abc import Mapping
from typing import Any

from sfumato.release.forms.marginals.layout import MarginalsLayout
from sfumato.release.forms.noisy_counts.readme import column_rows, example_condition, python_literal
from sfumato.release.forms.readme_parts import HEAD, INTERVALS, MEASURED_TABLES, head_fields
from sfumato.release.forms.tables.readme import table_row
from sfumato.wording import markdown_text, sentence

_TEXT = (
    HEAD
    + """\

## What is here

"""
    + MEASURED_TABLES
    + """\

Every cell is listed, the empty ones too, so a count may be negative. Sums of counts are unbiased; the noise on a sum of
m counts has √m times the deviation. There are about {size} records; that number is noisy, too. Tables that have an
attribute in common disagree about it by their noise, and so do their sums about the number of records.

**Synthetic records** are in `records.parquet` and `records.csv`: {rows} rows, drawn from a graphical model that was
fitted to all tables. No row is copied from a record of the original table; a row may equal one by chance. What protects
people is the guarantee above. `{weight}` says how many records a row stands for; all weights add up to the
number of records as all tables together estimate it. Attributes that a table has together go together as they were
counted, up to noise; how others go together follows from the tables that connect them, and attributes that no chain of
tables connects are independent in the records, whatever they are in truth. Use `{weight}` wherever you count or train.

| column | what it is | values |
|---|---|---|
{columns}

"""
    + INTERVALS
    + """\
- Rows are sorted by their values. Their order says nothing about the original table.
{rules}
## Load it and use it

```python
from sfumato import Release
{imports}
release = Release.open(".")                  # this folder
release.tables["table_1"]                    # a measured table
release.query({example})
release.sample(1000)                         # synthetic records with plain values, as many as you like
{training}```

A query about attributes of one table is answered by that table. Its interval holds the noise, and where inside a group
the records may lie. A query across tables is answered by the synthetic records (`modelled` names the attributes), in an
interval that holds whatever the tables' parts have in common.

Without Sfumato:

```python
import pandas as pd

records = pd.read_parquet("records.parquet")
{plain}```
"""
)

_TRAINING = """\
X, y, w = release.to_training()              # the synthetic records as numbers
tree = DecisionTreeClassifier(min_weight_fraction_leaf=0.002).fit(X, y, sample_weight=w)
make_pipeline(release.encoder(), tree).predict(new_records)
"""
_IMPORTS = """\
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
"""


def readme(layout: MarginalsLayout, manifest: Mapping[str, Any]) -> str:
    """The text of README.md."""
    records = layout.records
    return _TEXT.format(
        **head_fields(manifest),
        tables="\n".join(table_row(table) for table in layout.tables),
        size=f"{max(manifest['noisy_size'], 0):,}",
        rows=f"{manifest['records']['rows']:,}",
        weight=records.count,
        columns="\n".join(column_rows(records, "number", "how many records the row stands for")),
        rules="".join(f"- {markdown_text(sentence(rule))}.\n" for rule in manifest["rules"]),
        example=python_literal(example_condition(records)),
        imports=_IMPORTS if records.targeted else "",
        training=_TRAINING if records.targeted else "",
        plain=_plain(records.class_name, records.count, targeted=records.targeted),
    )


def _plain(target: str, weight: str, *, targeted: bool) -> str:
    if not targeted:
        return f"records[{weight!r}].sum()\n"
    return (
        f"X = pd.get_dummies(records.drop(columns=[{target!r}, {weight!r}]))\n"
        f"y, w = records[{target!r}], records[{weight!r}]\n"
    )
