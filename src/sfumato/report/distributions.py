"""Attributes before and after: their distribution in the table, and in the release as its receiver reads it."""

from collections.abc import Mapping

from sfumato.domains.counts import Cells
from sfumato.domains.sets.set_cut import Sets
from sfumato.evaluate.column_bins import ColumnBins, column_bins
from sfumato.release.shown import Shown
from sfumato.report.chart import Chart, pairs, percent
from sfumato.study.attribute import Attribute, Role
from sfumato.study.view import View

_QUASI = 8  # quasi-identifiers that are shown
_NOTHING = "The release says nothing about this attribute."
_OF_SETS = "The share of records that have a code under each node; a record may have several."


def distributions(
    view: View, raw: Cells, shown: Shown, sets: Mapping[str, Sets] | None = None
) -> list[tuple[str, str, Chart | None, str]]:
    """Sensitive attributes, the class and the first quasi-identifiers: name, role, chart, and a sentence.

    A quasi-identifier of which nothing is published has no chart. Codes of sets are places in ``sets``.
    """
    protected = [*view.sensitive, *(a for a in view.others if a.role is Role.CLASS)]
    return [
        (
            attribute.name,
            _role(attribute),
            *_before_and_after(
                attribute.name, column_bins(attribute.name, view.domain(attribute.name), raw, [shown], sets)
            ),
        )
        for attribute in (*protected, *view.quasi[:_QUASI])
    ]


def _role(attribute: Attribute) -> str:
    return attribute.role.value.replace("_", "-")


def _before_and_after(name: str, bins: ColumnBins) -> tuple[Chart | None, str]:
    [after] = bins.releases
    if after is None:
        return None, _NOTHING
    rows = list(zip(bins.labels, bins.table.tolist(), after.tolist(), strict=True))
    return pairs(rows, title=f"{name}, before and after", axis="share of records"), _rest(bins)


def _rest(bins: ColumnBins) -> str:
    """What is not drawn."""
    if bins.sets:
        more = (
            f" {bins.rest:,} rarer nodes are not shown; each of them is in at most {percent(bins.rest_of_table)} of "
            "the table's records."
        )
        return _OF_SETS + (more if bins.rest else "")
    if not bins.rest:
        return ""
    [rest] = bins.rest_of_releases
    return (
        f"{bins.rest:,} rarer values are not shown; together they make up {percent(bins.rest_of_table)} of the table "
        f"and {percent(rest or 0.0)} of the release."
    )
