"""δ-presence: how sure one may be that somebody of a known population is in the table."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from sfumato.domains.domain import Grid
from sfumato.errors import StudyError
from sfumato.privacy.groups.parameters import (
    Exact,
    model_parameters,
    multiply,
    parse_exact,
    parse_in_range,
    share_at_most,
)
from sfumato.privacy.groups.statistics import Statistics, Truths
from sfumato.privacy.models.model import MODELS
from sfumato.study.attribute import InvalidValuePolicy
from sfumato.study.budget import show
from sfumato.study.view import View


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaPresence:
    """Of the people of the population in a group's region a share from δmin to δmax is in the table.

    Nergiz, Atzori & Clifton, SIGMOD 2007, for records in groups with regions that do not overlap. People of the
    population in no published region have the share 0, as no record may be suppressed; where δmin is above 0 they are
    not covered, and a group cannot know of them. ``population`` names the table of people, everybody once, with all
    quasi-identifiers: a file or a URL, as a study names its source. It is public, or nobody could compare with it.

    Not monotone. Sizes and people of two regions put together give a share between the two. But the smallest region
    over both, or a wider one that a search tries, may hold people who were in no group, and then the share falls below
    δmin. (With δmin = 0 nothing can break: more people only lower a share.)

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> DeltaPresence(minimum="0.1", maximum="0.4").holds(PATIENTS).tolist()  # 4 of 8 people, 4 of 40
    [False, True]
    """

    name: ClassVar[str] = "delta-presence"
    summary: ClassVar[str] = "of the population in a group's region, a share from δmin to δmax is in the table"
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = False
    relative: ClassVar[bool] = False
    counts_people: ClassVar[bool] = True  # in the region of each group
    maximum: Exact
    minimum: Exact = Fraction(0)
    population: str | None = None

    def __post_init__(self) -> None:
        if self.population is not None and not isinstance(self.population, str):
            raise StudyError(
                "`population` names no table",
                "write the path of a file, or a URL, as for `source`",
                code="SF-STUDY-095",
            )
        object.__setattr__(self, "maximum", parse_in_range(self.maximum, "δmax", 0, 1))
        object.__setattr__(self, "minimum", parse_in_range(self.minimum, "δmin", 0, 1))
        if parse_exact(self.minimum, "δmin") > parse_exact(self.maximum, "δmax"):
            raise StudyError("δmin is above δmax", "swap them", code="SF-STUDY-096")

    def needs(self) -> tuple[str, ...] | None:
        """No sensitive attribute: being in the table is what is sensitive."""
        return ()

    def check(self, view: View) -> None:
        """Refuse where there is nobody to compare with."""
        if self.population is None and view.people is None:
            raise StudyError(
                "δ-presence compares with a population, and none is named",
                "name a table of people with the quasi-identifiers: `delta-presence: {maximum: …, population: FILE}`",
                code="SF-STUDY-097",
            )
        clamped = [a.name for a in view.quasi if isinstance(a.domain, Grid) and a.outside is InvalidValuePolicy.KEEP]
        if clamped:
            raise StudyError(
                f"δ-presence counts people in regions, and '{clamped[0]}' has `outside: keep`: a number outside its "
                "bounds would live at the bound, and nobody who checks the release could know that",
                "set `outside: suppress`, and bounds that hold everybody",
                code="SF-STUDY-098",
            )

    def holds(self, groups: Statistics) -> Truths:
        """Whether the share of each group lies between the two bounds; a region nobody lives in does not fit."""
        if groups.population is None:
            raise StudyError(
                "δ-presence compares with a population, and it is not at hand",
                "give the table of people",
                code="SF-STUDY-099",
            )
        low, high = parse_exact(self.minimum, "δmin"), parse_exact(self.maximum, "δmax")
        enough = multiply(groups.population, low.numerator) <= multiply(groups.sizes, low.denominator)
        kept = share_at_most(groups.sizes, groups.population, high) & np.asarray(enough, dtype=np.bool_)
        return np.asarray(kept | (groups.sizes == 0))

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        low, high = parse_exact(self.minimum, "δmin"), parse_exact(self.maximum, "δmax")
        return (
            f"Of the people of the population in a group's region a share from {show(low)} to {show(high)} is in the "
            "table (δ-presence)."
        )

    def parameters(self) -> dict[str, Any]:
        """The parameters as a study gives them."""
        return model_parameters(self)

    def way_out(self, whole: Statistics) -> str:
        """Bounds around the share of the whole table."""
        assert whole.population is not None, "holds has looked at it"
        n, people = int(whole.sizes[0]), int(whole.population[0])
        if n > people:
            return "give the population that the table is drawn from: it has fewer people than the table has records"
        return f"choose bounds around {show(Fraction(n, people))}, the table's share of the population"
