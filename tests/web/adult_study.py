"""A folder with a study of the first rows of the packaged census table, and bundles that it published."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pyarrow.parquet as pq

import sfumato as sf
from sfumato.ledger import open_ledger

ROWS = 2_000
_MORE = """\
  survey-dp: {purpose: survey, method: diffgen, epsilon: 0.5, h: 4}
  k5: {purpose: survey, method: mondrian, k: 5}
  k9: {purpose: survey, method: mondrian, k: 9}
"""


def make_study(folder, *releases, rows=ROWS):
    """The study in a folder, with these of its releases published; the path of its file."""
    folder = Path(folder)
    with as_file(files("sfumato") / "data" / "adult") as packaged:
        shutil.copytree(packaged, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    path = folder / "adult.parquet"
    pq.write_table(pq.read_table(path).slice(0, rows), path)
    file = folder / "study.yaml"
    file.write_text(file.read_text().replace("releases:\n", f"releases:\n{_MORE}"))
    study = sf.Study.load(file)
    for name in releases:
        study.release(name, report=False)
    return file


def hostile_bundle(folder):
    """A bundle whose names and values are markup, made by an ordinary release."""
    rows = [("young" if n % 2 else "<i>old</i>", "<b>yes</b>" if n % 3 else "no") for n in range(60)]
    text = '"<script>alert(1)</script>","a b"\n' + "".join(f'"{one}","{two}"\n' for one, two in rows)
    folder = Path(folder)
    (folder / "messy.csv").write_text(text)
    study = sf.Study.from_mapping(
        {
            "name": "<img src=x onerror=alert(1)>",
            "source": str(folder / "messy.csv"),
            "attributes": {
                "<script>alert(1)</script>": {"role": "quasi_identifier", "values": ["young", "<i>old</i>"]},
                "a b": {"role": "class", "values": ["<b>yes</b>", "no"]},
            },
        },
        ledger=open_ledger(folder / "messy.ledger.sqlite"),
    )
    return study.release(sf.Mondrian(k=5), out=folder / "messy-1", report=False).bundle
