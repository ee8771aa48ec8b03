"""README.md of a bundle of measured tables: what its receiver needs to know, without a manual."""

from collections.abc import Mapping
from math import sqrt
from typing import Any

from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.release.forms.noisy_counts.readme import column_rows, example_condition, python_literal
from sfumato.release.forms.readme_parts import HEAD, INTERVALS, MEASURED_TABLES, head_fields
from sfumato.release.forms.tables.layout import TablesLayout
from sfumato.release.forms.tables.table_layout import TableLayout
from sfumato.wording import markdown_code, markdown_text, sentence

_TEXT = (
    HEAD
    + """\

## What is here

"""
    + MEASURED_TABLES
    + """\

Every cell is listed, the empty ones too, so a count may be negative. Sums of counts are unbiased; the noise on a sum of
m counts has √m times the deviation. There are about {size} records. That number is noisy, too, and counted apart: the
sum of a table differs from it by the noise of both, and `query` answers from the tables.
{bands}
**Synthetic records** are in `records.parquet` and `records.csv`: {rows} rows, drawn from the tables. No row is
copied from a record of the original table; a row may equal one by chance. What protects people is the guarantee above.
A record has a row for each class, weighted by how likely the class is; the weights of all rows add up to the number of
records. Attributes of one table go together as they were counted; attributes of different tables only as far as the
class and the model tell. Use `{weight}` wherever you count or train.

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
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

release = Release.open(".")                  # this folder
model = release.classifier()                 # the model that the tables make
model.predict_proba(new_records)             # raw values, as before the release
X, y, w = release.to_training()              # or train any other model on the synthetic records
tree = DecisionTreeClassifier(min_weight_fraction_leaf=0.0002).fit(X, y, sample_weight=w)
make_pipeline(release.encoder(), tree).predict(new_records)
release.query({example})
release.tables["table_1"]                    # a measured table
release.sample(1000)                         # synthetic records with plain values, as many as you like
```

Without Sfumato:

```python
import pandas as pd

records = pd.read_parquet("records.parquet")
X = pd.get_dummies(records.drop(columns=[{class_name!r}, {weight_name!r}]))
y, w = records[{class_name!r}], records[{weight_name!r}]
```
"""
)

_BANDS = """
A `{column}` says which class the tables before it predict for a record, and how clearly (in log-odds). Add up over all
of them to count without it.
"""

_PREDICTED = """
`{column}` is the class that the tables of the stages predict for a record, not its class.
"""


def readme(layout: TablesLayout, manifest: Mapping[str, Any]) -> str:
    """The text of README.md."""
    records = layout.records
    return _TEXT.format(
        **head_fields(manifest),
        tables="\n".join(table_row(table) for table in layout.tables),
        size=f"{max(manifest['noisy_size'], 0):,}",
        bands=_BANDS.format(column=layout.band_column) * (len(layout.stages) > 1)
        + _PREDICTED.format(column=layout.predicted_column) * any(table.first for table in layout.remaining),
        rows=f"{manifest['records']['rows']:,}",
        weight=records.count,
        columns="\n".join(column_rows(records, "number", "how many records the row stands for")),
        rules="".join(f"- {markdown_text(sentence(rule))}.\n" for rule in manifest["rules"]),
        example=python_literal(example_condition(records)),
        class_name=records.class_name,
        weight_name=records.count,
    )


def table_row(table: TableLayout) -> str:
    """A measured table in the list of files."""
    counted = " × ".join(markdown_code(name) for name in table.columns[:-1]) or "all records"
    return f"| `{table.name}` | {counted} | {table.rows:,} | {sqrt(laplace_variance(table.scale)):,.3g} |"
