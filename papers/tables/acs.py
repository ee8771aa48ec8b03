"""The American Community Survey's records with an occupation, as Sattar et al. use a census: samples, and two twins.

The table is public and too large to be packaged, so its folder has to be given. Where the paper's table differs:

- Birth place (41 values) is not in it; the state (49) stands in its place.
- The paper has 50 occupations. Ours are the 26 groups of the survey's code list: half as many, where the 530 codes are
  ten times as many, and two thirds of those are rarer than one in a thousand.
- Salaries in 50 classes: 49 of 4,000 dollars each from 0 on, losses in the first, and one for all above.
- The paper prints no taxonomies but those of its example. Sex, marital status and race are flat here; education, state
  and occupation have the survey's own groups; ages are in intervals of 5, 10, 20 and 40 years.
"""

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from papers.tables.public import folder_of
from sfumato.domains.counts import Cells
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import SourceError
from sfumato.methods import Mondrian
from sfumato.study.file import parse_taxonomy, study_from_mapping
from sfumato.study.purpose import tailor
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, open_source

_FILE = "occ_sal_view.csv.gz"
NEEDS = (
    "a folder with `acs_pums_2024/occ_sal_view.csv.gz`, and `schl.csv`, `state.csv` and `occp.csv` in "
    "`acs_pums_2024/hierarchies/`"
)
QUASI = ("age", "sex", "education", "marital", "race", "state")
OCCUPATION, SALARY, CODE = "occupation_group", "salary", "occupation"
CLASSES, WIDTH = 50, 4_000  # of salaries: how many, and how many dollars each
_COLUMNS = (*QUASI, OCCUPATION, CODE, "income")
_SEED = 2014  # which records a sample has; nothing is published
_LEAF, _DIVISION = 0, 2  # columns of the hierarchy of states; the one between has the leaf's abbreviation

# A tree over marital status in two halves, to see what one middle level changes.
HALVES = "1,Ever married,*\n2,Ever married,*\n3,Ever married,*\n4,Ever married,*\n5,Never married,*\n"


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Records drawn at random, with one sensitive attribute, as a method sees them."""

    sensitive: str
    records: int
    marital: str  # how its tree over marital status is called
    view: View
    cells: Cells


@dataclass(frozen=True, slots=True, eq=False)
class Survey:
    """The whole table, and the trees over its codes."""

    table: pa.Table
    education: Taxonomy
    state: Taxonomy
    occupations: Sequence[tuple[str, ...]]  # code and group

    @classmethod
    def load(cls, data: Path | None) -> "Survey":
        """Read the table from the folder of public tables."""
        folder = folder_of(data, f"acs_pums_2024/{_FILE}", whose="the American Community Survey", needs=NEEDS)
        states = [(row[_LEAF], *row[_DIVISION:]) for row in _rows(folder / "hierarchies" / "state.csv")]
        return cls(
            table=_read(folder / _FILE),
            education=_tree(_rows(folder / "hierarchies" / "schl.csv"), "education"),
            state=_tree(states, "state"),
            occupations=[row[:2] for row in _rows(folder / "hierarchies" / "occp.csv")],
        )

    def samples(self, sizes: Sequence[int]) -> Iterator[tuple[int, pa.Table]]:
        """Disjoint random samples, the same ones each time."""
        if sum(sizes) > len(self.table):
            raise SourceError(
                f"samples of {sum(sizes):,} records in all do not fit into {len(self.table):,}",
                "give the folder with the whole table",
            )
        order, start = np.random.default_rng(_SEED).permutation(len(self.table)), 0
        for size in sizes:
            yield size, self.table.take(pa.array(order[start : start + size]))
            start += size

    def study(self, records: pa.Table, sensitive: str, *, marital: str | None = None) -> Study:
        """Six quasi-identifiers and a sensitive attribute; ``marital`` is a tree, else it is flat."""
        quasi = {"role": "quasi_identifier"}
        fields: dict[str, Any] = {
            "age": {
                **quasi,
                "type": "integer",
                "bounds": [15, 99],
                "at_least": 5,
                "taxonomy": {"intervals": {"width": 5, "levels": 4}},
            },
            "sex": {**quasi, "values": ["1", "2"]},
            "education": {**quasi, "taxonomy": self.education},
            "marital": {**quasi, "values": [str(n) for n in range(1, 6)]},
            "race": {**quasi, "values": [str(n) for n in range(1, 10)]},
            "state": {**quasi, "taxonomy": self.state},
            sensitive: {"role": "sensitive", "values": self._values(sensitive)},
        }
        if marital is not None:
            fields["marital"] = {**quasi, "taxonomy": parse_taxonomy(marital, "marital")}
        return study_from_mapping({"name": "acs", "source": records.select([*QUASI, sensitive]), "attributes": fields})

    def sample(self, records: pa.Table, sensitive: str, *, marital: str | None = None) -> Sample:
        """Some records as a method sees them."""
        study = self.study(records, sensitive, marital=marital)
        view = tailor(study, None, Mondrian.needs)
        with open_source(study.source, base=study.base) as table:
            cells = CodedTable(table, view.attributes).full_cells([a.name for a in view.attributes])
        return Sample(sensitive, len(records), "flat" if marital is None else "in halves", view, cells)

    def _values(self, sensitive: str) -> list[str]:
        if sensitive == SALARY:
            return [str(n * WIDTH) for n in range(CLASSES)]
        return list(dict.fromkeys(row[sensitive == OCCUPATION] for row in self.occupations))


def _read(path: Path) -> pa.Table:
    """Codes as text, since states begin with a zero; salaries by the dollar they begin at."""
    try:
        found = pa_csv.read_csv(
            path,
            convert_options=pa_csv.ConvertOptions(
                include_columns=list(_COLUMNS),
                column_types={**dict.fromkeys(_COLUMNS, pa.string()), "age": pa.int64(), "income": pa.int64()},
            ),
        )
    except (OSError, KeyError, pa.ArrowInvalid) as error:
        raise SourceError(f"'{path.name}' cannot be read ({error})", f"give with --data FOLDER {NEEDS}") from None
    classes = np.clip(found["income"].to_numpy() // WIDTH, 0, CLASSES - 1) * WIDTH
    return found.drop_columns(["income"]).append_column(SALARY, pa.array(classes).cast(pa.string()))


def _rows(path: Path) -> list[tuple[str, ...]]:
    """A hierarchy without its header."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [tuple(row) for row in csv.reader(file)][1:]
    except OSError as error:
        raise SourceError(
            f"'{path.name}' cannot be read ({error.strerror})", f"give with --data FOLDER {NEEDS}"
        ) from None


def _tree(rows: Sequence[Sequence[str]], name: str) -> Taxonomy:
    return parse_taxonomy("\n".join(";".join(row) for row in rows), name)
