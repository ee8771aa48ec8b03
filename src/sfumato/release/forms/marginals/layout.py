"""The columns of measured marginals and of synthetic records: as a draft has them, and as a manifest declares them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Categories, Domain
from sfumato.domains.json_form import cut_from_json, domain_from_json
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.draft import Draft
from sfumato.release.forms.noisy_counts.count_table import Layout, free_name, refuse_other_cut
from sfumato.release.forms.tables.table_layout import TableLayout
from sfumato.release.measured import MOST_CLASSES, MOST_GROUPS
from sfumato.release.measured_marginals import (
    MOST_MODEL_CELLS,
    MOST_TABLE_CELLS,
    MOST_WAYS,
    MarginalTable,
    MeasuredMarginals,
)
from sfumato.release.model.graphical.junction_tree import model_cells
from sfumato.release.storage.seal import broken_bundle
from sfumato.study.view import NO_TARGET

_MOST_ATTRIBUTES: Final = 500
_MOST_TABLES: Final = 1_000


@dataclass(frozen=True)
class MarginalsLayout:
    """All files of a release of marginals."""

    records: Layout
    cuts: tuple[Cut, ...]  # of every attribute, the target last
    places: tuple[tuple[int, ...], ...]  # of each table's attributes among the cuts
    tables: tuple[TableLayout, ...]

    def measured(self, counts: Sequence[NDArray[np.int64]], size: int, size_scale: float) -> MeasuredMarginals:
        """The measured marginals with these counts, in order."""
        tables = tuple(
            MarginalTable(places, found.reshape([self.cuts[a].total for a in places]), table.scale)
            for places, found, table in zip(self.places, counts, self.tables, strict=True)
        )
        return MeasuredMarginals(self.cuts, size, size_scale, tables)


def layout_of(draft: Draft) -> MarginalsLayout:
    """The columns that a draft is published in."""
    view, measured = draft.view, draft.marginals
    names = tuple(attribute.name for attribute in view.predictors)
    assert view.target.domain is not None, "a target has a domain, no target has one too"
    records = Layout(
        names=names,
        domains=tuple(view.domain(name) for name in names),
        cuts=measured.cuts[: len(names)],
        class_name=view.target.name if view.targeted else "",
        class_domain=view.target.domain,
        count=free_name("weight", [a.name for a in view.attributes]),
        weighted=True,
    )
    return _layout(records, measured.cuts, [(table.attributes, table.scale) for table in measured.tables])


def _layout(records: Layout, cuts: tuple[Cut, ...], tables: Sequence[tuple[tuple[int, ...], float]]) -> MarginalsLayout:
    """The layout of tables of these attributes with this noise."""
    count = free_name("count", records.columns)
    domains = dict(records.attributes)
    target = len(cuts) - 1 if records.targeted else None
    found = []
    for number, (places, scale) in enumerate(tables, start=1):
        own = tuple(cuts[a] for a in places if a != target)
        found.append(
            TableLayout(
                name=f"table_{number}",
                first=None,
                first_column="",
                cuts=own,
                domains=tuple(domains[cut.attribute] for cut in own),
                classes=records.labels[-1].all if target in places else None,
                class_column=records.class_name,
                count=count,
                scale=scale,
            )
        )
    return MarginalsLayout(records, cuts, tuple(places for places, _ in tables), tuple(found))


def layout_from(content: Mapping[str, Any]) -> MarginalsLayout:
    """The columns that a manifest declares; refuses what contradicts itself, or is larger than any release."""
    entries = content["attributes"]
    names = [entry["name"] for entry in entries]
    roles = [entry["role"] for entry in entries]
    targeted = "class" in roles
    if not names or len({*names}) != len(names) or roles.count("class") > 1 or (targeted and roles[-1] != "class"):
        raise broken_bundle(
            "the manifest does not declare its attributes once each, and its class last", code="SF-VERIFY-300"
        )
    if len(names) > _MOST_ATTRIBUTES or len(content["tables"]) > _MOST_TABLES:
        raise broken_bundle(
            "the manifest declares more attributes or tables than any release has", code="SF-VERIFY-301"
        )
    domains = [domain_from_json(entry["domain"]) for entry in entries]
    cuts = tuple(cut_from_json(entry["cut"]) for entry in entries)
    for name, domain, cut in zip(names, domains, cuts, strict=True):
        _refuse_cut(name, domain, cut)
    last = domains[-1]
    if targeted and not (isinstance(last, Categories) and last.size <= MOST_CLASSES and cuts[-1].is_finest):
        raise broken_bundle("the class of the manifest is not counted by at most 100 values", code="SF-VERIFY-302")
    if content["weight_column"] in names:
        raise broken_bundle("two columns of the manifest have the same name", code="SF-VERIFY-050")
    tables = _declared_tables(content["tables"], names, [cut.total for cut in cuts])
    many = len(names) - targeted
    assert NO_TARGET.domain is not None, "it has one value"
    records = Layout(
        names=tuple(names[:many]),
        domains=tuple(domains[:many]),
        cuts=cuts[:many],
        class_name=names[-1] if targeted else "",
        class_domain=last if targeted else NO_TARGET.domain,
        count=content["weight_column"],
        weighted=True,
    )
    return _layout(records, cuts, tables)


def _refuse_cut(name: str, domain: Domain, cut: Cut) -> None:
    """Refuse groups that no release has; how many there are is looked at before any is listed."""
    if isinstance(domain, SetDomain) or cut.total > MOST_GROUPS:
        raise broken_bundle(f"the manifest has more groups of '{name}' than any release has", code="SF-VERIFY-303")
    refuse_other_cut(name, domain, cut)


def _declared_tables(
    stated: Sequence[Mapping[str, Any]], names: Sequence[str], sizes: Sequence[int]
) -> list[tuple[tuple[int, ...], float]]:
    """The tables of a manifest, by the places of their attributes; every attribute with several groups has one."""
    places = {name: place for place, name in enumerate(names)}
    found = []
    for table in stated:
        own = tuple(places.get(name, -1) for name in table["attributes"])
        if not 1 <= len(own) <= MOST_WAYS or min(own) < 0 or list(own) != sorted({*own}):
            raise broken_bundle(
                "a table of the manifest does not count one to three attributes in their order", code="SF-VERIFY-304"
            )
        if len(own) > 1 and prod(sizes[a] for a in own) > MOST_TABLE_CELLS:
            raise broken_bundle("a table of the manifest has more cells than any release has", code="SF-VERIFY-305")
        found.append((own, table["noise_scale"]))
    counted = {place for own, _ in found for place in own}
    if not found or any(size > 1 and place not in counted for place, size in enumerate(sizes)):
        raise broken_bundle("an attribute of the manifest is counted by no table", code="SF-VERIFY-306")
    most = MOST_MODEL_CELLS + sum(sizes)
    if model_cells(sizes, [own for own, _ in found], most=most) > most:
        raise broken_bundle("the tables of the manifest make a larger model than any release has", code="SF-VERIFY-307")
    return found
