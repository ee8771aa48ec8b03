"""What a release promises, in one sentence that can be quoted."""

from fractions import Fraction
from typing import Final

from sfumato.privacy.models import DifferentialPrivacy
from sfumato.study.recipe import Chosen

NO_GUARANTEE: Final = "none (seeded for testing)"


def guarantee(*, model: str, epsilon: Fraction | None, unit: str, secure: bool, chosen: str) -> str:
    """The promise in words, with what it does not cover.

    >>> guarantee(model="k-anonymity", epsilon=None, unit="one record", secure=True, chosen="fixed in advance")
    'This release keeps k-anonymity (unit: one record). It is not differentially private.'
    """
    if not secure:
        return NO_GUARANTEE
    if epsilon is None:
        return f"This release keeps {model} (unit: {unit}). It is not differentially private."
    sentence = DifferentialPrivacy(epsilon=epsilon, unit=unit).sentence()
    if chosen == Chosen.ON_RAW:
        sentence += " The parameters were chosen by looking at the table, and ε does not cover that choice."
    return sentence
