"""Make the packaged list of ICD-9-CM diagnosis codes: chapters, blocks and codes, without descriptions.

    python tools/pack_icd9.py FOLDER

FOLDER holds ``chapters.csv`` (chapter, first, last, title), ``blocks.csv`` (first, last, title, chapter) and
``codes_v32.csv.gz`` (code, category, block, chapter, ccs, description): the tabular list, and the diagnosis codes of
version 32 (2014-10-01, the last one) as the Centers for Medicare & Medicaid Services list them. The program checks that
every code lies in one block, that blocks tile their chapters, and that the file's own columns say the same.
"""

import csv
import gzip
import hashlib
import sys
from pathlib import Path

from sfumato.domains.taxonomy.icd9 import category

HOME = Path(__file__).parents[1] / "src" / "sfumato" / "data" / "icd9"
CODES = 14_567


def rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def main() -> None:
    """Read, check, write, and print the sums that the README beside the files quotes."""
    if len(sys.argv) != 2:  # noqa: PLR2004 (the program and the folder)
        sys.exit("usage: python tools/pack_icd9.py FOLDER")
    folder = Path(sys.argv[1])
    blocks = rows(folder / "blocks.csv")
    with gzip.open(folder / "codes_v32.csv.gz", "rt", encoding="utf-8", newline="") as file:
        codes = list(csv.DictReader(file))
    for row in codes:
        homes = [block for block in blocks if inside(row["code"], block)]
        if len(homes) != 1 or (row["block"], row["chapter"]) != (span(homes[0]), homes[0]["chapter"]):
            sys.exit(f"{row['code']} is in {len(homes)} blocks, or in another than the file says")
    if len({row["code"] for row in codes}) != CODES:
        sys.exit(f"{len(codes)} codes, {CODES} expected: this is not version 32")
    HOME.mkdir(exist_ok=True)
    for name in ("chapters.csv", "blocks.csv"):
        text = (folder / name).read_text(encoding="utf-8").replace("\r\n", "\n")
        (HOME / name).write_text(text, encoding="utf-8", newline="\n")
    (HOME / "codes.txt").write_text("".join(f"{row['code']}\n" for row in codes), encoding="utf-8", newline="\n")
    for path in sorted(HOME.iterdir()):
        if path.suffix in {".csv", ".txt"}:
            print(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}")


def inside(code: str, block: dict[str, str]) -> bool:
    """Whether a code lies in a block; digits, V and E are three lists, and text compares right within one."""
    alike = block["first"][0] == code[0] or (block["first"][0].isdigit() and code[0].isdigit())
    return alike and block["first"] <= category(code) <= block["last"]


def span(block: dict[str, str]) -> str:
    """A block as the list of codes names it."""
    return f"{block['first']}-{block['last']}"


if __name__ == "__main__":
    main()
