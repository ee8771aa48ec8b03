"""Does a taxonomy fit the values it is for? What is missing, what is extra, and what may have been meant."""

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.domains.taxonomy.tree import Taxonomy

MOST_PROPOSALS = 50  # proposals take time on long lists, and nobody reads more


@dataclass(frozen=True, slots=True)
class Comparison:
    """A taxonomy against a set of values; for the owner alone when the values come from records.

    ``missing``: values that are no leaf. ``extra``: leaves that are none of the values (no mistake: a public domain
    may be larger than what occurs). ``proposals``: for a missing value, leaves or nodes it may stand for.
    """

    missing: tuple[str, ...]
    extra: tuple[str, ...]
    proposals: Mapping[str, tuple[str, ...]]

    @property
    def fits(self) -> bool:
        """Whether every value is a leaf."""
        return not self.missing

    def as_json(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return {
            "fits": self.fits, "missing": self.missing, "extra": self.extra, "proposals": dict(self.proposals)
        }  # fmt: skip


def compare(taxonomy: Taxonomy, values: Iterable[str]) -> Comparison:
    """Look for every value among the leaves, and the other way round.

    >>> from sfumato.domains.taxonomy.by_rule import flat
    >>> found = compare(flat(["Engineer", "Lawyer", "Dancer"]), ["engineer ", "Lawyer"])
    >>> found.missing, found.extra, dict(found.proposals)
    (('engineer ',), ('Engineer', 'Dancer'), {'engineer ': ('Engineer',)})
    """
    wanted = dict.fromkeys(values)
    leaves = dict.fromkeys(taxonomy.leaves)
    missing = tuple(value for value in wanted if value not in leaves)
    nodes = list(dict.fromkeys(taxonomy.labels))
    return Comparison(
        missing=missing,
        extra=tuple(leaf for leaf in leaves if leaf not in wanted),
        proposals={value: close for value in missing[:MOST_PROPOSALS] if (close := similar_names(value, nodes))},
    )


def similar_names(word: str, options: Collection[str], most: int = 3) -> tuple[str, ...]:
    """The options that ``word`` may stand for: the same but for case and space, or else spelt alike.

    >>> similar_names("rolle", ["role", "type"])
    ('role',)
    """
    alike = [option for option in options if _bare(option) == _bare(word)]
    return tuple(alike or difflib.get_close_matches(word, list(options), n=most))[:most]


def did_you_mean(word: str, options: Sequence[str]) -> str:
    """A fix for a name that is none of the options.

    >>> did_you_mean("rolle", ["role", "type"])
    "write 'role'"
    >>> did_you_mean("x", ["role", "type"])
    'choose one of: role, type'
    """
    close = similar_names(word, options)
    if close:
        return "write " + " or ".join(f"'{option}'" for option in close)
    return f"choose one of: {', '.join(options)}"


def did_you_mean_of(word: str, options: Sequence[str]) -> str:
    """The same where the options are few: all of them are named, once.

    >>> did_you_mean_of("rolle", ["role", "type"]), did_you_mean_of("x", ["role", "type"])
    ("write 'role'; there are role, type", 'choose one of: role, type')
    """
    said = did_you_mean(word, options)
    return f"{said}; there are {', '.join(options)}" if similar_names(word, options) else said


def _bare(text: str) -> str:
    return "".join(text.casefold().replace("-", "").replace("_", "").split())
