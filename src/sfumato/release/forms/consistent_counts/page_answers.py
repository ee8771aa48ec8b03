"""How the page of consistent counts answers: every estimate, and what the variance of a sum of them follows from."""

from math import prod

import numpy as np

from sfumato.domains.cut import Cut
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.privacy.dp.strategies import Hierarchical, Marginals
from sfumato.release.draft import EstimatedGroups
from sfumato.release.forms.consistent_counts.layout import ConsistentLayout
from sfumato.release.page.embedded_rows import MOST_NUMBERS, PageAnswers, not_answered, table_column
from sfumato.release.storage.seal import Json

_MOST_CELLS = MOST_NUMBERS // 6  # an estimate has as many digits as six codes


def page_answers(layout: ConsistentLayout, groups: EstimatedGroups) -> PageAnswers:
    """The estimates of all cells; of a table with more cells than fit, none."""
    sizes, counts = layout.sizes, layout.counts
    if prod(sizes) > _MOST_CELLS:
        return not_answered(f"the {prod(sizes):,} estimates of the release are too many for a page")
    cuts = [*counts.cuts, Cut.finest(counts.class_name, counts.class_domain.size)]
    names = [*counts.names, counts.class_name]
    columns = [table_column(name, cut) for name, cut in zip(names, cuts, strict=True)]
    estimates = layout.estimates(groups.measured)
    content: Json = {
        "table": {
            "columns": columns if counts.targeted else columns[:-1],
            "counts": estimates.ravel().tolist(),
            "total": max(round(float(estimates.sum())), 0),
        },
        "variance": laplace_variance(layout.scale),
        "strategy": _strategy(layout),
    }
    if isinstance(layout.strategy, Marginals):
        published = np.zeros(sizes, dtype=np.int64)
        published[(*groups.regions.T, groups.classes)] = groups.counts
        content["published"] = published.ravel().tolist()
    return PageAnswers("consistent", content)


def _strategy(layout: ConsistentLayout) -> Json:
    strategy = layout.strategy
    if isinstance(strategy, Marginals):
        interactions = [{"subset": list(subset), "variance": factor} for subset, factor in strategy.interactions]
        subsets = [list(subset) for subset in strategy.subsets]
        sizes = list(strategy.sizes)
        return {
            "name": strategy.name, "size": strategy.size, "sizes": sizes, "subsets": subsets,
            "interactions": interactions,
        }  # fmt: skip
    found: Json = {"name": strategy.name, "sizes": list(layout.sizes), "place": layout.place}
    if isinstance(strategy, Hierarchical):
        found |= {"first": [level.tolist() for level in strategy.first_children], "root": strategy.root}
    return found
