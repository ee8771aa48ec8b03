"""How many records are left out because a value is missing or invalid; for the owner alone.

The numbers are counted on raw records and no guarantee covers them, so nothing of them may go into a bundle, an answer,
a model, the ledger or a log. What they decide is argued in `pipeline.left_out`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Final

MOST: Final = Fraction(1, 10)
"""The share of records above which a release is refused, unless the study says otherwise."""

_NAMED: Final = 5  # attributes that a sentence names


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """``left_out`` of ``records`` take no part; ``attributes`` has the share that each alone leaves out, where it does.

    >>> print(LeftOut(records=200, left_out=198, attributes={"paid": 0.985}).sentence())
    99 % of the records (198 of 200) have a missing or invalid value and are left out: 'paid' 98.5 %
    """

    records: int
    left_out: int
    attributes: Mapping[str, float] = field(default_factory=dict)

    @property
    def share(self) -> Fraction:
        """The share of the records that is left out; 0 where there are none."""
        return Fraction(self.left_out, self.records) if self.records else Fraction(0)

    def sentence(self) -> str:
        """The numbers in words, the attributes that leave out most first."""
        ranked = sorted(self.attributes.items(), key=lambda pair: -pair[1])
        names = ", ".join(f"'{name}' {_percent(share)}" for name, share in ranked[:_NAMED])
        more = f" and {len(ranked) - _NAMED} more attributes" if len(ranked) > _NAMED else ""
        return (
            f"{_percent(float(self.share))} of the records ({self.left_out:,} of {self.records:,}) have a missing or "
            f"invalid value and are left out: {names}{more}"
        )

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "share": float(self.share),
            "records": self.left_out,
            "of": self.records,
            "attributes": dict(self.attributes),
        }


def _percent(share: float) -> str:
    """A share in per cent, never rounded to nothing or to all.

    >>> _percent(0.5), _percent(0.00001), _percent(0.99999)
    ('50 %', 'under 0.1 %', 'over 99.9 %')
    """
    if 0 < share < 0.001:  # noqa: PLR2004 - what it would be rounded to
        return "under 0.1 %"
    return "over 99.9 %" if 0.999 < share < 1 else f"{100 * share:.3g} %"  # noqa: PLR2004
