"""t-closeness: the values of a group are distributed nearly as those of the table."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from sfumato.errors import StudyError
from sfumato.privacy.groups.distances import DISTANCES
from sfumato.privacy.groups.parameters import TOLERANCE, Exact, parse_exact, parse_in_range
from sfumato.privacy.groups.sensitive import Sensitive, Strain, Values
from sfumato.privacy.groups.statistics import Statistics, Truths
from sfumato.privacy.models.model import MODELS
from sfumato.study.attribute import Attribute
from sfumato.study.budget import show


@MODELS.add
@dataclass(frozen=True, slots=True, kw_only=True)
class TCloseness(Sensitive):
    """The values of a group are at most the distance t away from those of the table.

    Li, Li & Venkatasubramanian, ICDE 2007. ``distance`` is one of `DISTANCES`: the earth mover's distance with the
    ground distance `equal`, `ordered` or `hierarchical`, all between 0 and 1, or the Jensen-Shannon divergence `js` in
    natural units, between 0 and ln 2.
    All four are convex in the group's distribution, so a union is no farther off than the farther one: monotone. In
    floating point: a distance up to 10⁻¹² above t holds, so a group exactly at the bound does.

    >>> from sfumato.privacy.models.example import PATIENTS
    >>> TCloseness(t="0.125").holds(PATIENTS).tolist()
    [True, True]
    >>> TCloseness(t="0.1", distance="hierarchical").holds(PATIENTS).tolist()
    [True, True]
    >>> TCloseness(t="0.03", distance="js").holds(PATIENTS).tolist()
    [True, False]
    """

    name: ClassVar[str] = "t-closeness"
    summary: ClassVar[str] = "the sensitive values of every group are distributed as in the table, up to a distance t"
    checkable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    relative: ClassVar[bool] = True
    t: Exact
    distance: str = "equal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", parse_in_range(self.t, "t", 0, 1))
        if not isinstance(cast("object", self.distance), str) or self.distance not in DISTANCES:
            raise StudyError(
                f"there is no distance called '{str(self.distance)[:40]}'",
                f"choose one of: {', '.join(DISTANCES)}",
                code="SF-STUDY-107",
            )

    def sentence(self) -> str:
        """The guarantee in one sentence that can be quoted."""
        return (
            f"In every group the distribution of {self._whose()} is at most {show(parse_exact(self.t, 't'))} away from "
            f"that in the table, by the {DISTANCES[self.distance].words} (t-closeness)."
        )

    def way_out(self, whole: Statistics) -> str:  # noqa: ARG002 - the table is as its own table is
        """The whole table keeps it, so there is nothing to give in."""
        return "compare with the table itself"

    def _keeps(self, values: Values) -> Truths:
        apart = DISTANCES[self.distance].between(values)
        return values.known & np.asarray(apart <= float(parse_exact(self.t, "t")) + TOLERANCE)

    def _strain(self, values: Values) -> Strain:
        distance = DISTANCES[self.distance]
        bound = f"at most {show(parse_exact(self.t, 't'))}"
        return Strain("distance", f"the distance from the table ({distance.words})", bound, distance.between(values))

    def _refuse(self, attributes: Sequence[Attribute]) -> None:
        for attribute in attributes:
            if self.distance == "hierarchical" and (attribute.domain is None or attribute.domain.taxonomy is None):
                raise StudyError(
                    f"'{attribute.name}' has no taxonomy, and the hierarchical distance is measured in one",
                    "declare a taxonomy for it, or choose `distance: ordered`",
                    code="SF-STUDY-072",
                )
