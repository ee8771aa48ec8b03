"""How many records are left out, or have a value replaced, because it is missing or invalid; for the owner alone.

The numbers are counted on raw records and no guarantee covers them, so nothing of them may go into a bundle, an answer,
a model, the ledger or a log. What they decide is argued in `workflow.steps.left_out_guard`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

MOST: Final = Fraction(1, 10)
"""The share of records above which a release is refused, unless the study says otherwise."""

TOLD: Final = Fraction(1, 100)
"""The share of replaced values of an attribute from which the owner is warned."""

_MOST_OTHERS = Fraction(1, 2)

_NAMED: Final = 5  # attributes that a sentence names


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacedValues:
    """How many values of one attribute a release gives another value, and which: the policy `keep` does so.

    ``unreadable`` ones have a text that is no number or date, and are kept as missing; a blank is not among them.

    >>> print(ReplacedValues(of=400, nearer_bound=392).sentence("rate"))
    98 % of the values of 'rate' (392 of 400) are moved to the nearer bound
    """

    of: int
    nearer_bound: int = 0
    other: int = 0
    unreadable: int = 0

    @property
    def share(self) -> Fraction:
        """The share of the records whose value is replaced; 0 where there are none."""
        return Fraction(self.nearer_bound + self.other + self.unreadable, self.of) if self.of else Fraction(0)

    def above(self, most: Fraction) -> bool:
        """Whether more values are replaced than ``most`` allows.

        A value for all others is only there where the study says `outside: keep`, so that many values have it is meant;
        that more than half of them have it is not.
        """
        if not self.of:
            return False
        misread = Fraction(self.nearer_bound + self.unreadable, self.of)
        return misread > most or Fraction(self.other, self.of) > max(most, _MOST_OTHERS)

    def sentence(self, name: str) -> str:
        """The numbers in words."""
        done = {
            "moved to the nearer bound": self.nearer_bound,
            "outside the declared values and counted as the value for all others": self.other,
            "not readable and kept as missing": self.unreadable,
        }
        said = [
            f"{percent(count / self.of)} of the values of '{name}' ({count:,} of {self.of:,}) are {words}"
            for words, count in done.items()
            if count
        ]
        return "; ".join(said)

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "share": float(self.share),
            "nearer_bound": self.nearer_bound,
            "other": self.other,
            "unreadable": self.unreadable,
            "of": self.of,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """``left_out`` of ``records`` take no part; ``attributes`` has the share that each alone leaves out, where it does.

    ``replaced`` has the attributes with values that take part as another value.

    >>> print(LeftOut(records=200, left_out=198, attributes={"paid": 0.985}).sentence())
    99 % of the records (198 of 200) have a missing or invalid value and are left out: 'paid' 98.5 %
    """

    records: int
    left_out: int
    attributes: Mapping[str, float] = field(default_factory=dict)
    replaced: Mapping[str, ReplacedValues] = field(default_factory=dict)

    @property
    def share(self) -> Fraction:
        """The share of the records that is left out; 0 where there are none."""
        return Fraction(self.left_out, self.records) if self.records else Fraction(0)

    def sentence(self) -> str:
        """The numbers in words, the attributes that leave out most first."""
        ranked = sorted(self.attributes.items(), key=lambda pair: -pair[1])
        names = ", ".join(f"'{name}' {percent(share)}" for name, share in ranked[:_NAMED])
        more = f" and {len(ranked) - _NAMED} more attributes" if len(ranked) > _NAMED else ""
        return (
            f"{percent(float(self.share))} of the records ({self.left_out:,} of {self.records:,}) have a missing or "
            f"invalid value and are left out: {names}{more}"
        )

    def replaced_sentences(self, wrong: Callable[[ReplacedValues], bool]) -> list[str]:
        """The attributes of which too many values are replaced, in words, the most first."""
        ranked = sorted(self.replaced.items(), key=lambda pair: -pair[1].share)
        said = [found.sentence(name) for name, found in ranked if wrong(found)]
        more = [f"and so for {len(said) - _NAMED} more attributes"] if len(said) > _NAMED else []
        return [*said[:_NAMED], *more]

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "share": float(self.share),
            "records": self.left_out,
            "of": self.records,
            "attributes": dict(self.attributes),
            "replaced": {name: found.as_json() for name, found in self.replaced.items()},
        }


def percent(share: float) -> str:
    """A share in per cent, never rounded to nothing or to all.

    >>> percent(0.5), percent(0.00001), percent(0.99999)
    ('50 %', 'under 0.1 %', 'over 99.9 %')
    """
    if 0 < share < 0.001:  # noqa: PLR2004 - what it would be rounded to
        return "under 0.1 %"
    return "over 99.9 %" if 0.999 < share < 1 else f"{100 * share:.3g} %"  # noqa: PLR2004
