"""Small studies for the pages: the packaged table cut short, and a messy one."""

from importlib.resources import files
from pathlib import Path

import pyarrow.parquet as pq

STUDY = """\
# A comment that stays.
name: adult
source: adult.parquet
privacy: {unit: record, budget: 2}
attributes:
  age: {role: quasi_identifier, type: integer, bounds: [0, 120], step: 1}
  education: {role: quasi_identifier, taxonomy: education.csv}
  sex: {role: quasi_identifier, taxonomy: sex.csv}
  occupation: {role: sensitive, taxonomy: occupation.csv}
  income: {role: class, values: ["<=50K", ">50K"]}
purposes:
  survey: {attributes: [age, sex, income]}
releases:
  dp: {purpose: survey, method: diffgen, epsilon: 0.5, h: 4}
  k5: {method: mondrian, k: 5}
"""


def write_adult(folder, *, rows=2_000, study=STUDY):
    """A study of the first rows of the packaged census table; gives the path of its file."""
    folder, data = Path(folder), files("sfumato") / "data" / "adult"
    pq.write_table(pq.read_table(str(data / "adult.parquet")).slice(0, rows), folder / "adult.parquet")
    for name in ("education.csv", "sex.csv", "occupation.csv"):
        (folder / name).write_bytes((data / name).read_bytes())
    path = folder / "study.yaml"
    path.write_text(study)
    return path


def key_of(page, workbench):
    """The key of the one study that is open."""
    page.goto(workbench.origin + "/")
    return page.locator("a[href^='/s/']").first.get_attribute("href").split("/")[2]
