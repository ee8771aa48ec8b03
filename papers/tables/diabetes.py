"""Encounters of diabetic patients in 130 hospitals, with their diagnoses as sets of ICD-9 codes.

The three diagnosis columns are one set with the taxonomy of `diag_hierarchy.csv` (chapter, block, category, code). A
patient may have many encounters; at most three of each take part, so everything runs at ε/3 for records. The class is
whether a patient came back (within 30 days, later, not), declared from the code book, as all domains are.
"""

import csv
import gzip
import shutil
from collections import Counter
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from papers.tables.public import folder_of
from sfumato.domains.taxonomy.text import from_csv
from sfumato.domains.taxonomy.tree import Taxonomy
from sfumato.errors import SourceError

NEEDS = "a folder with `diabetes130/diabetic_data.csv.gz` and `diabetes130/diag_hierarchy.csv`"
TABLE, HIERARCHY = "diabetic_data.csv.gz", "diag_hierarchy.csv"
AT_MOST = 3  # records of a patient
DIAGNOSIS, TARGET = "diagnosis", "readmitted"
# Names from the code book. That there is such a level at all was decided after measuring without it on this table.
GROUPS = {
    "chapter 3": "endocrine and metabolic",
    "chapter 7": "circulatory",
    "chapter 8": "respiratory/digestive/genitourinary",
    "chapter 9": "respiratory/digestive/genitourinary",
    "chapter 10": "respiratory/digestive/genitourinary",
}
QUASI = {"role": "quasi_identifier"}
ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {
    "age": {**QUASI, "values": [f"[{n}-{n + 10})" for n in range(0, 100, 10)]},
    "gender": {**QUASI, "values": ["Female", "Male"], "outside": "keep"},
    "time_in_hospital": {**QUASI, "type": "integer", "bounds": [1, 14]},
    "number_inpatient": {**QUASI, "type": "integer", "bounds": [0, 10]},
    "number_emergency": {**QUASI, "type": "integer", "bounds": [0, 10]},
    "number_diagnoses": {**QUASI, "type": "integer", "bounds": [1, 16]},
    "discharge_disposition_id": {**QUASI, "type": "integer", "bounds": [1, 30]},
    TARGET: {"role": "class", "values": ["NO", ">30", "<30"]},
}
RACE = {**QUASI, "values": ["AfricanAmerican", "Asian", "Caucasian", "Hispanic", "Other"], "outside": "keep"}


def folder(data: Path | None) -> Path:
    """Where the table and the hierarchy of its codes are."""
    return folder_of(data, f"diabetes130/{TABLE}", whose="diabetic patients (diabetes130)", needs=NEEDS)


def unpacked(place: Path, target: Path) -> Path:
    """The table as a CSV file in another folder."""
    table = target / "diabetic_data.csv"
    if not table.exists():
        try:
            with gzip.open(place / TABLE) as packed, table.open("wb") as out:
                shutil.copyfileobj(packed, out)
        except (OSError, EOFError) as error:
            raise SourceError(f"'{TABLE}' cannot be read ({error})", f"give with --data FOLDER {NEEDS}") from None
    return table


def diagnoses(place: Path) -> dict[str, Any]:
    """The set of a patient's diagnoses, as an attribute."""
    return {
        **QUASI, "type": "set", "columns": ["diag_1", "diag_2", "diag_3"], "taxonomy": taxonomy(place / HIERARCHY),
        "outside": "keep",
    }  # fmt: skip


def taxonomy(path: Path) -> Taxonomy:
    """The hierarchy of codes, with a level of four groups above the 19 chapters: a cut of 19 nodes is a large step.

    A category that is a code as well, beside others, gets a star.
    """
    try:
        with path.open(encoding="utf-8") as file:
            rows = list(csv.reader(file, delimiter=";"))
    except OSError as error:
        raise SourceError(
            f"'{path.name}' cannot be read ({error.strerror})", f"give with --data FOLDER {NEEDS}"
        ) from None
    shared = Counter(row[1] for row in rows)
    codes = {row[0] for row in rows}
    return from_csv("\n".join(_line(row, shared, codes) for row in rows))


def _line(row: list[str], shared: Mapping[str, int], codes: Collection[str]) -> str:
    code, category, block, chapter, root = row
    star = "*" if category in codes and shared[category] > 1 else ""
    return ";".join([code, category + star, block, chapter, GROUPS.get(chapter, "other diagnoses"), root])


def fields(name: str, source: Path, attributes: Mapping[str, Any], budget: str) -> dict[str, Any]:
    """A study over the unpacked table, as the fields of its file."""
    unit = {"person": "patient_nbr", "at_most": AT_MOST}
    return {
        "name": name, "source": str(source), "privacy": {"unit": unit, "budget": budget}, "attributes": attributes,
    }  # fmt: skip
