"""Capped confidence: Parquet to verified bundle, beside a plain copy of the same columns, for growing tables.

    python -m bench.capped [--rows 1000000 3000000 5000000]

The table is Adult blown up, with six quasi-identifiers, occupation sensitive, and income as it is. CPU seconds are
those of the whole process, all threads; they say how work grows where a machine is shared.
"""

import argparse
import shutil
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path

import pyarrow.parquet as pq

from bench.blowup import blow_up
from bench.groups import QUASI, copy_of, study_of
from papers.machine import machine
from sfumato import workflow
from sfumato.domains.counts import Cells
from sfumato.methods import ConfidenceCap, Mondrian, recipe_of
from sfumato.study.purpose import tailor
from sfumato.study.study import Study
from sfumato.study.view import View
from sfumato.tables import CodedTable, open_source


def cells_of(study: Study) -> tuple[View, Cells]:
    """The table as the method sees it."""
    view = tailor(study, None, Mondrian.needs)
    with open_source(study.source, base=study.base) as table:
        return view, CodedTable(table, view.attributes).full_cells([a.name for a in view.attributes])


def beside_a_copy(folder: Path, sizes: list[int]) -> None:
    """One line a table."""
    print(
        "| records | copy s | capped confidence, Parquet to bundle s | times a copy | its CPU s | of it the method | "
        "groups | suppressed |\n|---|---|---|---|---|---|---|---|"
    )
    few = folder / "few.parquet"
    pq.write_table(pq.read_table(folder / "adult.parquet", columns=[*QUASI, "occupation", "income"]), few)
    for rows in sizes:
        narrow = folder / f"narrow_{rows}.parquet"
        blow_up(few, rows, narrow)
        floor = copy_of(narrow, folder)
        study = study_of(folder, narrow)
        began, busy = time.perf_counter(), time.process_time()
        done = workflow.release(study, recipe_of(ConfidenceCap(), name="cap"), folder=folder / "out" / str(rows))
        took, worked = time.perf_counter() - began, time.process_time() - busy
        view, cells = cells_of(study)
        busy = time.process_time()
        ConfidenceCap().draft(view, cells)
        alone = time.process_time() - busy
        facts = done.draft.facts
        print(
            f"| {rows:,} | {floor:.2f} | {took:.2f} | {took / floor:.1f} | {worked:.1f} | {alone:.1f} | "
            f"{facts['groups']:,} | {facts['suppressed']:,} |",
            flush=True,
        )


def main() -> None:
    """Print everything as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 3_000_000, 5_000_000])
    asked = parser.parse_args()
    print(f"{machine()}\n")
    with tempfile.TemporaryDirectory() as place, as_file(files("sfumato") / "data" / "adult") as packaged:
        folder = Path(place) / "study"
        shutil.copytree(packaged, folder)
        beside_a_copy(folder, asked.rows)


if __name__ == "__main__":
    main()
