"""A small table, a study of it, and the command line as a program would call it."""

import csv
import json
import sys
from dataclasses import dataclass

import pytest

from sfumato.cli import main

JOBS = {"Engineer": ">50K", "Lawyer": ">50K", "Dancer": "<=50K", "Writer": "<=50K"}

STUDY = """\
name: people
source: people.csv
privacy: {unit: record, budget: 2}
attributes:
  person_id: {role: identifier}
  age: {role: quasi_identifier, type: integer, bounds: [0, 120], missing: keep}
  job: {role: quasi_identifier, taxonomy: {Any: {Professional: [Engineer, Lawyer], Artist: [Dancer, Writer]}}}
  income: {role: class, values: ["<=50K", ">50K"]}
purposes:
  jobs: {attributes: [job, income]}
releases:
  dp: {method: diffgen, epsilon: 1, h: 2}
  table: {method: contingency, epsilon: 0.25, purpose: jobs}
"""


@dataclass(frozen=True)
class Ran:
    """What came of one call."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line; gives its exit code, its output and its errors."""

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["sfumato", *map(str, args)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
        found = capsys.readouterr()
        return Ran(code, found.out, found.err)

    return call


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with the table."""
    monkeypatch.chdir(tmp_path)
    with (tmp_path / "people.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["person_id", "age", "job", "income"])
        for number in range(400):
            job = list(JOBS)[number % 4]
            rows.writerow([10_000 + number, "" if number == 7 else 20 + number % 60, job, JOBS[job]])
    return tmp_path


@pytest.fixture
def study(folder):
    """A study of the table, with two releases."""
    (folder / "study.yaml").write_text(STUDY, encoding="utf-8")
    return folder / "study.yaml"
