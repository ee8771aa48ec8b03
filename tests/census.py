"""The packaged census study with a part of its records: for tests whose point is not how many there are."""

import shutil
from importlib.resources import as_file, files

import pyarrow.parquet as pq


def census_study(folder, *, every=1):
    """Copy the packaged study into a new folder, with each so manieth record; the folder."""
    with as_file(files("sfumato") / "data" / "adult") as packaged:
        shutil.copytree(packaged, folder)
    if every > 1:
        table = pq.read_table(folder / "adult.parquet")
        pq.write_table(table.take(list(range(0, table.num_rows, every))), folder / "adult.parquet")
    return folder


def thin_demo(patch, folder, *, every):
    """Have `sfumato demo` find a part of the packaged table until the patch is undone."""
    census_study(folder / "data" / "adult", every=every)
    patch.setattr("sfumato.cli.commands.demo.files", lambda _package: folder)
