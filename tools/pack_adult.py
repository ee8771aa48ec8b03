"""Make the packaged table: the complete records of UCI Adult, as Parquet.

    python tools/pack_adult.py FOLDER

FOLDER holds ``train.csv`` and ``test.csv``: the two parts of the UCI table with a header line, without the blanks
after the commas and without the full stop behind the labels of the test part. The taxonomies and the study beside the
Parquet file are written by hand; this program only checks that the taxonomies name every value of their column.
"""

import hashlib
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

HOME = Path(__file__).parents[1] / "src" / "sfumato" / "data" / "adult"
COMPLETE = 45_222
COLUMNS = {
    "age": pa.int64(),
    "workclass": pa.string(),
    "fnlwgt": pa.int64(),
    "education": pa.string(),
    "education_num": pa.int64(),
    "marital_status": pa.string(),
    "occupation": pa.string(),
    "relationship": pa.string(),
    "race": pa.string(),
    "sex": pa.string(),
    "capital_gain": pa.int64(),
    "capital_loss": pa.int64(),
    "hours_per_week": pa.int64(),
    "native_country": pa.string(),
    "income": pa.string(),
}


def complete_records(folder: Path) -> pa.Table:
    """Both parts, one behind the other, without the records that have a ``?``."""
    convert = pyarrow.csv.ConvertOptions(column_types=COLUMNS, include_columns=list(COLUMNS), strings_can_be_null=False)
    parts = [pyarrow.csv.read_csv(folder / name, convert_options=convert) for name in ("train.csv", "test.csv")]
    table = pa.concat_tables(parts)
    for name in texts():
        table = table.filter(pc.not_equal(table[name], "?"))
    return table.combine_chunks()


def texts() -> list[str]:
    """The columns that hold text."""
    return [name for name, kind in COLUMNS.items() if kind == pa.string()]


def unnamed_values(table: pa.Table) -> list[str]:
    """The values of a column that its taxonomy does not name, as ``column: value``."""
    missing = []
    for path in sorted(HOME.glob("*.csv")):
        leaves = {line.split(";")[0] for line in path.read_text(encoding="utf-8").splitlines()}
        missing += [f"{path.stem}: {value}" for value in set(table[path.stem].to_pylist()) - leaves]
    return missing


def main() -> None:
    """Read, check, write, and print the sums that the README beside the table quotes."""
    if len(sys.argv) != 2:  # noqa: PLR2004 (the program and the folder)
        sys.exit("usage: python tools/pack_adult.py FOLDER")
    table = complete_records(Path(sys.argv[1]))
    if table.num_rows != COMPLETE:
        sys.exit(f"{table.num_rows} complete records, {COMPLETE} expected: this is not the UCI table")
    if missing := unnamed_values(table):
        sys.exit(f"values without a place in the taxonomy: {', '.join(missing)}")
    pyarrow.parquet.write_table(
        table, HOME / "adult.parquet", compression="zstd", compression_level=19, write_statistics=False
    )
    for path in sorted(HOME.iterdir()):
        if path.suffix in {".csv", ".parquet"}:
            print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")


if __name__ == "__main__":
    main()
