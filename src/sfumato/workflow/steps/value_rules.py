"""What a release does with missing values and with values outside their domains, in words: rules, not counts."""

from collections.abc import Sequence

from sfumato.domains.domain import Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.study.attribute import Attribute, InvalidValuePolicy
from sfumato.study.set_levels import set_rules
from sfumato.workflow.steps.outcome import list_names

Rules = Sequence[tuple[list[Attribute], str]]


def value_rules(attributes: Sequence[Attribute], *, private: bool) -> list[str]:
    """The rules by attribute, for whoever reads the release; sets have rules of their own for what is kept."""
    found = _private_rules(attributes) if private else _syntactic_rules(attributes)
    return [*_sentences(attributes, found), *set_rules(attributes)]


def stop_rules(attributes: Sequence[Attribute]) -> list[str]:
    """What stops a release; a syntactic guarantee allows that."""
    rules = (
        (
            [a for a in attributes if a.missing is InvalidValuePolicy.ERROR],
            "the release is refused if a value is missing",
        ),
        (
            [a for a in attributes if a.outside is InvalidValuePolicy.ERROR],
            "the release is refused if a value is out of domain",
        ),
    )
    return _sentences(attributes, rules)


def _private_rules(attributes: Sequence[Attribute]) -> Rules:
    return (
        (
            [a for a in attributes if a.missing is not InvalidValuePolicy.KEEP],
            "a record is suppressed if a value is missing (an error would disclose that there is such a record)",
        ),
        (
            [a for a in attributes if a.outside is not InvalidValuePolicy.KEEP],
            "a record is suppressed if a value is outside the declared domain",
        ),
        (
            [a for a in attributes if isinstance(a.domain, Grid) and a.outside is InvalidValuePolicy.KEEP],
            "a number or date outside the declared bounds is replaced by the nearer bound",
        ),
        (
            [a for a in attributes if a.missing is InvalidValuePolicy.KEEP and not isinstance(a.domain, SetDomain)],
            "missing values are kept as a value of their own",
        ),
    )


def _syntactic_rules(attributes: Sequence[Attribute]) -> Rules:
    plain = [a for a in attributes if not isinstance(a.domain, SetDomain)]
    return (
        ([a for a in plain if a.missing is InvalidValuePolicy.KEEP], "missing values are kept as a value of their own"),
        (
            [a for a in attributes if a.missing is InvalidValuePolicy.SUPPRESS],
            "a record is suppressed if a value is missing",
        ),
        (
            [a for a in attributes if a.outside is InvalidValuePolicy.SUPPRESS],
            "a record is suppressed if a value is out of domain",
        ),
        (
            [a for a in attributes if isinstance(a.domain, Grid) and a.outside is InvalidValuePolicy.KEEP],
            "a number or date outside the bounds is replaced by the nearer bound",
        ),
        (
            [a for a in plain if not isinstance(a.domain, Grid) and a.outside is InvalidValuePolicy.KEEP],
            "out-of-domain values are replaced by one value that stands for all of them",
        ),
    )


def _sentences(attributes: Sequence[Attribute], rules: Rules) -> list[str]:
    return [f"{rule}, for {list_names([a.name for a in found], len(attributes))}" for found, rule in rules if found]
