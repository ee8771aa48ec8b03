"""What a syntactic method must not publish, checked on the declared view before the table is opened."""

from typing import Any

from sfumato.domains.sets.set_domain import SetDomain
from sfumato.errors import StudyError
from sfumato.study.attribute import observed
from sfumato.study.view import View


def refuse_named_sets(method: Any, view: View) -> None:
    """Refuse what would publish names of sets that no record is published with: an order of sets, shares of sets."""
    sets = [a.name for a in view.attributes if isinstance(a.domain, SetDomain)]
    ordered = getattr(method, "ordered", ())
    for name in sets:
        if method.form == "generalised" and (name in ordered or ordered == "all"):
            raise StudyError(
                f"`ordered` has '{name}', and sets of codes have no order: a range of them would be published by its "
                "first and last set, which may be those of one record each",
                f"name the attributes that are `ordered`, without '{name}'",
                code="SF-STUDY-052",
            )
        if any(name in getattr(model, "given", ()) for model in method.models):
            raise StudyError(
                f"shares are given for '{name}', and which sets of codes there are is not known beforehand",
                f"leave '{name}' out: its shares are then those that the release shows",
                code="SF-STUDY-053",
            )


def refuse_observed_values(method: Any, view: View) -> None:
    """Refuse a domain that was read off the table where the method may leave records out.

    A domain is published with the release. One that was read off the table has the values of every record, also of one
    that is suppressed or not drawn: a town where a single person lives, the greatest age. Sets are told by what is
    published of them alone (see `forms.records.published_sets`).
    """
    plain = [a for a in view.attributes if not isinstance(a.domain, SetDomain)]
    names = observed(plain)
    if names and (method.may_suppress or method.samples):
        raise StudyError(
            f"the domain of '{names[0]}' was read off the table, and is published, and the method may leave records "
            "out: values that only those have would be disclosed",
            "check the domain and declare it (take `observed` away), or use a method that publishes every record",
            code="SF-STUDY-054",
        )
