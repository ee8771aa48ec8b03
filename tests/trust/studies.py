"""A small study on a disk, and the whole way from its table to a bundle."""

import csv
import io
import json

from sfumato import workflow
from sfumato.release.verify import verify_bundle
from sfumato.study.file import load_study
from sfumato.study.recipe import Recipe, recipe_from_study

JOBS = ("Engineer", "Lawyer", "Dancer", "Writer")
COLUMNS = ("id", "age", "job", "sex", "ill", "note")

STUDY = """\
name: clinic
source: {source}
privacy: {{unit: record, budget: {budget}}}
attributes:
  id:  {{role: identifier}}
  age: {{role: quasi_identifier, type: integer, bounds: [0, 99]}}
  job: {{role: quasi_identifier, taxonomy: {{Any_Job: {{Professional: [Engineer, Lawyer], Artist: [Dancer, Writer]}}}}}}
  sex: {{role: sensitive, values: [f, m], missing: keep, outside: keep}}
  ill: {{role: class, values: ["no", "yes"]}}
releases:
  dp: {{method: diffgen, epsilon: {epsilon}, h: {h}}}
  full: {{method: contingency, epsilon: {epsilon}}}
  groups: {{method: mondrian, k: 3}}
  buckets: {{method: anatomy, l: 2}}
"""


def records(size=60):
    """Records by rule; the column `note` is not in the study. Nobody is a Writer."""
    return [
        {
            "id": f"p{n}",
            "age": str(20 + 7 * n % 60),
            "job": JOBS[n % 3],
            "sex": "fm"[n % 2],
            "ill": ("no", "yes")[n % 5 == 0],
            "note": f"free text {n}",
        }
        for n in range(size)
    ]


def csv_text(rows, columns=COLUMNS):
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def on_disk(folder, rows=None, *, budget="100", epsilon="1", h="3", source="clinic.csv"):
    """Write the study and its table into a new folder; the path of the study file."""
    folder.mkdir(parents=True, exist_ok=True)
    if rows is not None or source == "clinic.csv":
        (folder / source).write_text(csv_text(records() if rows is None else rows), encoding="utf-8")
    (folder / "study.yaml").write_text(
        STUDY.format(source=source, budget=budget, epsilon=epsilon, h=h), encoding="utf-8"
    )
    return folder / "study.yaml"


def spanned(folder):
    """The same, but the release `dp` is for a purpose with a span and a filter: 2012, half of the records."""
    rows = [{**row, "note": f"{1 + n % 28}/{1 + n % 12}/{2012 + n % 2}"} for n, row in enumerate(records())]
    study = on_disk(folder, rows)
    text = study.read_text(encoding="utf-8")
    text = text.replace("attributes:", "attributes:\n  note: {role: time, type: date, format: '%d/%m/%Y'}", 1)
    some = "{attributes: [age, job, sex, ill], span: [2012-01-01, 2013-01-01], where: {job: Any_Job}}"
    text = text.replace("releases:", f"purposes:\n  some: {some}\nreleases:").replace("h: 3", "h: 3, purpose: some")
    study.write_text(text, encoding="utf-8")
    return study


def recipe(method="diffgen", **parameters):
    return Recipe(name="dp", method=method, parameters={"epsilon": "1", **parameters})


def released(study, out, *, what=None, source=None, **more):
    """Release, and check that what came out verifies."""
    done = workflow.release(load_study(study), what or recipe(h=3), folder=out, source=source, **more)
    assert verify_bundle(done.bundle).ok
    return done


def declared(study, name):
    """One of the releases that the study declares."""
    return recipe_from_study(load_study(study), name)


def manifest(bundle):
    return json.loads((bundle / "manifest.json").read_text(encoding="utf-8"))


def everything(folder):
    """Every byte of every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
