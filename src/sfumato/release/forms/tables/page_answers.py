"""How the page of measured tables answers: every table that fits, and the synthetic records where they fit too."""

from sfumato.domains.cut import Cut
from sfumato.privacy.dp.mechanisms.laplace import laplace_variance
from sfumato.release.draft import Tables
from sfumato.release.forms.noisy_counts.page_answers import group_columns
from sfumato.release.forms.tables.table_layout import FilesLayout, TableLayout
from sfumato.release.page.embedded_rows import MOST_NUMBERS, PageAnswers, count_numbers, table_column
from sfumato.release.storage.seal import Json


def page_answers(layout: FilesLayout, content: Tables) -> PageAnswers:
    """The tables in their order while they fit, then the records: those relate what no table has together."""
    left = MOST_NUMBERS
    tables: list[Json] = []
    for table, counts in zip(layout.tables, content.measured.counts, strict=True):
        merged = 1 if table.first is None else len(table.first)
        variance = laplace_variance(table.scale)
        stated: Json = {
            "known": sorted(table.known),
            "noise": table.rows * variance,
            "variance": variance,
            "merged": merged,
            "sum": int(counts.sum()),
        }
        if table.rows // merged <= left:
            shown = counts.reshape(table.sizes)
            shown = shown.sum(axis=0) if table.first is not None else shown
            stated |= {"columns": _columns(table), "counts": shown.ravel().tolist()}
            left -= count_numbers(stated["columns"], shown.size)
        tables.append(stated)
    return PageAnswers("tables", {"tables": tables, "records": _records(layout, content, left)})


def _columns(table: TableLayout) -> list[Json]:
    found = [table_column(cut.attribute, cut) for cut in table.cuts]
    if table.classes is not None:
        found.append(table_column(table.class_column, Cut.finest(table.class_column, len(table.classes))))
    return found


def _records(layout: FilesLayout, content: Tables, left: int) -> Json | None:
    """The synthetic records, those that are alike once; None where they do not fit."""
    records = content.records
    numbers = len(records) * (len(layout.records.columns) + 1)
    if numbers > left:
        return None
    columns = group_columns(layout.records, records)
    return {"columns": columns, "counts": records.counts.tolist(), "total": int(records.counts.sum())}
