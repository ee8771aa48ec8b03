"""For the owner: capped confidence beside Mondrian, on the study's own table."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from sfumato.domains.counts import Cells
from sfumato.errors import InfeasibleError, UsageError
from sfumato.evaluate.max_k import MaxK, Tried, smallest_k
from sfumato.methods import ConfidenceCap, Mondrian
from sfumato.methods.grouping.declared_checks import refuse_named_sets
from sfumato.privacy.groups.parameters import parse_exact
from sfumato.privacy.groups.shares import shares_of_counts
from sfumato.privacy.models import CappedConfidence, broken_records
from sfumato.progress import Progress, silent
from sfumato.study.purpose import tailor
from sfumato.study.set_levels import declared_levels, recode_sets
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, collecting
from sfumato.workflow.steps.background import with_population
from sfumato.workflow.steps.study_table import open_study_table

_AS_DRAWN = "Mondrian's groups contain all records: the rate is applied as if they had been drawn from a larger table"


def max_k(
    study: Study,
    cap: ConfidenceCap,
    *,
    purpose: str | None = None,
    between: tuple[int, int] = (2, 1_000),
    every: bool = False,
    like: Mondrian | None = None,
    progress: Progress = silent,
    memory_limit: str | None = None,
) -> MaxK:
    """The smallest k found at which Mondrian satisfies the cap, and the average group size of a release under the cap.

    Expected confidences come from the cap's population, or from the table's own shares, as in the paper. Nothing is
    published, and nothing that is returned is covered by a guarantee: it is computed from raw records.
    """
    low, high = between
    if not 1 <= low <= high:
        raise UsageError(
            f"the range of k is {low} to {high}",
            "give two whole numbers from 1 on, the lower first",
            code="SF-USAGE-084",
        )
    asked = tailor(study, purpose, cap.needs)
    refuse_named_sets(cap, asked)
    cap.check(declared_levels(asked))
    with open_study_table(study, memory_limit=memory_limit) as table:
        progress("reading the records", 0, 1)
        counter = CodedTable(table, asked.attributes, unit=asked.unit, selection=asked.selection)
        with collecting("for `max-k`, a release is made of them for each k"):
            cells = counter.full_cells([a.name for a in asked.attributes])
        if not len(cells):
            raise InfeasibleError(
                "no record of the table is used", "check the table with `sfumato check`", code="SF-INFEASIBLE-015"
            )
        view, cells = recode_sets(asked, cells, counter.sets)
    cap = with_population(cap, study, view, memory_limit=memory_limit)
    refuse_named_sets(cap, asked)
    records = int(cells.counts.sum())
    known = {**_table_shares(view, cells), **(cap.population if isinstance(cap.population, Mapping) else {})}
    model = CappedConfidence(rate=cap.rate, attribute=cap.attribute, shares=known, rules=cap.rules)
    free = replace(view, quasi=tuple(replace(a, at_least=None) for a in view.quasi))
    mondrian = like or Mondrian(k=low)

    def at(k: int) -> Tried:
        progress(f"Mondrian with k = {k}", 0, 1)
        groups = replace(mondrian, k=k).draft(free, cells).partition.statistics(free)
        return Tried(k, len(groups), int(broken_records(model, groups).sum()) / records)

    tried, found = smallest_k(at, low, min(high, records), every=every)
    progress("capped confidence", 0, 1)
    try:
        average = float(cap.draft(view, cells).facts["average_group"])
    except InfeasibleError:
        average = None
    return MaxK(rate=str(cap.rate), tried=tried, k=found, average=average, every=every, notes=_notes(view, cap))


def _table_shares(view: View, cells: Cells) -> Mapping[str, Mapping[str, Fraction]]:
    """The table's own shares; they stay here."""
    return {
        a.name: shares_of_counts(view.domain(a.name), cells.codes[:, cells.attributes.index(a.name)], cells.counts)
        for a in (*view.quasi, *view.sensitive)
    }


def _notes(view: View, cap: ConfidenceCap) -> tuple[str, ...]:
    limited = [a.name for a in view.quasi if a.at_least is not None]
    notes = [] if parse_exact(cap.rate, "rate") == 1 else [_AS_DRAWN]
    if limited:
        notes.append(
            f"Mondrian does not support `at_least`, and splits these as finely as it can: {', '.join(limited)}"
        )
    return tuple(notes)
