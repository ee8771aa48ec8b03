"""Zaman & Obimbo, *Privacy preserving data publishing: a classification perspective*, 2014: Table I to Table II.

Eight patients with sets of disease codes, generalised by the trees of the paper's Figure 1: ages 15-30 and 30-60 below
[15-60), the codes 15, 16 below 1* and 31, 32 below 3*. The cuts of Table II are given to the last step of our methods,
which counts the groups and adds noise; with ε = 10⁶ there is none to be seen. Two things in the paper do not fit
together:

- Record 2 is 60 years old, which [15-60) does not hold. Numbers outside the declared bounds are moved to the nearer
  bound here; no count of Table II could be had without it.
- Table II counts the records that *contain* 1* in its rows "1*", those that also contain 3* among them, and counts the
  latter again in its rows "1*, 3*". Groups of a release are disjoint, or one record more could change two counts.

The table is printed in the paper, so there is nothing private in it; the account is thrown away.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import ClassVar, cast

import pyarrow as pa

from papers.drawing.dots import Dot, Dots
from papers.figure import FIGURES, Fact, Reproduced, finished
from sfumato.domains.cut import Cut
from sfumato.domains.sets.set_domain import SetDomain
from sfumato.methods import DiffGen
from sfumato.methods.method import Context
from sfumato.methods.noise.noisy_groups import Finish
from sfumato.privacy.dp.accountant import Accountant
from sfumato.progress import Progress, silent
from sfumato.study.file import study_from_mapping
from sfumato.study.purpose import tailor
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, open_source

PAPER = "Zaman & Obimbo, Privacy preserving data publishing: a classification perspective, 2014"
TABLE_I = (  # sex, age, disease codes, class
    ("Female", 33, "15, 16, 31, 32", "N"),
    ("Female", 60, "15, 31", "Y"),
    ("Female", 37, "16", "Y"),
    ("Female", 35, "15, 16", "N"),
    ("Male", 16, "15", "N"),
    ("Male", 36, "16, 31", "Y"),
    ("Female", 46, "15, 16, 31, 32", "N"),
    ("Male", 27, "16, 31, 32", "Y"),
)
Group = tuple[str, str, str]  # sex, codes, class
TABLE_II: Mapping[Group, int] = {
    ("Female", "1*", "Y"): 2,
    ("Female", "1*", "N"): 3,
    ("Male", "1*", "Y"): 2,
    ("Male", "1*", "N"): 1,
    ("Female", "1*, 3*", "Y"): 1,
    ("Female", "1*, 3*", "N"): 2,
    ("Male", "1*, 3*", "Y"): 2,
    ("Male", "1*, 3*", "N"): 0,
}
EXACT, NOISY = 10**6, 1  # ε
_BOTH = (
    "who has both nodes is printed in both rows, and is in one group here: the printed count is ours of both together"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of Table II, as printed and as it comes out."""

    sex: str
    codes: str
    target: str
    printed: int
    exact: int
    containing: int  # records with at least these nodes, which is what the paper counts
    noisy: int


@FIGURES.add
@dataclass(frozen=True, slots=True)
class ZamanTable2:
    """The worked example: eight patients in groups by sex and by sets of generalised disease codes."""

    name: ClassVar[str] = "zaman-2"
    title: ClassVar[str] = "Table II: eight patients in groups, counted exactly and at ε = 1"
    paper: ClassVar[str] = PAPER
    needs: ClassVar[str] = ""
    takes: ClassVar[str] = "less than a minute"

    def run(self, folder: Path, *, workers: int | None = None, progress: Progress = silent) -> Reproduced:  # noqa: ARG002 - there is little to do
        """Count the groups of Table II without noise, and once with it."""
        began = time.monotonic()
        progress("counting eight patients", 0, 1)
        exact, noisy = counted(EXACT), counted(NOISY)
        rows = [
            Row(*group, printed, exact.get(group, 0), _containing(exact, group), noisy.get(group, 0))
            for group, printed in TABLE_II.items()
        ]
        facts = facts_of(rows, sum(exact.values()))
        table = (rows, tuple(Row.__dataclass_fields__))
        return finished(self, folder, facts, _dots(rows).save(folder, "table-2", table, facts), began)


