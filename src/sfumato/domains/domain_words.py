"""A domain in a few words, where a whole list of values would be too much."""

from sfumato.domains.domain import Categories, Domain, Grid
from sfumato.domains.number_classes import NumberClasses
from sfumato.domains.sets.set_domain import SetDomain

OBSERVED = "read off the records: to be declared"
"""What is said of a domain that nobody declared: nothing of what was read."""


def domain_words(domain: Domain) -> str:
    """The bounds of numbers, how many values a category has; of a domain that was read off records nothing.

    >>> from fractions import Fraction
    >>> domain_words(Grid(lower=Fraction(0), upper=Fraction(120), step=Fraction(1), unit="integer"))
    'whole numbers, 0 to 120'
    """
    if not domain.declared:
        return OBSERVED
    if isinstance(domain, Grid):
        kind = {"number": "numbers", "integer": "whole numbers", "day": "dates"}[domain.unit]
        return f"{kind}, {domain.text(domain.lower)} to {domain.text(domain.upper)}"
    if isinstance(domain, SetDomain):
        return f"sets of {domain.taxonomy.size:,} codes"
    if isinstance(domain, NumberClasses):
        return f"{domain.size:,} classes of numbers"
    if isinstance(domain, Categories) and domain.taxonomy.depth > 1:
        return f"{domain.size:,} values in a taxonomy"
    return f"{domain.size:,} values"
