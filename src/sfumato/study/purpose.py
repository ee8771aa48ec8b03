"""From a study and a purpose to the view that a method sees."""

from dataclasses import replace

from sfumato.errors import StudyError
from sfumato.study.attribute import Attribute, Role
from sfumato.study.selection import EVERYTHING, Selection, selected
from sfumato.study.study import Study
from sfumato.study.view import NO_TARGET, View

# What may leave the house at all: identifiers never do, and time only selects records.
_LEAVES = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.INSENSITIVE)


def tailor(study: Study, purpose: str | None = None, *, needs_class: bool = True) -> View:
    """The predictors, class and unit of a recipe.

    Without a purpose every declared attribute that may leave takes part. Identifiers never do. Where no class is
    needed, there is none if the study declares none or the purpose leaves it out.
    """
    wanted = wanted_by(study, purpose)
    declared = study.with_role(Role.CLASS)
    absent = not declared or (len(declared) == 1 and wanted is not None and declared[0].name not in wanted)
    target = NO_TARGET if absent and not needs_class else study.target
    if needs_class and wanted is not None and target.name not in wanted:
        raise StudyError(
            f"purpose '{purpose}' leaves out the class '{target.name}'", f"add '{target.name}' to its attributes"
        )
    predictors = tuple(a for a in study.with_role(*_LEAVES) if wanted is None or a.name in wanted)
    refuse_uncoded(predictors)
    if not predictors:
        raise StudyError(
            f"no attribute of the study '{study.name}' is left to publish{' beside the class' * bool(declared)}",
            "declare at least one quasi_identifier, sensitive or insensitive attribute",
        )
    return View(predictors=predictors, target=target, unit=study.unit, selection=selection(study, purpose))


def selection(study: Study, purpose: str | None) -> Selection:
    """Which records a purpose is about; all of them without one."""
    if purpose is None:
        return EVERYTHING
    wanted = study.purposes[purpose]
    found = selected(wanted.where, study.attributes)
    return found if wanted.span is None else replace(found, span=wanted.span, time=study.time)


def wanted_by(study: Study, purpose: str | None) -> tuple[str, ...] | None:
    """The attributes that a purpose asks for; None for all."""
    if purpose is None:
        return None
    if purpose not in study.purposes:
        raise StudyError(
            f"the study '{study.name}' has no purpose '{purpose}'",
            f"declare it under `purposes`, or use one of: {', '.join(study.purposes) or '(none declared)'}",
        )
    wanted = study.purposes[purpose].attributes
    for name in wanted:
        if study.attribute(name).role is Role.IDENTIFIER:
            raise StudyError(
                f"purpose '{purpose}' asks for '{name}', which identifies people",
                f"take '{name}' out of the purpose: identifiers never leave",
            )
    return wanted


def refuse_uncoded(attributes: tuple[Attribute, ...]) -> None:
    """An attribute without a domain cannot take part."""
    for attribute in attributes:
        if not attribute.coded:
            raise StudyError(
                f"'{attribute.name}' has no domain, so it cannot be published",
                f"give '{attribute.name}' bounds and a step, values, or a taxonomy",
            )
