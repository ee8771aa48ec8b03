"""Every record of the table in cells, for methods that need them all; refused where values do not fit the study."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from sfumato.domains.counts import Cells, TableParts
from sfumato.errors import InfeasibleError, SourceError
from sfumato.study.attribute import InvalidValuePolicy
from sfumato.study.left_out import LeftOut
from sfumato.study.set_levels import set_domains
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, ManyCellsError, count_left_out, count_replaced, replacement_codes
from sfumato.workflow.steps.left_out_guard import guard


@dataclass(frozen=True, eq=False)
class WholeTable:
    """All cells of a view, or its parts where they do not fit, and what the owner's guard found."""

    cells: Cells | TableParts
    left_out: LeftOut | None


def count_whole_table(
    study: Study, view: View, counter: CodedTable, *, anyway: bool, in_parts: bool = False
) -> WholeTable:
    """Count every record; refused where the study calls a value an error, or too many are left out.

    One pass where the cells fit here. Otherwise the table is counted in parts if the method can use them
    (``in_parts``) and no attribute holds sets, whose codes are places in one dictionary of the whole table.
    """
    in_parts = in_parts and not set_domains(view.attributes)
    try:
        cells, rows = counter.cells_and_rows(in_parts=in_parts)
    except ManyCellsError as many:
        if not in_parts:
            raise
        return _parts(study, view, counter, many, anyway=anyway)
    refuse_invalid_values(counter, view, int(cells.counts.sum()), rows)
    return WholeTable(cells, guard(study, counter, anyway=anyway, look=partial(_left_out, counter, cells, rows)))


def _parts(study: Study, view: View, counter: CodedTable, many: ManyCellsError, *, anyway: bool) -> WholeTable:
    """The same checks by counts alone; the codes stay in the engine, where parts are counted."""
    used = counter.rows()
    refuse_invalid_values(counter, view, used, counter.all_rows())
    return WholeTable(TableParts(counter, used, many.limit, many.cells), guard(study, counter, anyway=anyway))


def refuse_invalid_values(counter: CodedTable, view: View, used: int, rows: int) -> None:
    """Stop at values that the study calls an error. Only if records were left out is the table looked at again."""
    strict = {a.name: a for a in view.attributes if InvalidValuePolicy.ERROR in (a.missing, a.outside)}
    if strict and used < rows:
        wrong = [
            found.attribute
            for found in counter.domain_violations()
            if (attribute := strict.get(found.attribute)) is not None
            and (
                (found.missing and attribute.missing is InvalidValuePolicy.ERROR)
                or (found.outside and attribute.outside is InvalidValuePolicy.ERROR)
            )
        ]
        if wrong:
            raise SourceError(
                "the study declares missing or out-of-domain values an error, and there are such values in "
                + ", ".join(repr(name) for name in wrong),
                "inspect them with `sfumato check`, then declare how they are written (`format`), widen the domain, or "
                "declare `keep` or `suppress` for `missing` or `outside`",
                code="SF-SOURCE-048",
            )
    if not used:
        raise InfeasibleError(
            "no record of the table is used in the release",
            "check the table with `sfumato check`: how values are written (`format`), their `bounds` or `values`, and "
            "`missing` and `outside` in the study",
            code="SF-INFEASIBLE-016",
        )


def _left_out(counter: CodedTable, cells: Cells, rows: int) -> LeftOut:
    """How many records take no part, or with another value; the table is looked at again only if there may be some."""
    if int(cells.counts.sum()) == rows:
        columns = zip(counter.attributes, cells.codes.T, strict=True)
        again = [attribute for attribute, codes in columns if np.isin(codes, replacement_codes(attribute)).any()]
        return LeftOut(records=rows, left_out=0, replaced=count_replaced(counter.records, again))
    return count_left_out(counter.records)
