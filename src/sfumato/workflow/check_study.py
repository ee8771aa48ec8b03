"""For the owner: which values of the table are missing or outside their declared domains."""

from sfumato.study.study import Study
from sfumato.study.unit import RecordUnit
from sfumato.tables import CodedTable, DomainViolations, settled_if_wide
from sfumato.workflow.steps.study_table import open_study_table


def domain_violations(study: Study, *, memory_limit: str | None = None) -> list[DomainViolations]:
    """For the owner: values of the table that are missing or outside their declared domains.

    Computed from raw data; covered by no guarantee.
    """
    coded = [a for a in study.attributes.values() if a.coded]
    with open_study_table(study, memory_limit=memory_limit) as table:
        counter = CodedTable(settled_if_wide(table), coded, unit=RecordUnit()) if coded else None
        return counter.domain_violations() if counter is not None else []
