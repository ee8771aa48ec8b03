"""From a study and a purpose to the view that a partition method sees."""

from sfumato.errors import StudyError
from sfumato.study.attribute import Attribute, Role
from sfumato.study.partition_view import PartitionView
from sfumato.study.purpose import refuse_uncoded, selection, wanted_by
from sfumato.study.study import Study
from sfumato.study.unit import PersonUnit


def tailor_partition(study: Study, purpose: str | None = None) -> PartitionView:
    """The quasi-identifiers, sensitive attributes and others of a recipe; identifiers never take part.

    Others are the class and what is declared insensitive: both are published as they are. A time only selects records.
    """
    if isinstance(study.unit, PersonUnit) and study.unit.at_most > 1:
        raise StudyError(
            f"the study counts up to {study.unit.at_most} records a person, and groups of k records may then hold "
            "fewer than k people",
            "set `at_most: 1`, so that one record a person is used, or use a differentially private method",
        )
    wanted = wanted_by(study, purpose)

    def having(*roles: Role) -> tuple[Attribute, ...]:
        return tuple(a for a in study.with_role(*roles) if wanted is None or a.name in wanted)

    view = PartitionView(
        quasi=having(Role.QUASI_IDENTIFIER),
        sensitive=having(Role.SENSITIVE),
        others=having(Role.CLASS, Role.INSENSITIVE),
        unit=study.unit,
        selection=selection(study, purpose),
    )
    told = next((a.name for a in view.selection.attributes if a.role is Role.SENSITIVE), None)
    if told is not None:
        raise StudyError(
            f"purpose '{purpose}' selects records by the sensitive '{told}', and would tell it of everybody known to "
            "be in the release",
            "select by other attributes, or use a differentially private method",
        )
    if not view.quasi:
        raise StudyError(
            f"no quasi-identifier of the study '{study.name}' takes part, so there is nothing to make alike",
            "give the attributes that others may know of a person `role: quasi_identifier`",
        )
    refuse_uncoded(view.attributes)
    return view
