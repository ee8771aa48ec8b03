"""Entering again what a lost ledger knew: the releases whose bundles are here, and what else was spent.

ε must not be counted below what was spent. A release that is found says its own ε. What a head lists beyond that was
spent by entries that left nothing behind, questions and models among them; nobody knows on which records, so it is
charged to all records.

The ledger that is here need not be an earlier state of the one that the head describes: two copies may have been spent
from separately. So entries are compared one by one, by their hashes, and never by their sums: the ε of an entry is
taken off only where the head lists that very entry. Let P(h) be the ε of entry h in a lost head, and C(h) what the
ledger counts for h. The row for the rest costs Σ max(0, P(h) - C(h)) over all h in any lost head, so afterwards every
entry that a head or the ledger knows of is counted in full. The row names these hashes, so that adopting them again, or
from another copy, counts them once. A head without a list was written by an earlier version; it counts as one entry.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sfumato.ledger import chain
from sfumato.ledger.heads import Head, spending_by_hash
from sfumato.ledger.ledger import Adoption, NewEntry


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
        new.append(chain.adopt_row([*rows, *new], one, reason=reason, budget=budget))
    if cut_off:
        gone = [head for head in heads if not head.is_in(rows)]
        rest = _uncounted(gone, spending_by_hash(chain.entries_of([*rows, *new], lost.study)))
        unit = next((head.unit for head in gone if head.unit), lost.unit)
        draft = replace(lost, epsilon=sum(rest.values(), Fraction(0)) if rest else None, unit=unit)
        new.append(chain.adopt_row([*rows, *new], Adoption(draft=draft, covers=rest), reason=reason, budget=budget))
    return new


def _uncounted(gone: Iterable[Head], counted: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """What lost heads list and the ledger does not count, by the hash of the entry."""
    spent: dict[str, Fraction] = {}
    for head in gone:
        for link, epsilon in head.listed().items():
            spent[link] = max(epsilon, spent.get(link, Fraction(0)))
    missing = {link: epsilon - counted.get(link, Fraction(0)) for link, epsilon in spent.items()}
    return {link: epsilon for link, epsilon in missing.items() if epsilon > 0}
