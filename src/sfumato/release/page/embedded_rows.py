"""What the page of a bundle holds for its query box: the columns' domains, and rows with counts, within a bound.

The page answers as `sfumato query` does, with the same rows. So rows are embedded only where all of them fit; where
they do not, the page says so and names the command. How much is embedded depends on published numbers alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sfumato.domains.cut import Cut
from sfumato.domains.domain import Domain, Grid
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.release.storage.seal import Json

MOST_NUMBERS: Final = 60_000
"""Numbers of all embedded rows: below half a megabyte of text."""

_MOST_LABELS: Final = 5_000  # of one column: nodes of a taxonomy that a condition may name
_MOST_LETTERS: Final = 100_000  # of all labels
_SETS: Final = "it holds sets of codes"
_MANY: Final = "its domain has too many values for a page"

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class PageAnswers:
    """How the page answers: the name of its rules in `answer.js` with what they need, or why it does not."""

    kind: str | None
    content: Json
    absent: str = ""

    def as_json(self) -> Json:
        """As the page embeds it."""
        return {"kind": self.kind, "absent": self.absent, **self.content}


def not_answered(reason: str) -> PageAnswers:
    """A page that leaves all questions to the command."""
    return PageAnswers(None, {}, reason)


def column_domains(domains: Mapping[str, Domain]) -> list[Json]:
    """The domains as the page reads conditions on them; one that is too large, or of sets, says that instead."""
    letters = 0
    found: list[Json] = []
    for name, domain in domains.items():
        labels = _labels(domain)
        letters += sum(len(label) for label, _, _ in labels or ())
        if isinstance(domain, SetDomain):
            found.append({"name": name, "absent": _SETS})
        elif labels is None or letters > _MOST_LETTERS:
            found.append({"name": name, "absent": _MANY})
        else:
            found.append({"name": name, **_domain(domain, labels)})
    return found


def asked_columns(domains: Mapping[str, Domain]) -> list[str]:
    """The columns that the page can read conditions on."""
    return [str(column["name"]) for column in column_domains(domains) if "absent" not in column]


def region_column(name: str, cut: Cut, regions: Integers) -> Json:
    """A column of regions of one cut, a place among the cut's regions for each row."""
    if cut.is_finest:
        codes, place = np.unique(regions, return_inverse=True)
        return {"name": name, "finest": True, "starts": codes.tolist(), "place": place.ravel().tolist()}
    return {"name": name, **_regions(cut), "place": regions.tolist()}


def table_column(name: str, cut: Cut) -> Json:
    """A column of a table that lists all combinations of regions, so that only their number is said."""
    if cut.is_finest:
        return {"name": name, "finest": True, "starts": list(range(cut.total)), "of": cut.total}
    return {"name": name, **_regions(cut), "of": cut.total}


def range_column(name: str, starts: Integers, stops: Integers, place: NDArray[Any]) -> Json:
    """A column of ranges of codes, a place among them for each row."""
    exact = bool(np.all(stops - starts == 1))
    ends: Json = {} if exact else {"stops": stops.tolist()}
    return {"name": name, "starts": starts.tolist(), **ends, "place": place.tolist()}


def count_numbers(columns: Sequence[Json], rows: int) -> int:
    """How many numbers rows with these columns take."""
    return rows + sum(
        len(column["starts"]) + len(column.get("stops", ())) + len(column.get("place", ())) for column in columns
    )


def _regions(cut: Cut) -> Json:
    starts = [int(start) for start in cut.starts]
    return {"finest": False, "starts": starts, "stops": [*starts[1:], int(cut.size)]}


def _labels(domain: Domain) -> list[tuple[str, int, int]] | None:
    """The labels that a condition may name, each with its codes, the highest node of several; None of too many."""
    taxonomy = domain.taxonomy
    if taxonomy is None:
        return []
    if len(taxonomy.labels) > _MOST_LABELS:
        return None
    found: dict[str, tuple[int, int]] = {}
    for node, label in enumerate(taxonomy.labels):
        found.setdefault(label, taxonomy.range_of(node))
    return [(label, int(start), int(stop)) for label, (start, stop) in found.items()]


def _domain(domain: Domain, labels: Sequence[tuple[str, int, int]]) -> Json:
    named: Json = {"labels": [list(label) for label in labels]} if labels else {}
    if not isinstance(domain, Grid):
        return {"kind": "categories", "size": domain.size, **named}
    return {
        "kind": "grid",
        "size": domain.size,
        "points": domain.points,
        "unit": domain.unit,
        "lower": str(domain.lower),
        "upper": str(domain.upper),
        "step": str(domain.step),
        "from": domain.text(domain.lower),
        "to": domain.text(domain.upper),
        "missing": domain.missing,
        "missing_label": domain.missing_label,
        **named,
    }
