"""README.md of a bundle: what its receiver needs to know, without a manual."""

from collections.abc import Mapping
from json import dumps
from math import exp, sqrt
from typing import Any, Final

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Domain, Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.forms.noisy_counts.count_table import Layout
from sfumato.release.forms.readme_parts import HEAD, INTERVALS, head_fields
from sfumato.wording import markdown_code, markdown_text, sentence

_MOST_SHOWN: Final = 6
_MUCH: Final = 1.05  # counts that are scaled up by more than this have shares of their own

_TEXT = (
    HEAD
    + """\

## The table

`data.parquet` and `data.csv` hold the same {listed} rows. A row is a **group**: all records with the same
generalised values. All columns but `{count}` are text.

| column | what it is | values |
|---|---|---|
{columns}

"""
    + INTERVALS
    + """\
- **`{count}` is noisy**: random noise was added to the number of records of every group, including empty groups. Some
  rows stand for no record at all. A single row is unreliable; sums over many rows are more reliable.
- **A group that is not listed** had a noisy count that was too small, or negative. There are {combinations} groups in
  total, and noise was added to the count of each.
{bias}- Rows are sorted by their values. Their order says nothing about the original table.
{rules}
{use}"""
)

_TRAIN = """\
## Load it and train on it

Use the counts as weights for training. Sfumato turns the columns into numbers (the middle of an interval, one 0/1
column per node), and `encoder()` does the same with new raw records:

```python
from sfumato import Release
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

release = Release.open(".")                  # this folder
X, y, w = release.to_training()
model = make_pipeline(release.encoder(), LogisticRegression(max_iter=1000).fit(X, y, sample_weight=w))
model.predict(new_records)                   # raw values, as before the release
release.query({example})
release.sample()                             # synthetic records, drawn within the groups
```

Without Sfumato:

```python
import pandas as pd

table = pd.read_parquet("data.parquet")      # or pd.read_csv("data.csv", keep_default_na=False)
X = pd.get_dummies(table.drop(columns=[{class_name!r}, {count!r}]))
y, w = table[{class_name!r}], table[{count!r}]
```
"""

_COUNT = """\
## Load it and use it

```python
from sfumato import Release

release = Release.open(".")                  # this folder
table = release.to_pandas()                  # or to_arrow(), to_polars()
release.query({example})
release.sample()                             # synthetic records, drawn within the groups
```

Without Sfumato:

```python
import pandas as pd

table = pd.read_parquet("data.parquet")      # or pd.read_csv("data.csv", keep_default_na=False)
```
"""

_SETS = """\
- **A set** such as `1*, 3*` lists the nodes that a record has codes under: at least one code under each, and none under
  the other nodes of the column. `(none)` has no code at all. A column whose only node is the root says nothing:
  it includes records without codes.
"""

_UNBIASED_CLASSES = (
    "**Sums over all rows{classes} are unbiased.** The largest noisy counts{of_each} are listed, until they add up to "
    "a noisy total with a standard deviation of {deviation} records. Small groups are missing, so a sum over a few "
    "rows is less accurate than that: `release.query` gives its interval."
)
_SHARED_OUT = (
    "**The sum over all rows is unbiased**, with a standard deviation of {deviation} records. Noise made the totals of "
    "some classes negative: these classes have no rows, and the same amount was subtracted from the totals of all "
    "others, which matters if a class is small. `release.query` gives the interval of a sum."
)
_SCALED_UP = (
    "**The sum over all rows is unbiased**: most groups are below the threshold and missing, and the listed counts "
    "were scaled up by {factor} to a noisy number of records. The class shares are those of the listed groups."
)
_UNBIASED_TOTAL = (
    "**The sum over all rows is unbiased**: counts were fitted to a noisy number of records. The class shares are "
    "biased: a rare class is overrepresented, because noise fills its empty groups."
)
_TOO_HIGH = (
    "**Sums over many rows are too high**: negative noisy counts are not listed and positive ones are, so every empty "
    "group adds a little, and a rare class is overrepresented."
)


def readme(layout: Layout, manifest: Mapping[str, Any]) -> str:
    """The text of README.md."""
    sets = any(isinstance(domain, SetDomain) for domain in layout.domains)
    use = (_TRAIN if layout.targeted else _COUNT).format(
        example=python_literal(example_condition(layout)), class_name=layout.class_name, count=layout.count
    )
    numbers = manifest["groups"]
    combinations = numbers["combinations"]
    return _TEXT.format(
        **head_fields(manifest),
        listed=f"{numbers['listed']:,}",
        combinations=f"{combinations:,}" if isinstance(combinations, int) else combinations,
        bias="".join(f"- {line}\n" for line in bias_words(manifest["method"]["facts"], combinations)),
        columns="\n".join(column_rows(layout, "whole number", "how many records, after noise")),
        count=layout.count,
        use=use,
        rules=_SETS * sets + "".join(f"- {markdown_text(sentence(rule))}.\n" for rule in manifest["rules"]),
    )


