"""How the page of noisy counts answers: every listed group, and what is published of the noise."""

from collections.abc import Mapping
from math import exp
from typing import Any

from sfumato.domains.cut import plain_numbers
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.answer.interval import Noise
from sfumato.release.draft import Groups
from sfumato.release.forms.noisy_counts.count_table import Layout, noise_from
from sfumato.release.page.embedded_rows import (
    MOST_NUMBERS,
    PageAnswers,
    asked_columns,
    count_numbers,
    not_answered,
    region_column,
)
from sfumato.release.storage.seal import Json


def page_answers(layout: Layout, groups: Groups, manifest: Mapping[str, Any]) -> PageAnswers:
    """All groups with their counts: an interval depends on each of them, so some would not do."""
    if "noise_scale" not in manifest["method"]["facts"]:
        return not_answered("the manifest does not state the noise on the counts")
    if len(groups) * (1 + len(layout.names)) > MOST_NUMBERS:
        return not_answered(f"the {len(groups):,} groups of the release are too many for a page")
    columns = group_columns(layout, groups)
    if count_numbers(columns, len(groups)) > MOST_NUMBERS:
        return not_answered("the groups of the release are too many for a page")
    content: Json = {
        "noise": _noise(noise_from(manifest, layout)),
        "target": layout.class_name or None,
        "classes": layout.class_domain.size,
        "table": {"columns": columns, "counts": groups.counts.tolist()},
    }
    return PageAnswers("noisy", content)


def group_columns(layout: Layout, groups: Groups) -> list[Json]:
    """The regions and classes of groups, as far as the page can be asked about them; the class always."""
    asked = {*asked_columns(dict(layout.attributes)), layout.class_name}
    numbers = [plain_numbers(*pair) for pair in zip(layout.cuts, groups.regions.T, strict=True)]
    numbers += [groups.classes] if layout.targeted else []
    return [
        region_column(name, labels.cut, number.astype("int64"))
        for (name, domain), labels, number in zip(layout.attributes, layout.labels, numbers, strict=True)
        if name in asked and not isinstance(domain, SetDomain)
    ]


def _noise(noise: Noise) -> Json:
    return {
        "alpha": exp(-1 / noise.scale),
        "groups": noise.groups,
        "cutoff": list(noise.cutoff),
        "unlisted": list(noise.unlisted),
        "factor": list(noise.factor),
        "slack": list(noise.slack),
        "shift": noise.shift,
        "totals": list(noise.totals),
        "deviation": noise.deviation,
    }
