"""From a study and a purpose to the view that a method sees."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sfumato.errors import StudyError
from sfumato.study.attribute import Attribute, Role
from sfumato.study.selection import EVERYTHING, Selection, parse_selection
from sfumato.study.study import Study
from sfumato.study.unit import PersonUnit
from sfumato.study.view import View

# What may be released at all: identifiers never are, and time only selects records.
_RELEASED = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE, Role.CLASS)


@dataclass(frozen=True, kw_only=True)
class Needs:
    """What a method declares about itself, before it sees a view.

    ``private`` methods spend ε: they ask an engine for counts and pay a mechanism for each answer. The others get every
    cell of the table and satisfy privacy models about equivalence classes. ``target`` says whether there must be an
    attribute to predict, ``random`` whether two drafts of one table may differ.
    """

    private: bool
    target: bool = False
    random: bool = False


def tailor(study: Study, purpose: str | None, needs: Needs) -> View:
    """The attributes, records and unit of a release.

    Without a purpose every declared attribute that may be released takes part. Identifiers never do. Where no target is
    needed, there is none if the study declares none or the purpose leaves it out.
    """
    wanted = wanted_by(study, purpose)
    refuse_undecided(study, purpose)
    if needs.target or (needs.private and len(study.with_role(Role.CLASS)) > 1):
        target = study.target.name  # which refuses none, and two
        if needs.target and wanted is not None and target not in wanted:
            raise StudyError(
                f"purpose '{purpose}' leaves out the class '{target}'",
                f"add '{target}' to its attributes",
                code="SF-STUDY-181",
            )
    view = View.of(
        (a for a in study.with_role(*_RELEASED) if wanted is None or a.name in wanted),
        unit=study.unit,
        selection=selection(study, purpose),
    )
    if needs.private:
        _refuse_nothing(study, view)
    else:
        _refuse_several_records(study)
        _refuse_selection_by_sensitive(view, purpose)
        _refuse_no_quasi(study, view)
    refuse_uncoded(view.attributes)
    return view


def selection(study: Study, purpose: str | None) -> Selection:
    """Which records a purpose is about; all of them without one."""
    if purpose is None:
        return EVERYTHING
    wanted = study.purposes[purpose]
    found = parse_selection(wanted.where, study.attributes)
    return found if wanted.span is None else replace(found, span=wanted.span, time=study.time)


def refuse_undecided(study: Study, purpose: str | None) -> None:
    """Every attribute of a release has a role: what may be published of it, and how, depends on nothing else."""
    wanted = wanted_by(study, purpose)
    selecting = selection(study, purpose).attributes
    undecided = [
        a.name for a in study.with_role(Role.UNDECIDED) if wanted is None or a.name in wanted or a in selecting
    ]
    if undecided:
        raise undecided_error(undecided)


def undecided_error(names: Sequence[str]) -> StudyError:
    """The error of whatever needs the roles of these attributes."""
    return StudyError(
        f"the role of {', '.join(repr(name) for name in names)} is undecided",
        "replace `role: undecided` by a role, take the attribute out of the study, or use a purpose without it",
        code="SF-STUDY-720",
    )


def wanted_by(study: Study, purpose: str | None) -> tuple[str, ...] | None:
    """The attributes that a purpose asks for; None for all."""
    if purpose is None:
        return None
    if purpose not in study.purposes:
        raise StudyError(
            f"the study '{study.name}' has no purpose '{purpose}'",
            f"declare it under `purposes`, or use one of: {', '.join(study.purposes) or '(none declared)'}",
            code="SF-STUDY-182",
        )
    wanted = study.purposes[purpose].attributes
    for name in wanted:
        if study.attribute(name).role is Role.IDENTIFIER:
            raise StudyError(
                f"purpose '{purpose}' asks for '{name}', which identifies people",
                f"take '{name}' out of the purpose: identifiers are never released",
                code="SF-STUDY-183",
            )
    return wanted


def refuse_uncoded(attributes: tuple[Attribute, ...]) -> None:
    """An attribute without a domain cannot take part."""
    for attribute in attributes:
        if not attribute.coded:
            raise StudyError(
                f"'{attribute.name}' has no domain, so it cannot be published",
                f"give '{attribute.name}' bounds and a step, values, or a taxonomy",
                code="SF-STUDY-184",
            )


def _refuse_nothing(study: Study, view: View) -> None:
    if not view.predictors:
        declared = bool(study.with_role(Role.CLASS))
        raise StudyError(
            f"no attribute of the study '{study.name}' is left to publish{' beside the class' * declared}",
            "declare at least one quasi_identifier, sensitive or insensitive attribute",
            code="SF-STUDY-185",
        )


def _refuse_several_records(study: Study) -> None:
    if isinstance(study.unit, PersonUnit) and study.unit.at_most > 1:
        raise StudyError(
            f"the study uses up to {study.unit.at_most} records per person, so an equivalence class of k records may "
            "hold fewer than k people",
            "set `at_most: 1`, so that one record per person is used, or use a differentially private method",
            code="SF-STUDY-186",
        )


def _refuse_selection_by_sensitive(view: View, purpose: str | None) -> None:
    sensitive = next((a.name for a in view.selection.attributes if a.role is Role.SENSITIVE), None)
    if sensitive is not None:
        raise StudyError(
            f"purpose '{purpose}' selects records by the sensitive '{sensitive}', and would disclose it for "
            "everybody known to be in the release",
            "select by other attributes, or use a differentially private method",
            code="SF-STUDY-187",
        )


def _refuse_no_quasi(study: Study, view: View) -> None:
    if not view.quasi:
        raise StudyError(
            f"the release has no quasi-identifier of the study '{study.name}', so there is nothing to generalise",
            "give the attributes that others may know of a person `role: quasi_identifier`",
            code="SF-STUDY-188",
        )