def study() -> Study:
    """Table I with the trees of Figure 1."""
    sexes, ages, codes, classes = (list(column) for column in zip(*TABLE_I, strict=True))
    below = {"Any": {"1*": ["15", "16"], "3*": ["31", "32"]}}
    return study_from_mapping(
        {
            "name": "patients",
            "source": pa.table({"age": ages, "sex": sexes, "code": codes, "class": classes}),
            "attributes": {
                "age": {
                    "role": "quasi_identifier",
                    "type": "integer",
                    "bounds": [15, 59],
                    "taxonomy": {"intervals": {"bounds": [30]}},
                },
                "sex": {"role": "quasi_identifier", "values": ["Female", "Male"]},
                "code": {"role": "quasi_identifier", "type": "set", "separator": ",", "taxonomy": below},
                "class": {"role": "class", "values": ["N", "Y"]},
            },
        }
    )


def counted(epsilon: int) -> dict[Group, int]:
    """The groups of Table II's cuts, by the last step of our methods at so large an ε."""
    patients = study()
    view = tailor(patients, None, DiffGen.needs)
    with open_source(patients.source, base=patients.base) as table:
        counter = CodedTable(table, view.attributes)
        context = Context(accountant=Accountant(Fraction(epsilon)))
        method = DiffGen(epsilon=epsilon)
        draft = Finish(threshold=1, post="none").draft(view, _cuts(view), counter, method, context=context)
    codes = cast("SetDomain", view.predictors[2].domain)
    stars = draft.groups.cuts[2]
    labels = stars.labels(codes.taxonomy, draft.groups.regions[:, 2])  # type: ignore[attr-defined]  # the cut of a set
    sexes = ("Female", "Male")
    return {
        (sexes[int(region[1])], label, view.classes[int(target)]): int(count)
        for region, label, target, count in zip(
            draft.groups.regions, labels, draft.groups.classes, draft.groups.counts, strict=True
        )
    }


def _cuts(view: View) -> list[Cut]:
    """Ages at their root, sexes as they are, codes at 1* and 3*."""
    age, sex, code = (a.domain for a in view.predictors)
    assert age is not None and sex is not None and isinstance(code, SetDomain), "declared above"
    return [
        Cut("age", (0,), age.size),
        Cut.finest("sex", sex.size),
        code.root("code").specialize((0, 4), [(0, 2), (2, 4)]),
    ]


def _containing(exact: Mapping[Group, int], group: Group) -> int:
    sex, codes, target = group
    wanted = set(codes.split(", "))
    return sum(n for (s, c, t), n in exact.items() if (s, t) == (sex, target) and wanted <= set(c.split(", ")))


def facts_of(rows: Sequence[Row], records: int) -> list[Fact]:
    """Every row, their sum, and the patient who is not in the printed interval."""
    facts = [
        Fact(
            what=f"[15-60), {row.sex}, {row.codes}, {row.target}", printed=f"{row.printed}",
            ours=f"{row.exact}" + ("" if row.exact == row.printed else f"; {row.containing} with these nodes or more"),
            agrees=row.exact == row.printed, why="" if row.exact == row.printed else _BOTH,
        )
        for row in rows
    ]  # fmt: skip
    total = sum(row.printed for row in rows)
    return [
        *facts,
        Fact(
            what="all counts together", printed=f"{total}", ours=f"{records}, which is how many patients there are",
            agrees=records == total, why="" if records == total else _BOTH,
        ),
        Fact(
            what="record 2, who is 60", printed="counted in [15-60)", ours="moved to the upper bound, 59, and counted",
            agrees=True,
        ),
    ]  # fmt: skip


def _dots(rows: Sequence[Row]) -> Dots:
    dots = []
    for row in rows:
        name = f"{row.sex}, {row.codes}, {row.target}"
        dots += [
            Dot(_PANEL, name, "printed", row.printed),
            Dot(_PANEL, name, "ours, noise off", row.exact),
            Dot(_PANEL, name, "ours, ε = 1", row.noisy),
        ]
    return Dots(
        title=ZamanTable2.title,
        x="group: sex, disease codes, class",
        y="records",
        dots=tuple(dots),
        better="",
        columns=1,
        zero=True,
        width=110,
        note="Where ours is lower with noise off, the paper counts who has both nodes in both rows. "
        "At ε = 1 counts of one or two are mostly noise, as they should be.",
    )


_PANEL = "All ages are generalised to [15-60)"
