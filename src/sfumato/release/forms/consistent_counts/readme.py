"""README.md of consistent counts: what its receiver needs to know, without a manual."""

from collections.abc import Mapping
from typing import Any

from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.privacy.dp.strategies import Hierarchical, Marginals, Strategy, Wavelet
from sfumato.release.forms.consistent_counts.layout import ConsistentLayout
from sfumato.release.forms.noisy_counts.readme import column_rows, example_condition, python_literal
from sfumato.release.forms.readme_parts import HEAD, head_fields
from sfumato.wording import markdown_code, markdown_text, sentence

_TEXT = (
    HEAD
    + """\

## What was measured

`measured.parquet` and `measured.csv` hold the same {measured} rows. {what} Random noise was added to every one of them,
also where there is no record: discrete Laplace noise of scale {scale:.6g}, with a standard deviation of
{deviation:,.3g}. Numbers may be negative. Every estimate follows from this table; `manifest.json` has the strategy
under `measured`.

## The table of counts

`data.parquet` and `data.csv` hold the same {listed} rows, of {combinations} groups. A row is a **group**: all records
with the same values. All columns but `{count}` are text.

| column | what it is | values |
|---|---|---|
{columns}

- **`{count}` was estimated from the measured numbers**, by {estimated}, and rounded. Groups with a count below 1 are
  not listed. {post}
- **Do not add up rows to answer a range.** Estimates below 1 are missing from such a sum and were compensated
  elsewhere, so it is biased: too low where counts are small, too high where they or their noise are large.
  `release.query` adds up the unbiased estimates, the negative ones too, and gives the interval of the sum, in which the
  noise of neighbours is correlated.
- An interval `[18, 40)` holds numbers from 18 up to, and not including, 40; `]` includes the end. What happened to
  values outside the declared domain is said below.
- Rows are sorted by their values. Their order says nothing about the original table.
{rules}
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
measured = pd.read_parquet("measured.parquet")
```
"""
)

_TREE = (
    "A row is a node of a tree over the values of {name}, in every cell of the other columns, and counts the records "
    "with these values. Level {last} has the single values, and every level above it sums of neighbours."
)
_HAAR = (
    "The first rows count the records in every cell of the other columns. Each of the others is the number of records "
    "with values of {name} in a left half less those in the right half: a Haar coefficient times its weight."
)
_MARGINALS = (
    "A row is a cell of a marginal: the values of {order} attributes, and the records that have them. All marginals of "
    "{order} attributes are there."
)
_BEYOND = """\
- **Conditions on more than {order} attributes** are answered from the published table, which takes from the marginals
  how these attributes are related and nothing else; their interval follows from the marginals alone and is wide.
"""
_POSTS = {
    "class_totals": "The largest counts{of_each} are listed, until they add up to the estimated total, which is "
    "unbiased.",
    "scale": "All counts were scaled to the estimated total, which is unbiased.",
    "least_squares": "The same amount was subtracted from all counts, so that they add up to the estimated total, "
    "which is unbiased.",
    "none": "Negative estimates are missing and positive ones are not, so the sum over all rows is too high.",
}


def readme(layout: ConsistentLayout, manifest: Mapping[str, Any]) -> str:
    """The text of README.md."""
    numbers, strategy = manifest["groups"], layout.strategy
    haar = isinstance(strategy, Wavelet)
    name = markdown_code(layout.ordered or "")
    if isinstance(strategy, Marginals):
        what = _MARGINALS.format(order=strategy.order)
        post = "They add up to the estimated total{of_each}, which is unbiased."
        beyond = _BEYOND.format(order=strategy.order)
    else:
        assert isinstance(strategy, Hierarchical | Wavelet), "there are three"
        what = _HAAR.format(name=name) if haar else _TREE.format(name=name, last=strategy.nodes[-1][0])
        post = _POSTS.get(manifest["method"]["facts"].get("post", "none"), "")
        beyond = ""
    return _TEXT.format(
        **head_fields(manifest),
        measured=f"{layout.measured.rows:,}",
        what=what,
        scale=layout.scale,
        deviation=laplace_variance(layout.scale) ** 0.5,
        listed=f"{numbers['listed']:,}",
        combinations=f"{layout.counts.combinations:,}",
        columns="\n".join(column_rows(layout.counts, "whole number", "how many records, estimated")),
        count=layout.counts.count,
        estimated=_estimated(strategy),
        post=post.format(of_each=" of each class" if layout.counts.targeted else ""),
        rules=beyond + "".join(f"- {markdown_text(sentence(rule))}.\n" for rule in manifest["rules"]),
        example=python_literal(example_condition(layout.counts)),
    )


def _estimated(strategy: Strategy) -> str:
    if isinstance(strategy, Marginals):
        return "least squares: the table without negative counts whose marginals are nearest to them"
    return "the inverse transform" if isinstance(strategy, Wavelet) else "least squares"