def bias_words(facts: Mapping[str, Any], combinations: object) -> list[str]:
    """The bias of sums over the listed counts, for the reader of README.md."""
    post, threshold, totals = facts.get("post", "none"), int(facts.get("threshold", 1)), facts.get("noisy_totals")
    if post == "class_totals" and totals:
        factor = max(facts.get("noisy_counts", {}).get("factor", [1.0]))
        if factor > _MUCH:
            return [_SCALED_UP.format(factor=f"{factor:.3g}")]
        if min(totals["counts"]) < 0:
            return [_SHARED_OUT.format(deviation=f"{totals['deviation'] * sqrt(len(totals['counts'])):,.3g}")]
        several = len(totals["counts"]) > 1
        return [
            _UNBIASED_CLASSES.format(
                deviation=f"{totals['deviation']:,.3g}",
                classes=" and over each class" * several,
                of_each=" of each class" * several,
            )
        ]
    if post != "none":
        return [_UNBIASED_TOTAL]
    scale = facts.get("noise_scale")
    if not isinstance(scale, float) or not isinstance(combinations, int):
        return [_TOO_HIGH]
    alpha = exp(-1 / scale)
    excess = combinations * alpha**threshold / (1 + alpha) * (threshold + alpha / (1 - alpha))
    return [f"{_TOO_HIGH} If all groups were empty, the rows would add up to {excess:,.0f} records."]


def example_condition(layout: Layout) -> str:
    """A condition that any receiver can ask for: one value of the class, or the first column."""
    if layout.targeted:
        return f"{quote(layout.class_name)} = {quote(layout.labels[-1].all[0])}"
    name, domain = layout.attributes[0]
    if isinstance(domain, SetDomain):
        return f"{quote(name)} contains {quote(domain.taxonomy.labels[domain.taxonomy.kids(0)[0]])}"
    if isinstance(domain, Grid):
        return f"{quote(name)} >= {domain.text(domain.value(domain.points // 2))}"
    assert isinstance(domain, Categories), "there are three kinds"
    return f"{quote(name)} = {quote(domain.taxonomy.leaves[0])}"


def column_rows(layout: Layout, kind: str, meaning: str) -> list[str]:
    """The columns as rows of a table; the last one holds such numbers with this meaning."""
    rows = [
        f"| {markdown_code(name)} | {_kind(domain)} in {_many(domain, cut)} | {markdown_code(_shown(domain, cut))} |"
        for name, domain, cut in zip(layout.names, layout.domains, layout.cuts, strict=True)
    ]
    target = Cut.finest(layout.class_name, layout.class_domain.size)
    if layout.targeted:
        rows.append(
            f"| {markdown_code(layout.class_name)} | the class | {markdown_code(_shown(layout.class_domain, target))} |"
        )
    rows.append(f"| {markdown_code(layout.count)} | {kind} | {meaning} |")
    return rows


def _kind(domain: Domain) -> str:
    if isinstance(domain, Grid):
        return "dates" if domain.unit == "day" else "numbers"
    return "sets of codes" if isinstance(domain, SetDomain) else "categories"


def _many(domain: Domain, cut: Cut) -> str:
    if isinstance(domain, SetDomain):
        return "1 node" if len(cut.starts) == 1 else f"{len(cut.starts):,} nodes"
    return "1 region" if len(cut) == 1 else f"{len(cut):,} regions"


def _shown(domain: Domain, cut: Cut) -> str:
    if isinstance(domain, SetDomain):
        names = [domain.label(*node) for node in cut.ranges[:_MOST_SHOWN]]
        return "any of: " + ", ".join(names) + (", …" if len(cut.starts) > _MOST_SHOWN else "")
    shown = [domain.label(*cut.range_at(region)) for region in range(min(len(cut), _MOST_SHOWN))]
    return ", ".join(shown) + (", …" if len(cut) > _MOST_SHOWN else "")


def python_literal(text: str) -> str:
    """A text as Python writes it, on one line."""
    return dumps(text, ensure_ascii=False)


def quote(text: str) -> str:
    """A name or value as the query language takes any."""
    return "'" + text.replace("'", "''") + "'"
