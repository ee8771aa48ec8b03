"""Entering again what a lost ledger knew: the releases whose bundles are here, and what else was spent.

ε must not be counted below what was spent. A release that is found says its own ε. What the head says beyond the sum of
all entries was spent by entries that left nothing behind, questions and models among them; nobody knows on which
records, so it is charged to all.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sfumato.stores import chain
from sfumato.stores.heads import Head, total
from sfumato.stores.ledger import Adoption, NewEntry


def adopted_rows(
    rows: Sequence[chain.Row],
    found: Sequence[Adoption],
    lost: NewEntry,
    *,
    heads: Sequence[Head],
    cut_off: bool,
    reason: str,
    budget: Fraction | None,
) -> list[chain.Row]:
    """The rows to add: one for each release that the chain lacks, and one for the rest if the chain was ``cut_off``."""
    new: list[chain.Row] = []
    known = set(chain.hashes_of(rows))
    for one in found:
        if one.hash is None or one.hash in known:
            continue
        known.add(one.hash)
        new.append(chain.adopted([*rows, *new], one, reason=reason, budget=budget))
    if cut_off:
        gone = [head for head in heads if not head.is_in(rows)]
        spent = max((Fraction(head.epsilon) for head in gone), default=Fraction(0))
        rest = spent - total(chain.entries_of([*rows, *new], lost.study))
        unit = next((head.unit for head in gone if head.unit), lost.unit)
        draft = replace(lost, epsilon=rest if rest > 0 else None, unit=unit)
        new.append(chain.adopted([*rows, *new], Adoption(draft=draft), reason=reason, budget=budget))
    return new
